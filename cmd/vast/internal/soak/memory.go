package soak

import (
	"math/rand/v2"
	"slices"
	"unsafe"

	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/uid"
	"github.com/vastgo/vast/vm"
)

// arenas uses a new arena in each round, and one arena that stays open.
func arenas(t *tally) churn {
	var lasting *arena.Arena
	use := func(a *arena.Arena, r *rand.Rand) {
		kept := arena.MakeSlice[int64](a, 100, 100)
		for i := range kept {
			kept[i] = int64(i)
		}
		for range 20 {
			mark := a.Mark()
			numbers := []int32(nil)
			for i := range int32(1 + r.IntN(2000)) {
				numbers = arena.Append(a, numbers, i)
				if p := arena.Make[place](a); *p != (place{}) {
					must(false, "a new allocation in an arena is %v, not zero", *p)
				} else {
					*p = place{1, 2}
				}
			}
			for i, v := range numbers {
				must(int(v) == i, "element %d is %d", i, v)
			}
			a.Release(mark)
		}
		for i := range kept {
			must(kept[i] == int64(i), "an element before the mark is %d, not %d", kept[i], i)
		}
		a.Reset()
		must(a.Used() == 0, "%d bytes are used after Reset", a.Used())
		t.operations.Add(40_000)
	}
	return churn{name: "arenas", round: func(r *rand.Rand) {
		if lasting == nil {
			lasting = mustReturn(arena.New(arena.Options{HighWater: 16 << 10}))
		}
		use(lasting, r)
		passing := mustReturn(arena.New(arena.Options{Capacity: mebibyte, HighWater: -1,
			Pages: vm.Pages(r.IntN(4))}))
		use(passing, r)
		mustSucceed(passing.Close())
	}, close: func() { mustSucceed(lasting.Close()) }}
}

// block is an allocation whose bytes all have one value.
type block struct {
	bytes []byte
	value byte
}

// heaps uses a new heap in each round, and one heap that stays open.
func heaps(t *tally) churn {
	use := func(h *heap.Heap, blocks []block, r *rand.Rand) {
		for range 2000 {
			b := &blocks[r.IntN(len(blocks))]
			for _, v := range b.bytes {
				must(v == b.value, "a byte of an allocation is %d, not %d", v, b.value)
			}
			size := r.IntN(1 << (4 + r.IntN(10)))
			if r.IntN(200) == 0 {
				size = r.IntN(mebibyte)
			}
			switch {
			case b.bytes == nil:
				b.bytes = mustReturn(heap.AllocSlice[byte](h, size, size))
			case r.IntN(4) == 0:
				length := len(b.bytes)
				b.bytes = mustReturn(heap.Resize(h, b.bytes, size))
				b.bytes = b.bytes[:cap(b.bytes)]
				for _, v := range b.bytes[:min(size, length)] {
					must(v == b.value, "a byte of a resized allocation is %d, not %d", v, b.value)
				}
			default:
				heap.FreeSlice(h, b.bytes)
				b.bytes = nil
			}
			b.value = byte(r.Uint32())
			for i := range b.bytes {
				b.bytes[i] = b.value
			}
		}
		t.operations.Add(2000)
	}
	var (
		lasting *heap.Heap
		blocks  []block
	)
	return churn{name: "heaps", round: func(r *rand.Rand) {
		if lasting == nil {
			lasting, blocks = mustReturn(heap.New(heap.Options{})), make([]block, 300)
		}
		use(lasting, blocks, r)
		passing := mustReturn(heap.New(heap.Options{Capacity: 4 * mebibyte, Unshared: true,
			Pages: vm.Pages(r.IntN(3))}))
		buffer := heap.NewBuffer[place](passing)
		for i := range int64(3000) {
			buffer.Append(place{i, i})
		}
		must(buffer.Len() == 3000 && *buffer.At(2999) == place{2999, 2999}, "the buffer ends with %v",
			*buffer.At(2999))
		small := make([]block, 100)
		use(passing, small, r)
		if r.IntN(2) == 0 {
			buffer.Close()
			for _, b := range small {
				heap.FreeSlice(passing, b.bytes)
			}
			passing.Trim()
			must(passing.Stats().Allocations == 0, "%d allocations are left", passing.Stats().Allocations)
		}
		mustSucceed(passing.Close())
	}, close: func() { mustSucceed(lasting.Close()) }}
}

