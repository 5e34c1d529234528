package shared

import (
	"iter"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// AddAll gives every entity that matches the query the component with the value v, or overwrites the entity's
// value, as [vast.Column.AddAll] does. It returns how many entities match.
func (c Column[T]) AddAll(q vast.Query, v T) int {
	c.mustBeMade("AddAll")
	return c.numbers.AddAll(q, c.intern(v))
}

// SetAll overwrites the value of every matching entity that has the component, and returns the number of
// these entities, as [vast.Column.SetAll] does.
func (c Column[T]) SetAll(q vast.Query, v T) int {
	c.mustBeMade("SetAll")
	return c.numbers.SetAll(q, c.intern(v))
}

// RemoveAll takes the component from every entity that matches the query, and returns how many entities had
// one, as [vast.Column.RemoveAll] does.
func (c Column[T]) RemoveAll(q vast.Query) int {
	c.mustBeMade("RemoveAll")
	return c.numbers.RemoveAll(q)
}

// Replace gives every entity that has the value old the value new, also if a [vast.Disabled] switches the
// entity or the component off. It does not change the structure of the world. If no entity has the value old,
// nothing changes. If Replace needs memory for a new value and gets none, it panics with a [*vm.Error], and
// nothing has changed.
//
// Complexity: one write of the value, however many entities have it. In four cases, Replace takes one step
// for each 64 entities of the column, and one for each entity that has old: the column has the value new
// already; old or new is the zero value; new contains a NaN; the column has trackers.
func (c Column[T]) Replace(old, new T) {
	c.mustBeMade("Replace")
	all := probe.All(c.world.Query())
	number, ok := c.find(old)
	if !ok || old == new {
		return
	}
	if _, known := c.find(new); number == 0 || known || new != new {
		c.numbers.SetAll(c.Where(all, old), c.intern(new))
		return
	}
	if engine.Tracked(c.anyColumn) {
		for run := range c.Where(all, old).Runs() {
			c.numbers.EditRun(run)
		}
	}
	c.rewrite(number, new)
}

// Values yields each value that an entity has, and the number of these entities. The loop may change the
// values of entities; Values counts the entities before the first step. Complexity: one step for each entity
// and for each value of the column.
func (c Column[T]) Values() iter.Seq2[T, int] {
	return func(yield func(T, int) bool) {
		c.mustBeMade("Values")
		c.world.Query() // panics if the world is closed
		g := takeGroups()
		defer g.giveBack()
		c.table.Hold()
		defer c.table.Release()
		g.counts = c.table.Counts(g.counts)
		for number, n := range g.counts {
			if n > 0 && !yield(c.value(uint32(number)), int(n)) {
				return
			}
		}
	}
}
