package value

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/vastgo/vast"
)

// Field is a value or a part of a value, for JSON.
type Field struct {
	Path string `json:"path"`
	// Name of a struct's field, index such as [3], or text of a map's key. Empty for the whole value.
	Name string `json:"name"`
	Type string `json:"type"`
	Kind Kind   `json:"kind"`
	// Value of a leaf: a bool, a number or a string. Nil for the zero entity, and for a time in an unexported
	// field that Tree cannot read.
	Value    any    `json:"value,omitempty"`
	Text     string `json:"text"` // value as one line
	Exported bool   `json:"exported"`
	Editable bool   `json:"editable"` // whether an Edit may set the leaf
	// Offset in bytes from the start of the whole value; -1 for memory outside of the whole value.
	Offset  int     `json:"offset"`
	Size    int     `json:"size"`              // size in bytes
	Parts   []Field `json:"parts,omitempty"`   // parts of a value that is no leaf
	More    int     `json:"more,omitempty"`    // number of parts that Parts lacks, or bytes that Value lacks
	Choices string  `json:"choices,omitempty"` // key of Shown.Choices; empty if the field is not an enum
	Entity  *Link   `json:"entity,omitempty"`  // nil if the field holds no entity
}

// Link is an entity that a field refers to. The caller of Tree fills in Name and Alive.
type Link struct {
	Of    vast.Entity `json:"-"`
	ID    string      `json:"id"`
	Name  string      `json:"name,omitempty"`
	Alive bool        `json:"alive"`
}

// Shown is a value as a tree of fields.
type Shown struct {
	Field
	Choices map[string][]Choice // named values of the tree's enums; the keys are in Field.Choices
	Links   []*Link             // all entities in the tree
	Fields  int                 // number of fields in the tree
}

// Options say how to show a value. The zero value works.
type Options struct {
	// Editable makes Tree mark the leaves that an Edit may set. Default: false; no leaf is marked.
	Editable bool
	// Fields is the largest number of fields in the tree. Default: 2,000.
	Fields int
}

// Limits of a tree.
const (
	maxDepth  = 10      // nesting depth of fields
	maxParts  = 64      // shown elements of an array, a slice or a map
	maxString = 4096    // bytes of a string in Field.Value
	maxTexts  = 1 << 16 // bytes of all strings in Field.Value; each further string has at most maxText bytes
	maxText   = 120     // bytes of Field.Text
	maxSorted = 1000    // entries of a map; the entries of a larger map are not shown
	maxCopied = 1 << 19 // bytes that Tree copies from maps and interfaces
)

const (
	maxSafe    = 1 << 53 // JavaScript represents all integers up to this one exactly
	entryBytes = 64      // assumed size of the sort key of a map's entry
)

// Tree returns a value as a tree of fields. It follows pointers, and stops at cycles. If v is not
// addressable, Tree copies v first. Tree reads the memory behind pointers, slices and maps in place: no
// goroutine may write to this memory during the call. Complexity: bounded by Options.Fields and the limits of
// a tree.
func Tree(v reflect.Value, o Options) Shown {
	if o.Fields == 0 {
		o.Fields = 2000
	}
	if !v.CanAddr() {
		v = addressable(v)
	}
	b := &builder{left: o.Fields, texts: maxTexts, copy: maxCopied, plain: IsPlain(v.Type())}
	b.shown.Field = Field{Exported: true}
	b.field(&b.shown.Field, v, place{editable: o.Editable})
	b.shown.Fields = o.Fields - b.left
	return b.shown
}

// builder makes a tree.
type builder struct {
	shown Shown
	left  int         // number of fields that may still be added
	texts int         // bytes of strings' values that may still be added
	copy  int         // bytes that may still be copied
	plain bool        // whether the whole value holds no Go pointers
	way   []reference // references on the path to the current field
}

// reference is the target of a pointer, a map or a slice.
type reference struct {
	t  reflect.Type
	at uintptr
}

