// Package generation numbers the uses of a slot, so that a reference to a slot's earlier element is known to
// be stale.
//
// A generation is a word of 32 bits. The low 24 bits count how often the slot was taken; the high 8 hold the
// mark of the container. Zero is the generation of a slot that was never taken. A mark is never zero, so no
// taken slot has generation zero.
package generation

import "sync/atomic"

const (
	countBits = 24
	// MaxCount is how often a slot can be taken. A slot at this count is retired: it is never taken again,
	// because an old reference may still carry the next count.
	MaxCount = 1<<countBits - 1
	// MaxMark is the number of marks. Containers get the marks in turn, so the 256th container has the mark
	// of the first one again.
	MaxMark = 255
)

// Mark tells containers apart: 1 to MaxMark, in the high 8 bits of a generation.
type Mark uint32

var serial atomic.Uint32

// MarkOf returns the mark with the given number, 1 to MaxMark.
func MarkOf(number uint8) Mark { return Mark(number) << countBits }

// Number returns the number of the mark, 1 to MaxMark.
func (m Mark) Number() uint8 { return uint8(m >> countBits) }

// NewMark returns the next mark of the process. A container finds a reference of another container stale,
// unless mark and count both agree by chance.
func NewMark() Mark { return Mark((serial.Add(1)-1)%MaxMark+1) << countBits }

// Next returns the generation of a slot that is taken again. old must not be exhausted.
func Next(old uint32, mark Mark) uint32 { return (old+1)&MaxCount | uint32(mark) }

// Exhausted reports whether a slot of this generation is retired once it is free.
func Exhausted(g uint32) bool { return g&MaxCount == MaxCount }

// Count returns how often the slot was taken.
func Count(g uint32) uint32 { return g & MaxCount }
