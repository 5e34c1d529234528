package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
)

var errShort = errors.New("a value ends too early")

// decoder decodes values that encode has written.
type decoder struct {
	codecs
	changes *changes
	b       []byte  // the bytes that are not decoded yet
	unborn  *unborn // collects references to entities that do not exist yet; nil if all entities exist
}

// check returns an error if decode cannot convert values of the saved type `from` to the type `to`.
func (c *changes) check(from, to *schema, path string) error {
	switch {
	case from.Kind == kindOpaque && to.Kind == kindOpaque:
		return nil
	case from.Kind == "struct" && to.Kind == "struct":
		return c.match(from, to, path, func(f, t member) error {
			return c.check(f.Type, t.Type, path+"."+t.Name)
		})
	case from.Kind == "array" && to.Kind == "array" && from.Len > to.Len:
		return fmt.Errorf(tooShort, path, from.Len, to.Len)
	case from.Kind == "map" && to.Kind == "map":
		if err := c.check(from.Key, to.Key, path+" (key)"); err != nil {
			return err
		}
		return c.check(from.Elem, to.Elem, path+"[]")
	case from.Kind == "slice" && to.Kind == "slice", from.Kind == "array" && to.Kind == "array":
		if from.Elem == nil || to.Elem == nil {
			return nil
		}
		return c.check(from.Elem, to.Elem, path+"[]")
	}
	return c.fit(from, to, path)
}

// decode decodes the next value, of the type `from`, into v. v must be addressable and hold the zero value of
// its type. If v is reflect.Value{}, decode skips the next value. path names v in errors.
func (d *decoder) decode(from *schema, v reflect.Value, path string) error {
	switch from.Kind {
	case kindOpaque:
		own, err := d.take()
		if err != nil || !v.IsValid() {
			return err
		}
		codec, _ := d.of(v.Type())
		if err := codec.decode(own, v); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return nil
	case "struct":
		return d.decodeStruct(from, v, path)
	case "string":
		text, err := d.take()
		if err == nil && v.IsValid() {
			v.SetString(string(text))
		}
		return err
	case "slice":
		return d.decodeSlice(from, v, path)
	case "map":
		return d.decodeMap(from, v, path)
	case "array":
		return d.decodeEach(from.Elem, v, from.Len, path)
	}
	return d.decodeNumber(from, v, path)
}

// take reads a length n, and returns the n bytes that follow.
func (d *decoder) take() ([]byte, error) {
	n, size := binary.Uvarint(d.b)
	if size <= 0 || n > uint64(len(d.b)-size) {
		return nil, errShort
	}
	part := d.b[size : size+int(n)]
	d.b = d.b[size+int(n):]
	return part, nil
}

// maxEmpty is the largest length of a slice or a map whose elements take no bytes in a file.
const maxEmpty = 1 << 16

// length reads the length of a slice or a map. ok is false if the slice or the map is nil. minBytes is a
// lower bound for the bytes of an element.
func (d *decoder) length(minBytes int) (n int, ok bool, err error) {
	u, size := binary.Uvarint(d.b)
	if size <= 0 {
		return 0, false, errShort
	}
	// A damaged length must not make decode allocate much memory. So the remaining bytes bound the length.
	most := uint64(maxEmpty)
	if minBytes > 0 {
		most = uint64((len(d.b) - size) / minBytes)
	}
	if u > most+1 {
		return 0, false, errShort
	}
	d.b = d.b[size:]
	if u == 0 {
		return 0, false, nil
	}
	return int(u - 1), true, nil
}

// least returns a lower bound for the number of bytes of an encoded value.
func (s *schema) least() int {
	switch s.Kind {
	case "struct":
		n := 0
		for _, f := range s.Fields {
			n += f.Type.least()
		}
		return n
	case "array":
		if s.Len == 0 {
			return 0
		}
		return s.Len * s.Elem.least()
	}
	return 1
}

