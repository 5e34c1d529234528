package vastarrow

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/probe"
)

// maxUnrolled is the length of the longest array whose elements get columns of their own. Longer arrays are
// JSON texts. An array of numbers is one column, whatever its length.
const maxUnrolled = 16

// leaf is a part of a component, or a whole component, that is one column.
type leaf struct {
	name   string
	typ    reflect.Type // Go type of the part
	kind   kind
	offset uintptr // bytes from the start of the component
	count  int     // number of values of an array; 0 if the leaf is one value
}

// values returns the number of values in a row.
func (l *leaf) values() int { return max(l.count, 1) }

// size returns the number of bytes of a row in a filler or in cells. It is 0 for texts and JSON.
func (l *leaf) size() int { return l.values() * l.kind.size() }

func (l *leaf) arrowType() arrow.DataType {
	t := kindTypes[l.kind]
	if l.count > 0 {
		return arrow.FixedSizeListOfNonNullable(int32(l.count), t)
	}
	return t
}

// appendLeaves appends the leaves of a type at an offset of a component.
func appendLeaves(leaves []leaf, name string, t reflect.Type, offset uintptr) []leaf {
	if k, ok := kindOf(t); ok {
		return append(leaves, leaf{name, t, k, offset, 0})
	}
	switch t.Kind() {
	case reflect.Complex64, reflect.Complex128:
		part := reflect.TypeFor[float32]()
		if t.Kind() == reflect.Complex128 {
			part = reflect.TypeFor[float64]()
		}
		leaves = appendLeaves(leaves, name+".real", part, offset)
		return appendLeaves(leaves, name+".imag", part, offset+part.Size())
	case reflect.Struct:
		for f := range fields(t) {
			leaves = appendLeaves(leaves, name+"."+snake.Case(f.Name), f.Type, offset+f.Offset)
		}
		return leaves
	}
	e := t.Elem()
	switch k, single := kindOf(e); {
	case t.Len() == 0:
	case single && k.sameInMemory():
		leaves = append(leaves, leaf{name, t, k, offset, t.Len()})
	case t.Len() > maxUnrolled:
		leaves = append(leaves, leaf{name, t, kindJSON, offset, 0})
	default:
		for i := range t.Len() {
			leaves = appendLeaves(leaves, name+"."+strconv.Itoa(i), e, offset+uintptr(i)*e.Size())
		}
	}
	return leaves
}

// fields yields the fields of a struct, except those with the name _.
func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if f := t.Field(i); f.Name != "_" && !yield(f) {
				return
			}
		}
	}
}

// role says how the components of a column are stored.
type role uint8

const (
	roleDense    role = iota // the components lie in one array, and are copied as bytes
	roleBoxed                // any other storage, or a leaf of kindJSON: components are copied as Go values
	roleTag                  // presence is the value
	roleRelation             // the target is the value
	roleNames                // the name is the value
)

// component is a column of a world with its leaves.
type component struct {
	col      vast.AnyColumn
	name     string // name of its column in a file, or the first part of the names of several columns
	world    *vast.World
	typ      reflect.Type // nil for tags
	role     role
	stride   int // bytes from one component to the next; 0 unless the role is roleDense
	leaves   []leaf
	relation vast.Relation
	names    *vast.Names
}

// describe returns the component of a column, or an error that says why a file cannot hold the column.
func describe(col vast.AnyColumn) (component, error) {
	info := probe.Describe(col)
	c := component{col: col, world: info.World, typ: info.Type}
	c.name = snake.Case(info.Name)
	name := c.name
	if n, ok := probe.NamesOf(info.World); ok && n.Name() == info.Name && info.Storage == probe.StorageHeap &&
		probe.Describe(n).ID == info.ID {
		c.role, c.names = roleNames, n
		c.leaves = []leaf{{name, info.Type, kindText, 0, 0}}
		return c, nil
	}
	if r, ok := probe.RelationOf(col); ok {
		c.role, c.relation = roleRelation, r
		c.leaves = []leaf{{name, entityType, kindEntity, 0, 0}}
		return c, nil
	}
	if info.Linked != "" {
		return c, fmt.Errorf("vastarrow: column %q belongs to the links of %q, which do not fit into one "+
			"column: leave it out", info.Name, info.Linked)
	}
	if info.Type != nil {
		c.leaves = appendLeaves(nil, name, info.Type, 0)
	}
	isJSON := func(l leaf) bool { return l.kind == kindJSON }
	switch {
	case len(c.leaves) == 0: // a tag, or a type without leaves such as struct{}
		c.role = roleTag
		c.leaves = []leaf{{name, nil, kindBool, 0, 0}}
	case info.Storage == probe.StorageDense && !slices.ContainsFunc(c.leaves, isJSON):
		c.stride = int(info.Type.Size())
	default:
		c.role = roleBoxed
	}
	return c, nil
}

// describeAll returns the components of columns, with distinct names of their leaves. If merge is true,
// describeAll calls component.merge for each component.
func describeAll(cols []vast.AnyColumn, merge bool) ([]component, error) {
	list := make([]component, 0, len(cols))
	seen := map[string]bool{entityColumn: true}
	for _, col := range cols {
		c, err := describe(col)
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[0].world != c.world {
			panic(fmt.Sprintf("vastarrow: columns %q and %q belong to two worlds: use the columns of one "+
				"world",
				list[0].col.Name(), col.Name()))
		}
		if merge {
			c.merge()
		}
		for i := range c.leaves {
			l := &c.leaves[i]
			if name := l.name; seen[name] {
				l.name = fmt.Sprintf("%s#%d", name, probe.Describe(col).ID)
				for n := 2; seen[l.name]; n++ {
					l.name = fmt.Sprintf("%s#%d.%d", name, probe.Describe(col).ID, n)
				}
			}
			seen[l.name] = true
		}
		list = append(list, c)
	}
	return list, nil
}

// merge replaces the leaves of a component by one leaf with several values, if the component consists of
// numbers of one type without gaps, such as the coordinates of a position.
func (c *component) merge() {
	if c.role != roleDense || len(c.leaves) < 2 {
		return
	}
	n, first := 0, c.leaves[0]
	for _, l := range c.leaves {
		if l.kind != first.kind || !l.kind.sameInMemory() || int(l.offset) != n*l.kind.size() {
			return
		}
		n += l.values()
	}
	if n*first.kind.size() == c.stride {
		c.leaves = []leaf{{c.name, c.typ, first.kind, 0, n}}
	}
}

// fold returns the same result for all spellings of a column's name, such as HomeTown.X and home_town.x.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
