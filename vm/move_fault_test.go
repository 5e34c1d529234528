package vm_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

// TestMoveFaults: after a failed memory call, each range is wholly in its old or wholly in its new place.
func TestMoveFaults(t *testing.T) {
	p := vm.PageSize()
	calls := faulttest.EachCall(t, func() error {
		r, err := vm.Reserve(64*p, vm.Options{Name: "faults"})
		if err != nil {
			return err
		}
		defer func() {
			for range 2 { // the failing call may be in the first attempt
				err = r.Close()
			}
			if err != nil {
				t.Error("the second Close:", err)
			}
		}()
		if err := r.Commit(0, 8*p); err != nil {
			return err
		}
		b := unsafe.Slice((*byte)(r.Base()), r.Size())
		b[p], b[8*p-1] = 5, 6
		errs := []error{r.MovePages(r, 32*p, p, 4*p), r.MovePages(r, 36*p, 5*p, 3*p)}
		at := []int{p, 8*p - 1}
		for i, err := range errs {
			if err == nil {
				at[i] += 31 * p
			}
		}
		if r.Committed() != 8*p || b[at[0]] != 5 || b[at[1]] != 6 {
			t.Errorf("%d committed; the bytes are %d and %d: %v", r.Committed(), b[at[0]], b[at[1]], errs)
		}
		return errors.Join(errs...)
	})
	if calls < 6 {
		t.Errorf("%d calls, want at least 6", calls)
	}
}
