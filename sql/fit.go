package vastsql

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// value is a value of SQLite.
type value struct {
	typ  sqlite3.Datatype
	bits uint64 // the bits of an INTEGER or a FLOAT
	text string // the bytes of a TEXT or a BLOB
}

func valueOf(v sqlite3.Value) value {
	switch t := v.Type(); t {
	case sqlite3.INTEGER:
		return value{typ: t, bits: uint64(v.Int64())}
	case sqlite3.FLOAT:
		return value{typ: t, bits: math.Float64bits(v.Float())}
	case sqlite3.TEXT:
		return value{typ: t, text: v.Text()}
	case sqlite3.BLOB:
		return value{typ: t, text: string(v.RawBlob())}
	}
	return value{typ: sqlite3.NULL}
}

func (v value) isNull() bool { return v.typ == sqlite3.NULL }

func (v value) float() float64 { return math.Float64frombits(v.bits) }

// String formats the value for a message.
func (v value) String() string {
	const most = 40
	switch v.typ {
	case sqlite3.INTEGER:
		return fmt.Sprint(int64(v.bits))
	case sqlite3.FLOAT:
		return fmt.Sprint(v.float())
	case sqlite3.TEXT:
		if len(v.text) > most {
			return fmt.Sprintf("%q…", strings.ToValidUTF8(v.text[:most], ""))
		}
		return fmt.Sprintf("%q", v.text)
	case sqlite3.BLOB:
		return fmt.Sprintf("a BLOB of %d bytes", len(v.text))
	}
	return "NULL"
}

// misfit says why a value does not fit a field. Its code is an SQLSTATE.
type misfit struct{ code, text string }

// fit writes v to field f of an element. fit returns nil if the value fits.
func (f *field) fit(element unsafe.Pointer, v value) *misfit {
	p := unsafe.Add(element, f.offset)
	switch k := f.kind; {
	case v.isNull() && k != kindEntity && k != kindBlob:
		return &misfit{codeNull, "must not be NULL"}
	case k.isInt() || k == kindUint64:
		return k.fitInteger(p, v)
	case k.isFloat():
		return k.fitFloat(p, v)
	case k == kindText:
		if v.typ != sqlite3.TEXT {
			return mismatch("a text", v)
		}
		*(*string)(p) = v.text
	case k == kindBlob:
		switch v.typ {
		case sqlite3.NULL:
			*(*[]byte)(p) = nil
		case sqlite3.BLOB:
			*(*[]byte)(p) = []byte(v.text)
		default:
			return mismatch("a BLOB such as x'00ff'", v)
		}
	case k == kindEntity:
		if v.typ != sqlite3.INTEGER && !v.isNull() {
			return mismatch("the ID of an entity", v)
		}
		*(*vast.Entity)(p) = vast.EntityOf(v.bits)
	default:
		return f.fitJSON(p, v)
	}
	return nil
}

func mismatch(want string, got value) *misfit {
	return &misfit{codeMismatch, fmt.Sprintf("must be %s, not %v", want, got)}
}

// limits returns the smallest and the largest integer of a kind.
func (k kind) limits() (least int64, most uint64) {
	switch k {
	case kindInt8:
		return math.MinInt8, math.MaxInt8
	case kindInt16:
		return math.MinInt16, math.MaxInt16
	case kindInt32:
		return math.MinInt32, math.MaxInt32
	case kindInt64:
		return math.MinInt64, math.MaxInt64
	case kindUint8:
		return 0, math.MaxUint8
	case kindUint16:
		return 0, math.MaxUint16
	case kindUint32:
		return 0, math.MaxUint32
	case kindBool:
		return 0, 1
	}
	return 0, math.MaxUint64
}

func (k kind) fitInteger(p unsafe.Pointer, v value) *misfit {
	least, most := k.limits()
	n, fits := v.bits, false
	switch v.typ {
	case sqlite3.INTEGER:
		if i := int64(n); i < 0 {
			fits = i >= least
		} else {
			fits = n <= most
		}
	case sqlite3.FLOAT:
		whole := v.float()
		switch {
		case whole != math.Trunc(whole):
			return mismatch("a whole number", v)
		case k == kindUint64 && whole >= 1<<53 && whole < 1<<64:
			return &misfit{codeRange, fmt.Sprintf("takes no REAL of 2^53 or more, such as %v, because SQL "+
				"rounds such a REAL: write an INTEGER, which holds up to %d", v, math.MaxInt64)}
		case whole < 0:
			n = uint64(int64(max(whole, math.MinInt64)))
			fits = whole >= float64(least)
		case whole < 1<<64:
			n = uint64(whole)
			fits = n <= most
		}
	default:
		return mismatch("a whole number", v)
	}
	if !fits {
		return &misfit{codeRange, fmt.Sprintf("holds %d to %d, not %v", least, most, v)}
	}
	switch k {
	case kindInt8, kindUint8, kindBool:
		*(*uint8)(p) = uint8(n)
	case kindInt16, kindUint16:
		*(*uint16)(p) = uint16(n)
	case kindInt32, kindUint32:
		*(*uint32)(p) = uint32(n)
	default:
		*(*uint64)(p) = n
	}
	return nil
}

