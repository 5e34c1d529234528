package bulk

import (
	"math/rand/v2"
	"testing"
)

const benchmarkLists = 1_000_000

func benchmarkSizes() []uint8 {
	r := rand.New(rand.NewPCG(1, 0))
	sizes := make([]uint8, benchmarkLists)
	for i := range sizes {
		sizes[i] = uint8(r.IntN(9))
	}
	return sizes
}

func perList(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/benchmarkLists, "ns/list")
}

func BenchmarkListsBuildAndFree(b *testing.B) {
	ls, sizes, owners := newLists[uint64](b, Options{}), benchmarkSizes(),
		make([]List[uint64], benchmarkLists)
	for b.Loop() {
		buildLists(ls, owners, sizes)
		freeLists(ls, owners)
	}
	perList(b)
}

func BenchmarkListsSlice(b *testing.B) {
	ls, sizes, owners := newLists[uint64](b, Options{}), benchmarkSizes(),
		make([]List[uint64], benchmarkLists)
	buildLists(ls, owners, sizes)
	for b.Loop() {
		sumLists(ls, owners)
	}
	perList(b)
}

//go:noinline
func buildLists(ls *Lists[uint64], owners []List[uint64], sizes []uint8) {
	for i, n := range sizes {
		for e := range n {
			ls.Append(&owners[i], uint64(e))
		}
	}
}

//go:noinline
func freeLists(ls *Lists[uint64], owners []List[uint64]) {
	for i := range owners {
		ls.Free(&owners[i])
	}
}

//go:noinline
func sumLists(ls *Lists[uint64], owners []List[uint64]) (sum uint64) {
	for _, l := range owners {
		for _, v := range ls.Slice(l) {
			sum += v
		}
	}
	return sum
}
