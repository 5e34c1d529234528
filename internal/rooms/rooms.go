// Package rooms gives package vast and package sharing access to the memory of a bulk.Pool. These packages
// can undo growth, trim the pool but keep promised room, set the mark of the generations, and iterate over
// the elements without their handles.
package rooms

import (
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
)

// Pool is the memory of a bulk.Pool.
type Pool interface {
	// Free returns the number of insertions that cannot fail.
	Free() int
	// Left returns the largest number of insertions for which the pool has slots. Some of these slots may
	// have no committed memory yet.
	Left() int
	// Committed returns the committed memory.
	Committed() Committed
	// Restore decommits the memory that was committed after Committed returned c. The caller must not have
	// inserted elements since then.
	Restore(c Committed)
	// Trim is the pool's Trim, but leaves room for n insertions.
	Trim(n int) error
	// Memory returns the addresses of the first element and of the first presence word. The addresses never
	// change. The memory is committed up to the last element, and up to its presence word.
	Memory() (elements, words unsafe.Pointer)
	// SetMark sets the mark of the generations. The pool must never have had an element.
	SetMark(m generation.Mark)
	// Next returns the first slot from start on that has an element. There must be one.
	Next(start uint) uint
}

// Committed is the committed memory of a pool: bytes of elements, bytes of the three tables of generations,
// and bits of the set of live slots.
type Committed struct {
	Elements    int
	Generations [3]int
	Live        int
}

// Of returns the memory of pool, a *bulk.Pool[T]. Package bulk sets Of.
var Of func(pool any) Pool
