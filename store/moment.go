package store

import (
	"bytes"
	"fmt"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// Difference names the first place where two worlds differ. It is the error of a [Check] whose replay gives
// another world, because a tick or an input depends on data outside of the world and the inputs. [Compare]
// also returns a Difference.
type Difference struct {
	World      string
	From, Tick uint64 // the ticks of the older and of the newer checkpoint; 0 after Compare
	// Column is the name of the column, relation, edges, resource or container that differs. It is empty if
	// the set of living entities differs. It is "the world" if another part of the world differs.
	Column string
	Entity vast.Entity // zero if the difference belongs to no entity
	// Field is the path of the field that differs, such as At.X, or the part of the world, of a column or of
	// a container, such as mark. It is empty if the list of columns, an entity, a whole component or a
	// resource differs.
	Field string
	// Recorded is the value in the checkpoint, and Replayed is the value after the replay, as text. After
	// Compare, Recorded is the value in the saved world, and Replayed is the value in the compared world.
	Recorded, Replayed string
	saved              bool // whether Compare made the Difference
}

// Error names the place and both values. After a check, it also names the remedy.
func (d *Difference) Error() string {
	place := "the entities"
	if d.Column != "" {
		place = d.Column
	}
	if !d.Entity.IsZero() {
		place += " of entity " + d.Entity.String()
		if d.Column == "" {
			place = "entity " + d.Entity.String()
		}
	}
	if d.Field != "" {
		place += ", field " + d.Field
	}
	if d.saved {
		return fmt.Sprintf("store: world %q differs from the saved world: %s: %s in the saved world, %s "+
			"in this world", d.World, place, d.Recorded, d.Replayed)
	}
	return fmt.Sprintf("store: world %q cannot be replayed: from tick %d to tick %d, a replay gives another "+
		"world: %s: %s in the checkpoint, %s after the replay: ticks and inputs must depend on nothing but "+
		"the world; look for a clock, math/rand, the order of a map, or a variable outside of the world",
		d.World, d.From, d.Tick, place, d.Recorded, d.Replayed)
}

// moment is the state of a world, for comparisons.
type moment struct {
	*picture
	containerNames []string
	values         map[int]map[int][]byte // encoded components of HeapColumns, by column number and by slot
}

func momentOf(w *vast.World, o Options) (*moment, error) {
	m, err := lookAt(w, o)
	if err != nil {
		return nil, err
	}
	for i := range m.state.Arrays {
		copyArray(&m.state.Arrays[i])
	}
	return m, nil
}

// lookAt returns the state of a world. The arrays lie in the world's memory.
func lookAt(w *vast.World, o Options) (*moment, error) {
	p, err := pictureOf(w, o, nil)
	if err != nil {
		return nil, err
	}
	m := &moment{p, slices.Sorted(maps.Keys(o.Containers)), make(map[int]map[int][]byte)}
	for i := range p.state.Columns {
		c := &p.state.Columns[i]
		if c.Storage != probing.StorageHeap {
			continue
		}
		m.values[i] = make(map[int][]byte)
		engine.Slots(c.Of, func(slot int) bool {
			var b []byte
			b, err = p.encode(nil, engine.Value(c.Of, slot))
			m.values[i][slot] = b
			return err == nil
		})
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.Name, err)
		}
	}
	return m, nil
}

// copyArray replaces an array by a copy in Go memory.
func copyArray(a *state.Array) {
	masks := make([]uint64, (a.Len+63)/64)
	for i := range masks {
		masks[i] = keptOf(a, i)
	}
	size := int(a.Type.Size())
	memory := make([]uint64, (a.Len*size+7)/8+1) // words, so that the elements are aligned
	to := unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), a.Len*size)
	canonical(to, a, 0, a.Len)
	*a = state.Array{Kind: a.Kind, Column: a.Column, Container: a.Container, Number: a.Number, Type: a.Type,
		Len: a.Len, Base: unsafe.Pointer(&memory[0]), Kept: func(group int) uint64 { return masks[group] }}
}

