package bulk

import (
	"sync/atomic"
	"unsafe"
)

// A reader that copies an element announces its slot first, and tests afterwards whether the element is still
// live. A goroutine that wants to take slots looks for announcements after it has found the slots free. So
// either it sees the announcement and leaves the slot alone, or the reader sees that the element was removed:
// a slot is not written while a reader copies it. These are hazard pointers (Maged M. Michael, 2004); here
// they keep slots from being taken, not memory from being freed.

// readerCells is a block of places for announcements. A block is added when all places are in use at once;
// blocks are never removed.
type readerCells struct {
	cells [cellsPerBlock]struct {
		slot atomic.Uint64 // the announced slot + 1, or 0
		_    [bytesLine - 8]byte
	}
	next atomic.Pointer[readerCells]
}

const cellsPerBlock = 16

// stripe returns a number below 16. Goroutines that run at once seldom get the same number, and a goroutine
// that calls stripe from one place seldom gets another number. The number is made from the address of the
// goroutine's stack, by Knuth's multiplicative hashing.
func stripe() uint {
	var here byte
	return uint(uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9E3779B97F4A7C15 >> 60)
}

// announce keeps slot i from being taken until the cell that it returns is set to 0.
func (s *sharedSlots) announce(i uint) *atomic.Uint64 {
	at := &s.cells
	for {
		block := at.Load()
		if block == nil {
			at.CompareAndSwap(nil, new(readerCells))
			continue
		}
		first := stripe()
		for n := range uint(cellsPerBlock) {
			cell := &block.cells[(first+n)%cellsPerBlock].slot
			if cell.Load() == 0 && cell.CompareAndSwap(0, uint64(i)+1) {
				return cell
			}
		}
		at = &block.next
	}
}

// announced returns those of the 32 slots from i on that readers have announced.
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
