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
	"github.com/vastgo/vast/probe"
)

// maxBytes is the largest number of bytes of an element that an answer shows.
const maxBytes = 4096

// bytesAnswer describes the bytes of an entity's component in memory.
type bytesAnswer struct {
	Slot    int      `json:"slot"`
	Entity  occupant `json:"entity"`
	Column  int      `json:"column"`
	Name    string   `json:"name"`
	Storage string   `json:"storage"`
	Type    string   `json:"type"`
	From    int      `json:"from"` // number of the first byte in the world's memory; -1 outside of it
	Size    int      `json:"size"` // size of the component in bytes
	// The first maxBytes bytes. Empty for a tag, and if the component lies on the Go heap or is too large to
	// copy.
	Hex   string       `json:"hex"`
	Cut   bool         `json:"cut"`   // whether Hex lacks bytes or Parts lacks fields; false on the Go heap
	Parts []fieldBytes `json:"parts"` // fields in the order of offsets
}

// fieldBytes is a field of an element.
type fieldBytes struct {
	Path   string `json:"path"`
	Type   string `json:"type"`
	Kind   string `json:"kind"`
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Text   string `json:"text"` // value as text
}

func (in *Inspector) describeBytes(r *http.Request) (any, error) {
	slot, err := wholeNumber(r, "slot", -1, 0, maxSlot)
	if err == nil && slot >= 0 {
		var id int
		if id, err = wholeNumber(r, "column", -1, 0, math.MaxInt32); err == nil && id >= 0 {
			return in.bytesOf(r, slot, id)
		}
	}
	return nil, cmp.Or(err, badRequest("slot or column is missing: give the entity's slot, and the number "+
		"of the column"))
}

func (in *Inspector) bytesOf(r *http.Request, slot, id int) (any, error) {
	a := bytesAnswer{Slot: slot, Column: id, From: -1, Parts: []fieldBytes{}}
	var c *column
	var b []byte
	alive, having := false, false
	err := in.look(r.Context(), func() bool {
		var e vast.Entity
		if c = in.columnAt(id); c == nil {
			return true
		}
		if e, alive = probe.EntityAt(in.world, slot); !alive {
			return true
		}
		a.Entity = *in.occupant(e)
		if having = has(in.world, c.col, e); !having {
			return true
		}
		b = in.firstBytes(c, e)
		a.From = in.places.number(in.world, c, e)
		return true
	})
	switch {
	case err != nil:
		return nil, err
	case c == nil:
		return nil, notFound("there is no column %d", id)
	case !alive:
		return nil, notFound("no entity lives in slot %d", slot)
	case !having:
		return nil, notFound("entity %s has no %s", a.Entity.ID, c.Name)
	}
	a.Name, a.Storage, a.Type, a.Size = c.Name, c.Storage, c.Type, c.Size
	if c.info.Storage == probe.StorageHeap || c.Size == 0 {
		return a, nil
	}
	a.Hex, a.Cut = hex.EncodeToString(b), len(b) < c.Size
	for _, f := range fieldsOf(c) {
		if f.offset+int(f.typ.Size()) > len(b) {
			a.Cut = true
			break
		}
		// Sound because the field lies in the copy b, and b is aligned to 8 bytes.
		at := reflect.NewAt(f.typ, unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), f.offset)).Elem()
		a.Parts = append(a.Parts, fieldBytes{f.Path, f.Type, f.Kind, f.offset, int(f.typ.Size()), textOf(at)})
	}
	a.Cut = a.Cut || len(a.Parts) == maxFields
	return a, nil
}

// firstBytes returns a copy of the first bytes of e's component. It returns nil if the component has no
// bytes, lies on the Go heap, or is too large to copy. Call firstBytes only in a visit of the world
// (see Inspector.look).
func (in *Inspector) firstBytes(c *column, e vast.Entity) []byte {
	if c.info.Type == nil || c.info.Storage == probe.StorageHeap || c.Size == 0 {
		return nil
	}
	v, ok := valueNow(in.world, c.col, c.info.Storage, c.info.Type, e)
	if !ok {
		return nil
	}
	// Sound because v has c.Size bytes, and holds no Go pointers.
	b := unsafe.Slice((*byte)(v.Addr().UnsafePointer()), min(c.Size, maxBytes))
	words := make([]uint64, (len(b)+7)/8) // aligned to 8 bytes: no type needs a larger alignment
	first := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(b))
	copy(first, b)
	return first
}

// fieldsOf returns the fields of a column's elements. Unlike column.fields, it includes the fields of links.
func fieldsOf(c *column) []field {
	if c.info.Type == nil {
		return nil
	}
	return fieldsIn(c.info.Type)
}

// textOf returns a field's value as text. It may call a String method of the program.
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

// shortText cuts a text to about 120 bytes.
func shortText(s string) string {
	const most = 120
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}
