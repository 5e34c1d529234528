package bulk

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
)

func TestSharedPoolWithFailingCalls(t *testing.T) {
	calls := faulttest.EachCall(t, func() error {
		p, err := NewSharedPool[record](Options{Capacity: 30_000, Step: 1})
		if err != nil {
			return err
		}
		var errs error
		handles := map[Handle[record]]int{}
		insert := func(n int) {
			for i := range n {
				var h Handle[record]
				if e := exhausted(func() { h, _ = p.Insert(numbered(i)) }); e != nil {
					errs = errors.Join(errs, e)
					continue
				}
				handles[h] = i
			}
		}
		insert(300)
		for _, n := range []int{2000, 20_000} {
			errs = errors.Join(errs, p.Grow(n))
		}
		insert(500)
		for h, i := range handles {
			if v, ok := p.Load(h); !ok || v != numbered(i) {
				t.Errorf("Load(%v) = %v, %t", h, v, ok)
			}
		}
		if p.Len() != len(handles) {
			t.Errorf("%d elements, want %d", p.Len(), len(handles))
		}
		p.checkInvariants()
		return errors.Join(errs, closeTwice(p.Close))
	})
	if calls < 4 {
		t.Errorf("only %d memory calls were made to fail, want at least 4", calls)
	}
}

func TestSharedArrayWithFailingCalls(t *testing.T) {
	calls := faulttest.EachCall(t, func() error {
		a, err := NewSharedArray[record](Options{Capacity: 30_000, Step: 1})
		if err != nil {
			return err
		}
		var errs error
		n := 0
		to := a.Appender()
		for i := range 1000 {
			if e := exhausted(func() { a.Append(numbered(i)); n++ }); e != nil {
				errs = errors.Join(errs, e)
			}
			if e := exhausted(func() { to.Append(numbered(i)); n++ }); e != nil {
				errs = errors.Join(errs, e)
			}
		}
		errs = errors.Join(errs, a.Grow(20_000))
		if _, _, err := to.Flush(); err != nil {
			n -= to.Buffered()
			errs = errors.Join(errs, err)
		}
		if a.Len() != n {
			t.Errorf("%d elements, want %d", a.Len(), n)
		}
		for i, e := range a.Slice() {
			if e != numbered(int(e[0])) {
				t.Errorf("element %d is %v", i, e)
			}
		}
		return errors.Join(errs, closeTwice(a.Close))
	})
	if calls < 4 {
		t.Errorf("only %d memory calls were made to fail, want at least 4", calls)
	}
}

// closeTwice calls close again, because EachCall may make the first call fail. The second call must succeed.
func closeTwice(close func() error) error {
	err := close()
	if again := close(); again != nil {
		return fmt.Errorf("closing again: %w", again)
	}
	return err
}
