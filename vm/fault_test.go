package vm

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"
)

func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

//go:noinline
func writeAt(p unsafe.Pointer, off int) { *(*byte)(unsafe.Add(p, off)) = 1 }

func TestFault(t *testing.T) {
	backend := onlyOS(t)
	p := PageSize()
	r := open(t, backend, 8*p, Options{Name: "world"})
	must(t, r.Commit(0, 2*p))
	r.Label(0, 4*p, Label{What: "column Position", Element: "slot", Size: 16, Advice: "ask Get"})
	says := func(off int, want ...string) {
		t.Helper()
		v := panicOf(func() { Do(func() { writeAt(r.Base(), off) }) })
		f, ok := v.(*Fault)
		if !ok {
			t.Fatalf("byte %d: %v", off, v)
		}
		var cause runtime.Error
		if f.Address != uintptr(r.Base())+uintptr(off) || !errors.As(f, &cause) {
			t.Errorf("byte %d: %+v because of %v", off, f, f.Cause)
		}
		text := f.Error()
		for _, w := range append(want, fmt.Sprintf("vm: bad access at %#x: ", f.Address), "\n\tmade at ",
			"fault_test.go:") {
			if !strings.Contains(text, w) {
				t.Errorf("byte %d: the explanation does not contain %q:\n%s", off, w, text)
			}
		}
	}
	says(3*p, fmt.Sprintf("slot %d of column Position is beyond its %d usable slots: ask Get\n", 3*p/16,
		2*p/16))
	says(5*p, fmt.Sprintf(`byte %d of region "world" is beyond its %d usable bytes: look for an index`, 5*p,
		2*p))
	must(t, r.Protect(p, p, NoAccess))
	says(p, fmt.Sprintf("slot %d of column Position is usable: its pages were protected", p/16))
	must(t, r.Decommit(p, p))
	says(p, fmt.Sprintf("slot %d of column Position lies in memory that was given back: ask Get", p/16))
	must(t, r.Commit(6*p, p))
	must(t, r.Decommit(6*p, p))
	says(6*p, `of region "world" lies in memory that was given back: drop pointers and slices`)
	must(t, r.Close())
	says(17, `slot 1 of column Position is gone: its region was closed: keep the region open`,
		"\n\tclosed at ")
}

func TestFaultsElsewhere(t *testing.T) {
	bug := errors.New("a bug")
	if v := panicOf(func() { Do(func() { panic(bug) }) }); v != bug {
		t.Errorf("a panic became %v", v)
	}
	if v := panicOf(func() { Do(func() {}) }); v != nil {
		t.Errorf("Do panicked with %v, but its function did not panic", v)
	}
	if err, ok := Explain(bug); ok {
		t.Errorf("an error that is not a fault is explained as %v", err)
	}
	onlyOS(t)
	v := panicOf(func() { Do(func() { var p *int; *p = 1 }) })
	if _, ok := v.(runtime.Error); !ok {
		t.Errorf("a nil pointer became %T: %v", v, v)
	}
	v = panicOf(func() { Do(func() { writeAt(pointerAt(1<<12), 0) }) })
	if _, ok := v.(runtime.Error); !ok {
		t.Errorf("a fault at 4096 became %T: %v", v, v)
	}
	for _, set := range []bool{true, false} {
		debug.SetPanicOnFault(set)
		Watch()()
		if after := debug.SetPanicOnFault(false); after != set {
			t.Errorf("the flag was %t and is %t", set, after)
		}
	}
}

// TestExplain has a label that explains one fault and leaves other faults to the package.
func TestExplain(t *testing.T) {
	backend := onlyOS(t)
	p := PageSize()
	r := open(t, backend, 4*p, Options{Name: "guarded"})
	own := errors.New("block 7 was freed")
	r.Label(0, 2*p, Label{Explain: func(addr uintptr) error {
		if addr == uintptr(r.Base())+5 {
			return own
		}
		return nil
	}})
	if v := panicOf(func() { Do(func() { writeAt(r.Base(), 5) }) }); v != own {
		t.Errorf("the fault became %v", v)
	}
	if f, ok := panicOf(func() { Do(func() { writeAt(r.Base(), 6) }) }).(*Fault); !ok || f.Index != 6 {
		t.Errorf("the fault became %v", f)
	}
	must(t, r.Close())
	if f, ok := panicOf(func() { Do(func() { writeAt(r.Base(), 5) }) }).(*Fault); !ok || !f.Closed {
		t.Errorf("after Close the fault became %v", f)
	}
}
