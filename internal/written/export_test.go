package written

// Protected reports whether the block that contains an address is protected.
func (w *Watch) Protected(addr uintptr) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.watched {
		if i := r.first(addr); !r.isClosed() && r.all.Lo <= addr && addr < r.all.Hi && i < len(r.blocks) &&
			r.blocks[i].all().Lo <= addr {
			return r.blocks[i].protected
		}
	}
	return false
}

// Try lets the next scan put at least the given number of new blocks, and as many blocks that were hot, on
// trial, but at most maxTrials of each. See trials.
func (w *Watch) Try(blocks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range []*pace{&w.trials.fresh, &w.trials.again} {
		*p = pace{limit: (blocks + 1) / 2}
	}
}
