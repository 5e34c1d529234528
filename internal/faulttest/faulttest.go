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

// Err is what the chosen call fails with.
var Err = errors.New("this call was made to fail")

// mostCalls ends a body that would never come to its end.
const mostCalls = 10_000

// EachCall runs body again and again: in the k-th run the k-th call that it makes to the operating system's memory
// functions fails, and no other, until a run ends before its k-th call. It returns how many calls there are.
//
// A body makes what it uses, checks after a failure that nothing has changed, closes everything (again, where Close was
// the call that failed), and returns the error that it met, if any. EachCall checks that
//
//   - a body never panics, except with the failing call's error;
//   - an error is the failing call's, and not another one (the call may also be a hint, whose failure nobody sees);
//   - it is a [*vm.Error] or wraps one;
//   - regions, reserved and committed bytes are afterwards what they were before.
//
// It must not run beside other tests that reserve regions.
func EachCall(t *testing.T, body func() error) (calls int) {
	t.Helper()
	for k := 1; k <= mostCalls; k++ {
		before := held()
		made, failed, err := failing(k, body)
		if err != nil && (failed == "" || !errors.Is(err, Err)) {
			t.Fatalf("with call %d (%s) failing: %v", k, failed, err)
		}
		if err != nil && !errors.As(err, new(*vm.Error)) {
			t.Fatalf("with call %d (%s) failing: %v, which is no *vm.Error", k, failed, err)
		}
		if after := held(); after != before {
			t.Fatalf("after call %d (%s) failed: %s held, before %s", k, failed, after, before)
		}
		if failed == "" {
			return made
		}
	}
	t.Fatalf("the body makes more than %d calls", mostCalls)
	return 0
}

// Again runs op, which may also panic with its error, inside a body of [EachCall]. Where op fails, and it may do so only
// because of the call that is made to fail, check looks whether anything has changed, and op is run once more: then it
// must not fail. Again returns the first error.
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
		t.Fatalf("%s, again after %v: %v", what, err, again)
	}
	return err
}

// failing runs body with its k-th call failing. It returns how many calls it made, which one failed, and body's error.
func failing(k int, body func() error) (made int, failed string, err error) {
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
	defer stop() // where body ends the test, too
	err = run(body)
	return made, failed, err
}

// run returns what the body returns, or the failing call's error where it panicked with that.
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

// held describes what all regions together hold.
func held() string {
	regions, reserved, committed := 0, 0, 0
	for _, p := range vm.Snapshot(false).Purposes {
		regions += p.Regions
		reserved += p.Reserved
		committed += p.Committed
	}
	return fmt.Sprintf("%d regions, %d bytes reserved, %d committed", regions, reserved, committed)
}
