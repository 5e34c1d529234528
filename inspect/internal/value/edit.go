package value

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/vastgo/vast"
)

const (
	maxJson     = 1 << 18 // largest size of a JSON text in bytes
	maxElements = 4096    // largest number of elements of an edited slice; an edit copies the slice
	textBytes   = 1 << 16 // largest size of an edited string in bytes
	maxLevels   = 32      // largest nesting depth of a JSON text
)

// Edit is a change of a value, checked against the value's type.
type Edit struct {
	t    reflect.Type
	sets []assignment
}

// assignment sets one leaf, or makes a slice whose elements later assignments set.
type assignment struct {
	path   string
	steps  []step
	value  reflect.Value
	entity Reference // entity to set; if zero, value is set
}

// Reference names an entity. At most one field is set. The zero Reference stands for no entity.
type Reference struct {
	ID   string // ID such as 17.3
	Name string
	Any  string // an ID or a name
}

// NewEdit returns the edit that sets the part at path of a value of type t to a JSON text. The error is an
// [*Error]. The JSON depends on the kind of the part:
//
//   - struct: an object with some of the struct's fields
//   - array: an array with the length of the Go array
//   - slice: an array of up to maxElements elements
//   - bool: true or false
//   - string: a string
//   - integer: a number or a string of digits
//   - float: a number, "NaN", "+Inf" or "-Inf"
//   - enum: a name or a number
//   - duration: a string such as "1h30m", or a number of nanoseconds
//   - time: a string in the format of RFC 3339
//   - entity: a string that is an ID or a name, {"id": …}, {"name": …}, or null for no entity
func NewEdit(t reflect.Type, path string, text []byte) (*Edit, error) {
	steps, err := parse(path)
	if err != nil {
		return nil, err
	}
	if len(text) > maxJson {
		return nil, fault(path, "the value must have at most %d bytes of JSON, not %d", maxJson, len(text))
	}
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return nil, fault(path, "the value is not valid JSON")
	}
	if nesting(text) > maxLevels {
		return nil, fault(path, "the value is nested more than %d levels deep", maxLevels)
	}
	c := &compiler{plain: IsPlain(t)}
	at, err := c.find(t, steps)
	if err != nil {
		return nil, err
	}
	if err := c.set(at, path, steps, text); err != nil {
		return nil, err
	}
	return &Edit{t, c.sets}, nil
}

func nesting(text []byte) (most int) {
	depth, inside := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inside && c == '\\':
			i++
		case c == '"':
			inside = !inside
		case inside:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

type compiler struct {
	plain bool // whether the whole value holds no Go pointers
	sets  []assignment
}

// find returns the type of the part to which the steps lead from a value of type t.
func (c *compiler) find(t reflect.Type, steps []step) (reflect.Type, *Error) {
	path := ""
	for _, s := range steps {
		if s.name != "" {
			f, err := c.fieldOf(t, path, s.name)
			if err != nil {
				return nil, err
			}
			t, path = f.Type, join(path, s.name)
			continue
		}
		if err := c.checkParts(t, path); err != nil {
			return nil, err
		}
		switch {
		case t.Kind() == reflect.Array && s.index >= t.Len():
			return nil, fault(path, "the index must be 0 to %d, not %d", t.Len()-1, s.index)
		case t.Kind() != reflect.Array && t.Kind() != reflect.Slice:
			return nil, fault(path, "a %s has no elements", typeName(t))
		}
		t, path = t.Elem(), path+"["+itoa(s.index)+"]"
	}
	return t, nil
}

// fieldOf returns the field of struct t with the given name, or an error if the field may not be edited.
func (c *compiler) fieldOf(t reflect.Type, path, name string) (reflect.StructField, *Error) {
	if err := c.checkParts(t, path); err != nil {
		return reflect.StructField{}, err
	}
	if t.Kind() != reflect.Struct || KindOf(t).isLeaf() {
		return reflect.StructField{}, fault(path, "a %s has no fields", typeName(t))
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		if f.Name == name {
			if !f.IsExported() && !c.plain {
				return f, fault(join(path, name),
					"an unexported field is read-only if the value holds Go pointers")
			}
			return f, nil
		}
		names = append(names, f.Name)
	}
	return reflect.StructField{}, fault(path, "there is no field %s: a %s has %s", quote(name), typeName(t),
		cut(strings.Join(names, ", "), maxText))
}

// checkParts returns an error if the parts of a value of type t lie outside of the value or are guarded.
func (c *compiler) checkParts(t reflect.Type, path string) *Error {
	switch t.Kind() {
	case reflect.Pointer:
		return fault(path, "a value behind a pointer is read-only: it may be shared")
	case reflect.Map:
		return fault(path, "a value in a map is read-only")
	case reflect.Interface:
		return fault(path, "a value in an interface is read-only")
	case reflect.Struct:
		if guarded(t) {
			return fault(path, "a %s is guarded by its owner and read-only", typeName(t))
		}
	}
	return nil
}

// set makes the assignments for a part of type t.
func (c *compiler) set(t reflect.Type, path string, steps []step, text []byte) *Error {
	kind := KindOf(t)
	if kind.isLeaf() {
		v := reflect.New(t).Elem()
		a := assignment{path: path, steps: steps, value: v}
		var err *Error
		if kind == Entity {
			a.entity, err = decodeEntity(path, text)
		} else {
			err = decode(v, kind, path, text)
		}
		if err != nil {
			return err
		}
		c.sets = append(c.sets, a)
		return nil
	}
	if err := c.checkParts(t, path); err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.setStruct(t, path, steps, text)
	case reflect.Array, reflect.Slice:
		return c.setElements(t, path, steps, text)
	}
	return fault(path, "a %s is read-only", typeName(t))
}

