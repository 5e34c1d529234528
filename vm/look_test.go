package vm

import (
	"fmt"
	"slices"
	"testing"
)

func TestLook(t *testing.T) {
	eachBackend(t, func(t *testing.T, backend backend) {
		p := PageSize()
		r := open(t, backend, 8*p, Options{Pages: PagesSmall})
		must(t, r.Commit(p, 2*p))
		must(t, r.Commit(5*p, p))
		view(r)[p], view(r)[3*p-1], view(r)[5*p+7] = 1, 2, 3
		seen := func(off, n int) (ranges []string, bytes []byte) {
			r.Look(off, n, func(off int, b []byte) {
				ranges = append(ranges, fmt.Sprintf("%d+%d", off, len(b)))
				bytes = append(bytes, b[0], b[len(b)-1])
			})
			return ranges, bytes
		}
		for _, c := range []struct {
			off, n int
			ranges []string
			bytes  []byte
		}{
			{0, 8 * p, []string{fmt.Sprintf("%d+%d", p, 2*p), fmt.Sprintf("%d+%d", 5*p, p)},
				[]byte{1, 2, 0, 0}},
			{3*p - 1, 2*p + 9, []string{fmt.Sprintf("%d+1", 3*p-1), fmt.Sprintf("%d+8", 5*p)},
				[]byte{2, 2, 0, 3}},
			{3 * p, 2 * p, nil, nil},
			{p + 1, 0, nil, nil},
		} {
			if ranges, bytes := seen(c.off, c.n); !slices.Equal(ranges, c.ranges) ||
				!slices.Equal(bytes, c.bytes) {
				t.Errorf("[%d, %d): %v with %v, want %v with %v", c.off, c.off+c.n, ranges, bytes, c.ranges,
					c.bytes)
			}
		}
		must(t, r.Close())
		if ranges, _ := seen(0, 8*p); ranges != nil {
			t.Errorf("a closed region holds %v", ranges)
		}
		defer func() {
			if recover() == nil {
				t.Error("Look outside the region did not panic")
			}
		}()
		r.Look(7*p, 2*p, nil)
	})
}
