package vast

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/vastgo/vast/internal/invariants"
)

// Require makes the column col require other columns: an entity that gains the component of col also gains
// the required components that it lacks. The new components are zero. Components that the entity has already
// do not change. The rule holds for Add, EditOrAdd, AddAll, [World.Exchange], [World.Apply] and births:
// [World.Archetype] adds the required columns to an archetype with col. A required column can require more
// columns in turn.
//
// Only a gain counts. A write to a component that the entity already has adds nothing. An entity may lose a
// required component and keep the component of col. An entity that loses the component of col keeps the
// required components.
//
// Trackers and the callbacks of OnAdd see each gain. [Column.Add] and [Column.EditOrAdd] add the required
// components before the component of col, in the order of registration. If memory runs out, an operation
// changes nothing. Grow of col also makes room for the required components.
//
// Call Require right after the columns are made, and before Grow, because Require ends the promises of Grow
// for col and for the columns that require col. Require panics in these cases:
//
//   - an archetype or an entity has col or a column that requires col;
//   - col would require itself;
//   - a column belongs to another world, or is named twice;
//   - a column belongs to a relation, to edges or to [Names];
//   - col is a [Disabled].
//
// A world without requirements pays nothing.
func (w *World) Require(col AnyColumn, required ...AnyColumn) {
	w.mustTakeColumns("World.Require")
	w.mustRunAlone("World.Require")
	columns := w.columnsOf("World.Require", append([]AnyColumn{col}, required...))
	mustStandAlone("World.Require", columns)
	if columns[0].switches {
		panic(fmt.Sprintf("vast: World.Require: %s is a Disabled, and disabling an entity adds no "+
			"components: name another column that requires them", columns[0].name))
	}
	c, all := columns[0], columns[1:] // all required columns, direct or indirect
	for _, r := range columns[1:] {
		all = slices.Concat(all, r.requires)
	}
	if slices.Contains(all, c) {
		panic(fmt.Sprintf("vast: World.Require: column %s would require itself, because %s requires it: "+
			"leave one of the requirements out, or name both columns in an archetype", c.name,
			c.requiredBy(columns)))
	}
	for _, d := range w.columns {
		if d == c || slices.Contains(d.requires, c) {
			d.mustBeUnused("World.Require")
		}
	}
	for _, d := range w.columns {
		if d == c || slices.Contains(d.requires, c) {
			d.endPromises(d.promised)
			d.require(all)
		}
	}
}

// requiredBy returns the name of the first of the given columns that requires c.
func (c *column) requiredBy(columns []*column) string {
	at := slices.IndexFunc(columns, func(d *column) bool { return slices.Contains(d.requires, c) })
	return columns[at].name
}

// mustBeUnused panics if an archetype has the column or if an entity has the component.
func (c *column) mustBeUnused(what string) {
	if n := c.len(); n > 0 {
		panic(fmt.Sprintf("vast: %s: column %s has %d components already: call %[1]s before the "+
			"first entity gains one", what, c.name, n))
	}
	for _, a := range c.world.archetypes {
		if slices.Contains(a.columns, c) {
			panic(fmt.Sprintf("vast: %s: an archetype has column %s already: call %[1]s before "+
				"World.Archetype", what, c.name))
		}
	}
}

// require adds columns to c.requires, in the order of registration. The caller also passes the columns that
// the added columns require.
func (c *column) require(required []*column) {
	c.requires = slices.Concat(c.requires, required)
	slices.SortFunc(c.requires, func(a, b *column) int { return cmp.Compare(a.id, b.id) })
	c.requires = slices.Compact(c.requires)
	c.attended = c.observed || len(c.requires) > 0
}

// addRequired gives e the required components that e lacks, before e gains the component of c. First it makes
// room for all of these components and for the component of c, so that the addition to c cannot fail.
func (c *column) addRequired(e Entity) {
	if err := c.growToAdd(e.slot); err != nil {
		panic(err)
	}
	word, bit := e.slot/64, uint64(1)<<(e.slot%64)
	for _, r := range c.requires {
		if r.set.Word(uint(word))&bit != 0 {
			continue
		}
		if invariants.Enabled {
			r.touch(true)
			r.mustBeFree(e.slot, e.slot+1)
		}
		c.world.changed(r.adding, r.giveNew(word, bit))
		r.tellAdded(e.slot)
	}
}

