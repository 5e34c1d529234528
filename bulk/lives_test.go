package bulk

import (
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// life is the life of a container from its constructor to Close. At most one memory call fails.
type life struct {
	t          *testing.T
	o          Options
	errs       []error
	operations int    // number of operations so far
	marked     bool   // whether the method do has called t.Helper
	check      func() // compares the container with its expected content
}

// Each life makes its container take memory and give it back.
var lives = []struct {
	name string
	live func(*life)
	vary string // why the memory calls vary from run to run; empty if they do not vary
}{
	{"Array", liveArray, ""},
	{"Pool", func(l *life) { liveHandled(l, func() (handledLife, error) { return NewPool[record](l.o) }) },
		""},
	{"Dense", func(l *life) { liveHandled(l, func() (handledLife, error) { return NewDense[record](l.o) }) },
		""},
	{"SharedPool", func(l *life) {
		liveHandled(l, func() (handledLife, error) {
			return NewSharedPool[record](l.o)
		})
	}, "goroutines choose lines of slots by the addresses of their stacks"},
	{"Table by columns", func(l *life) { liveTable(l, LayoutColumns) }, ""},
	{"Table by blocks of 8", func(l *life) { liveTable(l, LayoutBlocks8) }, ""},
	{"Table by blocks of 16", func(l *life) { liveTable(l, LayoutBlocks16) }, ""},
	{"Table by blocks of a page", func(l *life) { liveTable(l, LayoutBlocksPage) }, ""},
	{"Lists", liveLists, ""},
	{"HashIndex", func(l *life) {
		liveIndex(l, func() (indexLife, error) {
			return NewHashIndex[uint64, uint32](l.o)
		})
	}, "a random seed"},
	{"OrderedIndex", func(l *life) {
		liveIndex(l, func() (indexLife, error) {
			return NewOrderedIndex[uint64, uint32](l.o)
		})
	}, ""},
	{"Indexed", liveIndexed, "a random seed"},
	{"SharedArray", liveSharedArray, ""},
	{"SharedTable", liveSharedTable, ""},
}

func TestLivesWithEachCallFailing(t *testing.T) {
	longtest.OneGoroutine(t)
	for _, tt := range lives {
		kinds := []vm.Pages{vm.PagesSmall, vm.PagesAuto}
		if !longtest.Enabled() {
			kinds = kinds[1:]
		}
		for _, pages := range kinds {
			runs, refused, operations := 0, 0, 0
			calls := faulttest.EachCall(t, func() error {
				limit := vm.NewLimit(1 << 30)
				l := &life{t: t, o: Options{Capacity: 20_000, Step: 1, Pages: pages, Limit: limit},
					check: func() {}}
				tt.live(l)
				if limit.Used() != 0 {
					t.Errorf("%s: %d bytes are counted after Close", tt.name, limit.Used())
				}
				runs++
				operations = l.operations
				err := errors.Join(l.errs...)
				if err != nil {
					refused++
				}
				return err
			})
			t.Logf("%s, %v pages: %d operations; %d memory calls failed, and %d made an operation fail",
				tt.name, pages, operations, calls, refused)
			least := 8
			if vm.PageSize() > 4096 {
				least = 5 // the pages are larger, so there are fewer calls
			}
			if heapStandIn() {
				least = 1 // only regions make calls, and there are few regions
			}
			if calls < least || refused == 0 || runs < least {
				t.Errorf("%s, %v pages: %d memory calls failed in %d runs, want at least %d of both; %d "+
					"calls made an operation fail, want at least one", tt.name, pages, calls, runs, least,
					refused)
			}
			if tt.vary == "" && runs != calls+1 {
				t.Errorf("%s, %v pages: %d runs for %d memory calls, want one run more than calls", tt.name,
					pages, runs, calls)
			}
		}
	}
}

// try runs an operation. If the operation fails, try calls check and repeats the operation.
func (l *life) try(what string, op func() error) {
	if l.operations++; l.operations == 1 {
		l.t.Helper() // a call for each operation would cost more than most operations
	}
	l.errs = append(l.errs, faulttest.Again(l.t, what, op, l.check))
}

// do is like try, for an operation that panics if it fails.
func (l *life) do(what string, op func()) {
	if !l.marked {
		l.marked = true
		l.t.Helper()
	}
	l.try(what, func() error { op(); return nil })
}

func (l *life) end(c interface {
	Resident() (int, error)
	Close() error
}) {
	l.t.Helper()
	l.try("Resident", func() error { _, err := c.Resident(); return err })
	l.check()
	l.check = func() {}
	l.try("Close", c.Close)
}

func (l *life) must(ok bool, format string, a ...any) {
	if !ok {
		l.t.Helper()
		l.t.Fatalf(format, a...)
	}
}

func liveArray(l *life) {
	var a *Array[record]
	l.try("NewArray", func() (err error) { a, err = NewArray[record](l.o); return err })
	n := 0
	l.check = func() {
		l.must(a.Len() == n, "%d elements, want %d", a.Len(), n)
		for i, v := range a.Slice() {
			l.must(v == numbered(i), "element %d is %v", i, v)
		}
	}
	fill := func() {
		for range 250 {
			l.do("Append", func() { a.Append(numbered(n)); n++ })
		}
		l.try("Grow", func() error { return a.Grow(4000) })
		l.try("AppendN", func() error {
			added, err := a.AppendN(7000)
			for i := range added {
				added[i] = numbered(n + i)
			}
			n += len(added)
			return err
		})
	}
	fill()
	n = 10
	l.do("Truncate", func() { a.Truncate(10) })
	fill()
	l.end(a)
}

type handledLife interface {
	Insert(record) (Handle[record], *record)
	Remove(Handle[record]) bool
	Get(Handle[record]) *record
	Grow(int) error
	Len() int
	Clear(func(Handle[record], *record))
	Resident() (int, error)
	Close() error
	checkInvariants()
}

func liveHandled(l *life, make func() (handledLife, error)) {
	var c handledLife
	l.try("the constructor", func() (err error) { c, err = make(); return err })
	var all []Handle[record]
	l.check = func() {
		c.checkInvariants()
		l.must(c.Len() == len(all), "%d elements, want %d", c.Len(), len(all))
		for i, h := range all {
			v := c.Get(h)
			l.must(v != nil && *v == numbered(i), "element %d is %v", i, v)
		}
	}
	insert := func(n int) {
		for range n {
			l.do("Insert", func() {
				h, _ := c.Insert(numbered(len(all)))
				all = append(all, h)
			})
		}
	}
	insert(400)
	l.try("Grow", func() error { return c.Grow(3000) })
	insert(3500)
	for len(all) > 100 {
		h := all[len(all)-1]
		l.do("Remove", func() {
			l.must(c.Remove(h), "%v has no element", h)
			all = all[:len(all)-1]
		})
	}
	if trimmed, ok := c.(interface{ Trim() error }); ok {
		l.try("Trim", trimmed.Trim)
	}
	insert(2000)
	all = nil
	l.do("Clear", func() { c.Clear(nil) })
	insert(700)
	l.end(c)
}

func liveTable(l *life, layout Layout) {
	t, _ := newRowsTable(TableOptions{Layout: layout, Capacity: 6000, Step: 1, Pages: l.o.Pages,
		Limit: l.o.Limit}, false)
	var rows []int
	l.check = func() {
		t.checkInvariants()
		l.must(t.Len() == len(rows), "%v: %d rows, want %d", layout, t.Len(), len(rows))
		for row, n := range rows {
			l.must(t.get(row) == numberedRow(n), "%v: row %d holds %v", layout, row, t.get(row))
		}
	}
	appendRows := func(n int) {
		for range n {
			l.do("Append", func() {
				t.set(t.Append(), numberedRow(len(rows)))
				rows = append(rows, len(rows))
			})
		}
	}
	appendRows(100)
	l.try("Grow", func() error { return t.Grow(700) })
	l.try("AppendN", func() error {
		first, err := t.AppendN(2500)
		for row := first; err == nil && row < first+2500; row++ {
			t.set(row, numberedRow(row))
			rows = append(rows, row)
		}
		return err
	})
	for range 30 {
		l.do("RemoveSwap", func() {
			t.RemoveSwap(7)
			rows[7] = rows[len(rows)-1]
			rows = rows[:len(rows)-1]
		})
	}
	rows = rows[:40]
	l.do("Truncate", func() { t.Truncate(40) })
	for len(rows) < 600 {
		l.do("Append", func() {
			t.set(t.Append(), numberedRow(9))
			rows = append(rows, 9)
		})
	}
	rows = nil
	l.do("Clear", t.Clear)
	appendRows(200)
	l.end(t)
}

func liveLists(l *life) {
	var ls *Lists[uint64]
	l.o.Capacity = 400_000
	l.try("NewLists", func() (err error) { ls, err = NewLists[uint64](l.o); return err })
	var owners [30]List[uint64]
	var want [30][]uint64
	l.check = func() {
		ls.checkInvariants()
		for i, o := range owners {
			l.must(slices.Equal(ls.Slice(o), want[i]), "list %d has %d elements, want %d", i,
				len(ls.Slice(o)), len(want[i]))
		}
	}
	for round := range 8 {
		for i := range owners {
			more := make([]uint64, i*round)
			for j := range more {
				more[j] = uint64(round<<20 + j)
			}
			l.try("AppendSlice", func() error {
				_, err := ls.AppendSlice(&owners[i], more)
				if err == nil {
					want[i] = append(want[i], more...)
				}
				return err
			})
			l.do("Append", func() { ls.Append(&owners[i], 5); want[i] = append(want[i], 5) })
			l.do("Insert", func() { ls.Insert(&owners[i], 0, 6); want[i] = slices.Insert(want[i], 0, 6) })
		}
	}
	l.try("Grow", func() error { return ls.Grow(&owners[0], 60_000) })
	for i := range 20 {
		l.do("Truncate", func() { ls.Truncate(owners[i], 2); want[i] = want[i][:2] })
		if i > 5 {
			l.do("Free", func() { ls.Free(&owners[i]); want[i] = nil })
		}
	}
	l.try("Compact", func() error { return ls.Compact(each(owners[:]...)) })
	for i := range owners {
		l.try("AppendSlice", func() error {
			_, err := ls.AppendSlice(&owners[i], make([]uint64, 900))
			if err == nil {
				want[i] = append(want[i], make([]uint64, 900)...)
			}
			return err
		})
	}
	l.do("Clear", ls.Clear)
	owners, want = [30]List[uint64]{}, [30][]uint64{}
	l.do("Append", func() { ls.Append(&owners[3], 7); want[3] = []uint64{7} })
	l.end(ls)
}
