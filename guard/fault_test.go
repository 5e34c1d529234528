package guard_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/vm"
)

func skipWhereNothingFaults(t *testing.T) {
	t.Helper()
	if vm.HeapStandIn() {
		t.Skip("blocks are Go heap memory in this build, where nothing faults")
	}
}

type record struct { // 40 bytes, alignment 8
	id   uint64
	data [4]uint64
}

func newAllocator(t testing.TB, o guard.Options) *guard.Allocator {
	t.Helper()
	a, err := guard.NewAllocator(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return a
}

// caught returns the report that f panics with, or nil.
func caught(t testing.TB, f func()) (found *guard.Fault) {
	t.Helper()
	defer func() {
		t.Helper()
		switch r := recover().(type) {
		case nil:
		case *guard.Fault:
			found = r
		default:
			t.Fatalf("a panic with %T: %v", r, r)
		}
	}()
	f()
	return nil
}

// The tests search reports for the names of the next four functions.

//go:noinline
func allocateRecord(a *guard.Allocator) *record { return guard.Make[record](a) }

//go:noinline
func freeRecord(a *guard.Allocator, p *record) { guard.Free(a, p) }

//go:noinline
func writeByte(p unsafe.Pointer, offset int) { *(*byte)(unsafe.Add(p, offset)) = 1 }

//go:noinline
func readByte(p unsafe.Pointer, offset int) byte { return *(*byte)(unsafe.Add(p, offset)) }

// mustBeginIn checks that the innermost call of a stack is in the given function of this package.
func mustBeginIn(t *testing.T, what string, s guard.Stack, function string) {
	t.Helper()
	for f := range s.Frames() {
		if !strings.HasSuffix(f.Function, "guard_test."+function) || f.Line == 0 {
			t.Errorf("%s begins at %s:%d, want %s", what, f.Function, f.Line, function)
		}
		return
	}
	t.Errorf("%s has no calls, want %s", what, function)
}

func TestUseAfterFree(t *testing.T) {
	skipWhereNothingFaults(t)
	a := newAllocator(t, guard.Options{Name: "ships"})
	for name, access := range map[string]func(p unsafe.Pointer, offset int){
		"writeByte": writeByte,
		"readByte":  func(p unsafe.Pointer, offset int) { readByte(p, offset) },
	} {
		p := allocateRecord(a)
		freeRecord(a, p)
		f := caught(t, func() { vm.Do(func() { access(unsafe.Pointer(p), 8) }) })
		if f == nil || f.Kind != guard.AfterFree || f.Offset != 8 || f.Size != 40 || f.Distance != 0 ||
			f.Type != "record" || f.Allocator != "ships" || f.Address != uintptr(unsafe.Pointer(p))+8 {
			t.Fatalf("%s: %+v", name, f)
		}
		mustBeginIn(t, "At", f.At, name)
		mustBeginIn(t, "AllocatedAt", f.AllocatedAt, "allocateRecord")
		mustBeginIn(t, "FreedAt", f.FreedAt, "freeRecord")
		text := f.Error()
		for _, want := range []string{"guard: use after free: byte 8 of record (40 bytes) of ships, which " +
			"was freed\n",
			"\nat\n\tgithub.com/vastgo/vast/guard_test." + name + " ",
			"\nallocated at\n\tgithub.com/vastgo/vast/guard_test.allocateRecord ",
			"\nfreed at\n\tgithub.com/vastgo/vast/guard_test.freeRecord ", "fault_test.go:"} {
			if !strings.Contains(text, want) {
				t.Errorf("the report does not say %q:\n%s", want, text)
			}
		}
	}
}

func TestOutsideTheBlock(t *testing.T) {
	skipWhereNothingFaults(t)
	page := vm.PageSize()
	for _, c := range []struct {
		atStart          bool
		size, align      int
		offset, distance int
		kind             guard.Kind
	}{
		{false, 40, 8, 40, 1, guard.PastEnd},
		{false, 40, 8, 47, 8, guard.PastEnd},
		{false, 5, 1, 5, 1, guard.PastEnd},
		{false, 1, 1, 100, 100, guard.PastEnd},
		{false, 13, 8, 16, 4, guard.PastEnd}, // the first 3 bytes past the end are slack
		{false, page, 8, page, 1, guard.PastEnd},
		{false, page, 8, -1, 1, guard.BeforeStart},
		{false, 3*page + 8, 8, 3*page + 8, 1, guard.PastEnd},
		{true, 40, 8, -1, 1, guard.BeforeStart},
		{true, 40, 8, -40, 40, guard.BeforeStart},
		{true, 2 * page, 8, 2 * page, 1, guard.PastEnd},
	} {
		a := newAllocator(t, guard.Options{AtStart: c.atStart})
		// The report must be about the tested block, not about its neighbours: a live block before it and a
		// freed block behind it.
		if _, err := a.Alloc(page, 1); err != nil {
			t.Fatal(err)
		}
		p, err := a.Alloc(c.size, c.align)
		if err != nil {
			t.Fatal(err)
		}
		after, err := a.Alloc(64, 1)
		if err != nil {
			t.Fatal(err)
		}
		a.Free(after)
		f := caught(t, func() { vm.Do(func() { writeByte(p, c.offset) }) })
		if f == nil || f.Kind != c.kind || f.Offset != c.offset || f.Distance != c.distance ||
			f.Size != c.size || f.FreedAt != nil {
			t.Errorf("byte %d of %d (AtStart %t): %+v", c.offset, c.size, c.atStart, f)
			continue
		}
		mustBeginIn(t, "At", f.At, "writeByte")
		side := "past the end of a block ("
		if c.kind == guard.BeforeStart {
			side = "before the start of a block ("
		}
		if text := f.Error(); !strings.Contains(text, side) ||
			!strings.Contains(text, fmt.Sprintf(": %d byte", c.distance)) {
			t.Errorf("the report does not contain %q and the distance %d:\n%s", side, c.distance, text)
		}
	}
}

func TestSlack(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		for _, c := range []struct {
			atStart          bool
			size, align      int
			offset, distance int // of the first written byte
			second           int // offset of the second written byte
		}{
			{false, 13, 8, 13, 1, 15},
			{false, 40, 8, -1, 1, -1},
			{false, 40, 8, -30, 30, -2},
			{false, 0, 1, 0, 1, 0},
			{true, 13, 8, 13, 1, 700},
			{true, 40, 8, 1000, 961, 1001},
		} {
			a := newAllocator(t, guard.Options{AtStart: c.atStart, Name: "slack", Pages: pages})
			p, err := a.Alloc(c.size, c.align)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Check(); err != nil {
				t.Errorf("an untouched block: %v", err)
			}
			*(*byte)(unsafe.Add(p, c.offset)) ^= 0x10
			*(*byte)(unsafe.Add(p, c.second)) ^= 0x01
			if f, ok := a.Check().(*guard.Fault); !ok || f.Kind != guard.Overwritten ||
				f.Offset != c.offset || f.Distance != c.distance {
				t.Errorf("Check of byte %d of %d: %+v", c.offset, c.size, f)
			}
			f := caught(t, func() { a.Free(p) })
			if f == nil || f.Kind != guard.Overwritten || f.Offset != c.offset || f.Distance != c.distance ||
				f.Size != c.size || f.FreedAt == nil || !strings.Contains(f.Error(), "\nfound at\n") {
				t.Errorf("free after writing byte %d of %d: %+v", c.offset, c.size, f)
			}
			if a.Len() != 0 {
				t.Error("the damaged block was not freed")
			}
		}
	}
}