func (d *decoder) decodeStruct(from *schema, v reflect.Value, path string) error {
	for _, f := range from.Fields {
		name, err := d.changes.nameOfField(path, f.Name)
		if err != nil {
			return err
		}
		var into reflect.Value
		if v.IsValid() && name != "_" {
			if t, ok := v.Type().FieldByName(name); ok && len(t.Index) == 1 {
				into = field(v, t.Index[0])
			}
		}
		if err := d.decode(f.Type, into, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) decodeSlice(from *schema, v reflect.Value, path string) error {
	n, ok, err := d.length(from.Elem.least())
	if err != nil || !ok {
		return err
	}
	if v.IsValid() {
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		if from.Elem.Kind == "uint8" && v.Type().Elem().Kind() == reflect.Uint8 {
			copy(v.Bytes(), d.b)
			d.b = d.b[n:]
			return nil
		}
	}
	return d.decodeEach(from.Elem, v, n, path)
}

func (d *decoder) decodeEach(from *schema, v reflect.Value, n int, path string) error {
	for i := range n {
		var elem reflect.Value
		if v.IsValid() {
			elem = v.Index(i)
		}
		if err := d.decode(from, elem, path+"[]"); err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) decodeMap(from *schema, v reflect.Value, path string) error {
	n, ok, err := d.length(from.Key.least() + from.Elem.least())
	if err != nil || !ok {
		return err
	}
	if v.IsValid() {
		v.Set(reflect.MakeMapWithSize(v.Type(), n))
	}
	m := refilled{m: v}
	before := d.unborn.len()
	for range n {
		var key, elem reflect.Value
		if v.IsValid() {
			key, elem = reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		}
		if err := d.decode(from.Key, key, path+" (key)"); err != nil {
			return err
		}
		if err := d.decode(from.Elem, elem, path+"[]"); err != nil {
			return err
		}
		if v.IsValid() {
			v.SetMapIndex(key, elem)
			if d.unborn != nil {
				m.keys, m.elem = append(m.keys, key), append(m.elem, elem)
			}
		}
	}
	if d.unborn.len() > before {
		d.unborn.maps = append(d.unborn.maps, m)
	}
	return nil
}

// fixed has the sizes in bytes of the values of bools, floats and complex numbers.
var fixed = map[string]int{"bool": 1, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16}

func (d *decoder) decodeNumber(from *schema, v reflect.Value, path string) error {
	if signed, ok := from.integer(); ok {
		return d.decodeInteger(from.Kind, signed, v, path)
	}
	n, ok := fixed[from.Kind]
	if !ok {
		return fmt.Errorf("%s has the unknown kind %q", path, from.Kind)
	}
	if len(d.b) < n {
		return errShort
	}
	b := d.b[:n]
	d.b = d.b[n:]
	if !v.IsValid() {
		return nil
	}
	le := binary.LittleEndian
	float := func(at int) float64 { return float64(math.Float32frombits(le.Uint32(b[at:]))) }
	switch from.Kind {
	case "bool":
		v.SetBool(b[0] != 0)
	case "float32":
		v.SetFloat(float(0))
	case "float64":
		v.SetFloat(math.Float64frombits(le.Uint64(b)))
	case "complex64":
		v.SetComplex(complex(float(0), float(4)))
	case "complex128":
		v.SetComplex(complex(math.Float64frombits(le.Uint64(b)), math.Float64frombits(le.Uint64(b[8:]))))
	}
	return nil
}

func (d *decoder) decodeInteger(kind string, signed bool, v reflect.Value, path string) error {
	var i int64
	var u uint64
	var size int
	if kind == "uint8" {
		if len(d.b) == 0 {
			return errShort
		}
		u, i, size = uint64(d.b[0]), int64(d.b[0]), 1
	} else if signed {
		i, size = binary.Varint(d.b)
		u = uint64(i)
	} else {
		u, size = binary.Uvarint(d.b)
		i = int64(u)
	}
	if size <= 0 {
		return errShort
	}
	d.b = d.b[size:]
	if !v.IsValid() {
		return nil
	}
	topBit := i < 0 // the number is negative, or above the largest int64
	fits := true
	if v.CanInt() {
		if fits = (signed || !topBit) && !v.OverflowInt(i); fits {
			v.SetInt(i)
		}
	} else if fits = (!signed || !topBit) && !v.OverflowUint(u); fits {
		v.SetUint(u)
	}
	if fits {
		return nil
	}
	number := any(u)
	if signed {
		number = i
	}
	return fmt.Errorf("%s is %d in the saved data, which a %v cannot hold", path, number, v.Type())
}
