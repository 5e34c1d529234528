package vm

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func TestCarve(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		r := open(t, backend, 64*p, Options{Name: "columns"})
		a, err := r.Carve(p+1, 0)
		must(t, err)
		b, err := r.Carve(3*p, 16*p)
		must(t, err)
		if a.Offset() != 0 || a.Size() != 2*p || a.Base() != r.Base() || a.Region() != r {
			t.Errorf("the first span has %d bytes at offset %d", a.Size(), a.Offset())
		}
		if b.Offset() < 2*p || b.Offset() >= 18*p || b.Size() != 3*p || address(b.Base())%(16*p) != 0 ||
			address(b.Base())-address(r.Base()) != b.Offset() {
			t.Errorf("the second span has %d bytes at offset %d (address %p)", b.Size(), b.Offset(), b.Base())
		}
		for _, bytes := range []int{0, -1, maxReserve + 1} {
			if _, err := r.Carve(bytes, 0); !errors.Is(err, ErrSize) {
				t.Errorf("Carve(%d) gave %v, want ErrSize", bytes, err)
			}
		}
		rest := 64*p - b.Offset() - 3*p
		for _, bytes := range []int{rest + 1, 64 * p, maxReserve} {
			_, err := r.Carve(bytes, 0)
			var e *Error
			if !errors.Is(err, ErrCapacity) || !errors.As(err, &e) || e.Purpose != "columns" ||
				e.Bytes != bytes {
				t.Errorf("Carve(%d) gave %v, want ErrCapacity", bytes, err)
			}
		}
		for _, align := range []int{-1, 3, p + 1, math.MinInt} {
			if got := modeltest.PanicText(func() { _, _ = r.Carve(p, align) }); !strings.Contains(got,
				"power of two") {
				t.Errorf("Carve with alignment %d panicked with %q", align, got)
			}
		}
		if last, err := r.Carve(rest, 0); err != nil || last.Offset()+last.Size() != 64*p {
			t.Errorf("carving the remaining bytes gave %v and a span at offset %d", err, last.Offset())
		}
	})
}

func TestSpanGrow(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		const mib = 1 << 20
		limit := NewLimit(32 * mib)
		r := open(t, backend, 64*mib, Options{Limit: limit, Pages: PagesSmall})
		s, err := r.Carve(16*mib, 0)
		must(t, err)
		for _, c := range []struct{ need, step, want int }{
			{0, 0, 0},
			{-5, 0, 0},
			{1, 0, 64 << 10},                  // the smallest step
			{64 << 10, 0, 64 << 10},           // already committed
			{64<<10 + 1, p, 64<<10 + p},       // the requested step
			{mib, 1, mib},                     // need is above step
			{mib + 1, 0, mib + mib/8},         // ahead by an eighth
			{mib + 1, 0, mib + mib/8},         // already committed
			{8*mib - 3, 0, 8 * mib},           // rounded up to whole pages
			{8*mib + 1, 0, 9 * mib},           // ahead by an eighth
			{16*mib - 1, 0, 16 * mib},         // rounded up to whole pages
			{16 * mib, math.MaxInt, 16 * mib}, // the whole span is committed already
		} {
			must(t, s.CommitTo(c.need, c.step))
			if s.Committed() != c.want || r.Committed() != c.want {
				t.Fatalf("CommitTo(%d, %d): the span has committed %d bytes, the region %d, want %d", c.need,
					c.step, s.Committed(), r.Committed(), c.want)
			}
		}
		if err := s.CommitTo(16*mib+1, 0); !errors.Is(err, ErrCapacity) || s.Committed() != 16*mib {
			t.Errorf("growing past the size gave %v", err)
		}
		// If the limit has no room for a whole step, CommitTo commits only the needed bytes.
		other, err := r.Carve(24*mib, 0)
		must(t, err)
		must(t, other.CommitTo(16*mib-4*p, 1))
		must(t, other.CommitTo(16*mib-3*p, 0))
		if other.Committed() != 16*mib-3*p {
			t.Errorf("near the limit %d bytes are committed, want %d", other.Committed(), 16*mib-3*p)
		}
		if err := other.CommitTo(16*mib+1, 0); !errors.Is(err, ErrLimit) || other.Committed() != 16*mib-3*p ||
			limit.Used() != 32*mib-3*p {
			t.Errorf("CommitTo past the limit gave %v, the span has committed %d bytes, the limit counts %d",
				err, other.Committed(), limit.Used())
		}
		// DecommitTo makes room for the other span.
		must(t, s.DecommitTo(mib+1))
		if s.Committed() != mib+p {
			t.Errorf("DecommitTo(%d) left %d bytes committed, want %d", mib+1, s.Committed(), mib+p)
		}
		must(t, s.DecommitTo(2*mib)) // more than is committed
		must(t, other.CommitTo(16*mib+1, 0))
		must(t, s.DecommitTo(-1))
		if s.Committed() != 0 || r.Committed() != other.Committed() {
			t.Errorf("DecommitTo(-1) left %d bytes committed in the span and %d in the region, want 0 and %d",
				s.Committed(), r.Committed(), other.Committed())
		}
		must(t, s.CommitTo(1, 0))
		if b := view(r); b[0] != 0 {
			t.Error("a span grown again is not zero")
		}
	})
}

// TestSpanGrowsInHugePages: CommitTo rounds a prefix of at least one huge page up to whole huge pages, but
// not beyond the end of the span.
func TestSpanGrowsInHugePages(t *testing.T) {
	huge := HugePageSize()
	if huge == 0 || huge > 64<<20 {
		t.Skip("no huge pages, or very large ones")
	}
	r := open(t, onlyOS(t), 8*huge+PageSize(), Options{})
	s, err := r.Carve(8*huge+PageSize(), huge)
	must(t, err)
	for _, c := range [][2]int{{huge / 2, huge / 2}, {huge/2 + 1, huge/2 + huge/16}, {huge, huge},
		{huge + 1, 2 * huge},
		{8*huge + 1, 8*huge + PageSize()}} {
		must(t, s.CommitTo(c[0], 0))
		if s.Committed() != c[1] {
			t.Errorf("CommitTo(%d): %d committed, want %d", c[0], s.Committed(), c[1])
		}
	}
}
