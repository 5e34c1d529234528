package vm

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
)

// stamp numbers the pages of a range, beginning with number. It writes the number of a page into the first
// and last byte of each of its system pages.
func stamp(r *Region, off, n int, number byte) {
	for b := view(r)[off : off+n]; len(b) > 0; b = b[PageSize():] {
		for i := 0; i < PageSize(); i += systemPage {
			b[i], b[i+systemPage-1] = number, number
		}
		number++
	}
}

func stamped(r *Region, off, n int, number byte) bool {
	for b := view(r)[off : off+n]; len(b) > 0; b = b[PageSize():] {
		if b[0] != number || b[PageSize()-1] != number {
			return false
		}
		number++
	}
	return true
}

func TestMovePages(t *testing.T) {
	p := PageSize()
	for fromName, fromBackend := range backends() {
		for toName, toBackend := range backends() {
			t.Run(fromName+" to "+toName, func(t *testing.T) {
				mine, theirs := NewLimit(16*p), NewLimit(4*p)
				r := open(t, fromBackend, 16*p, Options{Limit: mine})
				to := open(t, toBackend, 16*p, Options{Limit: theirs, Name: "destination"})
				must(t, r.Commit(2*p, 8*p))
				stamp(r, 2*p, 8*p, 1)
				must(t, r.MovePages(to, 5*p, 4*p, 3*p))
				if !stamped(to, 5*p, 3*p, 3) || !stamped(r, 2*p, 2*p, 1) || !stamped(r, 7*p, 3*p, 6) {
					t.Error("the pages hold wrong bytes")
				}
				if got, want := state(r, mine), "5 5: 2-4 7-10"; got != want {
					t.Errorf("source %q, want %q", got, want)
				}
				if got, want := state(to, theirs), "3 3: 5-8"; got != want {
					t.Errorf("destination %q, want %q", got, want)
				}
				if fromBackend.reuses() && (!faults(func() { sink = view(r)[4*p] }) ||
					!faults(func() { sink = view(r)[7*p-1] })) {
					t.Error("pages that were moved away can be read")
				}
				// The limit of the destination has room for one more page.
				var e *Error
				if err := r.MovePages(to, 0, 7*p, 2*p); !errors.Is(err, ErrLimit) || !errors.As(err, &e) ||
					e.Op != "move" || e.Bytes != 2*p {
					t.Errorf("got %v, want an error of the limit", err)
				}
				if state(r, mine) != "5 5: 2-4 7-10" || state(to, theirs) != "3 3: 5-8" ||
					!stamped(r, 7*p, 3*p, 6) {
					t.Errorf("a refused move changed the regions to %q and %q", state(r, mine),
						state(to, theirs))
				}
				// Moved pages can move again, and even back to their old place.
				must(t, to.MovePages(to, 0, 5*p, 3*p))
				must(t, to.MovePages(r, 4*p, 0, 3*p))
				if got := state(r, mine) + ", " + state(to, theirs); got != "8 8: 2-10, 0 0:" ||
					!stamped(r, 2*p, 8*p, 1) {
					t.Errorf("after moving back: %s", got)
				}
				must(t, to.Commit(0, 4*p))
				if b := view(to)[:4*p]; slices.Max(b) != 0 {
					t.Error("pages are not zero after their contents moved away")
				}
				must(t, r.MovePages(to, 4*p, 0, 0)) // no bytes
			})
		}
	}
}

// TestMovePagesOverSeveralMappings moves a range whose pieces came from different places.
func TestMovePagesOverSeveralMappings(t *testing.T) {
	const pages = 100
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		r := open(t, backend, 5*pages*p, Options{Limit: NewLimit(pages * p)})
		must(t, r.Commit(0, pages*p))
		stamp(r, 0, pages*p, 0)
		// Move blocks of 20 pages and reverse their order.
		for i := 0; i < pages; i += 20 {
			must(t, r.MovePages(r, (pages+i)*p, (pages-20-i)*p, 20*p))
		}
		last := pages
		for _, at := range []int{2*pages + 7, 4 * pages} {
			must(t, r.MovePages(r, at*p, last*p, pages*p))
			last = at
			for i := 0; i < pages; i += 20 {
				if !stamped(r, (at+i)*p, 20*p, byte(pages-20-i)) {
					t.Fatalf("after the move to page %d, the block at page %d holds wrong bytes", at, at+i)
				}
			}
		}
		if r.Committed() != pages*p || r.m.limit.Used() != pages*p {
			t.Errorf("%d committed, %d used, want %d", r.Committed(), r.m.limit.Used(), pages*p)
		}
	})
}