func (k kind) fitFloat(p unsafe.Pointer, v value) *misfit {
	var n float64
	switch v.typ {
	case sqlite3.INTEGER:
		n = float64(int64(v.bits))
	case sqlite3.FLOAT:
		n = v.float()
	default:
		return mismatch("a number", v)
	}
	if k == kindFloat64 {
		*(*float64)(p) = n
		return nil
	}
	if math.IsInf(float64(float32(n)), 0) && !math.IsInf(n, 0) {
		return &misfit{codeRange, fmt.Sprintf("holds numbers up to ±%.3g, not %v", math.MaxFloat32, v)}
	}
	*(*float32)(p) = float32(n)
	return nil
}

func (f *field) fitJSON(p unsafe.Pointer, v value) *misfit {
	if v.typ != sqlite3.TEXT {
		return mismatch("JSON text", v)
	}
	decoded := reflect.New(f.typ)
	d := json.NewDecoder(strings.NewReader(v.text))
	d.DisallowUnknownFields()
	err := d.Decode(decoded.Interface())
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("text follows the value")
		}
	}
	if err == nil && f.typ.Kind() == reflect.Array {
		var elements []json.RawMessage
		if json.Unmarshal([]byte(v.text), &elements) == nil && len(elements) != f.typ.Len() {
			err = fmt.Errorf("the array has %d elements, not %d", f.typ.Len(), len(elements))
		}
	}
	if err != nil {
		return &misfit{codeInvalidText, fmt.Sprintf("is a %v, for which %v is not valid JSON: %v", f.typ, v,
			err)}
	}
	reflect.NewAt(f.typ, p).Elem().Set(decoded.Elem())
	return nil
}

// settable returns an error if SQL must not set a field. SQL must not set a field whose JSON shows only a
// part of the value, because the other parts would be lost. SQL must not set an unexported field of a value
// with Go pointers, because the code of the value's type may rely on the field.
func (t *table) settable(f *field) error {
	p := &t.parts[f.part]
	if f.kind == kindJSON && !shownWhole(f.typ, nil) {
		return t.fixed(f, fmt.Sprintf("because SQL does not show all of a value of type %v", f.typ))
	}
	if p.info.Storage == probe.StorageHeap && p.names == nil && !isExported(p.info.Type, f) {
		return t.fixed(f, "because it shows an unexported field of a value with Go pointers")
	}
	return nil
}

func (t *table) fixed(f *field, why string) error {
	return refuse(codeFixedColumn, "column %s of table %s cannot be set, %s", quote(f.name), t.name, why)
}

// shownWhole reports whether JSON shows all of a value of type t. inside lists the types that contain t.
func shownWhole(t reflect.Type, inside []reflect.Type) bool {
	for _, outer := range inside {
		if t == outer {
			return true
		}
	}
	inside = append(inside, t)
	switch t.Kind() {
	case reflect.Struct:
		for f := range t.Fields() {
			if !f.IsExported() || f.Tag.Get("json") == "-" || !shownWhole(f.Type, inside) {
				return false
			}
		}
		return true
	case reflect.Map:
		return t.Key().Kind() != reflect.Struct && shownWhole(t.Key(), inside) && shownWhole(t.Elem(), inside)
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return shownWhole(t.Elem(), inside)
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer, reflect.Complex64,
		reflect.Complex128:
		return false
	}
	return true
}

// isExported reports whether f, and each struct field of a value of type t that contains f, is exported.
// isExported returns true for a field of size 0, because a write to this field changes nothing.
func isExported(t reflect.Type, f *field) bool {
	if f.typ.Size() == 0 {
		return true
	}
	offset := f.offset
	for t != f.typ {
		switch t.Kind() {
		case reflect.Struct:
			i := 0
			for i+1 < t.NumField() && (t.Field(i).Type.Size() == 0 || t.Field(i+1).Offset <= offset) {
				i++
			}
			if !t.Field(i).IsExported() {
				return false
			}
			t, offset = t.Field(i).Type, offset-t.Field(i).Offset
		case reflect.Array:
			t, offset = t.Elem(), offset%t.Elem().Size()
		default:
			return false
		}
	}
	return true
}
