package vm

import (
	"fmt"
	"runtime/debug"
)

// Fault is a bad access to an address of a region.
type Fault struct {
	Place
	// Cause is the runtime's error.
	Cause error
}

// Error describes the access and the remedy.
func (f *Fault) Error() string {
	advice := f.advice
	switch {
	case f.Closed:
		advice = "keep the region open as long as pointers and slices into it are in use"
	case f.ofFile:
		advice = "its page comes from a file that was truncated or cannot be read: check the disk, and " +
			"verify the folder or file"
	case f.State&PageCommitted != 0:
		advice = "its pages were protected, or were not committed at the time of the access"
	case advice != "":
	case f.State&PageDecommitted != 0:
		advice = "drop pointers and slices to elements that are removed, truncated or released"
	default:
		advice = "look for an index or a pointer that was not compared with the length"
	}
	s := fmt.Sprintf("vm: bad access at %#x: %s: %s", f.Address, f.Place, advice)
	if f.Made != "" {
		s += "\n\tmade at " + f.Made
	}
	if f.ReturnedAt != "" {
		s += "\n\tgiven back at " + f.ReturnedAt
	}
	if f.ClosedAt != "" {
		s += "\n\tclosed at " + f.ClosedAt
	}
	return s
}

// Unwrap returns the runtime's error.
func (f *Fault) Unwrap() error { return f.Cause }

// Do calls f. A memory fault of f at an address of a region becomes a panic with a [*Fault], or with the
// error that the function Explain in the address's [Label] returns. A fault at another address becomes a
// panic with the runtime's error. Other panics of f do not change.
//
// Do covers only the goroutine that calls Do: call Do or [Watch] also in the goroutines that f starts. In
// other goroutines, a fault ends the process, and the runtime prints "unexpected fault address" and the
// address as a number.
func Do(f func()) {
	defer Watch()()
	f()
}

// Watch is [Do] for the rest of a function: make `defer vm.Watch()()` the first line of a goroutine. Watch
// and end cost a few nanoseconds each. The code between them costs nothing more, because Watch only sets the
// goroutine's flag of [debug.SetPanicOnFault]. The heap stand-in never faults.
func Watch() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() {
		debug.SetPanicOnFault(before)
		r := recover()
		if r == nil {
			return
		}
		if err, ok := Explain(r); ok {
			panic(err)
		}
		panic(r)
	}
}

// Explain returns an explanation of a recovered value, or false if the value is not a memory fault at an
// address of a region. If a goroutine has called [debug.SetPanicOnFault], and recovers all panics in a
// deferred function, call Explain there instead of Watch.
func Explain(recovered any) (error, bool) {
	fault, ok := recovered.(interface {
		error
		Addr() uintptr
	})
	if !ok {
		return nil, false
	}
	addr := fault.Addr()
	if m := registry.find(addr); m != nil {
		if explain := m.explainer(addr); explain != nil {
			if err := explain(addr); err != nil {
				return err, true
			}
		}
	}
	p, ok := Describe(addr)
	if !ok {
		return nil, false
	}
	return &Fault{p, fault}, true
}

// explainer returns the Explain function of the address's label, or nil.
func (m *mapping) explainer(addr uintptr) func(uintptr) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return labelAt(m.labels, int(addr-uintptr(m.base)), m.size, m.counted.purpose).Explain
}
