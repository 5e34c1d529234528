package vm

import (
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
)

func find(tb testing.TB, purpose string, resident bool) PurposeStats {
	tb.Helper()
	s := Snapshot(resident)
	if !slices.IsSortedFunc(s.Purposes, func(a, b PurposeStats) int {
		if a.Purpose < b.Purpose {
			return -1
		}
		return 1
	}) {
		tb.Errorf("purposes are not sorted: %+v", s.Purposes)
	}
	for _, p := range s.Purposes {
		if p.Purpose == purpose {
			return p
		}
	}
	return PurposeStats{Purpose: purpose}
}

func TestSnapshot(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, b backend) {
		purpose := t.Name()
		expect := func(want PurposeStats) {
			t.Helper()
			want.Purpose = purpose
			if got := find(t, purpose, want.Resident > 0); got != want {
				t.Errorf("counted %+v, want %+v", got, want)
			}
		}
		expect(PurposeStats{})
		small := open(t, b, 10*p, Options{Name: purpose, Pages: PagesSmall})
		large := open(t, b, 20*p, Options{Name: purpose, Pages: PagesSmall})
		expect(PurposeStats{Regions: 2, Reserved: 30 * p})
		must(t, small.Commit(0, 4*p))
		must(t, large.Commit(5*p, 10*p))
		expect(PurposeStats{Regions: 2, Reserved: 30 * p, Committed: 14 * p})
		view(small)[0], view(large)[7*p] = 1, 1
		resident := 2 * p
		if !b.reuses() {
			resident = 14 * p // the heap stand-in counts all committed pages as resident
		}
		expect(PurposeStats{Regions: 2, Reserved: 30 * p, Committed: 14 * p, Resident: resident})
		must(t, large.Decommit(6*p, 2*p))
		must(t, large.Discard(0, 20*p))
		expect(PurposeStats{Regions: 2, Reserved: 30 * p, Committed: 12 * p})
		must(t, large.Close())
		must(t, large.Close())
		expect(PurposeStats{Regions: 1, Reserved: 10 * p, Committed: 4 * p})
		must(t, small.Close())
		expect(PurposeStats{})
		for _, s := range Snapshot(false).Purposes {
			if s.Purpose == purpose {
				t.Error("Snapshot lists a purpose without regions")
			}
		}
	})
	unnamed, err := Reserve(1, Options{})
	must(t, err)
	defer unnamed.Close()
	if s := find(t, "other", false); s.Regions < 1 {
		t.Error("a region without a name is not counted under the purpose \"other\"")
	}
}

func TestTotal(t *testing.T) {
	s := Stats{Purposes: []PurposeStats{
		{Purpose: "a", Regions: 1, Reserved: 10, Committed: 5, Resident: 2, Leaked: 1},
		{Purpose: "b", Regions: 2, Reserved: 100, Committed: 50, Resident: 20, Leaked: 10},
	}}
	want := PurposeStats{Purpose: "total", Regions: 3, Reserved: 110, Committed: 55, Resident: 22, Leaked: 11}
	if got := s.Total(); got != want {
		t.Errorf("total %+v, want %+v", got, want)
	}
}

func TestSnapshotWhileRegionsChange(t *testing.T) {
	eachBackend(t, func(t *testing.T, b backend) {
		purpose := t.Name()
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					r, err := reserveOn(b, 64*PageSize(), Options{Name: purpose}, origin{})
					if err == nil {
						err = r.Commit(PageSize(), 8*PageSize())
					}
					if err == nil {
						view(r)[PageSize()] = 1
						err = r.Close()
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		for range longtest.Pick(50, 200) {
			s := find(t, purpose, true)
			if s.Regions < 0 || s.Regions > 4 || s.Reserved != s.Regions*64*PageSize() {
				t.Errorf("counted %+v, want at most 4 regions of %d bytes", s, 64*PageSize())
			}
		}
		close(stop)
		wg.Wait()
		if s := find(t, purpose, true); s.Regions != 0 {
			t.Errorf("Snapshot counts %+v after all regions were closed, want no regions", s)
		}
	})
}
