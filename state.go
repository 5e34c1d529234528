package vast

import (
	"errors"
	"reflect"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// states has methods for other packages of the module, such as store, sql and clone. These packages find the
// methods in state.Vast.
type states struct{}

func init() { state.Vast = states{} }

// Describe returns the state of a world. Do not change the structure of the world while you read the arrays
// of the state, because they lie in the world's memory. Describe returns an error if Commands of the world
// have not been applied.
func (states) Describe(w *World) (*state.World, error) {
	w.mustBeOpen("store.Save or store.Load")
	w.mustRunAlone("store.Save or store.Load")
	if w.commands.pending() {
		return nil, errors.New("commands have been recorded and not applied: call World.Apply first")
	}
	s := &state.World{Mark: uint32(w.mark), Alignment: w.alignment, Words: int(w.frontier)}
	if w.live != nil {
		s.Used = w.used()
	}
	index := make(map[*column]int, len(w.columns))
	for i, c := range w.columns {
		c.flushDirty()
		index[c] = i
		s.Columns = append(s.Columns, c.state())
	}
	for i, a := range w.archetypes {
		columns := make([]int, len(a.columns))
		for k, c := range a.columns {
			columns[k] = index[c]
		}
		s.Archetypes = append(s.Archetypes, columns)
		for _, x := range a.extents {
			one := state.Extent{Archetype: uint32(i), Word: x.word, Words: x.words}
			if x.spare {
				one.Spare = 1
			}
			s.Extents = append(s.Extents, one)
		}
	}
	if w.live != nil {
		s.Arrays = w.arrays(s)
	}
	return s, nil
}

// Generations returns the generations of all slots, for package observe. The result is valid until the
// structure of the world changes. method is the name of the caller. Generations panics if the world is closed
// or a callback is running.
func (states) Generations(method string, w *World) []uint32 {
	w.mustBeOpen(method)
	w.mustRunAlone(method)
	return unsafe.Slice((*uint32)(w.gens), w.size)
}

// OnSettle registers f. World.Apply, Admit, Reset, Trim and Close call f before they write to the world or
// give memory back. During World.Idle, the goroutine of a visitor calls f before the visitor's function. f
// returns when the caller may continue. A nil f removes the callback.
func (states) OnSettle(w *World, f func()) { w.settle = f }

// settled waits until the store allows writing to the world.
func (w *World) settled() {
	if w.settle != nil {
		w.settle()
	}
}

// pending reports whether a recorded command waits to be applied.
func (l *commandsList) pending() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.all {
		if !c.closed && (c.used > c.since || len(c.pieces) > 0) {
			return true
		}
	}
	return false
}

func (c *column) state() state.Column {
	_, d := probes{}.Describe(columnOfAnyType{c})
	s := state.Column{Name: c.name, Linked: c.linked, Private: c.internal, Names: c.world.namedBy(c),
		Storage: d.Storage, Type: c.typ, Of: c}
	s.Disabled, s.Disables = d.Disabled, d.Disables
	if k := c.links(); k != nil {
		s.OnDelete = uint8(k.rule())
		s.Cyclic = c.relation() != nil && c.relation().cyclic
	}
	words := uint(c.slots / 64)
	for words > 0 && c.set.Word(words-1) == 0 {
		words--
	}
	s.Slots = int(words) * 64
	if pool := c.pool(); pool != nil {
		p := pool.Describe()
		s.Pool = &p
	}
	for _, m := range c.marks {
		s.Notes = append(s.Notes, int(m.end()))
	}
	return s
}

func (w *World) arrays(s *state.World) []state.Array {
	arrays := []state.Array{
		state.ArrayOf(state.Floors, -1, 0, w.floors(s.Used)),
		w.arrayOfGenerations(s),
		state.BitsOf(state.Live, -1, 0, s.Words, w.live),
	}
	for i, c := range w.columns {
		arrays = append(arrays, c.arrays(i, &s.Columns[i])...)
	}
	return arrays
}

// used returns the number of words up to the last word that an archetype owns or owned.
func (w *World) used() int {
	// Trim keeps floors behind the last word that has generations.
	for n := w.control.Below() / bytesOwner; n > int(w.frontier); n-- {
		if w.owner(uint32(n-1)).floor != 0 || n <= int(w.size/64) && w.usedWord(n-1) != 0 {
			return n
		}
	}
	return int(w.frontier)
}

// floors returns the generation floors (see decision 0008) of the first `words` words.
func (w *World) floors(words int) []uint32 {
	floors := make([]uint32, words)
	for i := range min(words, int(w.floored)) {
		floors[i] = w.owner(uint32(i)).floor
	}
	return floors
}

func (w *World) arrayOfGenerations(s *state.World) state.Array {
	return state.Array{Kind: state.Generations, Column: -1, Type: reflect.TypeFor[uint32](), Len: s.Used * 64,
		Base: w.gens, Kept: func(word int) uint64 {
			if word >= int(w.size/64) {
				return 0
			}
			return w.usedWord(word)
		}}
}

