package guard

import (
	"runtime/debug"

	"github.com/vastgo/vast/vm"
)

// Do calls f, and turns a bad access of f's into a panic with a [*Fault]. It works for the goroutine that calls it, not for
// those that f starts: each needs a Do or [Watch] of its own. Other panics go on as they are.
func Do(f func()) {
	defer Watch()()
	f()
}

// Watch is [Do] for the rest of a function: `defer guard.Watch()()`, the first line of a goroutine. Until the function
// returns, a memory fault of the goroutine is a panic (see [debug.SetPanicOnFault]); one at an address of an allocator's
// becomes a panic with a [*Fault], one elsewhere in a region with a [*vm.Fault]. [vm.Watch] does the same.
func Watch() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		r := recover()
		if r == nil {
			return
		}
		if f, ok := Explain(r); ok {
			panic(f)
		}
		if err, ok := vm.Explain(r); ok {
			panic(err)
		}
		panic(r)
	}
}

// Explain returns the report about what a deferred function has recovered, or false where that is neither a memory fault
// at an address of an open allocator's nor a [*Fault] already. Faults can be recovered where [debug.SetPanicOnFault] is
// set. Called in the deferred function itself it also tells where the access was made.
func Explain(recovered any) (*Fault, bool) {
	switch r := recovered.(type) {
	case *Fault:
		return r, true
	case interface{ Addr() uintptr }:
		f, ok := Describe(r.Addr())
		if ok {
			f.At = here()
		}
		return f, ok
	}
	return nil, false
}

// explained is what [vm.Explain] says about an address of an allocator's.
func explained(p uintptr) error {
	f, ok := Describe(p)
	if !ok {
		return nil
	}
	f.At = here()
	return f
}
