// Package rooms gives package vast more control over the memory of a bulk.Pool than other users of the pool
// have. Package vast can undo growth, trim the pool but keep promised room, and iterate over the elements
// without their handles.
package rooms

import (
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
)

// Pool is the memory of a bulk.Pool.
type Pool interface {
	// Free returns the number of insertions that cannot fail.
	Free() int
	// Left returns the largest number of insertions that are possible if their memory can be committed.
	Left() int
	// Committed returns how much memory is committed.
	Committed() Committed
	// Restore decommits the memory that was committed after Committed returned c. The caller must not have
	// inserted elements meanwhile.
	Restore(c Committed)
	// Trim is the pool's Trim, except that it leaves room for n insertions.
	Trim(n int) error
	// Memory returns the addresses of the first element and of the first presence word. The addresses never
	// change. The memory is committed up to the last element, and up to its presence word.
	Memory() (elements, words unsafe.Pointer)
	// SetMark sets the mark of the generations of a pool that never had an element.
	SetMark(m generation.Mark)
	// Next returns the first slot with an element, not below start. Such a slot must exist.
	Next(start uint) uint
}

// Committed is the committed memory of a pool: bytes of elements, bytes of the three tables of generations,
// and bits of the set of live slots.
type Committed struct {
	Elements    int
	Generations [3]int
	Live        int
}

// Of returns the memory of pool, a *bulk.Pool[T]. Package bulk sets it.
var Of func(pool any) Pool