// usedWord returns the mask of all slots of a word if the state must hold the generations of the word, and
// otherwise 0. The state need not hold them in two cases: no slot of the word ever held an entity, or no
// archetype owns the word and no generation is above the word's floor. In the second case, the method own
// raises the generations to the floor when an archetype owns the word again.
func (w *World) usedWord(word int) uint64 {
	floor := uint32(0)
	if word >= int(w.frontier) || w.vacant.Test(uint(word)) {
		floor = w.owner(uint32(word)).floor
	} else if w.live.Word(uint(word)) != 0 {
		return ^uint64(0)
	}
	for _, g := range w.generationsOf(uint32(word)) {
		if g > floor {
			return ^uint64(0)
		}
	}
	return 0
}

// arrays returns the arrays of the column. i is the column's number, and s its state.
func (c *column) arrays(i int, s *state.Column) []state.Array {
	arrays := []state.Array{state.BitsOf(state.Presence, i, 0, s.Slots/64, c.set)}
	if c.bytes > 0 {
		arrays = append(arrays, state.Array{Kind: state.Elements, Column: i, Type: c.typeOfElement(),
			Len: s.Slots, Base: c.base}.In(c.set))
	}
	if k := c.relation(); k != nil {
		arrays = append(arrays, state.Array{Kind: state.Links, Column: i, Type: reflect.TypeFor[link](),
			Len: s.Slots, Base: k.linkBase}.In(c.set))
	}
	if s.Pool != nil {
		arrays = append(arrays, c.pool().Arrays(*s.Pool, i)...)
	}
	for n, end := range s.Notes {
		arrays = append(arrays, c.marks[n].arrays(i, n, end)...)
	}
	return arrays
}

// arrays returns the arrays of m for the slots below end. n is the number of m among the marks of column i.
func (m *marks) arrays(i, n, end int) []state.Array {
	return []state.Array{
		state.BitsOf(state.Changed, i, n, end/64, m.changed),
		state.BitsOf(state.Touched, i, n, end/64, m.touched),
		state.BitsOf(state.Had, i, n, end/64, m.had),
		state.Array{Kind: state.HadGenerations, Column: i, Number: n, Type: reflect.TypeFor[uint32](),
			Len: end, Base: m.gens}.In(m.had),
	}
}

// end returns the end of the slots with marks, a multiple of 64.
func (m *marks) end() uint {
	word := uint(m.usable() / 64)
	for word > 0 && m.changed.Word(word-1)|m.touched.Word(word-1)|m.had.Word(word-1) == 0 {
		word--
	}
	return word * 64
}

// typeOfElement returns the type of the elements at base: handles in a sparse column, numbers of values in a
// column of package shared, and values of the column's type in other columns.
func (c *column) typeOfElement() reflect.Type {
	if c.store != nil && c.store.storage() == probing.StorageSparse {
		return reflect.TypeFor[[2]uint32]()
	}
	if _, ok := c.store.(*sharedStore); ok {
		return reflect.TypeFor[uint32]()
	}
	return c.typ
}

// pool returns the state of the pool of components, of the pool of edges, or of the table of shared values.
// If the column has none of them, pool returns nil.
func (c *column) pool() state.Container {
	if c.store == nil {
		return nil
	}
	return c.store.state()
}

// links returns the relation or edges whose sources the column holds, or nil.
func (c *column) links() linked {
	if c.linked == "" || c.internal {
		return nil
	}
	i := slices.IndexFunc(c.world.relations, func(l linked) bool {
		sources, _ := l.columns()
		return sources == c
	})
	return c.world.relations[i]
}

// relation returns the relation whose sources the column holds, or nil.
func (c *column) relation() *relation {
	if s, ok := c.store.(sourceStore); ok {
		return s.k
	}
	return nil
}

// Value returns the component of the entity in a slot of a column. The entity must have the component. The
// caller may read the result, and write it unless the column is of package shared.
func (states) Value(of any, slot int) reflect.Value {
	c := of.(*column)
	return reflect.NewAt(c.typ, c.at(uint32(slot))).Elem()
}

// Assign overwrites the component of the entity in a slot of a column. The entity must have the component. In
// a column of package shared, a new value needs memory. If the memory runs out, Assign panics with a
// *vm.Error.
func (states) Assign(of any, slot int, v reflect.Value) { of.(*column).setValue(uint32(slot), v) }

// Element returns the address of the component of the entity in a slot of a column. The entity must have the
// component. In a dense column the components of adjoining slots lie side by side.
func (states) Element(of any, slot uint32) unsafe.Pointer { return of.(*column).at(slot) }

// Slots yields the slots whose entities have the component of a column.
func (states) Slots(of any, yield func(slot int) bool) {
	for slot := range of.(*column).present() {
		if !yield(int(slot)) {
			return
		}
	}
}
