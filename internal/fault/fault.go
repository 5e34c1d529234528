// Package fault lets tests make the memory calls of package vm fail. If no test injects faults, the package
// costs a few atomic loads for each new region.
package fault

import "sync/atomic"

var injected atomic.Pointer[func(op string) error]

// Inject makes package vm call f before the memory calls for each region that is reserved after Inject. The
// argument op of f names the call: reserve, commit, decommit and so on. Package vm makes these calls to the
// operating system or to the heap stand-in (see package vm). If f returns an error, the call fails with this
// error. The calls commit, protect and populate then do half of their work, and the other calls do nothing.
// Several goroutines may call f at the same time. The function stop ends the injection, also for existing
// regions.
func Inject(f func(op string) error) (stop func()) {
	if !injected.CompareAndSwap(nil, &f) {
		panic("fault: Inject during another injection: stop that one first")
	}
	return func() { injected.Store(nil) }
}

// Injecting reports whether an injection is active.
func Injecting() bool { return injected.Load() != nil }

// Check returns the error with which the call named op must fail, or nil.
func Check(op string) error {
	if f := injected.Load(); f != nil {
		return (*f)(op)
	}
	return nil
}
