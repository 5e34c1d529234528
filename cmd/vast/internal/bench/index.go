package bench

import (
	"math/rand/v2"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/clock"
)

// bytesPair is the size of a pair: a key and a value of 8 bytes each. The value of the i-th pair is i.
const bytesPair = 16

func bytesPairs(n int) int { return n * bytesPair }

func indexWorks() []work {
	return []work{
		{"hash-insert", bytesPairs, func(n int) ([]side, func()) { return hashInsertions(n, false) }},
		{"hash-insert-longest", bytesPairs, func(n int) ([]side, func()) { return hashInsertions(n, true) }},
		{"hash-hit", nil, func(n int) ([]side, func()) { return hashSearches(n, true) }},
		{"hash-miss", nil, func(n int) ([]side, func()) { return hashSearches(n, false) }},
		{"hash-remove", nil, hashRemovals},
		{"many-insert", bytesPairs, manyInsertions},
		{"many-read", nil, manyReadings},
		{"many-remove", nil, manyRemovals},
		{"ordered-insert", bytesPairs, orderedInsertions},
		{"ordered-hit", nil, orderedSearches},
		{"ordered-range", nil, orderedRanges},
	}
}

// randomKeys returns n random keys. Different seeds give different keys, except by chance.
func randomKeys(n int, seed uint64) []uint64 {
	r := rand.New(rand.NewPCG(seed, 0))
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = r.Uint64()
	}
	return keys
}

const (
	seedKeys   = 21
	seedMisses = 22
)

// insertions measures insertions into an empty table. If longest is false, it measures the time of fill,
// which inserts all keys, and the growth of the memory. If longest is true, it measures the longest lap of
// fillLapping, which ends a lap after each insertion.
func insertions(m *meter, longest bool, fill func(), fillLapping func(*stopwatch)) {
	if !longest {
		m.run(fill)
		m.weigh()
		return
	}
	s := stopwatch{start: clock.Now()}
	fillLapping(&s)
	m.time = s.longest
}

func newHash(n int) *bulk.HashIndex[uint64, uint64] {
	return made(bulk.NewHashIndex[uint64, uint64](bulk.Options{Name: "bench", Capacity: n}))
}

// hashInsertions returns the sides, that is, the ways to insert n pairs into an empty table: Vast's index,
// Go's map, Go's map with room for n pairs, and a table with linear probing that doubles.
func hashInsertions(n int, longest bool) (sides []side, done func()) {
	keys := randomKeys(n, seedKeys)
	goMap := func(size int) func(*meter) {
		return func(m *meter) {
			table := make(map[uint64]uint64, size)
			insertions(m, longest, func() { fillMap(table, keys) },
				func(s *stopwatch) { fillMapLapping(table, keys, s) })
			mustBe("go-map", len(table), n)
		}
	}
	return []side{
		{"vast", func(m *meter) {
			x := newHash(n)
			insertions(m, longest, func() { fillHash(x, keys) },
				func(s *stopwatch) { fillHashLapping(x, keys, s) })
			mustBe("vast", x.Len(), n)
			mustSucceed(x.Close())
		}},
		{"go-map", goMap(0)},
		{"go-map-made", goMap(n)},
		{"probing-table", func(m *meter) {
			t := newProbing()
			insertions(m, longest, func() { fillProbing(t, keys) },
				func(s *stopwatch) { fillProbingLapping(t, keys, s) })
			mustBe("probing-table", t.len, n)
		}},
	}, nil
}

//go:noinline
func fillHash(x *bulk.HashIndex[uint64, uint64], keys []uint64) {
	for i, k := range keys {
		x.Add(k, uint64(i))
	}
}

//go:noinline
func fillHashLapping(x *bulk.HashIndex[uint64, uint64], keys []uint64, s *stopwatch) {
	for i, k := range keys {
		x.Add(k, uint64(i))
		s.lap()
	}
}

//go:noinline
func fillMap(m map[uint64]uint64, keys []uint64) {
	for i, k := range keys {
		m[k] = uint64(i)
	}
}

//go:noinline
func fillMapLapping(m map[uint64]uint64, keys []uint64, s *stopwatch) {
	for i, k := range keys {
		m[k] = uint64(i)
		s.lap()
	}
}

// hashSearches returns the sides that look up n keys in a table of n pairs. The table has all of these keys
// if hits is true, and none of them if hits is false.
func hashSearches(n int, hits bool) (sides []side, done func()) {
	keys := randomKeys(n, seedKeys)
	sought := shuffle(keys, randomOrder(n))
	want := uint64(n) * uint64(n-1) / 2
	if !hits {
		sought, want = randomKeys(n, seedMisses), 0
	}
	x, table, probing := newHash(n), make(map[uint64]uint64, n), newProbing()
	fillHash(x, keys)
	fillMap(table, keys)
	fillProbing(probing, keys)
	return []side{
		reading("vast", want, func() uint64 { return sumHash(x, sought) }),
		reading("go-map", want, func() uint64 { return sumFound(table, sought) }),
		reading("probing-table", want, func() uint64 { return sumProbing(probing, sought) }),
	}, func() { mustSucceed(x.Close()) }
}

//go:noinline
func sumHash(x *bulk.HashIndex[uint64, uint64], keys []uint64) (sum uint64) {
	for _, k := range keys {
		v, _ := x.First(k)
		sum += v
	}
	return sum
}

//go:noinline
func sumFound(m map[uint64]uint64, keys []uint64) (sum uint64) {
	for _, k := range keys {
		sum += m[k]
	}
	return sum
}

// hashRemovals returns the sides that remove n pairs in the order of their insertion.
func hashRemovals(n int) (sides []side, done func()) {
	keys := randomKeys(n, seedKeys)
	return []side{
		{"vast", func(m *meter) {
			x := newHash(n)
			fillHash(x, keys)
			m.run(func() { emptyHash(x, keys) })
			mustBe("vast", x.Len(), 0)
			mustSucceed(x.Close())
		}},
		{"go-map", func(m *meter) {
			table := make(map[uint64]uint64)
			fillMap(table, keys)
			m.run(func() { emptyMap(table, keys) })
			mustBe("go-map", len(table), 0)
		}},
	}, nil
}

//go:noinline
func emptyHash(x *bulk.HashIndex[uint64, uint64], keys []uint64) {
	for i, k := range keys {
		x.Remove(k, uint64(i))
	}
}

//go:noinline
func emptyMap(m map[uint64]uint64, keys []uint64) {
	for _, k := range keys {
		delete(m, k)
	}
}
