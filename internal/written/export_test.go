package written

// Protected reports whether the block of an address is protected.
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

// Try raises the limits of trials, so that the next scan can put the given number of blocks on trial.
func (w *Watch) Try(blocks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range []*pace{&w.trials.fresh, &w.trials.again} {
		*p = pace{most: (blocks + 1) / 2}
	}
}
