// Package generation numbers the uses of a slot. A reference contains the number of its element. If the slot
// has another number, the reference is stale: its element was removed.
//
// A generation is a word of 32 bits. The low 24 bits count how often the slot was taken; a container may skip
// counts. The high 8 bits hold the mark of the container; a container may clear them while the slot has no
// element. Zero is the generation of a slot that was never taken. A mark is never zero, so no slot with an
// element has generation zero.
package generation

import "sync/atomic"

const (
	countBits = 24
	// MaxCount is the largest number of times that a slot can be taken. A slot with this count is retired: it
	// is never taken again, because a count that starts again would make old references valid.
	MaxCount = 1<<countBits - 1
	// MaxMark is the number of marks. Containers get the marks in turn, so the 256th container has the same
	// mark as the first container.
	MaxMark = 255
)

// Mark is a number from 1 to MaxMark in the high 8 bits of a generation. It distinguishes containers.
type Mark uint32

var serial atomic.Uint32

// MarkOf returns the mark with the given number, 1 to MaxMark.
func MarkOf(number uint8) Mark { return Mark(number) << countBits }

// Number returns the number of the mark, 1 to MaxMark.
func (m Mark) Number() uint8 { return uint8(m >> countBits) }

// NewMark returns the next mark of the process. A reference of another container counts as stale, except if
// by chance its mark and its count are those of the slot.
func NewMark() Mark { return Mark((serial.Add(1)-1)%MaxMark+1) << countBits }

// Next returns the generation of a slot after it is taken. The argument old is its generation before, which
// must not be exhausted.
func Next(old uint32, mark Mark) uint32 { return (old+1)&MaxCount | uint32(mark) }

// Exhausted reports whether a slot of this generation is retired when its element is removed.
func Exhausted(g uint32) bool { return g&MaxCount == MaxCount }

// Count returns the low 24 bits of a generation.
func Count(g uint32) uint32 { return g & MaxCount }
