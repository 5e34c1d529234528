package guard

import (
	"testing"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

var pageKinds = []vm.Pages{vm.PagesAuto, vm.PagesHeap}

func FuzzAllocator(f *testing.F) {
	f.Add([]byte{0, 40, 3, 1, 0, 13, 3, 1, 0, 200, 3, 0, 140, 1, 4, 0, 7, 3, 0, 5, 0, 1, 3, 9, 6, 0, 7, 7, 3,
		0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			for _, atStart := range []bool{false, true} {
				playAllocator(t, Options{Pages: pages, AtStart: atStart}, data)
			}
		}
	})
}

func TestAllocatorAgainstModel(t *testing.T) {
	rounds := longtest.Pick(2, 8)
	for range rounds {
		data := modeltest.RandomBytes(t, 2000)
		for _, pages := range pageKinds {
			for _, atStart := range []bool{false, true} {
				playAllocator(t, Options{Pages: pages, AtStart: atStart}, data)
			}
		}
	}
}

type (
	record [5]uint64   // 40 bytes
	odd    [13]byte    // an odd size
	large  [700]uint64 // 5600 bytes, more than a page of 4 KiB
)

func numbered(i int) record      { return record{uint64(i), uint64(i) * 3, ^uint64(i), 7, uint64(i) << 32} }
func numberedOdd(i int) odd      { return odd{0: byte(i), 12: byte(i >> 8)} }
func numberedLarge(i int) large  { return large{0: uint64(i), 350: uint64(i), 699: ^uint64(i)} }
func numberedNothing(int) [0]int { return [0]int{} }

func pools[T any](shared *Allocator, every int) []makePool[T] {
	return []makePool[T]{
		func(o bulk.Options) (exchangeable[T], error) { return bulk.NewPool[T](o) },
		func(o bulk.Options) (exchangeable[T], error) { return NewPool[T](o) },
		func(o bulk.Options) (exchangeable[T], error) { return NewPoolIn[T](shared, o) },
		func(o bulk.Options) (exchangeable[T], error) {
			return NewSampledPool[T](SampledPoolOptions{Options: o, Every: every, Slots: 20, Quarantine: 30})
		},
	}
}

func playPools[T comparable](t *testing.T, pages vm.Pages, every int, data []byte, element func(int) T) {
	shared, err := NewAllocator(Options{Pages: pages, AtStart: true, Capacity: 120,
		Addresses: 1000 * vm.PageSize()})
	if err != nil {
		t.Fatal(err)
	}
	for i, pool := range pools[T](shared, every) {
		playPool(t, pool, bulk.Options{Pages: pages}, data, i < 3, element)
	}
	if shared.Len() != 0 || shared.region.Committed() != 0 {
		t.Fatalf("after the pools are closed, %d blocks are live and %d bytes are committed",
			shared.Len(), shared.region.Committed())
	}
	if err := shared.Close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzPool(f *testing.F) {
	f.Add([]byte{2, 20, 3, 4, 3, 1, 5, 30, 2, 29, 2, 29, 2, 29, 2, 29, 6, 120, 9, 9, 9, 6, 10, 1, 1, 1, 7, 1,
		8, 2, 3, 4, 7, 4, 0, 8, 0, 9, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			// With every = 1 all elements are guarded. A larger number would guard elements chosen at random,
			// and a run could not be repeated.
			playPools(t, pages, 1, data, numbered)
		}
	})
}

func TestPoolsAgainstModel(t *testing.T) {
	rounds := longtest.Pick(2, 6)
	for range rounds {
		data := modeltest.RandomBytes(t, 600)
		for _, pages := range pageKinds {
			playPools(t, pages, 3, data, numbered)
			playPools(t, pages, 3, data[:200], numberedOdd)
			playPools(t, pages, 3, data[:200], numberedLarge)
			playPools(t, pages, 3, data[:200], numberedNothing)
		}
	}
}
