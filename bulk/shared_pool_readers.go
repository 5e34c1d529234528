package bulk

import (
	"sync/atomic"
	"unsafe"
)

// A reader announces the slot of an element first, then tests whether the element is live, and then copies
// the element. A goroutine that takes slots first finds free slots, and then looks for announcements. So
// either the goroutine sees the announcement and does not take the slot, or the reader sees that the element
// was removed: no goroutine writes to a slot while a reader copies its element. Announcements work like
// hazard pointers (Maged M. Michael, 2004), but an announcement prevents that a slot is taken, while a hazard
// pointer prevents that memory is freed.

// readerCells is a block of cells for announcements. A block is added when all cells are in use. Blocks are
// never removed.
type readerCells struct {
	cells [cellsPerBlock]struct {
		slot atomic.Uint64 // the announced slot + 1; 0 for none
		_    [bytesLine - 8]byte
	}
	next atomic.Pointer[readerCells]
}

const cellsPerBlock = 16

// stripe spreads goroutines over the numbers 0 to 15: it hashes the address of the goroutine's stack, by
// Knuth's multiplicative hashing. A goroutine that calls stripe in a loop mostly gets the same number.
func stripe() uint {
	var here byte
	return uint(uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9E3779B97F4A7C15 >> 60)
}

// announce stores slot i in a cell and returns the cell. If the slot's element is removed afterwards, no
// goroutine takes the slot until the caller sets the cell to 0.
func (s *sharedSlots) announce(i uint) *atomic.Uint64 {
	next := &s.cells
	for {
		block := next.Load()
		if block == nil {
			next.CompareAndSwap(nil, new(readerCells))
			continue
		}
		first := stripe()
		for n := range uint(cellsPerBlock) {
			cell := &block.cells[(first+n)%cellsPerBlock].slot
			if cell.Load() == 0 && cell.CompareAndSwap(0, uint64(i)+1) {
				return cell
			}
		}
		next = &block.next
	}
}

// announced returns the announced slots among the 32 slots from slot i on, one bit for each slot.
func (s *sharedSlots) announced(i uint) (slots uint32) {
	for block := s.cells.Load(); block != nil; block = block.next.Load() {
		for n := range block.cells {
			if slot := block.cells[n].slot.Load() - 1 - uint64(i); slot < slotsPerWord {
				slots |= 1 << slot
			}
		}
	}
	return slots
}