// place is the location of a field.
type place struct {
	path     string
	offset   int
	away     bool // whether the field lies outside of the whole value
	editable bool
	depth    int
}

// below returns the place of a part.
func (p place) below(path string, offset int) place {
	p.path, p.depth = path, p.depth+1
	p.offset += offset
	return p
}

// elsewhere returns the place of the target of a reference.
func (p place) elsewhere() place {
	p.away, p.editable = true, false
	return p
}

// field fills in f. The caller has set f.Name and f.Exported.
func (b *builder) field(f *Field, v reflect.Value, at place) {
	b.left--
	t := v.Type()
	f.Path, f.Type, f.Kind, f.Size, f.Offset = at.path, typeName(t), KindOf(t), int(t.Size()), at.offset
	if at.away {
		f.Offset = -1
	}
	f.Text = Text(v, maxText)
	if f.Kind.isLeaf() {
		f.Editable = at.editable && v.CanInterface()
		b.leaf(f, v)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if !guarded(t) {
			b.structure(f, v, at)
		}
	case reflect.Array:
		b.elements(f, v, at)
	case reflect.Slice:
		in := at
		in.away = true
		in.offset = 0
		b.following(f, v, at, func() { b.elements(f, v, in) })
	case reflect.Pointer:
		if !v.IsNil() {
			b.following(f, v, at, func() { b.into(f, v.Elem(), at.elsewhere()) })
		}
	case reflect.Interface:
		if !v.IsNil() {
			inner := v.Elem()
			// The function open works only on addressable values. Without this copy, Text could not call
			// String on the unexported fields of inner.
			if inner.CanInterface() && b.mayCopy(inner.Type().Size()) {
				inner = addressable(inner)
			}
			b.into(f, inner, at.elsewhere())
		}
	case reflect.Map:
		b.following(f, v, at, func() { b.entries(f, v, at.elsewhere()) })
	}
}

func (b *builder) leaf(f *Field, v reflect.Value) {
	switch f.Kind {
	case Bool:
		f.Value = v.Bool()
	case String:
		s := v.String()
		most := min(maxString, max(b.texts, maxText))
		b.texts -= min(len(s), most)
		f.Value = cut(s, most)
		if len(s) > most {
			f.More, f.Editable = len(s)-most, false
		}
	case Float:
		f.Value = floatValue(v)
	case Time:
		if v.CanInterface() {
			f.Value = timeText(v.Interface().(time.Time))
		}
	case Entity:
		if e := entityOf(v); !e.IsZero() {
			f.Value = e.String()
			f.Entity = &Link{Of: e, ID: e.String()}
			b.shown.Links = append(b.shown.Links, f.Entity)
		}
	default:
		f.Value = integerValue(v)
		if f.Kind == Enum {
			b.choices(f, v.Type())
		}
	}
}

func (b *builder) choices(f *Field, t reflect.Type) {
	f.Choices = t.PkgPath() + "." + t.Name()
	if b.shown.Choices == nil {
		b.shown.Choices = map[string][]Choice{}
	}
	b.shown.Choices[f.Choices] = ChoicesOf(t)
}

// floatValue returns a number, or a name such as NaN for a number that JSON cannot represent.
func floatValue(v reflect.Value) any {
	switch f := v.Float(); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "+Inf"
	case math.IsInf(f, -1):
		return "-Inf"
	case v.Type().Bits() == 32:
		return float32(f) // encoding/json writes fewer digits for a float32
	default:
		return f
	}
}

// integerValue returns a number, or the digits as a string if JavaScript cannot represent the number exactly.
func integerValue(v reflect.Value) any {
	if v.CanInt() {
		if n := v.Int(); n >= -maxSafe && n <= maxSafe {
			return n
		}
	} else if n := v.Uint(); n <= maxSafe {
		return n
	}
	return number(v)
}

