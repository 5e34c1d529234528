package vast

import (
	"slices"

	"github.com/vastgo/vast/internal/invariants"
)

// Regroup moves entities that match a query: if the components of an entity differ from those of its
// archetype, the entity moves to the archetype of its current components. Links, names and the tags of
// [Disabled] do not count as components here, and disabled entities move as others do. After Regroup, a query
// for components that many entities gained walks over long runs. [Archetype.Pack] closes the holes that
// Regroup leaves.
//
// With [MoveOptions.By], Regroup moves entities inside their archetypes instead. In each archetype, Regroup
// counts the sequences of matches with an equal value or target. If there are more than twice as many
// sequences as values or targets, all of these matches move. Then the matches with one value or target follow
// one another; holes and other entities may lie between them. Births may separate the entities again.
// Entities without a value or target stay.
//
// The rules of Pack about references and callbacks hold. Regroup makes room before it moves entities. If it
// gets no memory for the room, it panics with a [*vm.Error] and moves no entity. Regroup also panics if the
// query is of another world, if By is neither a shared.Column nor a [Relation], and if both By and Most are
// given.
//
// Complexity: as for Pack, plus, for each 64-slot word with matches, one step for each component that
// entities of the word may have. With By, the second part is a sort instead: one step for each match, for
// each of the bytes in which the keys differ. A key is the number of a value or the slot of a target. The
// sort takes 40 bytes of the Go heap for each match.
func (w *World) Regroup(q Query, o MoveOptions) Moves {
	var k walk
	w.startAll("World.Regroup", q, &k)
	w.mustNotBeInCallback(opRegroup)
	q, most := q.lift("World.Regroup"), o.most("World.Regroup")
	var groups []group
	if by := w.keyColumn("World.Regroup", o); by != nil {
		groups = w.scattered(q, by)
	} else {
		groups = w.misplaced(q, most)
	}
	var from, to []uint32
	for _, g := range groups {
		from = append(from, g.slots...)
	}
	w.mustRenewKept(opRegroup, from)
	if err := w.try(w.columns, func() (err error) {
		to, err = w.roomForGroups(groups)
		return err
	}); err != nil {
		panic(err)
	}
	m := w.newMoves(from, to)
	w.move(opRegroup, &m)
	if invariants.Enabled {
		w.checkNowAndThen()
	}
	w.tellMoves(m)
	return m
}

// group is a set of entities that will move to an archetype.
type group struct {
	archetype *Archetype
	slots     []uint32 // current slots of the entities
}

// misplaced returns the matching entities whose components differ from those of their archetype. The groups
// hold at most limit entities in all.
func (w *World) misplaced(q Query, limit int) (groups []group) {
	var columns []*column // columns that the entities of the current word may have
	last := owner{extent: none}
	index := make(map[*Archetype]int) // index of the archetype's group
	for word, mask := range q.Words() {
		o := w.owner(uint32(word))
		if o.extent != last.extent || o.extra != last.extra {
			last = *o
			// An entity should not move only because it has the tag of a Disabled.
			columns = slices.DeleteFunc(w.columnsOfWord(o, columns[:0]), (*column).isSwitch)
		}
		a := w.extents[o.extent].archetype
		left := mask & w.differing(a, columns, uint32(word))
		for left != 0 && limit > 0 {
			slot := uint32(word)*64 + trailingZeros(left)
			same, set := left, []*column(nil)
			for _, c := range columns {
				if c.hasAt(slot) {
					same &= c.now(uint32(word))
					set = append(set, c)
				} else {
					same &^= c.now(uint32(word))
				}
			}
			left &^= same
			to := w.archetypeWith(set)
			i, ok := index[to]
			if !ok {
				i = len(groups)
				index[to], groups = i, append(groups, group{archetype: to})
			}
			g := &groups[i]
			for ; same != 0 && limit > 0; same &= same - 1 {
				g.slots = append(g.slots, uint32(word)*64+trailingZeros(same))
				limit--
			}
		}
	}
	return groups
}

// columnsOfWord appends the columns that entities of a word may have, in the order of their ids. It leaves
// out the columns of links and names, which no archetype has.
func (w *World) columnsOfWord(o *owner, to []*column) []*column {
	a := w.extents[o.extent].archetype
	for _, c := range w.columns {
		if c.linked == "" && !w.namedBy(c) && (o.extra>>(c.id%64)&1 != 0 || slices.Contains(a.columns, c)) {
			to = append(to, c)
		}
	}
	return to
}

// isSwitch reports whether the column is the tag of a Disabled.
func (c *column) isSwitch() bool { return c.switches }

// differing returns the slots of a word whose presence bits in the given columns differ from the presence
// bits of a newborn entity of an archetype.
func (w *World) differing(a *Archetype, columns []*column, word uint32) (mask uint64) {
	for _, c := range columns {
		has := c.now(word)
		if slices.Contains(a.columns, c) {
			has = ^has
		}
		mask |= has
	}
	return mask
}

// roomForGroups gives archetypes room for their groups, and returns the slots for the entities, group by
// group. On failure the archetypes own the same slots as before.
func (w *World) roomForGroups(groups []group) (to []uint32, err error) {
	before := make([][]*extent, len(groups))
	defer func() {
		for i, g := range groups {
			for _, x := range slices.Clone(g.archetype.extents) {
				if err != nil && !slices.Contains(before[i], x) {
					w.giveBack(x)
				}
			}
		}
	}()
	for i, g := range groups {
		before[i] = slices.Clone(g.archetype.extents)
		if len(before[i]) == 1 {
			before[i][0].spare = false // draw must not take this extent for another archetype
		}
	}
	for _, g := range groups {
		if n := len(g.slots) - g.archetype.free(); n > 0 {
			if err := w.draw(g.archetype, n); err != nil {
				return nil, err
			}
		}
	}
	for _, g := range groups {
		i := 0
		for slot := range g.archetype.vacancies() {
			if i == len(g.slots) {
				break
			}
			if err := w.roomAt(slot, g.slots[i]); err != nil {
				return nil, err
			}
			to = append(to, slot)
			i++
		}
	}
	return to, nil
}

// roomAt makes room in slot dst for the links of the entity in slot src, and for the components that its
// archetype lacks.
func (w *World) roomAt(dst, src uint32) error {
	for _, l := range w.relations {
		if err := l.roomAt(dst, src); err != nil {
			return err
		}
	}
	for extra := w.owner(src / 64).extra; extra != 0; extra &= extra - 1 {
		for id := int(trailingZeros(extra)); id < len(w.columns); id += 64 {
			if c := w.columns[id]; c.hasAt(src) {
				if err := c.grow(dst + 1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