func TestMovePagesMisuse(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		r, to := open(t, backend, 8*p, Options{Name: "ships"}), open(t, backend, 8*p, Options{Name: "boats"})
		must(t, r.Commit(p, 4*p))
		must(t, to.Commit(0, p))
		for _, c := range []struct {
			toOff, off, n int
			says          string
		}{
			{0, p, p, "whole committed pages move to whole reserved pages"}, // to committed pages
			{p, 0, p, "whole committed pages"},                              // from reserved pages
			{p, 4 * p, 2 * p, "whole committed pages"},                      // from partly reserved pages
			{p, p + 1, p, "whole committed pages"},
			{p + 8, p, p, "whole committed pages"},
			{p, p, p - 1, "whole committed pages"},
			{p, -p, p, "move from(-"},
			{-p, p, p, "reaches outside a region"},
			{7 * p, p, 2 * p, "reaches outside a region of"},
			{p, p, -p, "reaches outside a region of"},
			{p, p, math.MaxInt - p + 1, "reaches outside a region of"},
		} {
			got := modeltest.PanicText(func() { _ = r.MovePages(to, c.toOff, c.off, c.n) })
			if !strings.Contains(got, c.says) {
				t.Errorf("to %d from %d, %d bytes: panic %q, want %q", c.toOff, c.off, c.n, got, c.says)
			}
		}
		got := modeltest.PanicText(func() { _ = r.MovePages(r, 2*p, p, 2*p) })
		if !strings.Contains(got, "whole reserved pages") {
			t.Errorf("overlapping ranges: panic %q", got)
		}
		must(t, to.Close())
		got = modeltest.PanicText(func() { _ = r.MovePages(to, p, p, p) })
		if !strings.Contains(got, "move to on a closed region (boats)") {
			t.Errorf("to a closed region: panic %q", got)
		}
		if got := modeltest.PanicText(func() { _ = to.MovePages(r, 6*p, 0, p) }); !strings.Contains(got,
			"move from on a closed region (boats)") {
			t.Errorf("from a closed region: panic %q", got)
		}
	})
}

// stubborn is a backend that refuses to move more than maxPages pages at a time, or to move the page whose
// index is in the field stuck.
type stubborn struct {
	faulty
	maxPages int // largest number of pages that can move at a time
	stuck    int // index of a page that cannot move; -1 for no page
}

func (s *stubborn) move(to, from unsafe.Pointer, n int) error {
	page := (address(from) - address(s.base)) / PageSize()
	if page <= s.stuck && s.stuck < page+n/PageSize() {
		return errFaulty
	}
	if n/PageSize() > s.maxPages {
		return errSeveral
	}
	return s.heapBackend.move(to, from, n)
}

func (s *stubborn) discard(p unsafe.Pointer, n int) error {
	if err := s.faulty.discard(p, n); err != nil {
		return err
	}
	return s.heapBackend.discard(p, n)
}

func openStubborn(t *testing.T) (*stubborn, *Region, *Limit) {
	s := &stubborn{faulty: faulty{fails: make(map[string]error)}, maxPages: 1 << 20, stuck: -1}
	limit := NewLimit(256 * PageSize())
	r := open(t, s, 256*PageSize(), Options{Limit: limit})
	s.base = r.m.base
	t.Cleanup(func() { clear(s.fails) })
	return s, r, limit
}

// TestMoveSplits: MovePages moves a range of several mappings in parts, and copies small parts that cannot
// move.
func TestMoveSplits(t *testing.T) {
	p := PageSize()
	for _, maxPages := range []int{1 << 20, 60, 17, 3, 0} {
		s, r, limit := openStubborn(t)
		s.maxPages = maxPages
		must(t, r.Commit(0, 64*p))
		stamp(r, 0, 64*p, 9)
		must(t, r.MovePages(r, 100*p, 0, 64*p))
		if got := state(r, limit); got != "64 64: 100-164" || !stamped(r, 100*p, 64*p, 9) {
			t.Errorf("in parts of %d pages: %s", maxPages, got)
		}
	}
}

func TestFailedMoveChangesNothing(t *testing.T) {
	p := PageSize()
	for _, stuck := range []int{0, 5, 40, 63} {
		s, r, limit := openStubborn(t)
		s.maxPages, s.stuck = 20, stuck
		must(t, r.Commit(0, 64*p))
		stamp(r, 0, 64*p, 9)
		s.fails["commit"] = errFaulty
		var e *Error
		err := r.MovePages(r, 100*p, 0, 64*p)
		if !errors.Is(err, errFaulty) || !errors.As(err, &e) || e.Op != "move" || e.Bytes != 64*p {
			t.Errorf("page %d stuck: %v", stuck, err)
		}
		clear(s.fails)
		if got := state(r, limit); got != "64 64: 0-64" || !stamped(r, 0, 64*p, 9) {
			t.Errorf("page %d stuck: %s", stuck, got)
		}
		must(t, r.Commit(0, 256*p))
		if slices.Max(view(r)[64*p:256*p]) != 0 {
			t.Error("a failed move left bytes behind")
		}
	}
}

