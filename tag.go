package vast

// Tag is a component without a value: presence bits and nothing else. It is a small value; copy it freely. Make one with
// [NewTag].
type Tag struct {
	c *column
}

// NewTag registers a tag with the world; name stands in statistics and messages. It takes addresses only, and panics with
// a [*vm.Error] where there are none left.
func NewTag(w *World, name string) Tag {
	w.mustBeOpen("NewTag")
	c, err := w.register(name, nil)
	if err != nil {
		panic(err)
	}
	t := Tag{c}
	c.later = t.later
	return t
}

func (t Tag) column() *column { return t.c }

// Len returns the number of entities that have the tag. Complexity: as [Column.Len].
func (t Tag) Len() int { return t.c.len() }

// Name returns the tag's name.
func (t Tag) Name() string { return t.c.name }

// Has reports whether e is alive and has the tag.
func (t Tag) Has(e Entity) bool { return t.c.has(e) }

// Add gives e the tag and reports whether e is alive. It panics when the world is closed, and with a [*vm.Error] when
// memory is needed and cannot be had; see [Tag.Grow].
func (t Tag) Add(e Entity) bool {
	had := t.c.observed && t.c.has(e)
	if !t.c.add(e) {
		return false
	}
	if t.c.observed && !had {
		t.c.tell(t.c.onAdd, "OnAdd", e.slot/64, 1<<(e.slot%64))
	}
	return true
}

// Remove takes the tag from e and reports whether e had it.
func (t Tag) Remove(e Entity) bool { return t.c.remove(e) }

// Grow makes every [Tag.Add] to entities that the world has room for now unable to fail, as [Column.Grow] does.
func (t Tag) Grow() error {
	t.c.world.mustBeOpen("Tag.Grow")
	return t.c.grow(t.c.world.size)
}

// OnAdd registers f to be told of each entity that gains the tag, as [Column.OnAdd] does.
func (t Tag) OnAdd(f func(e Entity)) {
	t.c.hookAdd(f)
}

// OnRemove registers f to be told of each entity that loses the tag, as [Column.OnRemove] does.
func (t Tag) OnRemove(f func(e Entity)) {
	t.c.hookRemove(f)
}
