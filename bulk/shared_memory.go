package bulk

// Reserved returns the bytes of addresses that the array takes; 0 after Close.
func (a *SharedArray[T]) Reserved() int {
	if a.ended != nil {
		return 0
	}
	return a.region.Size()
}

// Committed returns the bytes of memory that the array may touch; 0 after Close.
func (a *SharedArray[T]) Committed() int { return a.region.Committed() }

// Resident returns how many bytes of the array are in memory. The operating system supplies the count; see
// [vm.Region.Resident].
func (a *SharedArray[T]) Resident() (int, error) { return a.region.Resident() }

// Reserved returns the bytes of addresses that the pool takes; 0 after Close.
func (p *SharedPool[T]) Reserved() int {
	if p.ended != nil {
		return 0
	}
	return p.region.Size()
}

// Committed returns the bytes of memory that the pool may touch, without the memory on Go's heap; 0 after
// Close.
func (p *SharedPool[T]) Committed() int { return p.region.Committed() }

// Resident returns how many bytes of the pool are in memory, without the memory on Go's heap. The operating
// system supplies the count; see [vm.Region.Resident].
func (p *SharedPool[T]) Resident() (int, error) { return p.region.Resident() }