func (c *compiler) setStruct(t reflect.Type, path string, steps []step, text []byte) *Error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return fault(path, "must be an object with fields of %s, not %s", typeName(t), shortJSON(text))
	}
	// The loop follows the order of the type's fields, so that it reports the same error each time.
	for i := range t.NumField() {
		if len(fields) == 0 {
			break // all fields in the text are set
		}
		name := t.Field(i).Name
		raw, ok := fields[name]
		if !ok || name == "_" {
			continue
		}
		delete(fields, name)
		f, err := c.fieldOf(t, path, name)
		if err != nil {
			return err
		}
		if err := c.set(f.Type, join(path, name), extend(steps, step{name: name}), raw); err != nil {
			return err
		}
	}
	if len(fields) == 0 {
		return nil
	}
	name := slices.Min(slices.Collect(maps.Keys(fields)))
	_, err := c.fieldOf(t, path, name)
	if err == nil { // name is the blank identifier
		err = fault(path, "there is no field %s", quote(name))
	}
	return err
}

func (c *compiler) setElements(t reflect.Type, path string, steps []step, text []byte) *Error {
	var elements []json.RawMessage
	if json.Unmarshal(text, &elements) != nil || elements == nil {
		return fault(path, "must be an array, not %s", shortJSON(text))
	}
	if t.Kind() == reflect.Array && len(elements) != t.Len() {
		return fault(path, "must have %d elements, not %d", t.Len(), len(elements))
	}
	if t.Kind() == reflect.Slice {
		if len(elements) > maxElements {
			return fault(path, "must have at most %d elements, not %d", maxElements, len(elements))
		}
		c.sets = append(c.sets, assignment{path: path, steps: steps,
			value: reflect.MakeSlice(t, len(elements), len(elements))})
	}
	for i, raw := range elements {
		if err := c.set(t.Elem(), path+"["+itoa(i)+"]", extend(steps, step{index: i}), raw); err != nil {
			return err
		}
	}
	return nil
}

// extend returns a copy of steps with one step appended.
func extend(steps []step, next step) []step {
	return append(steps[:len(steps):len(steps)], next)
}

// Apply returns an edited copy of v. v must have the edit's type. Apply calls find for each entity in the
// edit. The error is an [*Error]. If find fails, the error has the text of find's error.
func (e *Edit) Apply(v reflect.Value, find func(Reference) (vast.Entity, error)) (reflect.Value, error) {
	made := addressable(v)
	a := applying{own: map[uintptr]bool{}}
	for _, s := range e.sets {
		value := s.value
		if s.entity != (Reference{}) {
			found, err := s.find(find)
			if err != nil {
				return v, err
			}
			value = reflect.ValueOf(found)
		}
		if err := a.assign(made, s, value); err != nil {
			return v, err
		}
	}
	return made, nil
}

// Find calls find for each entity in the edit. The error is an [*Error] with the text of find's error.
func (e *Edit) Find(find func(Reference) (vast.Entity, error)) error {
	for _, s := range e.sets {
		if s.entity == (Reference{}) {
			continue
		}
		if _, err := s.find(find); err != nil {
			return err
		}
	}
	return nil
}

func (s *assignment) find(find func(Reference) (vast.Entity, error)) (vast.Entity, error) {
	found, err := find(s.entity)
	if err != nil {
		return found, fault(s.path, "%s", err.Error())
	}
	return found, nil
}

type applying struct {
	own map[uintptr]bool // addresses of the slices that Apply has made
}

func (a *applying) assign(v reflect.Value, s assignment, value reflect.Value) error {
	for _, step := range s.steps {
		if step.name != "" {
			v = open(fieldNamed(v, step.name))
			continue
		}
		if v.Kind() == reflect.Slice {
			if step.index >= v.Len() {
				return fault(s.path, "there are %d elements: index %d is out of range", v.Len(), step.index)
			}
			if v.Len() > maxElements {
				return fault(s.path, "there are %d elements: only slices of up to %d elements can be edited",
					v.Len(), maxElements)
			}
			if !a.own[v.Pointer()] {
				copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(copied, v)
				v.Set(copied)
				a.own[v.Pointer()] = true
			}
		}
		v = v.Index(step.index)
	}
	if v.Kind() == reflect.Slice { // calls of Apply must not share the slice of the assignment
		made := reflect.MakeSlice(v.Type(), value.Len(), value.Len())
		a.own[made.Pointer()] = true
		value = made
	}
	v.Set(value)
	return nil
}

// fieldNamed is like reflect.Value.FieldByName, but does not search the fields of embedded structs.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Name == name {
			return v.Field(i)
		}
	}
	return reflect.Value{} // NewEdit has checked that the field exists
}
