package vm

import (
	"errors"
	"testing"
	"unsafe"
)

// newSeam makes a seam in a span of 64 pages, lead bytes after the start of page 4. For every eight bytes
// above the seam, there is one byte below.
func newSeam(t *testing.T, lead int, o Options) (*Region, *Seam) {
	t.Helper()
	r, err := Reserve(64*pageSize, o)
	must(t, err)
	t.Cleanup(func() { must(t, r.Close()) })
	span, err := r.Carve(64*pageSize, 0)
	must(t, err)
	s := span.Seam(4*pageSize+lead, 1, 8)
	return r, &s
}

// checkSeam checks that exactly the span's pages from lo to hi-1 are committed, and that the region and the
// limit count them. It touches all committed bytes.
func checkSeam(t *testing.T, r *Region, s *Seam, l *Limit, lo, hi int) {
	t.Helper()
	if got := s.Committed(); got != (hi-lo)*pageSize || r.Committed() != got || l.Used() != got {
		t.Errorf("the seam has committed %d bytes, the region counts %d, the limit counts %d, want %d pages",
			got, r.Committed(), l.Used(), hi-lo)
	}
	if lo < hi && !r.m.committed.contains(lo*pageSize, hi*pageSize) {
		t.Errorf("the byte ranges %v are committed, want pages %d to %d", r.m.committed.of, lo, hi-1)
	}
	below, above := max(0, s.at-lo*pageSize), max(0, hi*pageSize-s.at)
	if lo < hi && (s.Below() != below || s.Above() != above) {
		t.Errorf("%d bytes below and %d above, want %d and %d", s.Below(), s.Above(), below, above)
	}
	for i := -s.Below(); i < s.Above(); i++ {
		*(*byte)(unsafe.Add(s.Base(), i))++
	}
}

func TestSeamGrowsBothWays(t *testing.T) {
	page, step := pageSize, max(minStep/pageSize, 1)
	l := NewLimit(1 << 30)
	for _, lead := range []int{0, 256, page - 64} {
		r, s := newSeam(t, lead, Options{Limit: l, Pages: PagesSmall})
		checkSeam(t, r, s, l, 0, 0)
		must(t, s.CommitTo(1))
		top := roundUp(max(lead+1, step*page), page)
		first := roundDown(4*page+lead-top/8, page) / page
		checkSeam(t, r, s, l, first, 4+top/page)
		must(t, s.CommitTo(1)) // changes nothing
		checkSeam(t, r, s, l, first, 4+top/page)
		share := 60 * page / 8 // the bytes below that correspond to 60 pages above
		must(t, s.CommitTo(60*page-lead))
		begin := roundDown(4*page+lead-min(share, 4*page+lead), page) / page
		checkSeam(t, r, s, l, begin, 64)
		var e *Error
		if err := s.CommitTo(60*page - lead + 1); !errors.As(err, &e) || !errors.Is(err, ErrCapacity) {
			t.Errorf("CommitTo beyond the end of the span gave %v, want ErrCapacity", err)
		}
		// DecommitTo also keeps the bytes below that correspond to the kept bytes above.
		must(t, s.DecommitTo(0, 16*page-lead))
		checkSeam(t, r, s, l, roundDown(4*page+lead-2*page, page)/page, 20)
		// If DecommitTo keeps only the bytes below a seam inside a page, this whole page stays committed.
		lowest := s.Below()
		must(t, s.DecommitTo(lowest, 0))
		if got := r.Committed(); got != roundUp(lead, page)+lowest-lead {
			t.Errorf("%d bytes are committed, want the %d bytes below the seam, rounded up to whole pages",
				got, lowest)
		}
		must(t, s.CommitTo(1))
		if s.Below() != lowest {
			t.Errorf("%d bytes are left below the seam, want %d", s.Below(), lowest)
		}
		must(t, s.DecommitTo(0, 0))
		checkSeam(t, r, s, l, 0, 0)
		must(t, r.Close())
	}
}

// TestSeamAtALimit: near its limit a seam commits only the needed bytes. A refused CommitTo changes nothing.
func TestSeamAtALimit(t *testing.T) {
	l := NewLimit(4 * pageSize)
	lead := pageSize / 4
	r, s := newSeam(t, lead, Options{Limit: l, Pages: PagesSmall})
	must(t, s.CommitTo(pageSize))
	checkSeam(t, r, s, l, 4, 6)
	if err := s.CommitTo(5 * pageSize); !errors.Is(err, ErrLimit) {
		t.Errorf("CommitTo beyond the limit gave %v, want ErrLimit", err)
	}
	checkSeam(t, r, s, l, 4, 6)
	must(t, s.CommitTo(3*pageSize-lead)) // also needs the page below the seam's page
	if s.Above() < 3*pageSize-lead || l.Used() > l.Max() {
		t.Errorf("%d bytes are committed above the seam, the limit counts %d", s.Above(), l.Used())
	}
}

// TestSeamsGrowAlike: seams at different offsets in page 4 commit up to the same page if they need bytes up
// to the same offset in their spans.
func TestSeamsGrowAlike(t *testing.T) {
	l := NewLimit(1 << 30)
	_, a := newSeam(t, 0, Options{Limit: l})
	_, b := newSeam(t, 960, Options{Limit: l})
	for n := pageSize; n < 50*pageSize; n += 3*pageSize + 64 {
		must(t, a.CommitTo(n))
		must(t, b.CommitTo(n-960))
		if a.Above() != b.Above()+960 {
			t.Fatalf("%d bytes needed: %d bytes are committed above the first seam, %d above the second", n,
				a.Above(), b.Above())
		}
	}
}

func TestSeamMisuse(t *testing.T) {
	r, err := Reserve(4*pageSize, Options{})
	must(t, err)
	defer r.Close()
	span, err := r.Carve(4*pageSize, 0)
	must(t, err)
	for _, c := range [][3]int{{-1, 1, 1}, {4 * pageSize, 1, 1}, {0, 0, 1}, {0, 1, 0}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Seam%v did not panic", c)
				}
			}()
			span.Seam(c[0], c[1], c[2])
		}()
	}
}