// guards uses guarded pools. It writes through a pointer to a removed element and checks the fault that
// follows. On the heap stand-in, where no fault follows, it skips this write.
func guards(t *tally) churn {
	return churn{name: "guards", round: func(r *rand.Rand) {
		pool := mustReturn(guard.NewPool[place](bulk.Options{Capacity: 1000}))
		newHolder(pool, 100).use(r, 500)
		h, p := pool.Insert(place{1, 2})
		must(pool.Remove(h), "Remove does not find %v", h)
		if !vm.HeapStandIn() {
			fault := provoke(func() { p.X++ })
			must(fault != nil && fault.Kind == guard.AfterFree,
				"a write to a removed element gives the fault %v, not AfterFree", fault)
		}
		mustSucceed(pool.Check())
		mustSucceed(pool.Close())
		sampled := mustReturn(guard.NewSampledPool[place](guard.SampledPoolOptions{
			Options: bulk.Options{Capacity: 5000}, Every: 50,
		}))
		newHolder(sampled, 1000).use(r, 3000)
		mustSucceed(sampled.Close())
		t.operations.Add(3500)
	}}
}

// provoke calls f and returns the fault that ends f, or nil.
func provoke(f func()) (fault *guard.Fault) {
	defer func() { fault, _ = guard.Explain(recover()) }()
	vm.Do(f)
	return nil
}

// regions commits, writes and decommits pages of a region, and compares the halves of a mirror. Each round
// uses a new region and a new mirror.
func regions(t *tally) churn {
	return churn{name: "regions", round: func(r *rand.Rand) {
		const pages = 64
		page := vm.PageSize()
		region := mustReturn(vm.Reserve(pages*page, vm.Options{Name: "soak", Pages: vm.Pages(r.IntN(4))}))
		var committed [pages]bool
		for range 100 {
			at := r.IntN(pages)
			n := 1 + r.IntN(pages-at)
			commit := r.IntN(2) == 0
			if commit {
				mustSucceed(region.Commit(at*page, n*page))
			} else {
				mustSucceed(region.Decommit(at*page, n*page))
			}
			for i := at; i < at+n; i++ {
				b := (*byte)(unsafe.Add(region.Base(), i*page))
				switch {
				case !commit:
					committed[i] = false
				case committed[i]:
					must(*b == 1, "page %d lost its contents", i)
				default:
					must(*b == 0, "page %d is not zero", i)
					*b, committed[i] = 1, true
				}
			}
		}
		want := 0
		for _, c := range committed {
			if c {
				want += page
			}
		}
		must(region.Committed() == want, "%d bytes are committed, not %d", region.Committed(), want)
		mustSucceed(region.Close())
		mirror := mustReturn(vm.ReserveMirror(4*page, vm.Options{Name: "soak mirror"}))
		twice := unsafe.Slice((*byte)(mirror.Base()), 2*mirror.Size())
		for i := range mirror.Size() {
			twice[i] = byte(i * 7)
		}
		mirror.Written(0, mirror.Size())
		must(slices.Equal(twice[:mirror.Size()], twice[mirror.Size():]), "the halves of a mirror differ")
		mustSucceed(mirror.Close())
		t.operations.Add(101)
	}}
}

// identifiers makes identifiers, and checks that each identifier differs from the previous identifier. A
// round makes only 100 identifiers, because each identifier uses up an address of the process.
func identifiers(t *tally) churn {
	var (
		source uid.Source[place]
		last   uid.ID[place]
	)
	return churn{name: "identifiers", round: func(*rand.Rand) {
		for range 100 {
			id := source.New()
			must(!id.IsZero() && id != last, "%v is not new", id)
			last = id
		}
		t.operations.Add(100)
	}}
}
