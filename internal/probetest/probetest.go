// Package probetest checks the answers of package probe about a world, for the tests of packages vast and
// probe.
package probetest

import (
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// CheckAreas checks the areas of a world. Areas in a reservation must lie within it and must not overlap.
// Their committed ranges must be the committed pages of the reservation. Area.Place and Area.Slots must
// agree.
func CheckAreas(t testing.TB, w *vast.World) {
	t.Helper()
	areas, reservations := probe.Areas(w), probe.Reservations(w)
	committed := make([]int, len(reservations))
	end, last := 0, 0
	for i, a := range areas {
		switch {
		case a.Reservation == -1:
			last = len(reservations)
			if a.Offset != 0 || a.Stride != 0 || a.Committed < 0 || a.Committed > a.Bytes {
				t.Fatalf("area %d, which lies outside of the reservations, is invalid: %+v", i, a)
			}
			continue
		case a.Reservation < last:
			t.Fatalf("area %d is out of order: %+v", i, a)
		case a.Reservation > last:
			last, end = a.Reservation, 0
		}
		if a.Offset < end || a.Bytes <= 0 || a.Offset+a.Bytes > reservations[last].Bytes() {
			t.Fatalf("area %d is %+v; the area before it ends at %d, and the reservation ends at %d", i, a,
				end, reservations[last].Bytes())
		}
		end = a.Offset + a.Bytes
		if a.Committed < 0 || a.CommittedAt < a.Offset || a.CommittedAt+a.Committed > end {
			t.Fatalf("the committed range of area %d exceeds the area: %+v", i, a)
		}
		committed[last] += a.Committed
		checkPlaces(t, w, a)
	}
	for i, r := range reservations {
		runs, err := r.Pages(0, r.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var want, got ranges
		for _, a := range areas {
			if a.Reservation == i && a.Committed > 0 {
				want.add(a.CommittedAt, a.Committed)
			}
		}
		for _, run := range runs {
			if run.State&vm.PageCommitted != 0 {
				got.add(run.Offset, run.Bytes)
			}
		}
		if !slices.Equal(got, want) || committed[i] != r.Committed() {
			t.Fatalf("reservation %d has the committed ranges %v, %d bytes; its areas have the committed "+
				"ranges %v, %d bytes", i, got, r.Committed(), want, committed[i])
		}
	}
}

// ranges are pairs [lo, hi) of offsets in ascending order. The method add merges adjacent ranges.
type ranges [][2]int

func (r *ranges) add(off, n int) {
	if k := len(*r); k > 0 && (*r)[k-1][1] == off {
		(*r)[k-1][1] += n
		return
	}
	*r = append(*r, [2]int{off, off + n})
}

// checkPlaces checks Place and Slots of an area for some slots.
func checkPlaces(t testing.TB, w *vast.World, a probe.Area) {
	t.Helper()
	if a.Stride == 0 {
		return
	}
	maxEntities := w.Options().MaxEntities
	for _, slot := range []int{0, 1, 63, 64, 4095, 4096, maxEntities / 2, maxEntities - 1} {
		if slot >= maxEntities {
			continue
		}
		off, n := a.Place(slot)
		if n <= 0 || off < a.Offset || off+n > a.Offset+a.Bytes {
			t.Fatalf("slot %d has %d bytes at the offset %d, outside of the area %+v", slot, n, off, a)
		}
		lo, hi := a.Slots(off, n)
		if lo != slot/a.Share*a.Share || hi != lo+a.Share {
			t.Fatalf("the %d bytes at the offset %d belong to the slots [%d, %d) of %+v, want the %d slots "+
				"around slot %d", n, off, lo, hi, a, a.Share, slot)
		}
		if lo2, hi2 := a.Slots(off+n-1, 1); lo2 != lo || hi2 != hi {
			t.Fatalf("the last byte of the slots [%d, %d) belongs to the slots [%d, %d) of %+v", lo, hi, lo2,
				hi2, a)
		}
		// A range that exceeds the place by one byte on each side touches both neighbouring places.
		lo2, hi2 := a.Slots(off-1, n+2)
		if off > a.First && off-1 >= a.Offset && slot >= a.Share && (lo2 != lo-a.Share || hi2 != hi+a.Share) {
			t.Fatalf("the bytes of the slots [%d, %d) and one byte on each side belong to the slots [%d, "+
				"%d) of %+v, want %d more on each side", lo, hi, lo2, hi2, a, a.Share)
		}
	}
}
