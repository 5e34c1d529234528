package vastarrow

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
)

const lateRelease = "vastarrow: Records: a record was not released before the structure of the world " +
	"changed or World.Admit was called, so its memory may belong to other entities: call Release at the " +
	"end of the loop's body, and copy what the program needs for longer"

// borrowed watches the buffers of a record that hold components of a world. In builds without the tag
// invariants, borrowed is nil, and these buffers share the memory of the world. In builds with the tag, the
// buffers are copies, and borrowed poisons them (see invariants.Poison) when they are released.
type borrowed struct {
	world   *vast.World
	changes uint64       // World.Changes when the record was made
	buffers atomic.Int64 // number of buffers that are not released
	found   atomic.Bool  // whether a late release was reported
	stop    context.CancelFunc
}

func borrow(components []component) *borrowed {
	if !invariants.Enabled || len(components) == 0 {
		return nil
	}
	w := components[0].world
	return &borrowed{world: w, changes: w.Changes()}
}

// buffer returns a buffer of data, which is memory of the world. If b is not nil, the buffer is a copy.
func (b *borrowed) buffer(data []byte) *memory.Buffer {
	if b == nil {
		return memory.NewBufferBytes(data)
	}
	if b.buffers.Add(1) == 1 {
		b.watch()
	}
	return memory.NewBufferWithAllocator(slices.Clone(data), b)
}

// watch starts a goroutine that panics at the next World.Admit, World.Idle or World.Close if the record is
// not released by then.
func (b *borrowed) watch() {
	ctx, stop := context.WithCancel(context.Background())
	b.stop = stop
	go func() {
		late := false
		err := b.world.Visit(ctx, func() bool {
			late = b.buffers.Load() > 0
			return true
		})
		if late || err == vast.ErrClosed && b.buffers.Load() > 0 {
			b.report()
		}
	}()
}

// check panics if the structure of the world has changed and a buffer is not released yet.
func (b *borrowed) check() {
	if b != nil && b.buffers.Load() > 0 && b.world.Changes() != b.changes {
		b.report()
	}
}

// report panics, once for each record.
func (b *borrowed) report() {
	if !b.found.Swap(true) {
		panic(lateRelease)
	}
}

// Free is called when nothing refers to a buffer any more.
func (b *borrowed) Free(data []byte) {
	b.check()
	invariants.Poison(data)
	if b.buffers.Add(-1) == 0 {
		b.stop()
	}
}

// Allocate and Reallocate are here because a memory.Allocator has them. Buffers of records do not grow, so
// nothing calls these methods.
func (*borrowed) Allocate(size int) []byte { return memory.DefaultAllocator.Allocate(size) }

func (*borrowed) Reallocate(size int, b []byte) []byte {
	return memory.DefaultAllocator.Reallocate(size, b)
}
