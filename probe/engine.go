package probe

import (
	"reflect"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// engine holds the methods of package vast that the functions of this package call. A parameter named edges
// takes a value that the method EdgesOf returned.
var engine = probing.Vast.(interface {
	Parts(w *vast.World, add func(vast.AnyColumn, probing.Part))
	Regions(w *vast.World) []*vm.Region
	Extents(w *vast.World, from int, yield func(first, slots, entities int, a *vast.Archetype) bool)
	Occupied(w *vast.World, col vast.AnyColumn, lo, hi int) int
	Presence(w *vast.World, col vast.AnyColumn, word int) uint64
	EntityAt(w *vast.World, slot int) (vast.Entity, bool)
	Uses(w *vast.World, slot int) uint32

	Columns(w *vast.World) []vast.AnyColumn
	NewColumn(w *vast.World, name string, typ reflect.Type, s probing.Storage) vast.AnyColumn
	ComponentsOf(w *vast.World, e vast.Entity) []vast.AnyColumn
	Archetypes(w *vast.World) []*vast.Archetype
	ColumnsOf(a *vast.Archetype) []vast.AnyColumn
	NumberOf(a *vast.Archetype) int
	Describe(col vast.AnyColumn) (*vast.World, probing.Column)
	StatsOf(col vast.AnyColumn) vast.ColumnStats
	All(q vast.Query) vast.Query

	Value(col vast.AnyColumn, e vast.Entity) (reflect.Value, bool)
	SetValue(col vast.AnyColumn, e vast.Entity, v reflect.Value) bool
	AddValue(col vast.AnyColumn, e vast.Entity, v reflect.Value) bool
	RemoveValue(col vast.AnyColumn, e vast.Entity) bool
	Bytes(col vast.AnyColumn, r vast.Run) []byte

	Resources(w *vast.World) []reflect.Value
	Resource(w *vast.World, typ reflect.Type) (reflect.Value, bool)
	SetResource(w *vast.World, v reflect.Value) reflect.Value

	NamesOf(w *vast.World) (*vast.Names, bool)
	RelationOf(col vast.AnyColumn) (vast.Relation, bool)
	EdgesOf(col vast.AnyColumn) any
	EdgesType(edges any) reflect.Type
	SourceColumn(edges any) vast.AnyColumn
	TargetColumn(edges any) vast.AnyColumn
	CountSources(edges any, to vast.Entity) int
	CountTargets(edges any, from vast.Entity) int
	Sources(edges any, to vast.Entity, yield func(vast.Entity, reflect.Value) bool)
	Targets(edges any, from vast.Entity, yield func(vast.Entity, reflect.Value) bool)
})
