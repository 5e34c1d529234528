package bulk

import (
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// bounded checks that an index commits at most twice the bytes of its n pairs. If the pairs have less than
// 64 KiB, the bound is 128 KiB. On systems with pages of more than 4 KiB, the bound is higher.
func bounded(t *testing.T, x interface {
	Committed() int
	Resident() (int, error)
}, what string, n, bytesPair int) {
	t.Helper()
	data := n * bytesPair
	if data < 64<<10 {
		data = 64 << 10
	}
	resident, err := x.Resident()
	if err != nil {
		t.Fatal(err)
	}
	larger := 2 * (vm.PageSize() - 4<<10) // HashIndex rounds its table and its tree up to pages
	if committed := x.Committed(); committed > 2*data+larger || resident > committed {
		t.Fatalf("%s, %d pairs of %d bytes: %d bytes are committed, %.2f times the data, and %d are resident",
			what, n, bytesPair, committed, float64(committed)/float64(data), resident)
	}
}

func largest() int {
	return min(boundedPairs(), longtest.Pick(100_000, 400_000))
}

// boundedPairs is the number of pairs in tests whose bounds depend on how full the hash table is at the end.
func boundedPairs() int {
	if !longtest.Enabled() || heapStandIn() {
		return 20_000
	}
	return 400_000
}

func TestHashIndexMemory(t *testing.T) {
	longtest.OneGoroutine(t)
	t.Run("u64-u64", func(t *testing.T) { fillAndEmptyHash[uint64, uint64](t, 1, largest()) })
	t.Run("u32-u32", func(t *testing.T) { fillAndEmptyHash[uint32, uint32](t, 1, largest()) })
	t.Run("u32-u64", func(t *testing.T) { fillAndEmptyHash[uint32, uint64](t, 1, largest()/4) })
	t.Run("u64-u32", func(t *testing.T) { fillAndEmptyHash[uint64, uint32](t, 1, largest()/4) })
	for _, values := range []int{2, 3, 8, 9, 10, 20, 1000, largest()} {
		fillAndEmptyHash[uint32, uint32](t, values, largest()/4)
		fillAndEmptyHash[uint64, uint64](t, values, largest()/4)
	}
}

func fillAndEmptyHash[K, V uint32 | uint64](t *testing.T, valuesPerKey, n int) {
	t.Helper()
	x := newHashIndex[K, V](t, Options{Capacity: n})
	bytesPair := size[K]() + size[V]()
	key := func(i int) K { return K(i/valuesPerKey) * 2654435761 }
	for i := range n {
		x.Add(key(i), V(i))
		if i%997 == 0 {
			bounded(t, x, "filling", x.Len(), bytesPair)
		}
	}
	for i := range n {
		x.Remove(key(i), V(i))
		if i%997 == 0 {
			bounded(t, x, "emptying", x.Len(), bytesPair)
		}
	}
	// Now the values of all keys grow and shrink in number together.
	for v := range min(valuesPerKey, 20) {
		for i := v; i < n; i += valuesPerKey {
			x.Add(key(i), V(i))
			if i%997 == 0 {
				bounded(t, x, "filling all keys", x.Len(), bytesPair)
			}
		}
	}
	for v := range min(valuesPerKey, 20) {
		for i := v; i < n; i += valuesPerKey {
			x.Remove(key(i), V(i))
			if i%997 == 0 {
				bounded(t, x, "thinning", x.Len(), bytesPair)
			}
		}
	}
	x.Clear()
	if x.Committed() != 0 || x.Len() != 0 {
		t.Errorf("%d bytes for %d pairs after Clear", x.Committed(), x.Len())
	}
	if err := x.Grow(n); err != nil {
		t.Fatal(err)
	}
	promised := x.Committed()
	for i := range 100 {
		x.Add(key(i), V(i))
		x.Remove(key(i), V(i))
	}
	if x.Committed() != promised {
		t.Errorf("%d bytes are committed, want the %d that Grow committed", x.Committed(), promised)
	}
	if err := x.Trim(); err != nil {
		t.Fatal(err)
	}
	bounded(t, x, "trimmed", x.Len(), bytesPair)
}

func TestOrderedIndexMemory(t *testing.T) {
	n := largest() / 3 &^ 1
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	orders := map[string]func(i int) int{
		"ascending":  func(i int) int { return i },
		"descending": func(i int) int { return n - 1 - i },
		"random":     func(i int) int { return random[i] },
		"inside out": func(i int) int { return n/2 + (i+1)/2*(1-i%2*2) },
		"sequences":  func(i int) int { return i%2*(n/2) + i/2 },
	}
	for in, come := range orders {
		for out, leave := range orders {
			fillAndEmptyOrdered[uint64, uint64](t, in+", "+out, n, come, leave)
		}
		fillAndEmptyOrdered[uint32, uint32](t, in, n, come, come)
	}
	// Removals of every third pair, then of every fifth pair and so on, make all nodes as empty as possible.
	x := newOrderedIndex[uint32, uint32](t, Options{Capacity: n})
	for i := range n {
		x.Add(uint32(i), 0)
	}
	for _, every := range []int{3, 5, 2, 7, 2, 2, 3} {
		i := 0
		var gone []uint32
		for k := range x.All() {
			if i++; i%every == 0 {
				gone = append(gone, k)
			}
		}
		for _, k := range gone {
			x.Remove(k, 0)
		}
		bounded(t, x, "thinning", x.Len(), 8)
	}
}

func fillAndEmptyOrdered[K, V uint32 | uint64](t *testing.T, what string, n int, come, leave func(int) int) {
	t.Helper()
	x := newOrderedIndex[K, V](t, Options{Capacity: n})
	for i := range n {
		x.Add(K(come(i)), V(i))
		if i%997 == 0 {
			bounded(t, x, what+": filling", x.Len(), size[K]()+size[V]())
		}
	}
	for i := range n {
		k := K(leave(i))
		v, ok := x.First(k)
		if !ok || !x.Remove(k, v) {
			t.Fatalf("%s: key %d is not in the index", what, k)
		}
		if i%997 == 0 {
			bounded(t, x, what+": emptying", x.Len(), size[K]()+size[V]())
		}
	}
	if x.Len() != 0 || x.Committed() != 0 {
		t.Fatalf("%s: %d pairs in %d bytes are left", what, x.Len(), x.Committed())
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
}

func newHashIndex[K comparable, V any](t *testing.T, o Options) *HashIndex[K, V] {
	t.Helper()
	x, err := NewHashIndex[K, V](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func newOrderedIndex[K interface {
	~uint32 | ~uint64 | ~int64 | ~float64
}, V any](t *testing.T, o Options) *OrderedIndex[K, V] {
	t.Helper()
	x, err := NewOrderedIndex[K, V](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

func TestIndicesUnderPolicies(t *testing.T) {
	longtest.OneGoroutine(t)
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHeap} {
		x := newHashIndex[uint64, uint64](t, Options{Pages: pages, Capacity: 100_000})
		o := newOrderedIndex[uint64, uint64](t, Options{Pages: pages, Capacity: 100_000})
		for i := range uint64(100_000) {
			x.Add(i, i)
			o.Add(i*7919%100_000, i)
		}
		bounded(t, x, pages.String(), 100_000, 16)
		bounded(t, o, pages.String(), 100_000, 16)
	}
}

func TestOrderedIndexUsedRoom(t *testing.T) {
	const n = 25_000
	for _, at := range []int{500, 5_000, n} {
		x := newOrderedIndex[uint64, uint32](t, Options{Capacity: n})
		for i := range n {
			if i%at == 0 {
				if err := x.Grow(at); err != nil {
					t.Fatal(err)
				}
			}
			x.Add(uint64(i%(n/20)), uint32(i))
			if i%at == at-1 {
				bounded(t, x, "room is used", x.Len(), 12)
			}
		}
		for i := range n / 4 {
			x.Remove(uint64(i%(n/20)), uint32(i))
			if i%997 == 0 {
				bounded(t, x, "thinning", x.Len(), 12)
			}
		}
	}
}

// After the insertions that Grow has promised, an index gives memory back as it does without Grow.
func TestPromisesEnd(t *testing.T) {
	n := 100_000
	if !longtest.Enabled() || heapStandIn() {
		n = 5_000
	}
	for _, valuesPerKey := range []int{1, 20} {
		for _, grow := range []func(i int) int{
			func(int) int { return 0 },
			func(int) int { return 1 },
			func(i int) int { return i / (n - 1) },
			func(i int) int { return 500 * (1 - min(i%500, 1)) },
		} {
			for name, x := range indices(t, Options{Capacity: n + 500}) {
				key := func(i int) uint64 { return uint64(i % (n / valuesPerKey)) }
				for i := range n {
					if err := x.Grow(grow(i)); err != nil {
						t.Fatal(err)
					}
					x.Add(key(i), uint32(i))
					x.Add(key(i), uint32(i)) // the pair exists: this is not a promised insertion
				}
				for i := range n {
					x.Remove(key(i), uint32(i))
					// The index gives unused memory of Grow back step by step.
					most := 2*max(12*x.Len(), 64<<10) + 4*vm.PageSize()
					if c := x.(interface{ Committed() int }).Committed(); i > n/10 && c > most {
						t.Fatalf("%s: %d bytes are committed for %d pairs", name, c, x.Len())
					}
				}
				checkIndex(x)
			}
		}
	}
}