func TestCheckFindsWriteToFreedBlockOnGoHeap(t *testing.T) {
	a, err := guard.NewAllocator(guard.Options{Pages: vm.PagesHeap, Name: "heap"})
	if err != nil {
		t.Fatal(err)
	}
	p, q := allocateRecord(a), allocateRecord(a)
	freeRecord(a, p)
	freeRecord(a, q)
	if err := a.Check(); err != nil {
		t.Error(err)
	}
	vm.Do(func() { p.data[1] = 5 })
	f, ok := a.Check().(*guard.Fault)
	if !ok || f.Kind != guard.AfterFree || f.Offset != 16 || f.FreedAt == nil {
		t.Fatalf("%+v", f)
	}
	mustBeginIn(t, "FreedAt", f.FreedAt, "freeRecord")
	if f, ok := a.Close().(*guard.Fault); !ok || f.Kind != guard.AfterFree {
		t.Errorf("Close: %+v", f)
	}
	if err := a.Close(); err != nil {
		t.Errorf("the second Close: %v", err)
	}
}

func TestWrongFrees(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		a, other := newAllocator(t, guard.Options{Name: "a", Pages: pages}), newAllocator(t,
			guard.Options{Name: "other", Pages: pages})
		p, live, foreign := allocateRecord(a), allocateRecord(a), allocateRecord(other)
		freeRecord(a, p)
		onHeap := new(record)
		for _, c := range []struct {
			name string
			p    unsafe.Pointer
			kind guard.Kind
			says string
		}{
			{"freed twice", unsafe.Pointer(p), guard.DoubleFree, "double free: record (40 bytes) of a\n"},
			{"inside a live block", unsafe.Pointer(&live.data), guard.InteriorFree,
				"byte 8 of record (40 bytes) of a\n"},
			{"inside a freed block", unsafe.Add(unsafe.Pointer(p), 8), guard.DoubleFree, "double free"},
			{"of another allocator", unsafe.Pointer(foreign), guard.ForeignFree, "is no block of a\n"},
			{"of the Go heap", unsafe.Pointer(onHeap), guard.ForeignFree, "is no block of a\n"},
			{"nil", nil, guard.ForeignFree, "0x0 is no block of a\n"},
			{"between blocks", unsafe.Add(unsafe.Pointer(p), 41), guard.ForeignFree, "is no block of a\n"},
		} {
			f := caught(t, func() { a.Free(c.p) })
			if f == nil || f.Kind != c.kind || f.Address != uintptr(c.p) ||
				!strings.Contains(f.Error(), c.says) {
				t.Errorf("%s: %+v\n%v", c.name, f, f)
				continue
			}
			mustBeginIn(t, c.name, f.At, "TestWrongFrees.func1")
			if (c.kind == guard.ForeignFree) != (f.AllocatedAt == nil) ||
				(c.kind == guard.DoubleFree) != (f.FreedAt != nil) {
				t.Errorf("%s: allocated at %v, freed at %v", c.name, f.AllocatedAt, f.FreedAt)
			}
		}
		if a.Len() != 1 || other.Len() != 1 {
			t.Errorf("%d and %d blocks are live after wrong frees, want 1 and 1", a.Len(), other.Len())
		}
		freeRecord(a, live)
		freeRecord(other, foreign)
	}
}

