package vm

import (
	"errors"
	"testing"
	"unsafe"
)

const spanPages = 16

// FuzzSpan changes a span and a seam of one region under a limit. It compares the span's contents with a
// plain slice, and writes to the seam. Three bytes of the input describe an operation.
func FuzzSpan(f *testing.F) {
	f.Add([]byte{0, 3, 10, 1, 8, 0, 2, 2, 5, 3, 1, 200, 4, 9, 9, 5, 1, 0, 6, 0, 3, 0, 15, 255, 3, 15, 255})
	f.Fuzz(func(t *testing.T, ops []byte) {
		for _, pages := range []Pages{PagesAuto, PagesHeap} {
			playSpans(t, pages, ops)
		}
	})
}

func playSpans(t *testing.T, pages Pages, ops []byte) {
	p := PageSize()
	limit := NewLimit(20 * p)
	r, err := Reserve(3*spanPages*p, Options{Name: "spans", Limit: limit, Pages: pages})
	must(t, err)
	defer func() { must(t, r.Close()) }()
	s, err := r.Carve(spanPages*p, 0)
	must(t, err)
	other, err := r.Carve(spanPages*p, 0)
	must(t, err)
	seam := other.Seam(4*p, 1, 4)
	model := make([]byte, spanPages*p) // the contents of the span's committed pages
	for i := 0; i+3 <= len(ops) && i < 3*200; i += 3 {
		n := int(ops[i+1])%spanPages*p + int(ops[i+2])*p/256
		before, used := s.Committed(), limit.Used()
		switch ops[i] % 7 {
		case 0, 1:
			if err := s.CommitTo(n, int(ops[i])/7%3*p); err != nil {
				if s.Committed() != before || limit.Used() != used || !errors.Is(err, ErrLimit) {
					t.Fatalf("CommitTo gave %v, want ErrLimit and no change of the span or the limit", err)
				}
			} else if s.Committed() < n {
				t.Fatalf("%d bytes are committed, want at least %d", s.Committed(), n)
			}
		case 2:
			must(t, s.DecommitTo(min(n, s.Committed())))
			clear(model[s.Committed():])
		case 3:
			off := min(n, s.Committed())
			length := min(int(ops[i+2])%4*p, s.Committed()-off)
			must(t, s.Discard(off, length))
			if lo, hi := roundUp(off, p), roundDown(off+length, p); lo < hi {
				clear(model[lo:hi])
			}
		case 4:
			_, above := seam.Size()
			if err := seam.CommitTo(min(n, above)); err == nil && seam.Above() < min(n, above) {
				t.Fatalf("%d bytes are committed above the seam, want at least %d", seam.Above(),
					min(n, above))
			}
		case 5:
			above := min(n, seam.Above())
			below := min(above/4, seam.Below())
			must(t, seam.DecommitTo(below, above))
			if seam.Above() < above || seam.Below() < below {
				t.Fatalf("after DecommitTo %d bytes are committed below the seam and %d above, want at "+
					"least %d and %d", seam.Below(), seam.Above(), below, above)
			}
		case 6:
			if at := roundDown(n, p); at < s.Committed() {
				*(*byte)(unsafe.Add(s.Base(), at)) = ops[i+2]
				model[at] = ops[i+2]
			}
		}
		for at := 0; at < s.Committed(); at += p {
			if got := *(*byte)(unsafe.Add(s.Base(), at)); got != model[at] {
				t.Fatalf("operation %d: byte %d is %d, not %d", i/3, at, got, model[at])
			}
		}
		for at := -seam.Below(); at < seam.Above(); at += p / 2 {
			*(*byte)(unsafe.Add(seam.Base(), at))++
		}
		if got := s.Committed() + seam.Committed(); got != limit.Used() || got != r.Committed() {
			t.Fatalf("%d bytes are committed, the limit counts %d, the region %d", got, limit.Used(),
				r.Committed())
		}
	}
}