// TestMoveCannotDecommit: if the system refuses to decommit the source, the source still counts as reserved
// only, and is zero when it is committed again.
func TestMoveCannotDecommit(t *testing.T) {
	p := PageSize()
	for _, op := range []string{"decommit", "discard"} {
		s, r, limit := openStubborn(t)
		must(t, r.Commit(0, 8*p))
		stamp(r, 0, 8*p, 9)
		s.stuck = 3 // MovePages copies all pages, so there is memory to give back
		s.fails["decommit"], s.fails[op] = errFaulty, errFaulty
		must(t, r.MovePages(r, 100*p, 0, 8*p))
		clear(s.fails)
		if got := state(r, limit); got != "8 8: 100-108" || !stamped(r, 100*p, 8*p, 9) {
			t.Errorf("%s fails: %s", op, got)
		}
		must(t, r.Commit(0, 8*p))
		if slices.Max(view(r)[:8*p]) != 0 {
			t.Errorf("%s fails: the source is not zero", op)
		}
	}
}

// driveMoves moves pages between two regions and compares the regions with a model. Four bytes of ops
// describe an operation.
func driveMoves(t *testing.T, ops []byte) {
	const pages = 40
	p := PageSize()
	for name, backend := range backends() {
		limit := NewLimit(2 * pages * p)
		rs := []*Region{open(t, backend, pages*p, Options{Limit: limit}),
			open(t, backend, pages*p, Options{Limit: limit})}
		model := [2]map[int]byte{{}, {}}
		for i := 0; i+4 <= len(ops); i += 4 {
			a, off, n := int(ops[i]>>4)%2, int(ops[i+1])%pages, int(ops[i+2])%pages
			n = min(n, pages-off)
			switch ops[i] % 4 {
			case 0:
				must(t, rs[a].Commit(off*p, n*p))
				for page := off; page < off+n; page++ {
					model[a][page] += 0
				}
			case 1:
				must(t, rs[a].Decommit(off*p, n*p))
				for page := off; page < off+n; page++ {
					delete(model[a], page)
				}
			case 2:
				if _, ok := model[a][off]; ok {
					model[a][off] = ops[i+3]
					view(rs[a])[off*p+p-1] = ops[i+3]
				}
			case 3:
				b, to := int(ops[i]>>5)%2, int(ops[i+3])%pages
				fits := to+n <= pages
				for k := range n {
					_, from := model[a][off+k]
					_, there := model[b][to+k]
					fits = fits && from && !there
				}
				text := modeltest.PanicText(func() { must(t, rs[a].MovePages(rs[b], to*p, off*p, n*p)) })
				if (text == "") != (fits || n == 0 && to+n <= pages) {
					t.Fatalf("%s, op %d: moving %d pages from %d to %d: %q", name, i/4, n, off, to, text)
				}
				if fits {
					for k := range n {
						model[b][to+k] = model[a][off+k]
						delete(model[a], off+k)
					}
				}
			}
			if used := (len(model[0]) + len(model[1])) * p; limit.Used() != used ||
				rs[0].Committed()+rs[1].Committed() != used {
				t.Fatalf("%s, op %d: %d used, %d and %d committed, want %d", name, i/4, limit.Used(),
					rs[0].Committed(), rs[1].Committed(), used)
			}
			for a, m := range model {
				for page, want := range m {
					if got := view(rs[a])[page*p+p-1]; got != want {
						t.Fatalf("%s, op %d: page %d of region %d holds %d, want %d", name, i/4, page, a, got,
							want)
					}
				}
				checkBorders(t, rs[a])
			}
		}
		for _, r := range rs {
			must(t, r.Close())
		}
	}
}

// checkBorders checks the region's count of borders, and that the moved pieces are sorted and do not overlap.
func checkBorders(t *testing.T, r *Region) {
	t.Helper()
	if want := r.m.bordersIn(0, r.m.size); r.m.borders != want {
		t.Fatalf("%d borders are counted, want %d", r.m.borders, want)
	}
	for i, iv := range r.m.moved {
		if iv.lo >= iv.hi || i > 0 && r.m.moved[i-1].hi > iv.lo {
			t.Fatalf("moved pieces out of order: %v", r.m.moved)
		}
	}
}

func TestMovesRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		ops := make([]byte, 4*300)
		for i := range ops {
			ops[i] = byte(rnd.Uint32())
		}
		driveMoves(t, ops)
	}
}

func FuzzMoves(f *testing.F) {
	f.Add([]byte{0, 0, 20, 0, 2, 3, 0, 9, 3, 0, 10, 20, 19, 20, 5, 0, 1, 0, 40, 0, 0, 0, 39, 0})
	f.Add([]byte{0, 0, 20, 0, 0x23, 0, 20, 20, 0x31, 22, 3, 0, 0x30, 22, 3, 0, 0x13, 20, 10, 0})
	f.Fuzz(driveMoves)
}
