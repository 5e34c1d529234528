package vm

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func TestLimit(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		limit := NewLimit(5 * p)
		a := open(t, backend, 8*p, Options{Limit: limit, Name: "a"})
		b := open(t, backend, 8*p, Options{Limit: limit, Name: "b"})
		must(t, a.Commit(0, 2*p))
		must(t, b.Commit(4*p, 2*p))
		view(b)[4*p] = 3
		err := b.Commit(2*p, 6*p) // needs four more pages
		var e *Error
		if !errors.Is(err, ErrLimit) || !errors.As(err, &e) || e.Bytes != 4*p || e.Op != "commit" ||
			e.Purpose != "b" || !strings.Contains(e.Detail, Bytes(4*p)+" of "+Bytes(5*p)) {
			t.Fatalf("committing past the limit gave %v", err)
		}
		if limit.Used() != 4*p || b.Committed() != 2*p || view(b)[4*p] != 3 {
			t.Fatalf("a refused commit changed something: %d used, %d committed", limit.Used(), b.Committed())
		}
		must(t, b.Commit(2*p, p))   // uses up the limit exactly
		must(t, b.Commit(4*p, 2*p)) // these pages are committed already
		if err := a.Commit(7*p, 1); !errors.Is(err, ErrLimit) {
			t.Fatalf("committing past the limit gave %v", err)
		}
		must(t, a.Close())
		must(t, b.Commit(7*p, 1)) // Close gave two pages back to the limit
		if limit.Used() != 4*p || limit.Max() != 5*p {
			t.Errorf("%d of %d used, want %d of %d", limit.Used(), limit.Max(), 4*p, 5*p)
		}
		limit.SetMax(p)
		if err := b.Commit(0, p); !errors.Is(err, ErrLimit) || limit.Used() != 4*p {
			t.Errorf("committing past a smaller limit gave %v", err)
		}
		must(t, b.Decommit(4*p, p))
		limit.SetMax(4 * p)
		must(t, b.Commit(0, p))
		if err := b.Commit(p, p); !errors.Is(err, ErrLimit) || limit.Max() != 4*p {
			t.Errorf("committing past a larger limit gave %v", err)
		}
	})
	if got := modeltest.PanicText(func() { NewLimit(-1) }); !strings.Contains(got, "NewLimit(-1)") {
		t.Errorf("NewLimit(-1) panicked with %q", got)
	}
	if got := modeltest.PanicText(func() { NewLimit(1).SetMax(-1) }); !strings.Contains(got, "SetMax(-1)") {
		t.Errorf("SetMax(-1) panicked with %q", got)
	}
	r := open(t, chosen(PagesAuto), p, Options{Limit: NewLimit(0)})
	if err := r.Commit(0, 1); !errors.Is(err, ErrLimit) {
		t.Errorf("a commit under a limit of 0 gave %v", err)
	}
	must(t, r.Commit(0, 0))
}

func TestLimitShared(t *testing.T) {
	p := PageSize()
	eachBackend(t, func(t *testing.T, backend backend) {
		const workers, pages, rounds = 8, 16, 300
		limit := NewLimit(workers * pages / 2 * p)
		var refused atomic.Int64
		var wg sync.WaitGroup
		for w := range workers {
			r := open(t, backend, pages*p, Options{Limit: limit})
			wg.Go(func() {
				for i := range rounds {
					off := (i*7 + w) % pages * p
					err := r.Commit(off, (pages-off/p)*p)
					if used := limit.Used(); used > limit.Max() || used < 0 {
						t.Errorf("%d of %d used", used, limit.Max())
					}
					switch {
					case errors.Is(err, ErrLimit):
						refused.Add(1)
					case err != nil:
						t.Error(err)
					}
					if i%3 == 0 {
						if err := r.Decommit(0, r.Size()); err != nil {
							t.Error(err)
						}
					}
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if limit.Used() != 0 {
			t.Errorf("%d bytes are still charged", limit.Used())
		}
		t.Logf("%d of %d commits were refused", refused.Load(), workers*rounds)
	})
}
