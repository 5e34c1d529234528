package vm

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCacheReusesClosedAddresses(t *testing.T) {
	backend := onlyOS(t)
	const size = 37 << 20 // a size that no other test uses
	first := open(t, backend, size, Options{})
	base := first.Base()
	must(t, first.Commit(0, size))
	view(first)[12345] = 9
	must(t, first.Close())
	again := open(t, backend, size, Options{})
	if again.Base() != base {
		t.Fatalf("the second region is at %p, the closed region was at %p", again.Base(), base)
	}
	if again.Committed() != 0 || !faults(func() { sink = view(again)[12345] }) {
		t.Error("a reused page is usable before it is committed")
	}
	must(t, again.Commit(0, size))
	if got := view(again)[12345]; got != 0 {
		t.Errorf("a reused page holds %d", got)
	}
}

func TestCacheRandom(t *testing.T) {
	backend := onlyOS(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	huge := HugePageSize()
	var regions []*Region
	owned := func() int {
		closedRegions.mu.Lock()
		defer closedRegions.mu.Unlock()
		return len(closedRegions.owned)
	}
	atHalf := 0
	for i := range 4000 {
		if len(regions) < 20 || rnd.IntN(2) == 0 && len(regions) < 60 {
			bytes := 1 + rnd.IntN(PageSize()<<rnd.IntN(12))
			r := open(t, backend, bytes, Options{Name: "cache"})
			lo, hi := address(r.Base()), address(r.Base())+r.Size()
			for _, other := range regions {
				if l := address(other.Base()); lo < l+other.Size() && l < hi {
					t.Fatalf("a region at %x–%x overlaps an open region at %x–%x", lo, hi, l, l+other.Size())
				}
			}
			if lo%PageSize() != 0 || huge > 0 && r.Size() >= huge && lo%huge != 0 {
				t.Fatalf("a region of %d bytes is at %x", r.Size(), lo)
			}
			regions = append(regions, r)
		} else {
			k := rnd.IntN(len(regions))
			must(t, regions[k].Close())
			regions = slices.Delete(regions, k, k+1)
		}
		if i == 2000 {
			atHalf = owned()
		}
	}
	// Fragmentation takes some reservations. Without reuse, there would be about a thousand.
	if more := owned() - atHalf; more > 100 {
		t.Errorf("the second half of the run took %d more reservations from the system", more)
	}
}

// TestCacheRanges compares an addressCache with a map of pages. It never touches the addresses.
func TestCacheRanges(t *testing.T) {
	const page = 4096
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var c addressCache
	const base, border, end = 1 << 30, 1<<30 + 64*page, 1<<30 + 128*page // two adjacent reservations
	c.own(pointerAt(base), border-base)
	c.own(pointerAt(border), end-border)
	c.put(pointerAt(base), border-base)
	c.put(pointerAt(border), end-border)
	used := make(map[int]bool)
	type taken struct{ at, n int }
	var open []taken
	for range 20000 {
		if n := rnd.IntN(9) * page; n > 0 && rnd.IntN(2) == 0 {
			align := page << rnd.IntN(4)
			fits := false
			for lo := base; lo+n <= end && !fits; lo += align {
				fits = lo+n <= border || lo >= border
				for k := lo; k < lo+n; k += page {
					fits = fits && !used[k]
				}
			}
			p := c.take(n, align)
			if (p != nil) != fits {
				t.Fatalf("take(%d, %d) gave %p, but a free range fits: %v", n, align, p, fits)
			}
			if p == nil {
				continue
			}
			lo := address(p)
			if lo%align != 0 || lo < base || lo+n > end || lo < border && lo+n > border {
				t.Fatalf("take(%d, %d) gave %x", n, align, lo)
			}
			for k := lo; k < lo+n; k += page {
				if used[k] {
					t.Fatalf("take(%d, %d) gave %x, which is in use at %x", n, align, lo, k)
				}
				used[k] = true
			}
			open = append(open, taken{lo, n})
		} else if len(open) > 0 {
			k := rnd.IntN(len(open))
			r := open[k]
			for a := r.at; a < r.at+r.n; a += page {
				delete(used, a)
			}
			c.put(pointerAt(r.at), r.n)
			open = slices.Delete(open, k, k+1)
		}
	}
	for _, r := range open {
		c.put(pointerAt(r.at), r.n)
	}
	if want := []interval{{base, border}, {border, end}}; !slices.Equal(c.free, want) {
		t.Errorf("after everything was given back, free is %x, want %x", c.free, want)
	}
}
