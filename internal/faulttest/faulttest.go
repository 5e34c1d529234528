// Package faulttest makes each memory call of a piece of code fail in turn.
package faulttest

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/vm"
)

// Err is the error of the chosen call.
var Err = errors.New("this call was made to fail")

// maxCalls limits the number of calls that a body may make, so that EachCall ends.
const maxCalls = 10_000

// EachCall runs body repeatedly. In the k-th run, only the k-th memory call of package vm fails: see
// [fault.Inject]. EachCall stops when a run makes fewer than k calls. It returns the number of calls in this
// run.
//
// The body makes the regions that it needs. After a failure, the body must check that nothing has changed,
// and must return the error. It must close all regions, and close a region again if its Close failed.
// EachCall checks that
//
//   - a panic of body is the error of the failing call;
//   - an error that body returns is the error of the failing call (body may also succeed, because some calls
//     are hints whose failure has no effect);
//   - the error is a [*vm.Error] or wraps one;
//   - the numbers of regions, reserved bytes and committed bytes are the same before and after a run.
//
// EachCall must not run at the same time as other tests that reserve regions.
func EachCall(t *testing.T, body func() error) (calls int) {
	t.Helper()
	for k := 1; k <= maxCalls; k++ {
		before := totals()
		made, failed, err := runFailing(k, body)
		if err != nil && (failed == "" || !errors.Is(err, Err)) {
			t.Fatalf("with call %d (%s) failing: %v", k, failed, err)
		}
		if err != nil && !errors.As(err, new(*vm.Error)) {
			t.Fatalf("with call %d (%s) failing: %v, which is no *vm.Error", k, failed, err)
		}
		if after := totals(); after != before {
			t.Fatalf("after call %d (%s) failed: %s; before the run: %s", k, failed, after, before)
		}
		if failed == "" {
			return made
		}
	}
	t.Fatalf("the body makes more than %d calls", maxCalls)
	return 0
}

// Again runs op inside a body of [EachCall]. op may return its error or panic with the error. It must fail
// only because of the injected failure. If op fails, Again calls check, which checks that nothing has
// changed. Again then runs op a second time, which must succeed, and returns the first error.
func Again(t testing.TB, what string, op func() error, check func()) error {
	err := run(op)
	if err == nil {
		return nil
	}
	t.Helper()
	if !errors.Is(err, Err) || !errors.As(err, new(*vm.Error)) {
		t.Fatalf("%s: %v", what, err)
	}
	check()
	if again := run(op); again != nil {
		t.Fatalf("%s failed twice, with %v and with %v", what, err, again)
	}
	return err
}

// runFailing runs body and makes its k-th call fail. It returns the number of calls, the name of the failed
// call, and the error of body.
func runFailing(k int, body func() error) (made int, failed string, err error) {
	var mu sync.Mutex // calls may come from several goroutines
	stop := fault.Inject(func(op string) error {
		mu.Lock()
		defer mu.Unlock()
		made++
		if made != k {
			return nil
		}
		failed = op
		return fmt.Errorf("%s, call %d: %w", op, k, Err)
	})
	defer stop() // also if body ends the test
	err = run(body)
	return made, failed, err
}

// run returns the error of body. A panic with the injected error counts as a returned error; any other panic
// continues.
func run(body func() error) (err error) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		e, ok := r.(error)
		if !ok || !errors.Is(e, Err) {
			panic(r)
		}
		err = fmt.Errorf("panic: %w", e)
	}()
	return body()
}

// totals describes the numbers of regions and of their bytes.
func totals() string {
	regions, reserved, committed := 0, 0, 0
	for _, p := range vm.Snapshot(false).Purposes {
		regions += p.Regions
		reserved += p.Reserved
		committed += p.Committed
	}
	return fmt.Sprintf("%d regions, %d bytes reserved, %d committed", regions, reserved, committed)
}
