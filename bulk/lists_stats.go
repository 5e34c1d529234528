package bulk

import "unsafe"

// ListsStats describes how a [Lists] uses its memory. Each number of bytes includes the numbers of
// bytes above it.
type ListsStats struct {
	Lists         int
	Elements      int
	BytesElements int // bytes of the elements
	BytesRoom     int // also the free room of the lists
	BytesSlabs    int // also the free cells, the headers and the bytes that no cell uses
	Committed     int // see Lists.Committed
}

// Stats returns how the container uses its memory. Complexity: a step for each list, for each slab, and
// for each 64 cells of a slab.
func (ls *Lists[T]) Stats() (s ListsStats) {
	ls.mustBeOpen()
	var v T
	room := 0
	s.Lists = ls.count
	for place := range ls.cells.lists() {
		s.Elements += int(ls.cells.at(place).len)
		room += int(ls.cells.room(place))
	}
	s.BytesElements, s.BytesRoom = s.Elements*int(unsafe.Sizeof(v)), room*int(unsafe.Sizeof(v))
	for _, slab := range ls.cells.held() {
		s.BytesSlabs += int(slab.units) << ls.cells.shiftUnit
	}
	s.Committed = ls.Committed()
	return s
}

// Reserved returns the bytes of addresses that the container has reserved; 0 after Close.
func (ls *Lists[T]) Reserved() int {
	if ls.ended != nil {
		return 0
	}
	return ls.region.Size()
}

// Committed returns the bytes of memory that the container may touch; 0 after Close.
func (ls *Lists[T]) Committed() int { return ls.region.Committed() }

// Resident returns how many bytes of the container are in memory. The operating system supplies the count;
// see [vm.Region.Resident].
func (ls *Lists[T]) Resident() (int, error) { return ls.region.Resident() }