// hasRoom reports whether another part may be added at a depth.
func (b *builder) hasRoom(depth int) bool { return b.left > 0 && depth <= maxDepth }

// mayCopy reports whether a number of bytes may still be copied. If so, mayCopy subtracts the number from
// b.copy.
func (b *builder) mayCopy(bytes uintptr) bool {
	if bytes > uintptr(b.copy) {
		return false
	}
	b.copy -= int(bytes)
	return true
}

// part adds a part. It returns false if the tree has no room for the part.
func (b *builder) part(f *Field, name string, exported bool, v reflect.Value, at place) bool {
	if !b.hasRoom(at.depth) {
		return false
	}
	f.Parts = append(f.Parts, Field{Name: name, Exported: exported})
	b.field(&f.Parts[len(f.Parts)-1], v, at)
	return true
}

func (b *builder) structure(f *Field, v reflect.Value, at place) {
	t := v.Type()
	for i := range t.NumField() {
		sf := t.Field(i)
		if sf.Name == "_" {
			continue
		}
		if !b.hasRoom(at.depth + 1) {
			f.More++
			continue
		}
		in := at.below(join(at.path, sf.Name), int(sf.Offset))
		in.editable = in.editable && (sf.IsExported() || b.plain)
		b.part(f, sf.Name, sf.IsExported(), open(v.Field(i)), in)
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (b *builder) elements(f *Field, v reflect.Value, at place) {
	n := v.Len()
	if v.Type().Elem().Size() == 0 {
		f.More = n // elements of size zero have nothing to show
		return
	}
	for i := range min(n, maxParts) {
		name := "[" + strconv.Itoa(i) + "]"
		in := at.below(at.path+name, i*int(v.Type().Elem().Size()))
		in.editable = in.editable && n <= maxElements || in.editable && v.Kind() == reflect.Array
		if !b.part(f, name, true, open(v.Index(i)), in) {
			break
		}
	}
	f.More = n - len(f.Parts)
}

// following calls show, which adds the target of a reference. If the reference is nil or refers to an
// enclosing field, following does not call show.
func (b *builder) following(f *Field, v reflect.Value, at place, show func()) {
	to := reference{v.Type(), v.Pointer()}
	if to.at == 0 {
		return
	}
	if slices.Contains(b.way, to) {
		f.Text = "refers to an enclosing value"
		return
	}
	b.way = append(b.way, to)
	show()
	b.way = b.way[:len(b.way)-1]
}

// into adds the target of a reference as a part of f. If the target is a struct with parts, into adds the
// parts of the struct instead. A time, an entity and a guarded struct have no parts.
func (b *builder) into(f *Field, v reflect.Value, at place) {
	at.offset = 0
	v = open(v)
	if v.Kind() == reflect.Struct && KindOf(v.Type()) != Time && KindOf(v.Type()) != Entity &&
		!guarded(v.Type()) {
		b.structure(f, v, at)
	} else {
		b.part(f, "", true, v, at.below(at.path, 0))
	}
}

// entries adds the entries of a map, sorted by the text of their keys.
func (b *builder) entries(f *Field, v reflect.Value, at place) {
	each := v.Type().Key().Size() + v.Type().Elem().Size() + entryBytes
	if v.Len() > maxSorted || each > maxCopied || !b.mayCopy(uintptr(v.Len())*each) {
		f.More = v.Len()
		return
	}
	type entry struct {
		key   string
		value reflect.Value
	}
	var all []entry
	for i := v.MapRange(); i.Next(); {
		all = append(all, entry{Text(i.Key(), maxText), i.Value()})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	for _, e := range all[:min(len(all), maxParts)] {
		val := e.value
		if val.CanInterface() {
			val = addressable(val)
		}
		if !b.part(f, e.key, true, val, at.below(at.path+"["+strconv.Quote(e.key)+"]", 0)) {
			break
		}
	}
	f.More = v.Len() - len(f.Parts)
}
