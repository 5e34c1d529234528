package guard

import "github.com/vastgo/vast/vm"

// Do is [vm.Do]: it calls f and turns a bad access of f's into a panic, with a [*Fault] where the address is an allocator's.
func Do(f func()) { vm.Do(f) }

// Watch is [vm.Watch], which is Do for the rest of a function: `defer guard.Watch()()`, the first line of a goroutine. Until
// the function returns, a memory fault of the goroutine at an address of an allocator's becomes a panic with a [*Fault], one
// elsewhere in a region with a [*vm.Fault].
func Watch() (end func()) { return vm.Watch() }

// Explain returns the report about what a deferred function has recovered, or false where that is neither a memory fault
// at an address of an open allocator's nor a [*Fault] already. Faults can be recovered where [runtime/debug.SetPanicOnFault] is
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
