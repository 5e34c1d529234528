package vast

// Slots returns how many slots, from 0 on, were handed out to archetypes and not all given back: every living entity's is
// below. Complexity: constant.
func (w *World) Slots() int {
	if w.closed {
		return 0
	}
	return int(w.frontier) * 64
}

// At returns the living entity in a slot, and whether there is one. Any number is safe. Complexity: constant.
func (w *World) At(slot int) (Entity, bool) {
	if slot < 0 || uint64(slot) >= uint64(w.size) {
		return Entity{}, false
	}
	s := uint32(slot)
	if *w.liveWord(s / 64)>>(s%64)&1 == 0 {
		return Entity{}, false
	}
	return Entity{slot: s, generation: *w.generation(s)}, true
}
