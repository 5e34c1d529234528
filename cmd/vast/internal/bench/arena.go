package bench

import (
	"fmt"
	"runtime"

	"github.com/vastgo/vast/arena"
)

// record has only 24 bytes, because most allocations of programs are small.
type record struct {
	key    uint64
	values [2]uint64
}

const arenaFrames = 10

// arenaWorks returns the works that measure arenaFrames frames. A side is one way to do a work. In each
// frame, a side allocates N ÷ 10 records, or N ÷ 10 slices of 1 to 4 records; N is the value of -n. At the
// end of the frame it frees all of them; on Go's heap it drops the references to them. The sides on Go's heap
// also collect garbage after the last frame, in the measured time.
func arenaWorks() []work {
	bytes := func(n int) int { return perFrame(n) * 24 }
	bytesSlices := func(n int) int { return perFrame(n) * 60 } // 2.5 records on average
	return []work{
		{"arena-records", bytes, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) {
					kept := make([]*record, perFrame(n))
					a := made(arena.New(arena.Options{Name: "bench"}))
					m.run(func() {
						for range arenaFrames {
							fillRecordsArena(a, kept)
							checkRecords("vast", kept)
							a.Reset()
						}
					})
					mustSucceed(a.Close())
				}},
				{"new", func(m *meter) {
					kept := make([]*record, perFrame(n))
					m.run(func() {
						for range arenaFrames {
							fillRecordsNew(kept)
							checkRecords("new", kept)
							clear(kept)
						}
						runtime.GC()
					})
				}},
				{"made-slice", func(m *meter) {
					kept := make([]*record, perFrame(n))
					m.run(func() {
						for range arenaFrames {
							fillRecordsSlice(kept)
							checkRecords("made-slice", kept)
							clear(kept)
						}
						runtime.GC()
					})
				}},
			}, nil
		}},
		{"arena-slices", bytesSlices, func(n int) ([]side, func()) {
			return []side{
				{"vast", func(m *meter) {
					kept := make([][]record, perFrame(n))
					a := made(arena.New(arena.Options{Name: "bench"}))
					m.run(func() {
						for range arenaFrames {
							fillSlicesArena(a, kept)
							a.Reset()
						}
					})
					mustSucceed(a.Close())
				}},
				{"make", func(m *meter) {
					kept := make([][]record, perFrame(n))
					m.run(func() {
						for range arenaFrames {
							fillSlicesMake(kept)
							clear(kept)
						}
						runtime.GC()
					})
				}},
			}, nil
		}},
	}
}

func perFrame(n int) int { return max(1, n/arenaFrames) }

//go:noinline
func fillRecordsArena(a *arena.Arena, kept []*record) {
	for i := range kept {
		r := arena.Make[record](a)
		r.key = uint64(i)
		kept[i] = r
	}
}

//go:noinline
func fillRecordsNew(kept []*record) {
	for i := range kept {
		r := new(record)
		r.key = uint64(i)
		kept[i] = r
	}
}

// fillRecordsSlice allocates all records in one slice, like a program that knows their number beforehand.
//
//go:noinline
func fillRecordsSlice(kept []*record) {
	all := make([]record, len(kept))
	for i := range kept {
		r := &all[i]
		r.key = uint64(i)
		kept[i] = r
	}
}

func checkRecords(name string, kept []*record) {
	if last := kept[len(kept)-1]; last.key != uint64(len(kept)-1) || last.values[0] != 0 {
		panic(fmt.Sprintf("bench: the last record of %s is %v", name, *last))
	}
}

//go:noinline
func fillSlicesArena(a *arena.Arena, kept [][]record) {
	for i := range kept {
		s := arena.MakeSlice[record](a, 1+i%4, 1+i%4)
		s[0].key = uint64(i)
		kept[i] = s
	}
}

//go:noinline
func fillSlicesMake(kept [][]record) {
	for i := range kept {
		s := make([]record, 1+i%4)
		s[0].key = uint64(i)
		kept[i] = s
	}
}
