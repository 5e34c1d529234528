package bench

import (
	"slices"

	"github.com/vastgo/vast/bulk"
)

func builtLists(sizes []uint8) (*bulk.Lists[uint64], []bulk.List[uint64]) {
	ls := made(bulk.NewLists[uint64](bulk.Options{Name: "bench"}))
	owners := make([]bulk.List[uint64], len(sizes))
	buildLists(ls, owners, sizes)
	return ls, owners
}

func builtSlices(sizes []uint8) [][]uint64 {
	owners := make([][]uint64, len(sizes))
	buildSlices(owners, sizes)
	return owners
}

//go:noinline
func buildLists(ls *bulk.Lists[uint64], owners []bulk.List[uint64], sizes []uint8) {
	for i, n := range sizes {
		for e := range uint64(n) {
			ls.Append(&owners[i], e+1)
		}
	}
}

//go:noinline
func buildSlices(owners [][]uint64, sizes []uint8) {
	for i, n := range sizes {
		for e := range uint64(n) {
			owners[i] = append(owners[i], e+1)
		}
	}
}

//go:noinline
func buildMap(owners map[uint32][]uint64, sizes []uint8) {
	for i, n := range sizes {
		for e := range uint64(n) {
			owners[uint32(i)] = append(owners[uint32(i)], e+1)
		}
	}
}

//go:noinline
func freeLists(ls *bulk.Lists[uint64], owners []bulk.List[uint64]) {
	for i := range owners {
		ls.Free(&owners[i])
	}
}

//go:noinline
func freeSlices(owners [][]uint64) {
	for i := range owners {
		owners[i] = nil
	}
}

//go:noinline
func sumLists(ls *bulk.Lists[uint64], owners []bulk.List[uint64]) (sum uint64) {
	for _, l := range owners {
		for _, v := range ls.Slice(l) {
			sum += v
		}
	}
	return sum
}

//go:noinline
func sumSlices(owners [][]uint64) (sum uint64) {
	for _, l := range owners {
		for _, v := range l {
			sum += v
		}
	}
	return sum
}

//go:noinline
func sumMap(owners map[uint32][]uint64) (sum uint64) {
	for _, l := range owners {
		for _, v := range l {
			sum += v
		}
	}
	return sum
}

//go:noinline
func appendToLists(ls *bulk.Lists[uint64], owners []bulk.List[uint64], which []uint32) {
	for _, i := range which {
		ls.Append(&owners[i], uint64(i))
	}
}

//go:noinline
func appendToSlices(owners [][]uint64, which []uint32) {
	for _, i := range which {
		owners[i] = append(owners[i], uint64(i))
	}
}

//go:noinline
func removeFromLists(ls *bulk.Lists[uint64], owners []bulk.List[uint64], which []uint32) {
	for _, i := range which {
		if l := owners[i]; len(ls.Slice(l)) > 0 {
			ls.Remove(l, 0)
		}
	}
}

//go:noinline
func removeFromSlices(owners [][]uint64, which []uint32) {
	for _, i := range which {
		if s := owners[i]; len(s) > 0 {
			owners[i] = slices.Delete(s, 0, 1)
		}
	}
}

func countLists(ls *bulk.Lists[uint64], owners []bulk.List[uint64]) (n uint64) {
	for _, l := range owners {
		n += uint64(len(ls.Slice(l)))
	}
	return n
}

func countSlices(owners [][]uint64) (n uint64) {
	for _, l := range owners {
		n += uint64(len(l))
	}
	return n
}
