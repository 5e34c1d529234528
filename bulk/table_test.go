package bulk

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

func closeLater(t *testing.T, tab rowsTable) rowsTable {
	t.Cleanup(func() {
		if err := tab.Close(); err != nil {
			t.Error(err)
		}
	})
	return tab
}

// TestTableUnderLimit fills a table until a shared limit refuses memory. At that moment, some columns may
// have grown and others not. When the limit has room again, the table must grow.
func TestTableUnderLimit(t *testing.T) {
	for _, layout := range layouts {
		for _, pages := range pageKinds {
			limit := vm.NewLimit(6 << 20)
			other := newArray[record](t, Options{Limit: limit, Pages: pages, Capacity: 100_000})
			if err := other.Grow(50_000); err != nil {
				t.Fatal(err)
			}
			made, fresh := newRowsTable(TableOptions{Name: "rows", Layout: layout, Limit: limit, Pages: pages,
				Capacity: 200_000}, true)
			tab := closeLater(t, made)
			var e *vm.Error
			for e == nil {
				e = exhausted(func() {
					row := tab.Append()
					tab.set(row, numberedRow(row))
				})
			}
			n, used := tab.Len(), limit.Used()
			if !errors.Is(e, vm.ErrLimit) || e.Purpose != "rows" || n < 1000 || used > limit.Max() {
				t.Fatalf("%v, %v: %d rows, %d bytes: %v", layout, pages, n, used, e)
			}
			for range 3 {
				first, err := tab.AppendN(50_000)
				if e := exhausted(func() { tab.Append() }); e == nil || err == nil || first != 0 ||
					tab.Grow(100_000) == nil ||
					tab.Len() != n || limit.Used() != used {
					t.Fatalf("%v, %v: another attempt changed something: %d rows, %d bytes, %v", layout,
						pages, tab.Len(), limit.Used(), err)
				}
				tab.checkInvariants()
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			if row := tab.Append(); row != n || tab.get(row) != fresh {
				t.Fatalf("%v, %v: row %d, appended when there was memory again, holds %v", layout, pages, row,
					tab.get(row))
			}
			for row := range n {
				if tab.get(row) != numberedRow(row) {
					t.Fatalf("%v, %v: row %d is lost", layout, pages, row)
				}
			}
			if tab.Close() != nil || limit.Used() != 0 {
				t.Fatalf("%v, %v: %d bytes stay in use after Close", layout, pages, limit.Used())
			}
		}
	}
}

func TestTableWithEachCallFailing(t *testing.T) {
	scale := vm.PageSize() / (4 << 10)
	for _, layout := range layouts {
		calls := faulttest.EachCall(t, func() error {
			tab, _ := newRowsTable(TableOptions{Layout: layout, Capacity: 5000 * scale, Step: 1,
				Pages: vm.PagesSmall}, false)
			var met []error
			attempt := func(op func() error) {
				n := tab.Len()
				if err := op(); err != nil {
					met = append(met, err)
					if tab.Len() != n {
						t.Errorf("%v: %d rows after a failure, %d before", layout, tab.Len(), n)
					}
				}
				tab.checkInvariants()
			}
			attempt(func() error { return tab.Grow(100) })
			for i := range 300 {
				attempt(func() (err error) {
					if e := exhausted(func() { tab.set(tab.Append(), numberedRow(i)) }); e != nil {
						err = e
					}
					return err
				})
			}
			attempt(func() error { _, err := tab.AppendN(2000 * scale); return err })
			for row := range min(300, tab.Len()) {
				if v := tab.get(row); v.e != -float64(v.a) || v.b != numberedByte(int(v.a)) {
					t.Fatalf("%v: row %d holds %v", layout, row, v)
				}
			}
			tab.Truncate(min(10, tab.Len()))
			_, err := tab.Resident()
			met = append(met, err)
			if tab.Close() != nil {
				if err := tab.Close(); err != nil {
					t.Errorf("the second Close: %v", err)
				}
			}
			return errors.Join(met...)
		})
		// The calls reserve, grow each part at least twice, give memory back, and close.
		if parts := map[bool]int{true: 5, false: 1}[layout == LayoutColumns]; calls < 3+3*parts {
			t.Errorf("%v: only %d calls", layout, calls)
		}
	}
}

func TestTableSizesThatOverflow(t *testing.T) {
	for _, layout := range layouts {
		for _, capacity := range []int{math.MaxInt, math.MaxInt / 64, math.MaxInt / 100} {
			tab, _ := newRowsTable(TableOptions{Layout: layout, Capacity: capacity}, false)
			if e := exhausted(func() { tab.Append() }); e == nil ||
				!errors.Is(e, vm.ErrSize) && !errors.Is(e, vm.ErrAddressSpace) {
				t.Errorf("%v: capacity %d: %v", layout, capacity, e)
			}
			if tab.Len() != 0 || tab.Reserved() != 0 || tab.Close() != nil {
				t.Errorf("%v: a table that could not be made has %d rows", layout, tab.Len())
			}
		}
		tab, _ := newRowsTable(TableOptions{Layout: layout, Capacity: 100}, false)
		tab.Append()
		for _, n := range []int{100, math.MaxInt, math.MaxInt - 1, math.MaxInt / 64} {
			if err := tab.Grow(n); !errors.Is(err, vm.ErrCapacity) {
				t.Errorf("%v: Grow(%d): %v", layout, n, err)
			}
			if _, err := tab.AppendN(n); !errors.Is(err, vm.ErrCapacity) || tab.Len() != 1 {
				t.Errorf("%v: AppendN(%d): %v", layout, n, err)
			}
		}
		if first, err := tab.AppendN(0); err != nil || first != 1 {
			t.Errorf("%v: AppendN(0): %d, %v", layout, first, err)
		}
		if err := tab.Grow(99); err != nil {
			t.Errorf("%v: Grow to the capacity: %v", layout, err)
		}
		tab.Close()
	}
}

func TestTableBudget(t *testing.T) {
	tab := NewTable(TableOptions{MaxBytes: 1000})
	NewField[record](tab, "r")
	defer tab.Close()
	for range 25 {
		tab.Append()
	}
	e := exhausted(func() { tab.Append() })
	if e == nil || !errors.Is(e, vm.ErrLimit) || !strings.Contains(e.Error(), "MaxBytes (1000 B)") {
		t.Fatalf("beyond the budget: %v", e)
	}
	tab.RemoveSwap(3)
	if tab.Append() != 24 {
		t.Fatal("no room after RemoveSwap")
	}
	small := NewTable(TableOptions{MaxBytes: 39})
	NewField[record](small, "r")
	if e := exhausted(func() { small.Append() }); !errors.Is(e, vm.ErrLimit) {
		t.Fatalf("a budget of less than a row: %v", e)
	}
	small.Close()
}

func TestTableBases(t *testing.T) {
	for _, pageAligned := range []bool{false, true} {
		tab := NewTable(TableOptions{Capacity: 1 << 20, PageAligned: pageAligned})
		if heapStandIn() {
			tab.options.Capacity = 1 << 12
		}
		var fields []*Field[float32]
		for i := range 10 {
			fields = append(fields, NewField[float32](tab, fmt.Sprint(i)))
		}
		if _, err := tab.AppendN(tab.options.Capacity / 2); err != nil {
			t.Fatal(err)
		}
		cacheSets := make(map[uintptr]int)
		for _, f := range fields {
			p := uintptr(unsafe.Pointer(f.At(777)))
			cacheSets[p%4096/64]++ // the index of a set of a first-level cache
			if first := uintptr(unsafe.Pointer(f.At(0))); first%64 != 0 || p-first != 777*4 {
				t.Fatalf("row 0 lies at %#x and row 777 at %#x", first, p)
			}
		}
		if want := map[bool]int{false: 10, true: 1}[pageAligned]; len(cacheSets) != want {
			t.Errorf("page-aligned %t: row 777 of ten fields falls on %d cache sets, want %d", pageAligned,
				len(cacheSets), want)
		}
		tab.Close()
	}
}

func TestTableGivesMemoryBack(t *testing.T) {
	if heapStandIn() {
		t.Skip("the heap stand-in keeps its memory")
	}
	for _, layout := range layouts {
		made, _ := newRowsTable(TableOptions{Layout: layout, Pages: vm.PagesSmall}, false)
		tab := closeLater(t, made)
		if tab.Reserved() != 0 || tab.Committed() != 0 {
			t.Errorf("%v: a table without rows has %d bytes reserved and %d committed", layout,
				tab.Reserved(), tab.Committed())
		}
		const n = 100_000
		for row := range n {
			tab.set(tab.Append(), numberedRow(row))
		}
		before, err := tab.Resident()
		rows := n * tab.plan.sizeElement
		if err != nil || before < rows || before > rows*5/4 || tab.Committed() < before ||
			tab.Reserved() < tab.Committed() {
			t.Errorf("%v: %d bytes resident, %d committed, %d reserved for rows of %d bytes: %v", layout,
				before, tab.Committed(),
				tab.Reserved(), rows, err)
		}
		for tab.Len() > n/10 {
			tab.RemoveSwap(0)
		}
		tab.Truncate(tab.Len())
		after, err := tab.Resident()
		if err != nil || after > before/5 || tab.Committed() > before/5 {
			t.Errorf("%v: %d of %d resident bytes stay resident, %d are committed: %v", layout, after, before,
				tab.Committed(), err)
		}
		tab.Clear()
		if tab.Committed() == 0 || tab.Len() != 0 {
			t.Errorf("%v: Clear leaves %d rows and %d bytes", layout, tab.Len(), tab.Committed())
		}
		tab.Close()
		if left, err := tab.Resident(); left != 0 || err != nil || tab.Committed() != 0 ||
			tab.Reserved() != 0 {
			t.Errorf("%v: a closed table has %d bytes in memory, %d committed: %v", layout, left,
				tab.Committed(), err)
		}
	}
}

// TestTableForManyGoroutines is for the race detector: goroutines write different blocks and fields at the
// same time.
func TestTableForManyGoroutines(t *testing.T) {
	for _, layout := range layouts {
		made, _ := newRowsTable(TableOptions{Layout: layout, Capacity: 5000}, false)
		tab := closeLater(t, made)
		if _, err := tab.AppendN(5000); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		all.Go(func() {
			for b := range tab.Blocks() {
				for i := range tab.a.Slice(b) {
					tab.a.Slice(b)[i] = float32(b.First() + i)
				}
			}
		})
		all.Go(func() {
			for row := range tab.Len() {
				*tab.e.At(row) = float64(row)
			}
		})
		for block := range tab.Blocks() {
			all.Go(func() {
				for i := range tab.b.Slice(block) {
					tab.b.Slice(block)[i] = numberedByte(block.First() + i)
				}
			})
		}
		all.Wait()
		for row := range tab.Len() {
			if got, want := tab.get(row), (tableRow{a: float32(row), b: numberedByte(row),
				e: float64(row)}); got != want {
				t.Fatalf("%v: row %d holds %v", layout, row, got)
			}
		}
	}
}

// TestRowsAreFoundInBlocks checks the division of rowLocator.at for all sizes that blocks can have.
func TestRowsAreFoundInBlocks(t *testing.T) {
	for rows := 8; rows <= 1<<16; rows += 8 {
		l := newRowLocator(nil, 1, rows, 1<<20)
		last := (maxSlots - 1) / rows * rows // the first row of the last block
		for _, row := range []int{0, 1, rows - 1, rows, 777_777_777, last - 1, last, maxSlots - 1} {
			if block, _ := bits.Mul64(uint64(row), l.magic); int(block) != row/rows {
				t.Fatalf("row %d is found in block %d of %d rows, want %d", row, block, rows, row/rows)
			}
		}
	}
}

func TestTableAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks allocate")
	}
	for _, layout := range layouts {
		made, _ := newRowsTable(TableOptions{Layout: layout, Capacity: 5000}, true)
		tab := closeLater(t, made)
		if err := tab.Grow(5000); err != nil {
			t.Fatal(err)
		}
		sum := float32(0)
		if n := testing.AllocsPerRun(5, func() {
			for range 500 {
				*tab.a.At(tab.Append()) = 2
			}
			for b := range tab.Blocks() {
				for _, v := range tab.a.Slice(b) {
					sum += v
				}
			}
			for range 100 {
				tab.RemoveSwap(0)
			}
			for b := range tab.PaddedBlocks() {
				tab.b.Slice(b)[0]++
			}
		}); n != 0 || sum == 0 {
			t.Errorf("%v: %v allocations, sum %v", layout, n, sum)
		}
	}
}
