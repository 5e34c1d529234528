package vast

// Run is a range of consecutive slots whose entities all match a query, or are all new. It is valid until the
// world's structure changes.
type Run struct {
	start uint32
	n     uint32
	world *World
}

// Start returns the first slot.
func (r Run) Start() int { return int(r.start) }

// Len returns the number of entities.
func (r Run) Len() int { return int(r.n) }

// Entity returns the run's i-th entity. It panics if i is out of range, or if the world is closed.
func (r Run) Entity(i int) Entity {
	if uint(i) >= uint(r.n) {
		panic("vast: Run.Entity: the index is out of range: use 0 to Len()-1")
	}
	return Slot{r.start + uint32(i), r.world}.Entity()
}
