package value

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/vastgo/vast"
)

const (
	jsonMost     = 1 << 18 // bytes of a JSON text
	elementsMost = 4096    // of a slice of which something is edited, since the slice is copied
	textBytes    = 1 << 16 // of an edited string
	levelsMost   = 32      // of a JSON text
)

// Edit is a change of a value that was checked against its type.
type Edit struct {
	t    reflect.Type
	sets []assignment
}

// assignment gives one leaf a value.
type assignment struct {
	path   string
	steps  []step
	value  reflect.Value
	entity Reference // of an entity, for Apply to look up; zero for none
}

// Reference says which entity is meant. One of its fields is set.
type Reference struct {
	ID   string // such as 17.3
	Name string
	Any  string // an ID or a name, whichever there is
}

// NewEdit returns the edit that sets the part at path of a value of type t to what the JSON text says. A
// struct takes an object with some of its fields, an array an array of as many elements, a slice one of any
// number; numbers whole digits as a string too; floats "NaN", "+Inf" and "-Inf"; enums a name or a number;
// durations 1h30m or nanoseconds; times RFC 3339; entities their ID or name as a string, {"id": …} or
// {"name": …} where a string may be either, and null for none. The error is an [*Error].
func NewEdit(t reflect.Type, path string, text []byte) (*Edit, error) {
	steps, err := parse(path)
	if err != nil {
		return nil, err
	}
	if len(text) > jsonMost {
		return nil, fault(path, "a value has at most %d bytes of JSON, not %d", jsonMost, len(text))
	}
	text = bytes.TrimSpace(text)
	if !json.Valid(text) {
		return nil, fault(path, "the value is no JSON")
	}
	if nesting(text) > levelsMost {
		return nil, fault(path, "the value is nested more than %d deep", levelsMost)
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

// nesting returns how deep the brackets of a valid JSON text are nested.
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

// compiler makes assignments.
type compiler struct {
	plain bool
	sets  []assignment
}

// find returns the type of the part that steps lead to.
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
		if err := c.mustHold(t, path); err != nil {
			return nil, err
		}
		switch {
		case t.Kind() == reflect.Array && s.index >= t.Len():
			return nil, fault(path, "an index from 0 to %d is needed, not %d", t.Len()-1, s.index)
		case t.Kind() != reflect.Array && t.Kind() != reflect.Slice:
			return nil, fault(path, "a %s has no elements", typeName(t))
		}
		t, path = t.Elem(), path+"["+itoa(s.index)+"]"
	}
	return t, nil
}

// fieldOf returns the field of a struct that has a name and may be edited.
func (c *compiler) fieldOf(t reflect.Type, path, name string) (reflect.StructField, *Error) {
	if err := c.mustHold(t, path); err != nil {
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
				return f, fault(join(path, name), "the field is not exported, and shown only: the value holds Go pointers")
			}
			return f, nil
		}
		names = append(names, f.Name)
	}
	return reflect.StructField{}, fault(path, "there is no field %s: a %s has %s", quote(name), typeName(t),
		cut(strings.Join(names, ", "), textMost))
}

// mustHold refuses types that hold no parts of their own.
func (c *compiler) mustHold(t reflect.Type, path string) *Error {
	switch t.Kind() {
	case reflect.Pointer:
		return fault(path, "what a pointer leads to may be shared, and is shown only")
	case reflect.Map:
		return fault(path, "what is in a map is shown only")
	case reflect.Interface:
		return fault(path, "what is in an interface is shown only")
	case reflect.Struct:
		if guarded(t) {
			return fault(path, "a %s is guarded by its owner, and not touched", typeName(t))
		}
	}
	return nil
}

// set makes the assignments to a part of type t.
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
	if err := c.mustHold(t, path); err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.setStruct(t, path, steps, text)
	case reflect.Array, reflect.Slice:
		return c.setElements(t, path, steps, text)
	}
	return fault(path, "a %s is shown only", typeName(t))
}

func (c *compiler) setStruct(t reflect.Type, path string, steps []step, text []byte) *Error {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || fields == nil {
		return fault(path, "an object with fields of %s is needed, not %s", typeName(t), shortJSON(text))
	}
	// In the order of the type, so that of several errors the same one is told.
	for i := range t.NumField() {
		if len(fields) == 0 {
			break // so that many small objects of a struct with many fields take no longer than their text
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
	for name := range fields {
		_, err := c.fieldOf(t, path, name)
		if err == nil { // the blank one
			err = fault(path, "there is no field %s", quote(name))
		}
		return err
	}
	return nil
}

func (c *compiler) setElements(t reflect.Type, path string, steps []step, text []byte) *Error {
	var elements []json.RawMessage
	if json.Unmarshal(text, &elements) != nil || elements == nil {
		return fault(path, "an array of elements is needed, not %s", shortJSON(text))
	}
	if t.Kind() == reflect.Array && len(elements) != t.Len() {
		return fault(path, "%d elements are needed, not %d", t.Len(), len(elements))
	}
	if t.Kind() == reflect.Slice {
		if len(elements) > elementsMost {
			return fault(path, "at most %d elements are possible, not %d", elementsMost, len(elements))
		}
		c.sets = append(c.sets, assignment{path: path, steps: steps, value: reflect.MakeSlice(t, len(elements), len(elements))})
	}
	for i, raw := range elements {
		if err := c.set(t.Elem(), path+"["+itoa(i)+"]", extend(steps, step{index: i}), raw); err != nil {
			return err
		}
	}
	return nil
}

// extend returns steps and one more, in memory of their own.
func extend(steps []step, one step) []step {
	return append(steps[:len(steps):len(steps)], one)
}

// Apply returns a copy of v, which must be of the edit's type, with the edit made. find looks up entities; it
// is called only where the edit names some. The error is an [*Error], or find's with the path; v is as it was
// in any case.
func (e *Edit) Apply(v reflect.Value, find func(Reference) (vast.Entity, error)) (reflect.Value, error) {
	made := addressable(v)
	a := applying{own: map[uintptr]bool{}}
	for _, s := range e.sets {
		value := s.value
		if s.entity != (Reference{}) {
			found, err := find(s.entity)
			if err != nil {
				return v, fault(s.path, "%s", err.Error())
			}
			value = reflect.ValueOf(found)
		}
		if err := a.assign(made, s, value); err != nil {
			return v, err
		}
	}
	return made, nil
}

// applying is an edit being made.
type applying struct {
	own map[uintptr]bool // the elements of slices that were copied for it
}

func (a *applying) assign(v reflect.Value, s assignment, value reflect.Value) error {
	for _, step := range s.steps {
		if step.name != "" {
			v = open(fieldNamed(v, step.name))
			continue
		}
		if v.Kind() == reflect.Slice {
			if step.index >= v.Len() {
				return fault(s.path, "there are %d elements, and none of number %d", v.Len(), step.index)
			}
			if v.Len() > elementsMost {
				return fault(s.path, "there are %d elements: of more than %d none is edited", v.Len(), elementsMost)
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
	if v.Kind() == reflect.Slice { // the edit keeps its own
		made := reflect.MakeSlice(v.Type(), value.Len(), value.Len())
		a.own[made.Pointer()] = true
		value = made
	}
	v.Set(value)
	return nil
}

// fieldNamed is reflect.Value.FieldByName without the fields of embedded structs.
func fieldNamed(v reflect.Value, name string) reflect.Value {
	for i := range v.NumField() {
		if v.Type().Field(i).Name == name {
			return v.Field(i)
		}
	}
	return reflect.Value{} // NewEdit has seen to it that there is one
}
