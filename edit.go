package vast

import (
	"sync/atomic"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// Edit returns e's component to be written, or nil when e is stale or has none: [Column.Get] that leaves a mark for the
// trackers of the column, whether anything is written or not. Without trackers it costs one test more than Get.
//
// While nothing changes the structure, several goroutines may edit different entities at once.
func (c Column[T]) Edit(e Entity) (p *T) {
	if invariants.Enabled {
		c.c.touch(true)
	}
	// What has and at do, written out so that it is small enough to be inlined: hence the mark without a call, which
	// trackers are told of when they are asked. See column.settle.
	if e.slot >= c.c.slots || *(*uint32)(unsafe.Add(c.c.gens, uintptr(e.slot)*4)) != e.generation ||
		*(*uint64)(unsafe.Add(c.c.words, e.slot/64*8))>>(e.slot%64)&1 == 0 {
		return
	}
	if c.c.tracked {
		atomic.OrUint64((*uint64)(unsafe.Add(c.c.fresh, e.slot/64*8)), 1<<(e.slot%64))
	}
	return (*T)(unsafe.Add(c.base, uintptr(e.slot)*unsafe.Sizeof(*p)))
}

// EditRun returns the components of a run to be written: [Column.Slice] that leaves a mark on each of the run's entities,
// as [Column.Edit] does. Complexity: marks are made 64 at a time.
func (c Column[T]) EditRun(r Run) []T {
	if invariants.Enabled {
		c.c.touch(true)
	}
	s := c.Slice(r)
	if c.c.tracked {
		c.c.wroteRange(r.start, r.start+r.n)
	}
	return s
}

// Edit returns e's component to be written, as [Column.Edit] does.
func (c SparseColumn[T]) Edit(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(true)
	}
	if !c.c.has(e) {
		return nil
	}
	if c.c.tracked {
		c.c.wrote(e.slot)
	}
	return c.s.at(e.slot)
}

// Edit returns e's component to be written, as [Column.Edit] does.
func (c HeapColumn[T]) Edit(e Entity) *T {
	if invariants.Enabled {
		c.c.touch(true)
	}
	if !c.c.has(e) {
		return nil
	}
	if c.c.tracked {
		c.c.wrote(e.slot)
	}
	return c.s.at(e.slot)
}