// compare returns the first difference between a moment and the state of a world, or nil. It compares in this
// order: the mark, the list of columns, entities, columns, resources, and then everything else.
func (m *moment) compare(w *vast.World, o Options) (*Difference, error) {
	now, err := lookAt(w, o)
	if err != nil {
		return nil, err
	}
	if was, is := generation.Mark(m.state.Mark), generation.Mark(now.state.Mark); was != is {
		return &Difference{Column: "the world", Field: "mark", Recorded: fmt.Sprint(was.Number()),
			Replayed: fmt.Sprint(is.Number())}, nil
	}
	names := func(m *moment) (names []string) {
		for _, c := range m.state.Columns {
			names = append(names, c.Name)
		}
		return names
	}
	if was, is := names(m), names(now); !slices.Equal(was, is) {
		return &Difference{Column: "the world", Recorded: fmt.Sprintf("the columns %q", was),
			Replayed: fmt.Sprintf("the columns %q", is)}, nil
	}
	if d := m.compareEntities(now); d != nil {
		return d, nil
	}
	for i := range m.state.Columns {
		if d := m.compareColumn(now, i); d != nil {
			return d, nil
		}
	}
	if d := m.compareResources(now, o); d != nil {
		return d, nil
	}
	return m.compareRest(now), nil
}

// findArray returns an array of the moment, or an empty array if the moment has no such array.
func (m *moment) findArray(kind string, column int) *state.Array {
	i := slices.IndexFunc(m.state.Arrays, func(a state.Array) bool {
		return a.Kind == kind && a.Column == column && a.Container == 0
	})
	if i < 0 {
		return &state.Array{Kind: kind, Column: column, Type: reflect.TypeFor[uint64]()}
	}
	return &m.state.Arrays[i]
}

// entity returns the living entity in a slot.
func (m *moment) entity(slot int) (e vast.Entity, ok bool) {
	live, generations := m.findArray(state.Live, -1), m.findArray(state.Generations, -1)
	if word(live, slot/64)>>(slot%64)&1 == 0 || slot >= generations.Len {
		return e, false
	}
	g := *(*uint32)(unsafe.Pointer(&generations.Bytes(slot, slot+1)[0]))
	return vast.EntityOf(uint64(g)<<32 | uint64(slot)), true
}

// word returns a word of an array of bits. Words that do not belong to the state are 0.
func word(a *state.Array, i int) uint64 {
	if i >= a.Len || keptOf(a, i/64)>>(i%64)&1 == 0 {
		return 0
	}
	return *(*uint64)(unsafe.Pointer(&a.Bytes(i, i+1)[0]))
}

// bitThatDiffers returns the first bit in which two arrays of bits differ, or -1.
func bitThatDiffers(a, b *state.Array) int {
	for i := range max(a.Len, b.Len) {
		if d := word(a, i) ^ word(b, i); d != 0 {
			return i*64 + bits.TrailingZeros64(d)
		}
	}
	return -1
}

func (m *moment) compareEntities(now *moment) *Difference {
	if slot := bitThatDiffers(m.findArray(state.Live, -1), now.findArray(state.Live, -1)); slot >= 0 {
		return entityDifference(m, now, slot)
	}
	live := m.findArray(state.Live, -1)
	for i := range live.Len {
		for left := word(live, i); left != 0; left &= left - 1 {
			slot := i*64 + bits.TrailingZeros64(left)
			was, _ := m.entity(slot)
			if is, _ := now.entity(slot); was != is {
				return entityDifference(m, now, slot)
			}
		}
	}
	return nil
}

func entityDifference(m, now *moment, slot int) *Difference {
	text := func(e vast.Entity, ok bool) string {
		if !ok {
			return "dead"
		}
		return "alive as " + e.String()
	}
	was, lived := m.entity(slot)
	is, lives := now.entity(slot)
	d := &Difference{Entity: was, Recorded: text(was, lived), Replayed: text(is, lives)}
	if !lived {
		d.Entity = is
	}
	return d
}

