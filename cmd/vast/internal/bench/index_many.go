package bench

import (
	"slices"

	"github.com/vastgo/vast/bulk"
)

const valuesPerKey = 100 // approximately

func keyOf(i, n int) uint64 { return uint64(i) * 0x9e3779b97f4a7c15 % uint64(n/valuesPerKey+1) }

// manyInsertions returns the sides, that is, the ways to insert n values. Successive values usually have
// different keys.
func manyInsertions(n int) (sides []side, done func()) {
	return []side{
		{"vast", func(m *meter) {
			x := newHash(n)
			m.run(func() { fillMany(x, n) })
			m.weigh()
			mustBe("vast", x.Len(), n)
			mustSucceed(x.Close())
		}},
		{"map-of-slices", func(m *meter) {
			x := make(map[uint64][]uint64)
			m.run(func() { fillSlices(x, n) })
			m.weigh()
			mustBe("map-of-slices", len(x), min(n, n/valuesPerKey+1))
		}},
	}, nil
}

//go:noinline
func fillMany(x *bulk.HashIndex[uint64, uint64], n int) {
	for i := range n {
		x.Add(keyOf(i, n), uint64(i))
	}
}

//go:noinline
func fillSlices(x map[uint64][]uint64, n int) {
	for i := range n {
		k := keyOf(i, n)
		x[k] = append(x[k], uint64(i))
	}
}

// manyReadings returns the ways to add up the values of each key.
func manyReadings(n int) (sides []side, done func()) {
	x, slices := newHash(n), make(map[uint64][]uint64)
	fillMany(x, n)
	fillSlices(slices, n)
	want := uint64(n) * uint64(n-1) / 2
	return []side{
		reading("vast", want, func() uint64 { return sumMany(x, n) }),
		reading("map-of-slices", want, func() uint64 { return sumManySlices(slices, n) }),
	}, func() { mustSucceed(x.Close()) }
}

//go:noinline
func sumMany(x *bulk.HashIndex[uint64, uint64], n int) (sum uint64) {
	for k := range uint64(n/valuesPerKey + 1) {
		for v := range x.Values(k) {
			sum += v
		}
	}
	return sum
}

//go:noinline
func sumManySlices(x map[uint64][]uint64, n int) (sum uint64) {
	for k := range uint64(n/valuesPerKey + 1) {
		for _, v := range x[k] {
			sum += v
		}
	}
	return sum
}

// manyRemovals returns the ways to remove all pairs in the order of their insertion.
func manyRemovals(n int) (sides []side, done func()) {
	return []side{
		{"vast", func(m *meter) {
			x := newHash(n)
			fillMany(x, n)
			m.run(func() { emptyMany(x, n) })
			mustBe("vast", x.Len(), 0)
			mustSucceed(x.Close())
		}},
		{"map-of-slices", func(m *meter) {
			x := make(map[uint64][]uint64)
			fillSlices(x, n)
			m.run(func() { emptySlices(x, n) })
			mustBe("map-of-slices", len(x), 0)
		}},
	}, nil
}

//go:noinline
func emptyMany(x *bulk.HashIndex[uint64, uint64], n int) {
	for i := range n {
		x.Remove(keyOf(i, n), uint64(i))
	}
}

//go:noinline
func emptySlices(x map[uint64][]uint64, n int) {
	for i := range n {
		k := keyOf(i, n)
		vs := x[k]
		at := slices.Index(vs, uint64(i))
		vs[at] = vs[len(vs)-1]
		if vs = vs[:len(vs)-1]; len(vs) == 0 {
			delete(x, k)
		} else {
			x[k] = vs
		}
	}
}
