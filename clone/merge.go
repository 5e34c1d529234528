package clone

import (
	"fmt"

	"github.com/vastgo/vast"
)

// Merge moves all entities of the world `from` into the world `to`: their components, links, edges and names.
// Afterwards `from` has no entities, and can be used again or closed. Merge returns the old and the new
// reference of each entity. Columns need counterparts as in [New].
//
// A program can prepare a level in a world of its own, on another goroutine, and merge the level between two
// ticks. Merge does not touch the other entities of `to`. Resources stay in `from`, and Merge does not renew
// the references in these resources: renew them with [vast.Moves.Resolve].
//
// Callbacks run in this order: OnAdd in `to`, for all components and then for the links; then OnRemove in
// `from`, as in [vast.World.Reset]. During the callbacks, both worlds have the entities. The memory behind
// slices, maps and pointers of a [vast.HeapColumn] goes to the new entities, except for memory that leads to
// references: it is copied.
//
// Merge returns an error, and changes nothing, if a column has no counterpart, if entities have names and
// `to` has no Names, if a name is taken in `to` (the error wraps a [*vast.NameTaken]), if `to` has no room
// (the error wraps a *vm.Error), or if Commands of `from` are recorded and not applied. If a callback panics,
// Merge deletes the new entities, and `from` keeps its entities. Merge panics if `from` and `to` are the same
// world.
//
// Complexity: a copy of each component, by runs, and one step for each entity, link and name.
func Merge(from, to *vast.World, o Options) (vast.Moves, error) {
	if from == to {
		panic(fmt.Sprintf("clone: Merge: both worlds are %q: give two worlds", from.Options().Name))
	}
	if _, err := engine.Ready("clone.Merge", from, true); err != nil {
		return vast.Moves{}, fmt.Errorf("clone: merging world %q: %w", from.Options().Name, err)
	}
	o.Hierarchies = nil
	c, err := newCloner("clone.Merge", from, to, o)
	if err != nil {
		return vast.Moves{}, err
	}
	m, err := c.copying.Merge()
	if err != nil {
		return vast.Moves{}, fmt.Errorf("clone: merging world %q into world %q: %w", from.Options().Name,
			to.Options().Name, err)
	}
	return m, nil
}
