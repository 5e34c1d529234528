package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// encode appends an addressable value of a type that codecs.schemaOf accepts. A slice begins with its length
// plus 1, and a map with the number of its encoded entries plus 1; 0 stands for nil. The entries of a map are
// sorted by their bytes, so equal maps have equal bytes.
func (c codecs) encode(b []byte, v reflect.Value) ([]byte, error) {
	if codec, ok := c.of(v.Type()); ok {
		own, err := codec.append(nil, v)
		return append(binary.AppendUvarint(b, uint64(len(own))), own...), err
	}
	le := binary.LittleEndian
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int()), nil
	case reflect.Uint8:
		return append(b, byte(v.Uint())), nil
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint()), nil
	case reflect.Float32:
		return le.AppendUint32(b, math.Float32bits(float32(v.Float()))), nil
	case reflect.Float64:
		return le.AppendUint64(b, math.Float64bits(v.Float())), nil
	case reflect.Complex64:
		x := complex64(v.Complex())
		return le.AppendUint32(le.AppendUint32(b, math.Float32bits(real(x))), math.Float32bits(imag(x))), nil
	case reflect.Complex128:
		x := v.Complex()
		return le.AppendUint64(le.AppendUint64(b, math.Float64bits(real(x))), math.Float64bits(imag(x))), nil
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...), nil
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0), nil
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		before := len(b)
		b, err := c.encodeEach(b, v)
		if err == nil && len(b) == before && v.Len() > maxEmpty {
			err = fmt.Errorf("a slice has %d elements that take no bytes in a file, but may have at most "+
				"%d: store the number of elements instead of the slice", v.Len(), maxEmpty)
		}
		return b, err
	case reflect.Array:
		return c.encodeEach(b, v)
	case reflect.Map:
		return c.encodeMap(b, v)
	}
	var err error
	for i := 0; i < v.NumField() && err == nil; i++ {
		if v.Type().Field(i).Name != "_" {
			b, err = c.encode(b, field(v, i))
		}
	}
	return b, err
}

// encodeEach appends the elements of a slice or an array.
func (c codecs) encodeEach(b []byte, v reflect.Value) ([]byte, error) {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		if _, ok := c.of(v.Type().Elem()); !ok {
			return append(b, v.Slice(0, v.Len()).Bytes()...), nil
		}
	}
	var err error
	for i := 0; i < v.Len() && err == nil; i++ {
		b, err = c.encode(b, v.Index(i))
	}
	return b, err
}

func (c codecs) encodeMap(b []byte, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return append(b, 0), nil
	}
	entries := make([][]byte, 0, v.Len())
	for it := v.MapRange(); it.Next(); {
		key := addressable(it.Key())
		if c.leavesOut(key) {
			continue
		}
		entry, err := c.encode(nil, key)
		if err == nil {
			entry, err = c.encode(entry, addressable(it.Value()))
		}
		if err != nil {
			return b, err
		}
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, bytes.Compare)
	b = binary.AppendUvarint(b, uint64(len(entries))+1)
	for _, entry := range entries {
		b = append(b, entry...)
	}
	return b, nil
}

// leavesOut reports whether encode leaves out an entry of a map because of its key.
func (c codecs) leavesOut(key reflect.Value) bool {
	if codec, ok := c.of(key.Type()); ok {
		return codec.leavesOut != nil && codec.leavesOut(key)
	}
	switch key.Kind() {
	case reflect.Array:
		for i := range key.Len() {
			if c.leavesOut(key.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for i := range key.NumField() {
			if c.leavesOut(field(key, i)) {
				return true
			}
		}
	}
	return false
}

// addressable returns an addressable copy of a value.
func addressable(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type()).Elem()
	p.Set(v)
	return p
}

// field returns a field of an addressable struct. The caller can read and write the field even if it is not
// exported.
func field(v reflect.Value, i int) reflect.Value {
	f := v.Field(i)
	return reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
}
