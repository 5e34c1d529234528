package bench

import (
	"cmp"
	"runtime"
	"slices"
	"sort"

	"github.com/vastgo/vast/bulk"
)

func newOrdered(n int) *bulk.OrderedIndex[uint64, uint64] {
	return made(bulk.NewOrderedIndex[uint64, uint64](bulk.Options{Name: "bench", Capacity: n}))
}

type sortedPair struct{ key, value uint64 }

// orderedInsertions returns the sides that bring n pairs into order: an index that is always in order, and a
// slice that is sorted once, at the end. A slice that is always in order would move about n²/4 pairs.
func orderedInsertions(n int) (sides []side, done func()) {
	keys := randomKeys(n, seedKeys)
	return []side{
		{"vast", func(m *meter) {
			x := newOrdered(n)
			m.run(func() { fillOrdered(x, keys) })
			m.weigh()
			mustBe("vast", x.Len(), n)
			mustSucceed(x.Close())
		}},
		{"slice-sorted-once", func(m *meter) {
			var ps []sortedPair
			m.run(func() { ps = sortPairs(keys) })
			m.weigh()
			runtime.KeepAlive(ps)
		}},
	}, nil
}

//go:noinline
func fillOrdered(x *bulk.OrderedIndex[uint64, uint64], keys []uint64) {
	for i, k := range keys {
		x.Add(k, uint64(i))
	}
}

//go:noinline
func sortPairs(keys []uint64) []sortedPair {
	ps := make([]sortedPair, 0, len(keys))
	for i, k := range keys {
		ps = append(ps, sortedPair{k, uint64(i)})
	}
	slices.SortFunc(ps, func(a, b sortedPair) int { return cmp.Compare(a.key, b.key) })
	return ps
}

// orderedSearches returns the sides that look up n keys in random order.
func orderedSearches(n int) (sides []side, done func()) {
	keys := randomKeys(n, seedKeys)
	sought := shuffle(keys, randomOrder(n))
	x, ps := newOrdered(n), sortPairs(keys)
	fillOrdered(x, keys)
	want := uint64(n) * uint64(n-1) / 2
	return []side{
		reading("vast", want, func() uint64 { return sumOrdered(x, sought) }),
		reading("sorted-slice", want, func() uint64 { return sumSorted(ps, sought) }),
	}, func() { mustSucceed(x.Close()) }
}

//go:noinline
func sumOrdered(x *bulk.OrderedIndex[uint64, uint64], keys []uint64) (sum uint64) {
	for _, k := range keys {
		v, _ := x.First(k)
		sum += v
	}
	return sum
}

//go:noinline
func sumSorted(ps []sortedPair, keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += ps[sort.Search(len(ps), func(i int) bool { return ps[i].key >= k })].value
	}
	return sum
}

const pairsPerRange = 1000 // on average

// orderedRanges returns the sides that add up about n values, in ranges of about pairsPerRange pairs.
func orderedRanges(n int) (sides []side, done func()) {
	keys := randomKeys(n, seedKeys)
	x, ps := newOrdered(n), sortPairs(keys)
	fillOrdered(x, keys)
	var lows []uint64
	for i := 0; i < n; i += pairsPerRange {
		lows = append(lows, ps[i].key)
	}
	lows = shuffle(lows, randomOrder(len(lows)))
	width := uint64(1<<64-1) / uint64(max(1, n/pairsPerRange))
	want := sumSortedRanges(ps, lows, width)
	return []side{
		reading("vast", want, func() uint64 { return sumRanges(x, lows, width) }),
		reading("sorted-slice", want, func() uint64 { return sumSortedRanges(ps, lows, width) }),
	}, func() { mustSucceed(x.Close()) }
}

// upper returns the end of the range that begins at low, at most the largest uint64.
func upper(low, width uint64) uint64 {
	if low+width < low {
		return 1<<64 - 1
	}
	return low + width
}

//go:noinline
func sumRanges(x *bulk.OrderedIndex[uint64, uint64], lows []uint64, width uint64) (sum uint64) {
	for _, low := range lows {
		for _, values := range x.Runs(low, upper(low, width)) {
			for _, v := range values {
				sum += v
			}
		}
	}
	return sum
}

//go:noinline
func sumSortedRanges(ps []sortedPair, lows []uint64, width uint64) (sum uint64) {
	for _, low := range lows {
		high := upper(low, width)
		for i := sort.Search(len(ps), func(i int) bool { return ps[i].key >= low }); i < len(ps) &&
			ps[i].key < high; i++ {
			sum += ps[i].value
		}
	}
	return sum
}
