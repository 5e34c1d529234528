package bench

import (
	"fmt"
	"io"
	"slices"
)

// family is a group of works that measure one part of the library.
type family struct {
	name  string
	about string // the description in the help and the report; N is the value of -n
	works func() []work
}

// work is a task that is measured in several ways (see side): vast does it, and so do the peers.
type work struct {
	name  string
	bytes func(n int) int                         // size of the data; nil if no memory is warmed
	sides func(n int) (sides []side, done func()) // vast is first; done cleans up and may be nil
}

// families are in the order of the report.
var families = []family{
	{"array", "bulk.Array: append N elements of 40 bytes", arrayWorks},
	{"pool", "bulk.Pool: insert N elements of 40 bytes, remove them in random order, insert N elements " +
		"again, and read them", poolWorks},
	{"shared", "bulk.SharedArray, bulk.SharedPool: append N elements of 40 bytes, replace N ÷ 2, read " +
		"N ÷ 10, by 1 to 8 goroutines", sharedWorks},
	{"dense", "bulk.Dense: insert N elements of 40 bytes, find them by handles, read them, and remove " +
		"them in random order", denseWorks},
	{growthFamily, "growth strategies: append N elements of 40 bytes, and read them", growthWorks},
	{"table", "bulk.Table: append N particles of ten float32, 40 bytes, remove half of them, and step them " +
		"in time",
		tableWorks},
	{"lists", "bulk.Lists: build, free, read and change N ÷ 10 lists of 0 to 8 elements of 8 bytes",
		listsWorks},
	{"index", "bulk.HashIndex, bulk.OrderedIndex: insert, find and remove N pairs of 16 bytes", indexWorks},
	{"replace", "bulk.SharedTable: N operations on N ÷ 10 entries of 40 bytes; one of 16 replaces an " +
		"entry, and each other operation reads an entry", replaceWorks},
	{"arena", "arena: allocate N records of 24 bytes, or slices of 1 to 4 records, in 10 frames, " +
		"and free each frame as a whole; the time includes the garbage collector", arenaWorks},
	{"ring", "ring: pass blocks of 64 KiB (N ÷ 1,000), messages (N ÷ 10), records of 1 KiB (N ÷ 10) and " +
		"frames (N ÷ 2, over a socket N ÷ 10) through a buffer", ringWorks},
	{"heap", "heap.Heap: replace N objects of 64 bytes; grow an allocation of 100 × N bytes; allocate " +
		"N ÷ 200 blocks of 16 KiB and free every second block", heapWorks},
	{"guard", "guard: move N elements of 40 bytes, of which at most 16 are guarded; replace N ÷ 10 " +
		"elements; replace N ÷ 1,000 elements that are all guarded", guardWorks},
	{"uid", "uid: make N identifiers", uidWorks},
}

func familyNames() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// has reports whether name is the name of the family or of one of its works.
func (f family) has(name string) bool {
	return name == f.name || slices.ContainsFunc(f.works(), func(w work) bool { return w.name == name })
}

// measureAll runs the chosen works and returns their rows.
func measureAll(o options, progress io.Writer) (rows []row, err error) {
	defer catch(&err)
	for _, f := range families {
		for _, w := range f.works() {
			if !o.wants(f, w) {
				continue
			}
			if !o.json {
				fmt.Fprintf(progress, "measuring %s ...\n", w.name)
			}
			bytes := 0
			if w.bytes != nil {
				bytes = w.bytes(o.n)
			}
			sides, done := w.sides(o.n)
			results := contest(o.rounds, 2*bytes, sides)
			if done != nil {
				done()
			}
			for _, theirs := range results[1:] {
				rows = append(rows, newRow(f.name, w.name, bytes, results[0], theirs))
			}
		}
	}
	return rows, nil
}
