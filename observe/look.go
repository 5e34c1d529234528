package observe

// look compares the matches of the query with the notes, lists the differences, and notes the matches. If
// quiet is set, look does not list the entities that entered. On failure the lists are empty. If quiet is not
// set, the notes have not changed. If quiet is set, the caller must close the monitor.
func (m *Monitor) look(method string, quiet bool) error {
	current := engine.Generations(method, m.world)
	m.looks++
	m.entered.n, m.left.n = 0, 0
	matched, generations := m.rows()
	var err error
	next := 0 // the first word that is not compared yet
	for word, now := range m.query.Words() {
		if word >= len(matched) {
			if _, err = m.notes.AppendN(m.world.Slots()/64 - len(matched)); err != nil {
				break
			}
			matched, generations = m.rows()
		}
		if err = m.leave(next, word); err != nil {
			break
		}
		next = word + 1
		had, before, after := matched[word], &generations[word], (*[64]uint32)(current[word*64:])
		same := *before == *after // one comparison of 256 bytes; usually it is true
		if same && had == now {
			continue
		}
		replaced := uint64(0)
		if !same {
			replaced = differing(before, after) & had & now
		}
		if gone := had&^now | replaced; gone != 0 {
			if err = m.left.add(word, gone, before); err != nil {
				break
			}
		}
		if come := now&^had | replaced; come != 0 && !quiet {
			if err = m.entered.add(word, come, after); err != nil {
				break
			}
		}
		matched[word] = now
		if !same {
			*before = *after // of all 64 slots, so that the next comparison is true
		}
	}
	if err == nil {
		err = m.leave(next, len(matched))
	}
	if err != nil {
		m.undo()
	}
	return err
}

// rows returns the notes.
func (m *Monitor) rows() (matched []uint64, generations [][64]uint32) {
	for b := range m.notes.Blocks() {
		matched, generations = m.matched.Slice(b), m.generations.Slice(b)
	}
	return matched, generations
}

// leave notes that no entity in the words [lo, hi) matches, and lists the entities that matched before.
func (m *Monitor) leave(lo, hi int) error {
	if lo == hi {
		return nil
	}
	matched, generations := m.rows()
	for word, had := range matched[lo:hi] {
		if had == 0 {
			continue
		}
		word += lo
		if err := m.left.add(word, had, &generations[word]); err != nil {
			return err
		}
		matched[word] = 0
	}
	return nil
}

// differing returns the slots whose generations differ.
func differing(a, b *[64]uint32) (slots uint64) {
	for i := range a {
		if a[i] != b[i] {
			slots |= 1 << i
		}
	}
	return slots
}

// undo restores the notes that look has changed, and empties the lists.
func (m *Monitor) undo() {
	matched, generations := m.rows()
	for _, e := range m.entered.all() {
		matched[e.Slot()/64] &^= 1 << (e.Slot() % 64)
	}
	for _, e := range m.left.all() {
		word, i := e.Slot()/64, e.Slot()%64
		matched[word] |= 1 << i
		generations[word][i] = uint32(e.ID() >> 32)
	}
	m.entered.n, m.left.n = 0, 0
}
