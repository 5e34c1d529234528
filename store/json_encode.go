package store

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/vastgo/vast"
)

var errNotUTF8 = errors.New("the text is not UTF-8")

// value appends v, which must be addressable.
func (j *jsonWriter) value(s *shape, v reflect.Value) (err error) {
	switch s.form {
	case formBool:
		j.b = strconv.AppendBool(j.b, v.Bool())
	case formInt:
		j.b = appendInt(j.b, v.Int())
	case formUint:
		j.b = appendUint(j.b, v.Uint())
	case formFloat:
		j.b = appendFloat(j.b, v.Float(), s.t.Bits())
	case formComplex:
		x := v.Complex()
		j.b = appendFloat(append(j.b, '['), real(x), s.t.Bits()/2)
		j.b = append(appendFloat(append(j.b, ", "...), imag(x), s.t.Bits()/2), ']')
	case formString:
		if text := v.String(); utf8.ValidString(text) {
			j.b = appendString(j.b, text)
		} else {
			j.b = append(appendBytes(append(j.b, "{\"base64\": "...), []byte(text)), '}')
		}
	case formBytes:
		if v.IsNil() {
			j.text("null")
		} else {
			j.b = appendBytes(j.b, v.Bytes())
		}
	case formEntity:
		return j.reference(*v.Addr().Interface().(*vast.Entity), s.path)
	case formDuration:
		j.b = appendString(j.b, time.Duration(v.Int()).String())
	case formJSON, formText, formCodec:
		return j.byMethod(s, v)
	case formSlice:
		if v.IsNil() {
			j.text("null")
			return nil
		}
		return j.list(s, v)
	case formArray:
		return j.list(s, v)
	case formStruct:
		return j.structure(s, v)
	case formMap:
		return j.mapping(s, v)
	}
	return nil
}

// byMethod appends a value that a method of its type or a codec encodes.
func (j *jsonWriter) byMethod(s *shape, v reflect.Value) error {
	var own []byte
	var err error
	switch s.form {
	case formJSON:
		own, err = v.Addr().Interface().(json.Marshaler).MarshalJSON()
		if err == nil {
			var compact bytes.Buffer
			err = json.Compact(&compact, own)
			own = compact.Bytes()
		}
	case formText:
		own, err = v.Addr().Interface().(encoding.TextMarshaler).MarshalText()
	default:
		own, err = s.codec.append(nil, v)
	}
	if err == nil && s.form != formCodec && !utf8.Valid(own) {
		err = errNotUTF8
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", s.path, err)
	case s.form == formJSON:
		j.b = append(j.b, own...)
	case s.form == formText:
		j.b = appendString(j.b, string(own))
	default:
		j.b = appendBytes(j.b, own)
	}
	return nil
}

func (j *jsonWriter) list(s *shape, v reflect.Value) error {
	j.b = append(j.b, '[')
	for i := range v.Len() {
		if i > 0 {
			j.b = append(j.b, ", "...)
		}
		if s.elem == nil {
			continue
		}
		if err := j.value(s.elem, v.Index(i)); err != nil {
			return err
		}
	}
	j.b = append(j.b, ']')
	return nil
}

func (j *jsonWriter) structure(s *shape, v reflect.Value) error {
	j.b = append(j.b, '{')
	for i := range s.fields {
		if i > 0 {
			j.b = append(j.b, ", "...)
		}
		f := &s.fields[i]
		j.b = append(append(append(j.b, '"'), f.name...), "\": "...)
		if err := j.value(f.shape, f.of(v)); err != nil {
			return err
		}
	}
	j.b = append(j.b, '}')
	return nil
}

// entry is an encoded entry of a map.
type entry struct {
	key, value []byte
	number     reflect.Value // the decoded key; only set for integers
}

// mapping appends a map. Its entries are sorted: integer keys by number, other keys by their encoded bytes.
func (j *jsonWriter) mapping(s *shape, v reflect.Value) error {
	if v.IsNil() {
		j.text("null")
		return nil
	}
	start := len(j.b)
	object := s.textKeys()
	var entries []entry
	for it := v.MapRange(); it.Next(); {
		stale := j.stale
		key := addressable(it.Key())
		if err := j.value(s.key, key); err != nil {
			return err
		}
		middle := len(j.b)
		if j.stale > stale {
			j.b = j.b[:start]
			continue // the key refers to an entity that is not alive
		}
		if err := j.value(s.elem, addressable(it.Value())); err != nil {
			return err
		}
		one := entry{key: bytes.Clone(j.b[start:middle]), value: bytes.Clone(j.b[middle:])}
		if s.key.form == formInt || s.key.form == formUint {
			one.number = key
		}
		object = object && one.key[0] != '{' // '{' begins a string that is not UTF-8
		entries = append(entries, one)
		j.b = j.b[:start]
	}
	slices.SortFunc(entries, func(a, b entry) int {
		switch {
		case s.key.form == formInt:
			return cmp.Compare(a.number.Int(), b.number.Int())
		case s.key.form == formUint:
			return cmp.Compare(a.number.Uint(), b.number.Uint())
		}
		return bytes.Compare(a.key, b.key)
	})
	if !j.marking {
		for i := 1; i < len(entries); i++ {
			if bytes.Equal(entries[i-1].key, entries[i].key) {
				return fmt.Errorf("%s has two keys that are written as %s", s.path, entries[i].key)
			}
		}
	}
	if object {
		j.object(entries)
	} else {
		j.pairs(entries)
	}
	return nil
}

func (j *jsonWriter) object(entries []entry) {
	separator := "{"
	for _, one := range entries {
		j.text(separator)
		separator = ", "
		if one.key[0] == '"' {
			j.b = append(j.b, one.key...)
		} else {
			j.b = append(append(append(j.b, '"'), one.key...), '"')
		}
		j.b = append(append(j.b, ": "...), one.value...)
	}
	if len(entries) == 0 {
		j.text(separator)
	}
	j.text("}")
}

func (j *jsonWriter) pairs(entries []entry) {
	j.text("[")
	for i, one := range entries {
		if i > 0 {
			j.text(", ")
		}
		j.b = append(append(j.b, "{\"key\": "...), one.key...)
		j.b = append(append(append(j.b, ", \"value\": "...), one.value...), '}')
	}
	j.text("]")
}

// appendInt appends i as a number. If i is beyond maxSafe, appendInt appends its digits as a string.
func appendInt(b []byte, i int64) []byte {
	if i < -maxSafe || i > maxSafe {
		return append(strconv.AppendInt(append(b, '"'), i, 10), '"')
	}
	return strconv.AppendInt(b, i, 10)
}

func appendUint(b []byte, u uint64) []byte {
	if u > maxSafe {
		return append(strconv.AppendUint(append(b, '"'), u, 10), '"')
	}
	return strconv.AppendUint(b, u, 10)
}

// maxSafe limits the integers that are written as numbers. JavaScript reads a number as a float64, which
// holds all integers from -2⁵³ to 2⁵³ exactly.
const maxSafe = 1 << 53

// appendFloat appends the shortest number that parses to f. NaN and infinities become strings.
func appendFloat(b []byte, f float64, bits int) []byte {
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return append(b, `"NaN"`...)
	case math.IsInf(f, 0):
		return append(strconv.AppendFloat(append(b, '"'), f, 'f', -1, bits), '"')
	case a != 0 && (a < 1e-6 || a >= 1e21):
		return strconv.AppendFloat(b, f, 'e', -1, bits)
	}
	return strconv.AppendFloat(b, f, 'f', -1, bits)
}

func appendBytes(b, v []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(b, '"'), v), '"')
}