func TestDescribe(t *testing.T) {
	a := newAllocator(t, guard.Options{Name: "described", Addresses: 64 * vm.PageSize()})
	p := allocateRecord(a)
	at := uintptr(unsafe.Pointer(p))
	for _, c := range []struct {
		p    uintptr
		kind guard.Kind
	}{
		{at, guard.Nothing}, {at + 39, guard.Nothing}, {at + 40, guard.PastEnd}, {at - 1, guard.BeforeStart},
		{at + uintptr(5*vm.PageSize()), guard.Wild},
	} {
		f, ok := guard.Describe(c.p)
		if !ok || f.Kind != c.kind || f.Address != c.p || f.Allocator != "described" || f.At != nil ||
			!strings.Contains(f.Error(), "described") {
			t.Errorf("%#x, %d bytes into the block: %+v", c.p, c.p-at, f)
		}
	}
	freeRecord(a, p)
	if f, ok := guard.Describe(at + 3); !ok || f.Kind != guard.AfterFree || f.Offset != 3 {
		t.Errorf("Describe of a freed block: %+v", f)
	}
	if f, ok := guard.Describe(uintptr(unsafe.Pointer(new(record)))); ok {
		t.Errorf("Describe of an address of the Go heap: %+v", f)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if f, ok := guard.Describe(at); ok {
		t.Errorf("Describe of an address of a closed allocator: %+v", f)
	}
}

func TestDoKeepsOtherPanicsAndRestoresSetting(t *testing.T) {
	for _, want := range []any{"text", fmt.Errorf("an error"), &guard.Fault{Kind: guard.Wild}} {
		func() {
			defer func() {
				if got := recover(); got != want {
					t.Errorf("a panic with %v became %v", want, got)
				}
			}()
			vm.Do(func() { panic(want) })
		}()
	}
	func() {
		defer func() {
			if r, ok := recover().(runtime.Error); !ok || !strings.Contains(r.Error(), "nil pointer") {
				t.Errorf("a nil dereference became %v", r)
			}
		}()
		vm.Do(func() {
			var p *record
			p.id = 1
		})
	}()
	if debug.SetPanicOnFault(false) {
		t.Error("Do did not restore the goroutine's setting of SetPanicOnFault")
	}
	returned := false
	vm.Do(func() { returned = true })
	if !returned {
		t.Error("Do did not call the function")
	}
	if f, ok := guard.Explain("text"); f != nil || ok {
		t.Errorf("Explain of a text: %v", f)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		vm.Do(runtime.Goexit)
	}()
	<-ended
}

func TestWatch(t *testing.T) {
	skipWhereNothingFaults(t)
	a := newAllocator(t, guard.Options{})
	p := allocateRecord(a)
	freeRecord(a, p)
	found := make(chan any)
	go func() {
		defer func() { found <- recover() }()
		defer vm.Watch()()
		p.data[2]++
	}()
	if f, ok := (<-found).(*guard.Fault); !ok || f.Kind != guard.AfterFree || f.Offset != 24 {
		t.Errorf("%+v", f)
	} else {
		mustBeginIn(t, "At", f.At, "TestWatch.func1")
	}
}
