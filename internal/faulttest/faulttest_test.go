package faulttest

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestEachCall(t *testing.T) {
	p := vm.PageSize()
	runs, failures := 0, 0
	calls := EachCall(t, func() error {
		runs++
		r, err := vm.Reserve(4*p, vm.Options{Name: "faulttest"})
		if err != nil {
			failures++
			return err
		}
		err = errors.Join(r.Commit(0, p), r.Commit(2*p, p), r.Decommit(0, 4*p))
		if err != nil {
			failures++
		}
		if r.Close() != nil {
			if err := r.Close(); err != nil {
				t.Errorf("the second Close: %v", err)
			}
		}
		return err
	})
	// The calls are Reserve, two Commits, a Decommit of two ranges, and the reset in Close. The function does
	// not count a failure of Close.
	if calls != 6 || runs != calls+1 || failures != 5 {
		t.Errorf("%d calls, %d runs, %d failures; want 6, 7 and 5", calls, runs, failures)
	}
}
