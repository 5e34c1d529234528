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

// Try sets both limits of trials for the next scan. Each limit is the given number of blocks, rounded up to
// an even number, but at most maxTrials.
func (w *Watch) Try(blocks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range []*pace{&w.trials.fresh, &w.trials.again} {
		*p = pace{limit: (blocks + 1) / 2}
	}
}
