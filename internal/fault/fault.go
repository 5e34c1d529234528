// Package fault lets tests make the memory calls of package vm fail. Nothing is injected, and nothing is paid for it
// beyond a look at one word for each region that is made, until a test calls [Inject].
package fault

import "sync/atomic"

var injected atomic.Pointer[func(op string) error]

// Inject makes regions that are reserved from now on ask f before each call to the operating system, which fails with
// what f returns. op names the call: reserve, commit, decommit and so on. f may be called from many goroutines. The
// function that Inject returns ends the injection; a region that was made under it asks nobody from then on.
func Inject(f func(op string) error) (stop func()) {
	if !injected.CompareAndSwap(nil, &f) {
		panic("fault: Inject while another injection is going on: stop that one first")
	}
	return func() { injected.Store(nil) }
}

// Injecting reports whether an injection is going on.
func Injecting() bool { return injected.Load() != nil }

// Check returns the error that the call op is to fail with, or nil.
func Check(op string) error {
	if f := injected.Load(); f != nil {
		return (*f)(op)
	}
	return nil
}
