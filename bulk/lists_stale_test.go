package bulk

import (
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func TestElementsThatLookLikeCells(t *testing.T) {
	ls := newLists[cell](t, Options{Capacity: 300_000})
	var stale []List[cell]
	for size := range 40 {
		for range 100 {
			var l List[cell]
			for range 1 + size {
				if !l.IsZero() {
					stale = append(stale, l)
				}
				ls.Append(&l, cell{})
			}
			stale = append(stale, l)
		}
	}
	for _, clear := range []bool{true, false} {
		if clear {
			ls.Clear()
		} else if err := ls.Compact(each[cell]()); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 9, 300, 7000} {
			var owners [4]List[cell]
			for i := range owners {
				for _, old := range stale[i*len(stale)/4:][:min(n, len(stale)/4)] {
					// The element looks like the header of old's cell, and may lie where the header was.
					ls.Append(&owners[i], cell{old.generation, 1})
				}
			}
			for _, old := range stale {
				if ls.Valid(old) || modeltest.PanicText(func() { ls.Slice(old) }) == "" {
					t.Fatalf("the stale List %v is valid while there are lists of %d elements", old, n)
				}
			}
			for i := range owners {
				ls.Free(&owners[i])
			}
		}
	}
	// All elements of a long list look like the header of one stale List's cell.
	var l, all List[cell]
	ls.Append(&l, cell{})
	old := l
	ls.Free(&l)
	ls.Clear()
	for range 7000 {
		ls.Append(&all, cell{old.generation, 1})
	}
	for place := range uint32(ls.cells.usable) << ls.cells.shiftBoth {
		if forged := (List[cell]{place, old.generation}); ls.Valid(forged) {
			t.Fatalf("the forged List %v is valid", forged)
		}
	}
	ls.checkInvariants()
}

func TestGenerationsWrapAround(t *testing.T) {
	ls := newLists[uint64](t, Options{Capacity: 100_000})
	owners := make([]List[uint64], 200)
	build := func() {
		for i := range owners {
			for e := range i {
				ls.Append(&owners[i], uint64(i*e))
			}
		}
	}
	build()
	if err := ls.Grow(&owners[0], 20_000); err != nil { // owner 0 gets a stretch: see type cells
		t.Fatal(err)
	}
	ls.cells.newest = unheld - 20
	for i := range owners {
		if i%3 == 1 {
			ls.Free(&owners[i])
		}
	}
	old := append([]List[uint64](nil), owners...)
	build()
	if !ls.cells.wrapped || ls.cells.newest > 10_000 {
		t.Fatalf("the generations did not wrap around: the newest is %#x", ls.cells.newest)
	}
	ls.checkInvariants()
	for i, l := range owners {
		for e, v := range ls.Slice(l) {
			if v != uint64(i*(e%max(1, i))) {
				t.Fatalf("element %d of list %d is %d", e, i, v)
			}
		}
		if l != old[i] && ls.Valid(old[i]) {
			t.Errorf("list %d: %v is valid after its list has moved to %v", i, old[i], l)
		}
	}
	for i := range owners {
		ls.Free(&owners[i])
	}
	build()
	ls.checkInvariants()
}

func TestAllWhileListsChange(t *testing.T) {
	ls := newLists[uint64](t, Options{Capacity: 400_000})
	owners := make([]List[uint64], 3000)
	index := map[List[uint64]]int{}
	for i := range owners {
		for range 1 + i%50 {
			ls.Append(&owners[i], uint64(i))
		}
		index[owners[i]] = i
	}
	seen := make([]int, len(owners))
	for l, s := range ls.All() {
		i, known := index[l]
		if !known || owners[i] != l || s[0] != uint64(i) {
			t.Fatalf("All yields %v (known: %t), but list %d is %v now, or its elements are wrong", l, known,
				i, owners[i])
		}
		seen[i]++
		if i%3 == 0 { // the list moves, sometimes to a stretch: see type cells
			if err := ls.Grow(&owners[i], 60+i%100/99*9000); err != nil {
				t.Fatal(err)
			}
			index[owners[i]] = i
		}
		if j := (i * 7) % len(owners); j%3 == 1 {
			ls.Free(&owners[j])
		}
	}
	for i, n := range seen {
		if i%3 == 2 && n != 1 || i%3 == 1 && n > 1 {
			t.Errorf("list %d is yielded %d times", i, n)
		}
	}
	ls.checkInvariants()
}
