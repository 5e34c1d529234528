package vm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// pagesOf returns the state of each page of a range. It checks that the runs are whole pages without gaps,
// that no run is empty, and that neighbouring runs have different states.
func pagesOf(t *testing.T, r *Region, off, n int) []PageState {
	t.Helper()
	before := []PageRun{{-1, -1, 99}}
	runs, err := r.Pages(off, n, before)
	must(t, err)
	if runs[0] != before[0] {
		t.Fatalf("Pages changed the existing runs: %v", runs[0])
	}
	var states []PageState
	at := roundDown(off, pageSize)
	for i, run := range runs[1:] {
		if run.Offset != at || run.Bytes <= 0 || run.Bytes%pageSize != 0 || i > 0 &&
			run.State == runs[i].State {
			t.Fatalf("run %d of %v", i, runs[1:])
		}
		at += run.Bytes
		for range run.Bytes / pageSize {
			states = append(states, run.State)
		}
	}
	if n > 0 && at != roundUp(off+n, pageSize) {
		t.Fatalf("the runs end at %d: %v", at, runs[1:])
	}
	return states
}

// TestPagesOfRandomRegions changes random pages, and checks the flags PageCommitted and PageDecommitted that
// Pages reports.
func TestPagesOfRandomRegions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	const pages = 40
	p := PageSize()
	for name, backend := range backends() {
		for range 30 {
			r := open(t, backend, pages*p, Options{Pages: PagesSmall})
			var want [pages]PageState
			for range 30 {
				from := rng.IntN(pages)
				to := from + 1 + rng.IntN(pages-from)
				switch rng.IntN(4) {
				case 0, 1:
					to = min(to, from+5)
					must(t, r.Commit(from*p, (to-from)*p))
					for i := from; i < to; i++ {
						want[i] = PageCommitted
					}
				case 2:
					must(t, r.Decommit(from*p, (to-from)*p))
					for i := from; i < to; i++ {
						if want[i] == PageCommitted {
							want[i] = PageDecommitted
						}
					}
				case 3:
					must(t, r.Discard(from*p, (to-from)*p))
				}
				from = rng.IntN(pages)
				to = from + rng.IntN(pages-from+1)
				off, n := from*p, (to-from)*p
				if n > 0 && rng.IntN(2) == 0 { // Pages rounds this range outward
					off, n = off+p/2, n-p/2-1
				}
				got := pagesOf(t, r, off, n)
				for i := range got {
					got[i] &= PageCommitted | PageDecommitted
				}
				if !slices.Equal(got, want[from:to]) {
					t.Fatalf("%s: pages [%d, %d) are %v, want %v", name, from, to, got, want[from:to])
				}
			}
			must(t, r.Close())
			if got := pagesOf(t, r, 0, r.Size()); slices.Max(got) != 0 {
				t.Errorf("%s: pages of a closed region are %v", name, got)
			}
		}
	}
}

func TestPagesOfHeapAreResident(t *testing.T) {
	p := PageSize()
	r := open(t, heapBackend{}, 4*p, Options{})
	must(t, r.Commit(p, 2*p))
	want := []PageState{0, PageCommitted | PageResident, PageCommitted | PageResident, 0}
	if got := pagesOf(t, r, 0, 4*p); !slices.Equal(got, want) {
		t.Errorf("pages are %v, want %v", got, want)
	}
}

func TestMovedPagesAreDecommitted(t *testing.T) {
	p := PageSize()
	for name, backend := range backends() {
		r := open(t, backend, 4*p, Options{})
		must(t, r.Commit(0, 2*p))
		must(t, r.MovePages(r, 2*p, 0, p))
		got := pagesOf(t, r, 0, 4*p)
		for i, want := range []PageState{PageDecommitted, PageCommitted, PageCommitted, 0} {
			if got[i]&^(PageResident|PageZero) != want&^(PageResident|PageZero) {
				t.Errorf("%s: page %d is %v, want %v", name, i, got[i], want)
			}
		}
	}
}

func TestPagesOutside(t *testing.T) {
	r := open(t, heapBackend{}, 4*PageSize(), Options{Name: "ships"})
	for _, outside := range [][2]int{{-1, 1}, {0, -1}, {0, r.Size() + 1}, {r.Size() + 1, 0}, {1, r.Size()}} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "reaches outside a region") ||
					!strings.Contains(text, "ships") {
					t.Errorf("%v: %s", outside, text)
				}
			}()
			_, _ = r.Pages(outside[0], outside[1], nil)
		}()
	}
}

func TestPageStateString(t *testing.T) {
	for s, want := range map[PageState]string{
		0:                            "reserved",
		PageDecommitted:              "decommitted",
		PageCommitted | PageResident: "committed resident",
		PageCommitted | PageResident | PageHuge | PageZero: "committed resident huge zero",
		PageSwapped | 0x80: "swapped PageState(0x80)",
	} {
		if got := s.String(); got != want {
			t.Errorf("%#x is %q, want %q", uint8(s), got, want)
		}
	}
}
