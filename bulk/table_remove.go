package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// mover holds what RemoveSwap needs of a field. The movers of a table lie side by side in memory.
type mover struct {
	base unsafe.Pointer // the address of row 0
	skip uintptr        // see rowLocator
	size uintptr        // bytes of a value
	safe unsafe.Pointer // the safe value: see Table
}

// RemoveSwap removes a row and moves the last row of the table into its place. It returns the old number of
// the moved row, so that the caller can update references to that row. The old number is the new length. If
// the row is the last one, RemoveSwap returns its number. RemoveSwap panics when row is not in [0, Len).
// Complexity: one step for each field.
func (t *Table) RemoveSwap(row int) (moved int) {
	// The addresses are sound as in rowLocator.at. The address of a value of 1, 2, 4 or 8 bytes is a multiple
	// of its size, so the value is moved without a call.
	if uint(row) >= uint(t.len) {
		panic(&rowError{"RemoveSwap", row, t})
	}
	moved = t.len - 1
	toBlock, _ := bits.Mul64(uint64(row), t.magic)
	fromBlock, _ := bits.Mul64(uint64(moved), t.magic)
	for i := range t.movers {
		m := &t.movers[i]
		to := unsafe.Add(m.base, uintptr(row)*m.size+uintptr(toBlock)*m.skip)
		from := unsafe.Add(m.base, uintptr(moved)*m.size+uintptr(fromBlock)*m.skip)
		switch m.size {
		case 4:
			*(*uint32)(to), *(*uint32)(from) = *(*uint32)(from), *(*uint32)(m.safe)
		case 8:
			*(*uint64)(to), *(*uint64)(from) = *(*uint64)(from), *(*uint64)(m.safe)
		case 1:
			*(*uint8)(to), *(*uint8)(from) = *(*uint8)(from), *(*uint8)(m.safe)
		case 2:
			*(*uint16)(to), *(*uint16)(from) = *(*uint16)(from), *(*uint16)(m.safe)
		default:
			last := unsafe.Slice((*byte)(from), m.size)
			copy(unsafe.Slice((*byte)(to), m.size), last)
			copy(last, unsafe.Slice((*byte)(m.safe), m.size))
		}
	}
	t.len = moved
	if invariants.Enabled {
		t.checkInvariants()
	}
	return moved
}
