package bench

import (
	"math/rand/v2"
	"runtime"

	"github.com/vastgo/vast/bulk"
)

// listsWorks returns the works that measure N ÷ 10 lists of 0 to 8 elements of 8 bytes; N is the value of -n.
// On all sides except vast, the lists are slices that grow by append and are freed by the collector.
func listsWorks() []work {
	return []work{
		{"lists-churn", nil, churns},
		{"lists-collect", listsBytes, collections},
		{"lists-iterate", nil, listIterations},
		{"lists-append-random", nil, randomAppends},
		{"lists-remove-random", nil, randomRemovals},
	}
}

func numberOfLists(n int) int { return max(1, n/10) }

func listSizes(n int) []uint8 {
	r := rand.New(rand.NewPCG(seedOrder, 0))
	sizes := make([]uint8, numberOfLists(n))
	for i := range sizes {
		sizes[i] = uint8(r.IntN(9))
	}
	return sizes
}

func totalSize(sizes []uint8) (total int) {
	for _, s := range sizes {
		total += int(s)
	}
	return total
}

func listsBytes(n int) int { return totalSize(listSizes(n)) * 8 }

// churnRounds is the number of times that the work lists-churn builds and frees the lists. It is so large
// that the collector runs while the lists are built.
const churnRounds = 5

// churns returns the sides of the work lists-churn: build all lists, one element at a time, and free them.
// The measured time ends with a collection on both sides, because only this collection frees the last slices.
// The time does not include the collector's work on other processors. There is no side map-of-slices, because
// it would be several times slower.
func churns(n int) (sides []side, done func()) {
	sizes := listSizes(n)
	return []side{
		{"vast", func(m *meter) {
			ls := made(bulk.NewLists[uint64](bulk.Options{Name: "bench"}))
			owners := make([]bulk.List[uint64], len(sizes))
			m.run(func() {
				for range churnRounds {
					buildLists(ls, owners, sizes)
					freeLists(ls, owners)
				}
				runtime.GC()
			})
			mustBe("vast", ls.Len(), 0)
			mustSucceed(ls.Close())
			runtime.KeepAlive(owners)
		}},
		{"slices", func(m *meter) {
			owners := make([][]uint64, len(sizes))
			m.run(func() {
				for range churnRounds {
					buildSlices(owners, sizes)
					freeSlices(owners)
				}
				runtime.GC()
			})
			runtime.KeepAlive(owners)
		}},
	}, nil
}

// collections returns the sides of the work lists-collect: run the collector while all lists are live.
func collections(n int) (sides []side, done func()) {
	sizes := listSizes(n)
	return []side{
		{"vast", func(m *meter) {
			ls, owners := builtLists(sizes)
			m.run(runtime.GC)
			m.weigh()
			runtime.KeepAlive(owners)
			mustSucceed(ls.Close())
		}},
		{"slices", func(m *meter) {
			owners := builtSlices(sizes)
			m.run(runtime.GC)
			m.weigh()
			runtime.KeepAlive(owners)
		}},
		{"map-of-slices", func(m *meter) {
			owners := make(map[uint32][]uint64, len(sizes))
			buildMap(owners, sizes)
			m.run(runtime.GC)
			m.weigh()
			runtime.KeepAlive(owners)
		}},
	}, nil
}

// listIterations returns the sides of the work lists-iterate: add up the elements of all lists, ten times.
func listIterations(n int) (sides []side, done func()) {
	sizes := listSizes(n)
	want := uint64(0)
	for _, s := range sizes {
		want += uint64(s) * (uint64(s) + 1) / 2
	}
	sums := func(name string, m *meter, sum func() uint64) {
		m.run(func() {
			for range 10 {
				mustBe(name, sum(), want)
			}
		})
	}
	return []side{
		{"vast", func(m *meter) {
			ls, owners := builtLists(sizes)
			sums("vast", m, func() uint64 { return sumLists(ls, owners) })
			mustSucceed(ls.Close())
		}},
		{"slices", func(m *meter) {
			owners := builtSlices(sizes)
			sums("slices", m, func() uint64 { return sumSlices(owners) })
		}},
		{"map-of-slices", func(m *meter) {
			owners := make(map[uint32][]uint64, len(sizes))
			buildMap(owners, sizes)
			sums("map-of-slices", m, func() uint64 { return sumMap(owners) })
		}},
	}, nil
}

func randomLists(operations, lists int) []uint32 {
	r := rand.New(rand.NewPCG(seedOrder, 1))
	which := make([]uint32, operations)
	for i := range which {
		which[i] = uint32(r.IntN(lists))
	}
	return which
}

// randomAppends returns the sides of the work lists-append-random: append an element to a random list.
// There are as many appends as lists.
func randomAppends(n int) (sides []side, done func()) {
	sizes := listSizes(n)
	which := randomLists(len(sizes), len(sizes))
	want := uint64(totalSize(sizes) + len(which))
	return []side{
		{"vast", func(m *meter) {
			ls, owners := builtLists(sizes)
			m.run(func() { appendToLists(ls, owners, which) })
			mustBe("vast", countLists(ls, owners), want)
			mustSucceed(ls.Close())
		}},
		{"slices", func(m *meter) {
			owners := builtSlices(sizes)
			m.run(func() { appendToSlices(owners, which) })
			mustBe("slices", countSlices(owners), want)
		}},
	}, nil
}

// randomRemovals returns the sides of the work lists-remove-random: remove the first element, if any, of a
// random list. The other elements keep their order. There are as many removals as lists.
func randomRemovals(n int) (sides []side, done func()) {
	sizes := listSizes(n)
	which := randomLists(len(sizes), len(sizes))
	left := append([]uint8(nil), sizes...)
	for _, i := range which {
		left[i] -= min(left[i], 1)
	}
	want := uint64(totalSize(left))
	return []side{
		{"vast", func(m *meter) {
			ls, owners := builtLists(sizes)
			m.run(func() { removeFromLists(ls, owners, which) })
			mustBe("vast", countLists(ls, owners), want)
			mustSucceed(ls.Close())
		}},
		{"slices", func(m *meter) {
			owners := builtSlices(sizes)
			m.run(func() { removeFromSlices(owners, which) })
			mustBe("slices", countSlices(owners), want)
		}},
	}, nil
}
