package clone

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/probe"
)

// Options configure a [Cloner] and [Merge]. The zero value works.
type Options struct {
	// Hierarchies are relations of the world of the originals. A copy includes the descendants along these
	// relations. An empty slice that is not nil stands for no relation: a copy is then of the root alone.
	// Merge ignores Hierarchies. Default: all hierarchies of the world.
	Hierarchies []vast.Relation
	// Drop leaves out the components, links and edges of columns without a counterpart in the target world.
	// Default: such a column is an error.
	Drop bool
}

// Cloner copies subtrees of entities, within a world or from one world into another. Make a Cloner with
// [New]. The rules of [vast.World] about goroutines hold for both worlds, and two goroutines must not use a
// Cloner at the same time. A Cloner keeps 4 bytes on the Go heap for each slot of the world of the originals.
type Cloner struct {
	from, to    *vast.World
	hierarchies []vast.Relation
	columns     [2]int // number of columns of from and to when the Cloner was made
	copying     copying
}

// copying is the part of package vast that makes copies.
type copying interface {
	Find(e vast.Entity, along []vast.Relation) bool
	Copy(n int) error
	Merge() (vast.Moves, error)
	Originals() (originals, copies []vast.Entity)
}

var engine = state.Vast.(interface {
	Columns(function string, w *vast.World, writes bool) ([]state.Column, error)
	Ready(function string, w *vast.World, writes bool) (columns int, err error)
	Copying(from, to *vast.World, columns []any) any
})

// New makes a Cloner that copies entities of from into `to`, which may be the same world. The counterpart of
// a column has the same name and the same type of components. The storages may differ. Relations must agree
// in RelationOptions.Cyclic. New returns an error that names each column without a counterpart, unless
// Options.Drop is set. Between two worlds, New also returns an error if a column has two counterparts, or if
// two columns have the same counterpart.
//
// Register all columns before New: the Cloner panics if a column is registered later. New panics if
// Options.Hierarchies names a relation of another world or with circles. Complexity: the number of columns.
// Between two worlds: the product of their numbers of columns.
func New(from, to *vast.World, o Options) (*Cloner, error) {
	return newCloner("clone.New", from, to, o)
}

func newCloner(function string, from, to *vast.World, o Options) (*Cloner, error) {
	columns, err := engine.Columns(function, from, false)
	if err != nil {
		return nil, err
	}
	others, err := engine.Columns(function, to, false)
	if err != nil {
		return nil, err
	}
	counterparts := make([]any, len(columns))
	for i, c := range columns {
		if from == to && !c.Names {
			counterparts[i] = c.Of
		}
	}
	if from != to {
		if err := match(counterparts, from, to, columns, others, o.Drop); err != nil {
			return nil, fmt.Errorf("clone: copying from world %q to world %q: %w", from.Options().Name,
				to.Options().Name, err)
		}
	}
	c := &Cloner{from: from, to: to, columns: [2]int{len(columns), len(others)},
		copying: engine.Copying(from, to, counterparts).(copying)}
	c.hierarchies = hierarchies(function, from, columns, o.Hierarchies)
	return c, nil
}

// hierarchies returns the given relations, or all hierarchies if given is nil.
func hierarchies(function string, w *vast.World, columns []state.Column, given []vast.Relation) (
	all []vast.Relation) {
	handles := probe.Columns(w)
	for i, c := range columns {
		r, ok := probe.RelationOf(handles[i])
		if ok && !c.Private && !c.Cyclic {
			all = append(all, r)
		}
	}
	if given == nil {
		return all
	}
	for _, r := range given {
		known := false
		for _, one := range all {
			known = known || one == r
		}
		if !known {
			panic(fmt.Sprintf("%s: Options.Hierarchies has a relation of another world than %q, or one that "+
				"was made with RelationOptions.Cyclic: name hierarchies of this world", function,
				w.Options().Name))
		}
	}
	return given
}

// Clone makes a copy of e and of its descendants, and returns the copy of e. If e is stale, Clone returns the
// zero Entity and no error. The package documentation says what a copy has. Clone returns an error that
// wraps a *vm.Error if the target world has no room.
//
// Complexity: see the costs in the package documentation. The search for originals takes one step for each of
// their columns. The search also takes one step for each column of the world when the next original was born
// in another archetype, or lies in a 64-slot word with other added columns.
func (c *Cloner) Clone(e vast.Entity) (vast.Entity, error) {
	if found, err := c.copy("clone.Cloner.Clone", e, 1); !found || err != nil {
		return vast.Entity{}, err
	}
	_, copies := c.copying.Originals()
	return copies[0], nil
}

// CloneN makes n copies of e and of its descendants, as [Cloner.Clone] does. All copies of originals with
// equal columns are born side by side. If e is stale, CloneN makes no copies and returns no error.
func (c *Cloner) CloneN(e vast.Entity, n int) (*Copies, error) {
	if n < 0 {
		panic(fmt.Sprintf("clone: Cloner.CloneN(%d): the number of copies cannot be negative", n))
	}
	if n == 0 {
		return new(Copies), nil
	}
	if found, err := c.copy("clone.Cloner.CloneN", e, n); !found || err != nil {
		return new(Copies), err
	}
	return newCopies(c.copying.Originals()), nil
}

// copy makes n copies of e and its descendants, and reports whether e is alive.
func (c *Cloner) copy(function string, e vast.Entity, n int) (found bool, err error) {
	for i, w := range []*vast.World{c.from, c.to} {
		columns, err := engine.Ready(function, w, false)
		if err != nil {
			return false, err
		}
		if columns != c.columns[i] {
			panic(fmt.Sprintf("%s: world %q has %d columns, and had %d when the Cloner was made: make the "+
				"Cloner after the last column", function, w.Options().Name, columns, c.columns[i]))
		}
	}
	if !c.copying.Find(e, c.hierarchies) {
		return false, nil
	}
	if err := c.copying.Copy(n); err != nil {
		return true, fmt.Errorf("clone: copying entity %v into world %q: %w", e, c.to.Options().Name, err)
	}
	return true, nil
}
