package store

import (
	"encoding"
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// jsonReader decodes the values of a document before the entities of the document exist. A reference to such
// an entity gets a stand-in, and the embedded unborn notes the address of the reference.
type jsonReader struct {
	*jsonText
	*changes
	w       *vast.World
	names   map[string]int // row of the entity with each name
	numbers map[uint64]int // row of the entity with each id
	unborn
	dropped map[string]bool // the paths in report.Dropped
}

// entity decodes a reference into e. path names the value that holds the reference.
func (r *jsonReader) entity(path string, e *vast.Entity) error {
	if r.null() {
		return nil
	}
	to, err := r.reference(path)
	if err == nil && to.row >= 0 {
		r.refer(e, to.row)
		return nil
	}
	*e = to.Entity
	return err
}

// end is the entity to which a reference or a link leads.
type end struct {
	vast.Entity     // set if row is -1: an entity that the world had before
	row         int // row of an entity of the document, or -1
}

// reference consumes a reference. null is an error.
func (r *jsonReader) reference(path string) (end, error) {
	at := r.at
	c := r.next()
	if c == '"' {
		name, err := r.string()
		if err != nil {
			return end{}, err
		}
		row, ok := r.names[string(name)]
		if !ok {
			return end{}, r.errorf(at, "%s refers to %q, which the document lacks: add it, or write "+
				"{\"outside\": %[2]q} for an entity that the world has", path, name)
		}
		return end{row: row}, nil
	}
	if c == '-' || c >= '0' && c <= '9' {
		id, err := strconv.ParseUint(string(r.word()), 10, 64)
		row, ok := r.numbers[id]
		if err != nil || !ok {
			r.at = at
			return end{}, r.errorf(at, "%s refers to number %s, which no entity of the document has as "+
				"its id", path, r.shown())
		}
		return end{row: row}, nil
	}
	if c == '{' {
		r.open()
		if r.more() {
			member, err := r.member()
			if err != nil {
				return end{}, err
			}
			if string(member) == "outside" && r.next() == '"' {
				name, err := r.string()
				if err != nil {
					return end{}, err
				}
				if !r.more() {
					return r.outside(string(name), path, at)
				}
			}
		}
		r.at = at
	}
	return end{}, r.errorf(at, "%s must be the name or the id of an entity of the document, or "+
		"{\"outside\": …} with the name of an entity of the world, not %s", path, r.shown())
}

func (r *jsonReader) outside(name, path string, at int) (end, error) {
	if names, ok := probe.NamesOf(r.w); ok {
		if e, ok := names.Find(name); ok {
			return end{e, -1}, nil
		}
	}
	return end{}, r.errorf(at, "%s refers to %q outside of the document, and the world has no entity of "+
		"this name", path, name)
}

// mismatch returns the error for the next value, which does not fit s. fitting describes the values that fit.
func (r *jsonReader) mismatch(s *shape, fitting string) error {
	return r.errorf(r.at, "%s must be %s, not %s", s.path, fitting, r.shown())
}

// value decodes the next value into v, which must be zero and addressable.
func (r *jsonReader) value(s *shape, v reflect.Value) error {
	s.used = true
	c := r.next()
	switch s.form {
	case formBool:
		if c != 't' && c != 'f' {
			return r.mismatch(s, "true or false")
		}
		v.SetBool(c == 't')
		r.word()
		return nil
	case formInt, formUint:
		return r.integer(s, v)
	case formFloat:
		f, err := r.float(s, s.t.Bits())
		v.SetFloat(f)
		return err
	case formComplex:
		return r.complex(s, v)
	case formString:
		text, err := r.text(s)
		v.SetString(string(text))
		return err
	case formBytes:
		if r.null() {
			return nil
		}
		b, err := r.bytes(s)
		v.SetBytes(b)
		return err
	case formEntity:
		return r.entity(s.path, v.Addr().Interface().(*vast.Entity))
	case formDuration:
		return r.duration(s, v)
	case formJSON, formText, formCodec:
		return r.byMethod(s, v)
	case formSlice:
		return r.slice(s, v)
	case formArray:
		return r.array(s, v)
	case formStruct:
		return r.structure(s, v)
	}
	return r.mapping(s, v)
}

// digits consumes a number or a string, and returns its text. ok is false for any other value.
func (r *jsonReader) digits() (digits string, ok bool, err error) {
	switch c := r.next(); {
	case c == '"':
		text, err := r.string()
		return string(text), true, err
	case c == '-' || c >= '0' && c <= '9':
		return string(r.word()), true, nil
	}
	return "", false, nil
}

func (r *jsonReader) integer(s *shape, v reflect.Value) error {
	start := r.at
	digits, ok, err := r.digits()
	if err != nil {
		return err
	}
	if ok {
		ok = setInteger(v, digits)
	}
	if !ok {
		r.at = start
		return r.mismatch(s, wholeNumber(s))
	}
	return nil
}

// setInteger sets v to the number in digits, and reports whether digits is a number that v can hold.
func setInteger(v reflect.Value, digits string) bool {
	if v.CanInt() {
		n, err := strconv.ParseInt(digits, 10, v.Type().Bits())
		v.SetInt(n)
		return err == nil
	}
	n, err := strconv.ParseUint(digits, 10, v.Type().Bits())
	v.SetUint(n)
	return err == nil
}

// wholeNumber describes the numbers that fit an integer type, for messages.
func wholeNumber(s *shape) string {
	bits := s.t.Bits()
	if s.form == formInt {
		most := int64(1)<<(bits-1) - 1
		return "a whole number from " + strconv.FormatInt(-most-1, 10) + " to " + strconv.FormatInt(most, 10)
	}
	return "a whole number from 0 to " + strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
}

func (r *jsonReader) float(s *shape, bits int) (float64, error) {
	start := r.at
	switch c := r.next(); {
	case c == '"':
		text, err := r.string()
		if err != nil {
			return 0, err
		}
		switch string(text) {
		case "NaN":
			return math.NaN(), nil
		case "+Inf", "Inf":
			return math.Inf(1), nil
		case "-Inf":
			return math.Inf(-1), nil
		}
	case c == '-' || c >= '0' && c <= '9':
		f, err := strconv.ParseFloat(string(r.word()), bits)
		if err == nil {
			return f, nil
		}
		r.at = start
		return 0, r.mismatch(s, "a number that a float of "+strconv.Itoa(bits)+" bits can hold")
	}
	r.at = start
	return 0, r.mismatch(s, `a number, "NaN", "+Inf" or "-Inf"`)
}

func (r *jsonReader) complex(s *shape, v reflect.Value) error {
	var parts [2]float64
	if r.next() != '[' || r.count() != len(parts) {
		return r.mismatch(s, "a list of two numbers")
	}
	r.open()
	for i := range parts {
		r.more()
		var err error
		if parts[i], err = r.float(s, s.t.Bits()/2); err != nil {
			return err
		}
	}
	r.more()
	v.SetComplex(complex(parts[0], parts[1]))
	return nil
}

// text consumes a string, or the object {"base64": …}, which stands for a string that is not UTF-8.
func (r *jsonReader) text(s *shape) ([]byte, error) {
	start := r.at
	switch r.next() {
	case '"':
		return r.string()
	case '{':
		r.open()
		if r.more() {
			name, err := r.member()
			if err != nil {
				return nil, err
			}
			if string(name) == "base64" {
				b, err := r.bytes(s)
				if err != nil {
					return nil, err
				}
				if !r.more() {
					return b, nil
				}
			}
		}
		r.at = start
	}
	return nil, r.mismatch(s, "a string")
}

func (r *jsonReader) bytes(s *shape) ([]byte, error) {
	const fitting = "a string in base64"
	start := r.at
	if r.next() != '"' {
		return nil, r.mismatch(s, fitting)
	}
	text, err := r.string()
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.AppendDecode([]byte{}, text)
	if err != nil {
		r.at = start
		return nil, r.mismatch(s, fitting)
	}
	return b, nil
}

func (r *jsonReader) duration(s *shape, v reflect.Value) error {
	start := r.at
	digits, ok, err := r.digits()
	if err != nil {
		return err
	}
	if ok && !setInteger(v, digits) {
		d, err := time.ParseDuration(digits)
		v.SetInt(int64(d))
		ok = err == nil
	}
	if !ok {
		r.at = start
		return r.mismatch(s, "a duration such as 1h30m or 250ms, or a number of nanoseconds")
	}
	return nil
}

// byMethod decodes a value with a method of its type or with a codec.
func (r *jsonReader) byMethod(s *shape, v reflect.Value) error {
	start := r.at
	var err error
	switch s.form {
	case formJSON:
		err = v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(r.skip())
	case formText:
		if r.next() != '"' {
			return r.mismatch(s, "a string")
		}
		var text []byte
		if text, err = r.string(); err != nil {
			return err
		}
		err = v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText(text)
	default:
		var b []byte
		if b, err = r.bytes(s); err != nil {
			return err
		}
		err = s.codec.decode(b, v)
	}
	if err != nil {
		return r.errorf(start, "%s: %w", s.path, err)
	}
	return nil
}

func (r *jsonReader) slice(s *shape, v reflect.Value) error {
	if r.null() {
		return nil
	}
	if r.next() != '[' {
		return r.mismatch(s, "a list or null")
	}
	n := r.count()
	v.Set(reflect.MakeSlice(v.Type(), n, n)) // never grows, because unborn keeps the addresses of elements
	return r.elements(s, v)
}

func (r *jsonReader) array(s *shape, v reflect.Value) error {
	if r.next() != '[' || r.count() > v.Len() {
		return r.mismatch(s, "a list of at most "+strconv.Itoa(v.Len())+" elements")
	}
	return r.elements(s, v)
}

// elements decodes the next value, which is a list, into the elements of v.
func (r *jsonReader) elements(s *shape, v reflect.Value) error {
	r.open()
	for i := 0; r.more(); i++ {
		if err := r.value(s.elem, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

func (r *jsonReader) structure(s *shape, v reflect.Value) error {
	if r.next() != '{' {
		return r.mismatch(s, "an object with fields of "+s.t.String())
	}
	var seen seenMembers
	r.open()
	for r.more() {
		at := r.at
		name, err := r.member()
		if err != nil {
			return err
		}
		i, ok := s.named[string(name)]
		if !ok {
			return r.errorf(at, "%s has no field %q: remove it, correct it, or give its new name in "+
				"Options.Renamed", s.path, name)
		}
		if i < 0 {
			r.drop(s.path + "." + string(name))
			continue
		}
		f := &s.fields[i]
		f.seen = true
		if !seen.add(i) {
			return r.errorf(at, "%s comes twice", f.path)
		}
		if err := r.value(f.shape, f.of(v)); err != nil {
			return err
		}
	}
	return nil
}

// drop skips a value that Options.Renamed drops, and adds its path to the report.
func (r *jsonReader) drop(path string) {
	r.skip()
	if !r.dropped[path] {
		r.dropped[path] = true
		r.report.Dropped = append(r.report.Dropped, path)
	}
}

// seenMembers holds the numbers of the members that were already read, for one object.
type seenMembers struct {
	low  uint64       // a bit for each number below 64
	high map[int]bool // the other numbers
}

func (m *seenMembers) add(i int) bool {
	if i < 64 {
		had := m.low>>i&1 != 0
		m.low |= 1 << i
		return !had
	}
	if m.high == nil {
		m.high = make(map[int]bool)
	}
	had := m.high[i]
	m.high[i] = true
	return !had
}

// mapping decodes a map from an object, or from a list of objects with "key" and "value".
func (r *jsonReader) mapping(s *shape, v reflect.Value) error {
	if r.null() {
		return nil
	}
	object := r.next() == '{'
	if object && !s.textKeys() || !object && r.next() != '[' {
		if s.textKeys() {
			return r.mismatch(s, "an object or null")
		}
		return r.mismatch(s, `a list of objects with "key" and "value", or null`)
	}
	v.Set(reflect.MakeMap(v.Type()))
	m := refilled{m: v}
	r.open()
	for n := 1; r.more(); n++ {
		at := r.at
		key, elem := reflect.New(s.key.t).Elem(), reflect.New(s.elem.t).Elem()
		var err error
		if object {
			err = r.value(s.key, key)
			if err == nil {
				err = r.value(s.elem, elem)
			}
		} else {
			err = r.pair(s, key, elem)
		}
		if err != nil {
			return err
		}
		if v.SetMapIndex(key, elem); v.Len() != n {
			return r.errorf(at, "%s has a key that comes twice", s.path)
		}
		if s.refs {
			m.keys, m.elem = append(m.keys, key), append(m.elem, elem)
		}
	}
	if s.refs {
		r.maps = append(r.maps, m)
	}
	return nil
}

// pair decodes an entry of a map from an object with "key" and "value".
func (r *jsonReader) pair(s *shape, key, elem reflect.Value) error {
	start := r.at
	var hasKey, hasValue bool
	if r.next() != '{' {
		return r.mismatch(s, `a list of objects with "key" and "value"`)
	}
	r.open()
	for r.more() {
		name, err := r.member()
		if err != nil {
			return err
		}
		switch {
		case string(name) == "key" && !hasKey:
			hasKey = true
			err = r.value(s.key, key)
		case string(name) == "value" && !hasValue:
			hasValue = true
			err = r.value(s.elem, elem)
		default:
			return r.errorf(start, `%s: an entry of the map may have only "key" and "value", each once`,
				s.path)
		}
		if err != nil {
			return err
		}
	}
	if !hasKey {
		return r.errorf(start, "%s: an entry of the map has no key", s.path)
	}
	return nil
}