// compareColumn compares a column. The two moments must have the same entities.
func (m *moment) compareColumn(now *moment, i int) *Difference {
	c := &m.state.Columns[i]
	at := func(slot int, field, was, is string) *Difference {
		d := &Difference{Column: c.Name, Field: field, Recorded: was, Replayed: is}
		if c.Linked != "" {
			d.Column = c.Linked
		}
		d.Entity, _ = m.entity(slot)
		return d
	}
	presence := m.findArray(state.Presence, i)
	if slot := bitThatDiffers(presence, now.findArray(state.Presence, i)); slot >= 0 {
		has := map[bool]string{true: "there", false: "not there"}
		was := word(presence, slot/64)>>(slot%64)&1 != 0
		return at(slot, "", has[was], has[!was])
	}
	for _, slot := range slices.Sorted(maps.Keys(m.values[i])) {
		if was, is := m.values[i][slot], now.values[i][slot]; !bytes.Equal(was, is) {
			return at(slot, "", m.decoded(was, c.Type), m.decoded(is, c.Type))
		}
	}
	if c.Storage != probing.StorageSparse {
		was, is := m.findArray(state.Elements, i), now.findArray(state.Elements, i)
		if slot := elementThatDiffers(was, is); slot >= 0 {
			field, a, b := firstDifference(element(was, slot), element(is, slot), "")
			return at(slot, field, shown(a), shown(b))
		}
	}
	if c.Storage == probing.StorageShared {
		return nil // compareRest compares the values
	}
	// The components of a sparse column and the values of edges lie in a pool. compareRest compares the
	// handles in the slots of a sparse column.
	was, is := m.findArray(state.PoolElements, i), now.findArray(state.PoolElements, i)
	if k := elementThatDiffers(was, is); k >= 0 && keptAt(was, k) && keptAt(is, k) {
		field, a, b := firstDifference(element(was, k), element(is, k), "")
		d := at(0, strings.TrimPrefix(strings.TrimPrefix(field, "value"), "."), shown(a), shown(b))
		if c.Linked == "" { // the pool of a sparse column holds each component with its entity
			e := element(was, k).FieldByName("entity")
			d.Entity = vast.EntityOf(e.Field(1).Uint()<<32 | e.Field(0).Uint())
		} else {
			d.Entity, _ = m.entity(int(element(was, k).FieldByName("from").Uint()))
		}
		return d
	}
	return nil
}

func (m *moment) compareResources(now *moment, o Options) *Difference {
	for _, t := range o.Resources {
		was, had := m.resource(nameOf(t))
		is, has := now.resource(nameOf(t))
		if had == has && bytes.Equal(was, is) {
			continue
		}
		d := &Difference{Column: nameOf(t), Recorded: "not there", Replayed: "not there"}
		if had {
			d.Recorded = m.decoded(was, t)
		}
		if has {
			d.Replayed = now.decoded(is, t)
		}
		return d
	}
	return nil
}

