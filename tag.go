package vast

import "unsafe"

// Tag is a component without a value: it has only presence bits. A Tag is small and may be copied. Make a Tag
// with [NewTag].
type Tag struct {
	c *column
}

// NewTag registers a tag with the world. name appears in statistics and messages; NewTag panics if the world
// has a tag of this name. NewTag reserves only addresses, and panics with a [*vm.Error] if no addresses are
// left.
func NewTag(w *World, name string) Tag {
	w.mustTakeColumns("NewTag")
	w.mustBeNewTag("NewTag", name)
	c, err := w.register(name, nil)
	if err != nil {
		panic(err)
	}
	return tagOf(c)
}

// tagOf turns a new column into a tag.
func tagOf(c *column) Tag {
	t := Tag{c}
	c.later, c.adding, c.removing = t.later, opAddTag, opRemoveTag
	return t
}

func (t Tag) column() *column { return t.c }

// Len returns the number of entities that have the tag. Complexity: as [Column.Len].
func (t Tag) Len() int { return t.c.len() }

// Name returns the tag's name.
func (t Tag) Name() string { return t.c.name }

// Has reports whether e is alive and has the tag.
func (t Tag) Has(e Entity) bool { return t.c.has(e) }

// Add gives e the tag and reports whether e is alive. It panics if the world is closed. It panics with a
// [*vm.Error] if it needs memory and gets none; see [Tag.Grow].
func (t Tag) Add(e Entity) bool {
	alive, gained := t.c.add(e)
	if gained && t.c.observed {
		t.c.tellAdded(e.slot)
	}
	return alive
}

// Remove removes the tag from e and reports whether e had it.
func (t Tag) Remove(e Entity) bool { return t.c.remove(e) }

// Grow makes room for n additions, as [Column.Grow] does.
func (t Tag) Grow(n int) error { return t.c.growForAdditions("Tag.Grow", n) }

// AddLater records that e gains the tag, as by [Tag.Add].
func (t Tag) AddLater(cs *Commands, e Entity) { cs.recordFor(t.c, commandAdd, e, 0) }

// RemoveLater records that e loses the tag, as by [Tag.Remove].
func (t Tag) RemoveLater(cs *Commands, e Entity) { cs.recordFor(t.c, commandRemove, e, 0) }

func (t Tag) later(_ *Commands, kind commandKind, e Entity, _ unsafe.Pointer) bool {
	if kind == commandAdd {
		return t.Add(e)
	}
	return t.c.remove(e)
}

// In reports whether the entities of a run have the tag. It tests only the run's first entity: name the tag
// in [Query.Optional], so that all entities of a run or none of them have the tag.
func (t Tag) In(r Run) bool { return t.c.in(r) }

// OnAdd registers a callback for each entity that gains the tag, as [Column.OnAdd] does.
func (t Tag) OnAdd(f func(e Entity)) {
	t.c.hookAdd(f)
}

// OnRemove registers a callback for each entity that loses the tag, as [Column.OnRemove] does.
func (t Tag) OnRemove(f func(e Entity)) {
	t.c.hookRemove(f)
}

// AddAll gives the tag to every entity that matches the query and returns how many entities match, as
// [Column.AddAll] does.
func (t Tag) AddAll(q Query) int {
	var k walk
	t.c.startAll("Tag.AddAll", q, &k)
	k.world.mustNotBeInCallback(opAddAll)
	gains, err := t.c.roomForAll(q)
	if err != nil {
		panic(err)
	}
	n, added, changes := 0, 0, 0
	// Bits change only in slots that the walk has passed, so the walk may continue.
	for k.next() {
		changes += giveRequired(gains, uint32(k.cursor.Lo), uint32(k.cursor.Hi))
		added += t.c.give(uint32(k.cursor.Lo), uint32(k.cursor.Hi))
		n += int(k.cursor.Hi - k.cursor.Lo)
	}
	t.c.endPromises(added)
	k.world.changedAll(opAddAll, changes+added)
	tellAllGains(gains)
	return n
}

// RemoveAll removes the tag from every matching entity that has it, and returns the number of these entities,
// as [Column.RemoveAll] does.
func (t Tag) RemoveAll(q Query) int { return t.c.removeAll("Tag.RemoveAll", q) }
