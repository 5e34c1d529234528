package inspect

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"unsafe"

	"github.com/vastgo/vast"
)

// maxBytes is how many bytes of an element are told.
const maxBytes = 4096

// bytesAnswer is an entity's component as it lies in memory.
type bytesAnswer struct {
	Slot    int          `json:"slot"`
	Entity  occupant     `json:"entity"`
	Column  int          `json:"column"`
	Name    string       `json:"name"`
	Storage string       `json:"storage"`
	Type    string       `json:"type"`
	From    int          `json:"from"`  // place of the first byte; -1 where it lies in memory of its own
	Size    int          `json:"size"`  // bytes of an element
	Hex     string       `json:"hex"`   // the first bytes, up to 4096; empty for what lies on the Go heap
	Cut     bool         `json:"cut"`   // whether there are more bytes, or more fields
	Parts   []fieldBytes `json:"parts"` // in the order of their offsets
}

// fieldBytes is a field of an element.
type fieldBytes struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Kind   string `json:"kind"`
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Text   string `json:"text"` // the value
}

// describeBytes answers with the bytes of one entity's component.
func (in *Inspector) describeBytes(r *http.Request) (any, error) {
	slot, err := wholeNumber(r, "slot", -1, 0, math.MaxInt32)
	if err == nil && slot >= 0 {
		var id int
		if id, err = wholeNumber(r, "column", -1, 0, math.MaxInt32); err == nil && id >= 0 {
			return in.bytesOf(r, slot, id)
		}
	}
	return nil, cmp.Or(err, badRequest("slot and column say whose bytes, and which"))
}

func (in *Inspector) bytesOf(r *http.Request, slot, id int) (any, error) {
	a := bytesAnswer{Slot: slot, Column: id, From: -1, Parts: []fieldBytes{}}
	var c *column
	var v reflect.Value
	alive, has := false, false
	err := in.look(r.Context(), func() bool {
		var e vast.Entity
		if c = in.columnAt(id); c == nil {
			return true
		}
		if e, alive = in.world.At(slot); !alive {
			return true
		}
		a.Entity = *in.occupant(e)
		v, has = in.bytesValue(c, e)
		for _, at := range in.newLayout().areas {
			if at.Column == id && at.Kind == vast.AreaElements.String() && c.info.Storage == vast.StorageDense {
				a.From, _ = at.place(slot)
			}
		}
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, notFound("there is no column %d", id)
	case !alive:
		return nil, notFound("no entity lives in slot %d", slot)
	case !has:
		return nil, notFound("the entity %s has no %s", a.Entity.ID, c.Name)
	}
	a.Name, a.Storage, a.Type, a.Size = c.Name, c.Storage, c.Type, c.Size
	// What follows works with a copy.
	if v.CanAddr() && c.info.Storage != vast.StorageHeap && c.Size > 0 {
		// Sound because v is a copy of so many bytes without Go pointers.
		b := unsafe.Slice((*byte)(v.Addr().UnsafePointer()), c.Size)
		a.Hex, a.Cut = hex.EncodeToString(b[:min(len(b), maxBytes)]), len(b) > maxBytes
	}
	if c.info.Storage != vast.StorageHeap && c.Size > 0 {
		for _, f := range fieldsOf(c) {
			if f.offset+int(f.typ.Size()) > maxBytes {
				a.Cut = true
				break
			}
			// Sound because the field lies in the copy.
			at := reflect.NewAt(f.typ, unsafe.Add(v.Addr().UnsafePointer(), f.offset)).Elem()
			a.Parts = append(a.Parts, fieldBytes{f.Path, f.Type, f.Kind, f.offset, int(f.typ.Size()), textOf(at)})
		}
		a.Cut = a.Cut || len(a.Parts) == maxFields
	}
	return a, nil
}

// fieldsOf returns a column's fields. Of links the value is one field.
func fieldsOf(c *column) []field {
	if len(c.Fields) > 0 || c.info.Linked == "" {
		return c.Fields
	}
	linked := column{}
	linked.addFields(c.info.Layout, "", 0)
	return linked.Fields
}

// bytesValue returns a copy of a component. It is called while the world lets the inspector look.
func (in *Inspector) bytesValue(c *column, e vast.Entity) (reflect.Value, bool) {
	return vast.Value(c.col, e)
}

// textOf writes a field's value. A String method of the program's may be called.
func textOf(v reflect.Value) string {
	switch {
	case v.Type() == entityType:
		return v.Interface().(vast.Entity).String()
	case v.Type().Implements(stringerType):
		return shortText(fmt.Sprint(v.Interface()))
	}
	switch v.Kind() {
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32:
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	}
	return shortText(fmt.Sprintf("%v", v))
}

// shortText cuts a text that is too long for a line.
func shortText(s string) string {
	const most = 120
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}