func (m *moment) resource(name string) (encoded []byte, ok bool) {
	i := slices.IndexFunc(m.m.Resources, func(r resourceManifest) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return m.resources[i], true
}

// compareRest compares all arrays, the archetypes and the extents.
func (m *moment) compareRest(now *moment) *Difference {
	if len(m.state.Arrays) != len(now.state.Arrays) {
		return &Difference{Column: "the world", Recorded: fmt.Sprint(len(m.state.Arrays), " arrays"),
			Replayed: fmt.Sprint(len(now.state.Arrays), " arrays")}
	}
	for i := range m.state.Arrays {
		was, is := &m.state.Arrays[i], &now.state.Arrays[i]
		k := elementThatDiffers(was, is)
		if k < 0 {
			continue
		}
		d := &Difference{Column: "the world", Field: fmt.Sprintf("%s[%d]", was.Kind, k),
			Recorded: "not there", Replayed: "not there"}
		switch {
		case was.Container > 0:
			d.Column = m.containerNames[was.Container-1]
		case was.Column >= 0:
			d.Column = m.state.Columns[was.Column].Name
		}
		if keptAt(was, k) {
			d.Recorded = shown(element(was, k))
		}
		if keptAt(is, k) {
			d.Replayed = shown(element(is, k))
		}
		return d
	}
	placement := func(m *moment) string {
		return fmt.Sprint(m.state.Words, m.state.Used, m.state.Archetypes, m.state.Extents)
	}
	if was, is := placement(m), placement(now); was != is {
		return &Difference{Column: "the world", Field: "extents", Recorded: shortened(was),
			Replayed: shortened(is)}
	}
	return nil
}

func keptAt(a *state.Array, k int) bool { return k < a.Len && keptOf(a, k/64)>>(k%64)&1 != 0 }

func element(a *state.Array, k int) reflect.Value {
	return reflect.NewAt(a.Type, unsafe.Pointer(&a.Bytes(k, k+1)[0])).Elem()
}

// elementThatDiffers returns the index of the first element that differs between two arrays, or that only one
// array has. It returns -1 if the arrays are equal. It ignores padding inside of elements.
func elementThatDiffers(a, b *state.Array) int {
	for k := 0; k < max(a.Len, b.Len); k++ {
		if k%64 == 0 && k+64 <= min(a.Len, b.Len) {
			was, is := keptOf(a, k/64), keptOf(b, k/64)
			if was == is && (was == 0 || ^was == 0 && bytes.Equal(a.Bytes(k, k+64), b.Bytes(k, k+64))) {
				k += 63
				continue
			}
		}
		if in := keptAt(a, k); in != keptAt(b, k) {
			return k
		} else if !in || bytes.Equal(a.Bytes(k, k+1), b.Bytes(k, k+1)) {
			continue
		}
		if _, x, _ := firstDifference(element(a, k), element(b, k), ""); x.IsValid() {
			return k
		}
	}
	return -1
}

// firstDifference compares two values of a type without pointers. It returns the path of the first part that
// differs, this part of a, and this part of b. The returned values are invalid if a and b are equal.
func firstDifference(a, b reflect.Value, path string) (string, reflect.Value, reflect.Value) {
	switch kind := a.Kind(); {
	case a.Type() == typeEntity:
	case kind == reflect.Struct:
		for i := range a.NumField() {
			f := a.Type().Field(i)
			if f.Name == "_" {
				continue
			}
			at := f.Name
			if path != "" {
				at = path + "." + f.Name
			}
			if p, x, y := firstDifference(a.Field(i), b.Field(i), at); x.IsValid() {
				return p, x, y
			}
		}
		return "", reflect.Value{}, reflect.Value{}
	case kind == reflect.Array:
		for i := range a.Len() {
			at := fmt.Sprintf("%s[%d]", path, i)
			if p, x, y := firstDifference(a.Index(i), b.Index(i), at); x.IsValid() {
				return p, x, y
			}
		}
		return "", reflect.Value{}, reflect.Value{}
	}
	if !bytes.Equal(bytesOf(a), bytesOf(b)) { // so NaN equals itself, and 0 differs from -0
		return path, a, b
	}
	return "", reflect.Value{}, reflect.Value{}
}

// bytesOf returns the memory of an addressable value.
func bytesOf(v reflect.Value) []byte {
	return unsafe.Slice((*byte)(v.Addr().UnsafePointer()), v.Type().Size())
}

// decoded returns an encoded value as text. If decoding fails, the text has hexadecimal digits.
func (m *moment) decoded(b []byte, t reflect.Type) string {
	from, err := m.schemaOf(t, t.String())
	if err == nil {
		v := reflect.New(t).Elem()
		d := decoder{codecs: m.codecs, changes: &changes{report: new(Report)}, b: b}
		if err = d.decode(from, v, t.String()); err == nil {
			return shown(v)
		}
	}
	return shortened(fmt.Sprintf("%x", b))
}

func shown(v reflect.Value) string {
	if v.Type() == typeEntity {
		return vast.EntityOf(v.Field(1).Uint()<<32 | v.Field(0).Uint()).String()
	}
	return shortened(fmt.Sprintf("%+v", v))
}

func shortened(text string) string { return fmt.Sprintf("%.200s", text) }
