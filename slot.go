package vast

// At returns the living entity in a slot, and whether there is one; any number is safe. It is for tools that go by slots: a
// program keeps the [Entity]. Complexity: constant.
func (w *World) At(slot int) (Entity, bool) {
	if slot < 0 || slot >= int(w.size) {
		return Entity{}, false
	}
	s := uint32(slot)
	if *w.liveWord(s / 64)>>(s%64)&1 == 0 {
		return Entity{}, false
	}
	return Entity{slot: s, generation: *w.generation(s)}, true
}

// Slots returns where slots end: that of every living entity is below. Complexity: constant.
func (w *World) Slots() int {
	if w.closed {
		return 0
	}
	return int(w.frontier) * 64
}
