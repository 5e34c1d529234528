package bulk

import (
	"sync/atomic"
	"unsafe"
)

// A reader that copies an element announces its slot first, and tests afterwards whether the element is still
// live. A goroutine that wants to take slots looks for announcements after it has found the slots free. So
// either the goroutine sees the announcement and leaves the slot alone, or the reader sees that the element
// was removed. In both cases, no slot is written while a reader copies its element. Announcements are hazard
// pointers (Maged M. Michael, 2004) that keep slots from being taken, instead of memory from being freed.

// readerCells is a block of places for announcements. A block is added when all places are in use. Blocks are
// never removed.
type readerCells struct {
	cells [cellsPerBlock]struct {
		slot atomic.Uint64 // the announced slot + 1, or 0
		_    [bytesLine - 8]byte
	}
	next atomic.Pointer[readerCells]
}

const cellsPerBlock = 16

// stripe returns a number below 16. Goroutines that run at the same time seldom get the same number. The
// number of a goroutine seldom changes while it calls stripe from one place: the number is made from the
// address of the goroutine's stack, by Knuth's multiplicative hashing.
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

// announced returns the slots that readers have announced among the 32 slots from slot i on, one bit a slot.
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
