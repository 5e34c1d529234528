package vm

import (
	"errors"
	"testing"
	"unsafe"
)

func TestSpanDiscard(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, bk backend) {
		r := open(t, bk, 64*p, Options{Pages: PagesSmall})
		_, err := r.Carve(p, 0)
		must(t, err)
		s, err := r.Carve(32*p, 0)
		must(t, err)
		must(t, s.CommitTo(16*p, 1))
		b := unsafe.Slice((*byte)(s.Base()), 16*p)
		for i := range b {
			b[i] = 7
		}
		before, err := s.Resident()
		must(t, err)
		// Discard rounds the range inward to pages 3 and 4.
		must(t, s.Discard(2*p+1, 3*p))
		for i, v := range b {
			want := byte(7)
			if i >= 3*p && i < 5*p {
				want = 0
			}
			if v != want {
				t.Fatalf("byte %d is %d, want %d", i, v, want)
			}
		}
		must(t, s.Discard(8*p, 8*p))
		after, err := s.Resident()
		must(t, err)
		want := 8 * p // the loop above has read pages 3 and 4 again
		if bk == backend(heapBackend{}) {
			want = 16 * p // all memory from Go's heap counts as resident
		}
		if before != 16*p || after > want || s.Committed() != 16*p {
			t.Errorf("%d bytes are resident before Discard, want %d; after Discard %d, want at most %d",
				before, 16*p, after, want)
		}
		b[10*p] = 1
	})
}

// TestSpanDiscardLost: if a failed Discard leaves pages Reserved, the span commits them again.
func TestSpanDiscardLost(t *testing.T) {
	p := PageSize()
	f, r, _ := openFaulty(t, Options{})
	s, err := r.Carve(8*p, 0)
	must(t, err)
	must(t, s.CommitTo(8*p, 1))
	f.fails["discard"] = errLost
	if err := s.Discard(2*p, 2*p); !errors.Is(err, errLost) {
		t.Errorf("Discard gave %v", err)
	}
	if r.Committed() != 8*p {
		t.Errorf("%d bytes are committed, want %d", r.Committed(), 8*p)
	}
}
