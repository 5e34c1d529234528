package vast

// Slots returns the end of the slots: the slot of every living entity is below it. Complexity: constant.
func (w *World) Slots() int {
	if w.closed {
		return 0
	}
	return int(w.frontier) * 64
}