// gaining is a component that entities of a query are about to gain.
type gaining struct {
	*column
	by      []*column  // added columns that require this column; nil if the operation names this column
	gains   []wordMask // slots that gain the component; nil if the operation needs no list
	missing int        // number of slots in gains
	share   int        // largest number of gains that use room promised by Grow
}

// gaining returns the components that the entities of a query gain in an operation that adds the given
// columns. The required components come first.
func (w *World) gaining(q Query, columns []*column) []gaining {
	var all []gaining
	for _, r := range w.columns {
		g := gaining{column: r}
		for _, c := range columns {
			if slices.Contains(c.requires, r) {
				g.by = append(g.by, c)
			}
		}
		if g.by != nil && !slices.Contains(columns, r) {
			all = append(all, g)
		}
	}
	for _, c := range columns {
		all = append(all, gaining{column: c, share: c.promised})
	}
	for i := range all {
		g := &all[i]
		if !g.observed && g.by == nil && len(g.requires) == 0 {
			continue
		}
		for run := range q.Runs() {
			for lo, end := run.start, run.start+run.n; lo < end; {
				word, mask, hi := wordOf(lo, end)
				if mask = g.in(word, mask); mask != 0 {
					g.gains = append(g.gains, wordMask{word, mask})
					g.missing += bits.OnesCount64(mask)
				}
				lo = hi
			}
		}
	}
	for i := range all {
		for _, c := range all[i].by {
			// Only the entities that gain c in this operation use room that Grow promised for c.
			for _, g := range all {
				if g.column == c {
					all[i].share += min(c.promised, g.missing)
				}
			}
		}
	}
	return all
}

// roomForAll makes room for the component of c and the components that c requires, in all entities of a
// query. If c.attended is false, roomForAll returns no list. On failure nothing has changed.
func (c *column) roomForAll(q Query) ([]gaining, error) {
	if !c.attended {
		return nil, c.growFor(q.q)
	}
	all := c.world.gaining(q, []*column{c})
	return all, c.world.roomFor(q, all)
}

// in returns those slots of mask, in the given word, whose entities gain the component.
func (g *gaining) in(word uint32, mask uint64) uint64 {
	if g.by != nil {
		gained := uint64(0)
		for _, c := range g.by {
			gained |= mask &^ c.now(word)
		}
		mask = gained
	}
	return mask &^ g.now(word)
}

// roomFor makes room for the components that entities of a query gain. On failure nothing has changed.
func (w *World) roomFor(q Query, all []gaining) error {
	columns := make([]*column, len(all))
	for i := range all {
		columns[i] = all[i].column
	}
	return w.try(columns, func() error {
		for _, g := range all {
			err := g.growFor(q.q)
			if err == nil && g.store != nil {
				err = g.room(g.missing, g.share)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// giveRequired gives the entities in the slots [lo, hi) the required components, and returns the number of
// gains. Call giveRequired before the operation adds its own columns.
func giveRequired(all []gaining, lo, hi uint32) (added int) {
	for i := 0; i < len(all) && all[i].by != nil; i++ {
		for g, at := &all[i], lo; at < hi; {
			word, mask, end := wordOf(at, hi)
			added += g.giveNew(word, g.in(word, mask))
			at = end
		}
	}
	return added
}

// giveNew gives a zero component to the slots of mask in a word. All of these slots must lack the component.
// There must be room.
func (c *column) giveNew(word uint32, mask uint64) (added int) {
	added = c.giveZeroIn(word, mask)
	if c.store != nil {
		for ; mask != 0; mask &= mask - 1 {
			c.store.put(c.world.entityIn(word*64 + trailingZeros(mask)))
		}
	}
	return added
}

func tellAllGains(all []gaining) {
	for _, g := range all {
		g.tellGains(g.gains)
	}
}
