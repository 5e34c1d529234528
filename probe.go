package vast

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// probes has the methods that package probe calls and documents.
type probes struct{}

func init() { probing.Vast = probes{} }

// columnOfAnyType is a column whose element type is not known at compile time.
type columnOfAnyType struct{ c *column }

func (c columnOfAnyType) Name() string    { return c.c.name }
func (c columnOfAnyType) column() *column { return c.c }

func withoutTypes(columns []*column) []AnyColumn {
	cols := make([]AnyColumn, len(columns))
	for i, c := range columns {
		cols[i] = columnOfAnyType{c}
	}
	return cols
}

// columnOf returns the column of col. If col is nil or a zero value, columnOf panics and names the called
// function of package probe.
func columnOf(function string, col AnyColumn) *column {
	if col != nil {
		if c := col.column(); c != nil {
			return c
		}
	}
	panic(fmt.Sprintf("probe: %s: the column was not made with NewColumn", function))
}

func (probes) Columns(w *World) []AnyColumn { return withoutTypes(w.columns) }

func (probes) ColumnsOf(a *Archetype) []AnyColumn { return withoutTypes(a.columns) }

func (probes) Archetypes(w *World) []*Archetype { return slices.Clone(w.archetypes) }

func (probes) NumberOf(a *Archetype) int { return int(a.id) }

func (probes) ComponentsOf(w *World, e Entity) []AnyColumn {
	var cols []AnyColumn
	for _, c := range w.columns {
		if c.has(e) && !c.internal {
			cols = append(cols, columnOfAnyType{c})
		}
	}
	return cols
}

func (probes) Describe(col AnyColumn) (*World, probing.Column) {
	c := columnOf("Describe", col)
	d := probing.Column{ID: int(c.id), Name: c.name, Type: c.typ, Linked: c.linked, Private: c.internal}
	d.Disabled = c.switches
	for _, other := range c.switched {
		d.Disables = append(d.Disables, int(other.id))
	}
	if c.elsewhere() {
		d.Storage = c.store.storage()
	} else if c.typ == nil {
		d.Storage = probing.StorageTag
	}
	return c.world, d
}

func (probes) All(q Query) Query { return q.lift("probe.All") }

func (probes) StatsOf(col AnyColumn) ColumnStats { return columnOf("StatsOf", col).stats() }

func (probes) Regions(w *World) []*vm.Region { return w.memory.regions }

func (probes) EntityAt(w *World, slot int) (Entity, bool) {
	if slot < 0 || slot >= int(w.size) {
		return Entity{}, false
	}
	s := uint32(slot)
	if *w.liveWord(s / 64)>>(s%64)&1 == 0 {
		return Entity{}, false
	}
	return w.entityIn(s), true
}

func (probes) Extents(w *World, from int, yield func(first, slots, entities int, a *Archetype) bool) {
	if w.closed || w.live == nil {
		return
	}
	before := w.changes
	for word := uint(max(from, 0) / 64); word < uint(w.frontier); {
		if word = w.vacant.NextClear(word); word >= uint(w.frontier) {
			return
		}
		x := w.extents[w.owner(uint32(word)).extent]
		if !yield(int(x.first()), int(x.words)*64, int(x.used-x.worn), x.archetype) {
			return
		}
		w.unchanged(before, "extents were walked over")
		word = uint(x.word + x.words)
	}
}

func (probes) Occupied(w *World, col AnyColumn, lo, hi int) int {
	s := w.live
	if col != nil {
		s = columnOf("Occupied", col).set
	}
	if w.closed || s == nil {
		return 0
	}
	return s.CountRange(uint(max(lo, 0)), uint(max(hi, 0)))
}

func (probes) Presence(w *World, col AnyColumn, word int) uint64 {
	s := w.live
	if col != nil {
		s = columnOf("Presence", col).set
	}
	if w.closed || s == nil || word < 0 || word >= s.Len()/64 {
		return 0
	}
	return s.Word(uint(word))
}

func (probes) Uses(w *World, slot int) uint32 {
	if slot < 0 || slot >= int(w.size) {
		return 0
	}
	return Entity{generation: *w.generation(uint32(slot))}.Generation()
}

func (probes) Bytes(col AnyColumn, r Run) []byte {
	c := columnOf("Bytes", col)
	if c.elsewhere() || c.typ == nil {
		return nil
	}
	if r.start+r.n > c.slots {
		panic(beyond{c, r})
	}
	if invariants.Enabled {
		c.mustHave(r)
		c.touch(false)
	}
	return c.elements(r.start, r.start+r.n)
}

func (probes) NamesOf(w *World) (*Names, bool) { return w.names, w.names != nil }

func (probes) RelationOf(col AnyColumn) (Relation, bool) {
	s, ok := columnOf("RelationOf", col).store.(sourceStore)
	return Relation{s.k}, ok
}

// anyEdges is the storage of [Edges] with values of any type.
type anyEdges interface {
	linked
	valueType() reflect.Type
	countOf(c *column, e Entity) int
	// The code that copies entities calls hasRoom, growFor, eachOut, eachIn and enterCopy.
	// See copying_links.go.
	hasRoom(n linkCount) bool
	growFor(n linkCount) error
	eachOut(slot uint32, f func(number, to uint32, value unsafe.Pointer))
	eachIn(slot uint32, f func(number uint32))
	enterCopy(from, to uint32, v unsafe.Pointer) (p unsafe.Pointer, first bool)
	// walkValues works like edges.walk, but yields copies of the values.
	walkValues(c *column, e Entity, yield func(Entity, reflect.Value) bool)
}

// EdgesOf returns the storage of the edges whose column of sources is col, or nil. Methods with a parameter
// named edges expect this storage.
func (probes) EdgesOf(col AnyColumn) any {
	c := columnOf("EdgesOf", col)
	for _, l := range c.world.relations {
		if s, ok := l.(anyEdges); ok {
			if sources, _ := s.columns(); sources == c {
				return s
			}
		}
	}
	return nil
}

func (probes) EdgesType(edges any) reflect.Type { return edges.(anyEdges).valueType() }

func (probes) SourceColumn(edges any) AnyColumn {
	sources, _ := edges.(anyEdges).columns()
	return columnOfAnyType{sources}
}

func (probes) TargetColumn(edges any) AnyColumn {
	_, targets := edges.(anyEdges).columns()
	return columnOfAnyType{targets}
}

func (probes) CountSources(edges any, to Entity) int {
	s := edges.(anyEdges)
	_, targets := s.columns()
	return s.countOf(targets, to)
}

func (probes) CountTargets(edges any, from Entity) int {
	s := edges.(anyEdges)
	sources, _ := s.columns()
	return s.countOf(sources, from)
}

func (probes) Sources(edges any, to Entity, yield func(Entity, reflect.Value) bool) {
	s := edges.(anyEdges)
	_, targets := s.columns()
	s.walkValues(targets, to, yield)
}

func (probes) Targets(edges any, from Entity, yield func(Entity, reflect.Value) bool) {
	s := edges.(anyEdges)
	sources, _ := s.columns()
	s.walkValues(sources, from, yield)
}

func (s *edges[T]) valueType() reflect.Type         { return reflect.TypeFor[T]() }
func (s *edges[T]) countOf(c *column, e Entity) int { return s.count(c, e) }

func (s *edges[T]) walkValues(c *column, e Entity, yield func(Entity, reflect.Value) bool) {
	s.walk(c, e, func(other Entity, p *T) bool {
		v := *p
		return yield(other, reflect.ValueOf(&v).Elem())
	})
}
