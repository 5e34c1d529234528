package vast

// AddAll gives every entity that matches the query the tag and returns how many match, as [Column.AddAll] does.
func (t Tag) AddAll(q Query) int {
	var k walk
	t.c.startAll("Tag.AddAll", q, &k)
	k.world.mustNotBeInCallback(opAddAll)
	if err := t.c.growFor(q.q); err != nil {
		panic(err)
	}
	gains, _ := t.c.gainsOf(q)
	n, added := 0, 0
	// Bits change only in slots that the walk has passed, so it may go on.
	for k.next() {
		added += t.c.give(uint32(k.cursor.Lo), uint32(k.cursor.Hi))
		n += int(k.cursor.Hi - k.cursor.Lo)
	}
	k.world.changedAll(opAddAll, added)
	t.c.tellGains(gains)
	return n
}

// RemoveAll takes the tag from every entity that matches the query and has it, and returns how many these were, as
// [Column.RemoveAll] does.
func (t Tag) RemoveAll(q Query) int { return t.c.removeAll("Tag.RemoveAll", q) }

// AddAll gives every entity that matches the query the component with the value v, or overwrites the one that it has, and
// returns how many match, as [Column.AddAll] does. Complexity: a step for each entity.
func (c SparseColumn[T]) AddAll(q Query, v T) int {
	return addAllIn(c.c, c.s, "SparseColumn.AddAll", q, v)
}

// SetAll overwrites the component of every entity that matches the query and has it, and returns how many these are, as
// [Column.SetAll] does.
func (c SparseColumn[T]) SetAll(q Query, v T) int {
	return setAllIn(c.c, c.s, "SparseColumn.SetAll", q, v)
}

// RemoveAll takes the component from every entity that matches the query and has it, and returns how many these were, as
// [Column.RemoveAll] does. Complexity: a step for each of them.
func (c SparseColumn[T]) RemoveAll(q Query) int { return c.c.removeAll("SparseColumn.RemoveAll", q) }

// AddAll gives every entity that matches the query the component with the value v, or overwrites the one that it has, and
// returns how many match, as [Column.AddAll] does. What v refers to they share. Complexity: a step for each entity.
func (c HeapColumn[T]) AddAll(q Query, v T) int { return addAllIn(c.c, c.s, "HeapColumn.AddAll", q, v) }

// SetAll overwrites the component of every entity that matches the query and has it, and returns how many these are, as
// [Column.SetAll] does. What v refers to they share.
func (c HeapColumn[T]) SetAll(q Query, v T) int { return setAllIn(c.c, c.s, "HeapColumn.SetAll", q, v) }

// RemoveAll takes the component from every entity that matches the query and has it, and returns how many these were, as
// [Column.RemoveAll] does. Complexity: a step for each of them.
func (c HeapColumn[T]) RemoveAll(q Query) int { return c.c.removeAll("HeapColumn.RemoveAll", q) }

// elementsOf is a store that knows where the element of a slot lies.
type elementsOf[T any] interface {
	store
	at(slot uint32) *T
}

// addAllIn is AddAll for a column with a store. On failure nothing has changed.
func addAllIn[T any](c *column, s elementsOf[T], what string, q Query, v T) int {
	var k walk
	c.startAll(what, q, &k)
	k.world.mustNotBeInCallback(opAddAll)
	gains, missing := c.gainsOf(q)
	if err := c.world.try([]*column{c}, func() error {
		if err := c.growFor(q.q); err != nil {
			return err
		}
		return c.room(missing, c.promised)
	}); err != nil {
		panic(err)
	}
	n, added := 0, 0
	// Bits change only in slots that the walk has passed, so it may go on.
	for k.next() {
		for lo, hi := uint32(k.cursor.Lo), uint32(k.cursor.Hi); lo < hi; {
			word, mask, end := wordOf(lo, hi)
			for m := mask &^ c.set.Word(uint(word)); m != 0; m &= m - 1 {
				s.put(word*64 + trailingZeros(m))
				c.kept(1)
			}
			added += c.giveIn(word, mask)
			for slot := lo; slot < end; slot++ {
				*s.at(slot) = v
			}
			if c.tracked {
				c.wroteIn(word, mask)
			}
			n += int(end - lo)
			lo = end
		}
	}
	c.world.changedAll(opAddAll, added)
	c.tellGains(gains)
	return n
}

// setAllIn is SetAll for a column with a store.
func setAllIn[T any](c *column, s elementsOf[T], what string, q Query, v T) int {
	var k walk
	c.startAll(what, q, &k)
	n := 0
	for k.next() {
		for lo, hi := uint32(k.cursor.Lo), min(uint32(k.cursor.Hi), c.slots); lo < hi; {
			word, mask, end := wordOf(lo, hi)
			mask &= c.set.Word(uint(word))
			for m := mask; m != 0; m &= m - 1 {
				*s.at(word*64 + trailingZeros(m)) = v
				n++
			}
			if c.tracked {
				c.wroteIn(word, mask)
			}
			lo = end
		}
	}
	return n
}

// removeAll is RemoveAll for any column.
func (c *column) removeAll(what string, q Query) int {
	var k walk
	c.startAll(what, q, &k)
	k.world.mustNotBeInCallback(opRemoveAll)
	marked := q.q.marked()
	c.tellLossesOf(q)
	q.q.mustBeMarkedAsBefore(marked)
	n := 0
	// Bits change only in slots that the walk has passed, so it may go on.
	for k.next() {
		n += c.take(uint32(k.cursor.Lo), uint32(k.cursor.Hi))
	}
	k.world.changedAll(opRemoveAll, n)
	return n
}
