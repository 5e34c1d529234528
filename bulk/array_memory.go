package bulk

// Reserved returns the bytes of addresses that the array takes; 0 after Close.
func (a *Array[T]) Reserved() int {
	if a.ended != nil {
		return 0
	}
	return a.region.Size()
}

// Committed returns the bytes of memory that the array may touch; 0 after Close.
func (a *Array[T]) Committed() int { return a.region.Committed() }

// Resident returns how many bytes of the array are in memory. It asks the operating system; see
// [vm.Region.Resident].
func (a *Array[T]) Resident() (int, error) { return a.region.Resident() }
