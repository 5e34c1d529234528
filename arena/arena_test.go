package arena

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

type record struct {
	A uint64
	B float32
	C uint8
}

func open(t testing.TB, o Options) *Arena {
	t.Helper()
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func panicOf(f func()) (r any) {
	defer func() { r = recover() }()
	f()
	return nil
}

func errorOfPanic(t *testing.T, f func()) *vm.Error {
	t.Helper()
	err, _ := panicOf(f).(error)
	var e *vm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *vm.Error", err)
	}
	return e
}

func TestReserveCostsNothing(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build")
	}
	tenGiB := int64(10 << 30)
	a := open(t, Options{Capacity: int(tenGiB)})
	if a.Cap() != int(tenGiB) || a.Committed() != 0 {
		t.Errorf("capacity %d, want %d; %d bytes are committed, want 0", a.Cap(), tenGiB, a.Committed())
	}
	*Make[byte](a) = 1
	if n, err := a.Resident(); n != vm.PageSize() || err != nil || a.Used() != 1 {
		t.Errorf("one allocated byte takes %d resident bytes, want one page: %v", n, err)
	}
}

func TestAlignment(t *testing.T) {
	a := open(t, Options{Capacity: 1 << 20})
	Make[byte](a)
	for _, p := range []struct{ address, align uintptr }{
		{uintptr(unsafe.Pointer(Make[record](a))), unsafe.Alignof(record{})},
		{uintptr(unsafe.Pointer(Make[byte](a))), 1},
		{uintptr(unsafe.Pointer(Make[uint16](a))), 2},
		{uintptr(unsafe.Pointer(unsafe.SliceData(MakeSlice[uint32](a, 3, 3)))), 4},
		{uintptr(unsafe.Pointer(Make[complex128](a))), unsafe.Alignof(complex128(0))},
	} {
		if p.address%p.align != 0 {
			t.Errorf("address %x is not a multiple of %d", p.address, p.align)
		}
	}
	for align := 1; align <= vm.PageSize(); align *= 2 {
		Make[byte](a)
		if p, err := a.Alloc(3, align); err != nil || uintptr(p)%uintptr(align) != 0 {
			t.Errorf("Alloc returns %p for the alignment %d, with error %v", p, align, err)
		}
	}
}

func TestHighWater(t *testing.T) {
	const mib = 1 << 20
	for keep, want := range map[int]int{-1: 0, mib: mib, 3 * mib: 3 * mib, 0: 4 * mib} {
		a := open(t, Options{Capacity: 8 * mib, HighWater: keep})
		for range 3 {
			s := MakeSlice[byte](a, 4*mib, 4*mib)
			for i := range s {
				if s[i] != 0 {
					t.Fatalf("with high water %d, byte %d is %d, want 0", keep, i, s[i])
				}
				s[i] = 0xAA
			}
			a.Reset()
			if c := a.Committed(); c > want+64<<10 || c < want {
				t.Errorf("with high water %d, %d bytes stay committed, want about %d", keep, c, want)
			}
			if n, err := a.Resident(); !vm.HeapStandIn() && n > want+2<<20 || err != nil {
				t.Errorf("with high water %d, %d bytes are resident, want about %d: %v", keep, n, want, err)
			}
		}
	}
}

func TestMarks(t *testing.T) {
	a, other := open(t, Options{Name: "scene", Capacity: 1 << 20}), open(t, Options{Capacity: 1 << 20})
	first := Make[record](a)
	first.A = 1
	outer := a.Mark()
	Make[record](a).A = 2
	inner := a.Mark()
	Make[record](a).A = 3
	a.Release(inner)
	again := Make[record](a)
	if again.A != 0 ||
		uintptr(unsafe.Pointer(again))-uintptr(unsafe.Pointer(first)) != 2*unsafe.Sizeof(*first) {
		t.Errorf("after a release the next record is %v at %p, want a zero record in the released memory",
			*again, again)
	}
	between := a.Mark()
	for want, f := range map[string]func(){
		"which was released before":                 func() { a.Release(inner) },
		"of a zero mark or a mark of another arena": func() { a.Release(other.Mark()) },
		"arena: Release on scene of a":              func() { a.Release(Mark{}) },
		"in the arena that set it":                  func() { other.Release(between) },
		"mark 7": func() {
			a.Release(Mark{tag: a.tag, serial: 7, depth: 0})
		},
		"mark 9": func() {
			a.Release(Mark{tag: a.tag, serial: 9, depth: 1000})
		},
	} {
		used := a.Used()
		if got := fmt.Sprint(panicOf(f)); !strings.Contains(got, want) || a.Used() != used {
			t.Errorf("panicked with %q, want %q", got, want)
		}
	}
	a.Release(outer)
	if a.Used() != int(unsafe.Sizeof(*first)) || first.A != 1 {
		t.Errorf("%d bytes are used, want those of one record; its A is %d, want 1", a.Used(), first.A)
	}
	if r := panicOf(func() { a.Release(between) }); r == nil {
		t.Error("no panic for a mark that was released with an older mark")
	}
	last := a.Mark()
	a.Reset()
	if r := panicOf(func() { a.Release(last) }); r == nil || a.Used() != 0 {
		t.Error("no panic for a mark that Reset had released")
	}
}

func TestAppend(t *testing.T) {
	a := open(t, Options{Capacity: 1 << 20})
	s := Append(a, nil, 1, 2, 3)
	began := unsafe.SliceData(s)
	for i := 4; i <= 100; i++ {
		s = Append(a, s, i)
	}
	if unsafe.SliceData(s) != began || a.Used() != 100*int(unsafe.Sizeof(0)) {
		t.Errorf("the last slice moved, or takes %d bytes", a.Used())
	}
	Make[byte](a)
	s = Append(a, s, 101)
	if unsafe.SliceData(s) == began || cap(s) != 200 {
		t.Errorf("a slice before another allocation did not move, or has room for %d", cap(s))
	}
	for i, v := range s {
		if v != i+1 {
			t.Fatalf("element %d is %d, want %d", i, v, i+1)
		}
	}
	used := a.Used()
	if s = Append(a, s); a.Used() != used || len(s) != 101 {
		t.Error("appending nothing took memory")
	}
}

func TestExhaustionChangesNothing(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	for name, c := range map[string]struct {
		o    Options
		want error
	}{
		"capacity": {Options{Capacity: 1 << 20}, vm.ErrCapacity},
		"limit":    {Options{Capacity: 1 << 24, Limit: limit}, vm.ErrLimit},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t, c.o)
			MakeSlice[byte](a, 1<<20-7, 1<<20-7)
			used := a.Used()
			for what, f := range map[string]func(){
				"Make":      func() { Make[record](a) },
				"MakeSlice": func() { MakeSlice[record](a, 0, 1<<18) },
				"Append":    func() { Append(a, make([]record, 4), record{}) },
				"Alloc": func() {
					if _, err := a.Alloc(8, 1); err != nil {
						panic(err)
					}
				},
				"Grow": func() {
					if err := a.Grow(8); err != nil {
						panic(err)
					}
				},
			} {
				if e := errorOfPanic(t, f); !errors.Is(e, c.want) || a.Used() != used {
					t.Errorf("%s: %v, want %v and no change", what, e, c.want)
				}
			}
			if err := a.Grow(7); err != nil {
				t.Error(err)
			}
			MakeSlice[byte](a, 7, 7)
			a.Reset()
			Make[record](a)
		})
	}
}

func TestRoomOfGrowIsCommitted(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	a := open(t, Options{Capacity: 1 << 24, Limit: limit})
	if err := a.Grow(500_000); err != nil {
		t.Fatal(err)
	}
	other := open(t, Options{Capacity: 1 << 24, Limit: limit})
	for other.Grow(other.Committed()+1) == nil { // take all remaining bytes of the limit
	}
	for range 500_000 / 24 {
		Make[[3]uint64](a)
	}
}

func TestSizes(t *testing.T) {
	a := open(t, Options{Capacity: 1 << 16})
	if _, err := a.Alloc(-1, 1); !errors.Is(err, vm.ErrSize) {
		t.Errorf("a negative size: %v", err)
	}
	for _, n := range []int{math.MaxInt, math.MaxInt / 8, math.MaxInt/16 + 1} {
		if e := errorOfPanic(t, func() { MakeSlice[record](a, 0, n) }); !errors.Is(e, vm.ErrSize) &&
			!errors.Is(e, vm.ErrCapacity) {
			t.Errorf("%d records: %v", n, e)
		}
		if _, err := a.Alloc(n, 8); !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err := a.Grow(n); !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("Grow(%d): %v", n, err)
		}
	}
	if _, err := New(Options{Capacity: math.MaxInt}); !errors.Is(err, vm.ErrSize) {
		t.Errorf("a capacity of all addresses: %v", err)
	}
	if a.Used() != 0 {
		t.Errorf("%d bytes are used, want 0", a.Used())
	}
	Make[struct{}](a)
	if s := MakeSlice[struct{}](a, 5, 10); len(s) != 5 || cap(s) != 10 || a.Used() != 0 {
		t.Errorf("a slice with length %d and capacity %d of elements of size zero takes %d bytes",
			len(s), cap(s), a.Used())
	}
	MakeSlice[byte](a, 1<<16, 1<<16) // fills the arena
	Make[struct{}](a)
}

func TestMisuse(t *testing.T) {
	a := open(t, Options{Name: "frame", Capacity: 1 << 16})
	for want, f := range map[string]func(){
		"arena: new[T]: T.Name is a string":          func() { type T struct{ Name string }; Make[T](a) },
		"arena: make slice[*int]: *int is a pointer": func() { MakeSlice[*int](a, 1, 1) },
		"arena: append[string]":                      func() { Append(a, []string{"a"}, "b") },
		"arena: MakeSlice[record] on frame of length -1 and capacity 2": func() {
			MakeSlice[record](a, -1, 2)
		},
		"arena: MakeSlice[record] on frame of length 3 and capacity 2": func() { MakeSlice[record](a, 3, 2) },
		"arena: Alloc(8, 3) on frame: the alignment must be a power of two": func() {
			_, _ = a.Alloc(8, 3)
		},
		"arena: Alloc(8, 0) on frame: the alignment": func() {
			_, _ = a.Alloc(8, 0)
		},
		"arena: Grow(-1) on frame": func() { _ = a.Grow(-1) },
		"arena: Options.Capacity of arena.Arena is -1: leave it zero for the default": func() {
			_, _ = New(Options{Capacity: -1})
		},
	} {
		if got := fmt.Sprint(panicOf(f)); !strings.HasPrefix(got, want) {
			t.Errorf("panicked with %q, want %q", got, want)
		}
	}
	m := a.Mark()
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]func(){
		"Make": func() { Make[record](a) }, "MakeSlice": func() { MakeSlice[byte](a, 1, 1) },
		"Append": func() { Append(a, nil, 1) }, "Alloc": func() { _, _ = a.Alloc(1, 1) },
		"Alloc(-1, 1)": func() { _, _ = a.Alloc(-1, 1) }, "Grow": func() { _ = a.Grow(1) },
		"Mark": func() { a.Mark() }, "Release": func() { a.Release(m) }, "Reset": a.Reset,
	} {
		if got := fmt.Sprint(panicOf(f)); got != "arena: frame is used after Close: keep it open as long "+
			"as its allocations are in use" {
			t.Errorf("%s panicked with %q", what, got)
		}
	}
}

func TestFaults(t *testing.T) {
	calls := faulttest.EachCall(t, func() (err error) {
		a, err := New(Options{Capacity: 1 << 22, HighWater: 1 << 17})
		if err != nil {
			return err
		}
		used := 0
		defer func() {
			if e, failed := recover().(error); failed {
				err = e
			}
			if a.Used() != used {
				t.Errorf("%d bytes are used, want %d", a.Used(), used)
			}
			if e := a.Close(); e != nil {
				err = e
				_ = a.Close()
			}
		}()
		for range 2 {
			for range 20 {
				s := MakeSlice[byte](a, 1<<16, 1<<16)
				used = a.Used()
				for i := range s {
					if s[i] != 0 {
						t.Fatalf("byte %d is %d, want 0", i, s[i])
					}
					s[i] = 1
				}
			}
			used = 0
			a.Reset()
		}
		return nil
	})
	if calls < 10 {
		t.Errorf("only %d memory calls, want at least 10", calls)
	}
}

// TestLifeWithEachCallFailing repeats each operation that fails.
func TestLifeWithEachCallFailing(t *testing.T) {
	calls := faulttest.EachCall(t, func() (failure error) {
		var a *Arena
		var all [][]byte
		again := func(what string, op func() error) {
			t.Helper()
			failure = errors.Join(failure, faulttest.Again(t, what, op, func() {
				if a == nil {
					return
				}
				if a.Used() != len(all)<<16 {
					t.Errorf("%s: %d bytes are used, want %d", what, a.Used(), len(all)<<16)
				}
				for i, s := range all {
					if s[0] != byte(i) || s[len(s)-1] != byte(i) {
						t.Errorf("%s: slice %d begins with %d and ends with %d", what, i, s[0], s[len(s)-1])
					}
				}
			}))
		}
		alloc := func(n int) {
			for range n {
				var p unsafe.Pointer
				again("Alloc", func() (err error) { p, err = a.Alloc(1<<16, 1); return err })
				s := unsafe.Slice((*byte)(p), 1<<16)
				s[0], s[len(s)-1] = byte(len(all)), byte(len(all))
				all = append(all, s)
			}
		}
		again("New", func() (err error) {
			a, err = New(Options{Capacity: 1 << 23, HighWater: 1 << 17})
			return err
		})
		alloc(10)
		again("Grow", func() error { return a.Grow(2 << 20) })
		m := a.Mark()
		alloc(50)
		again("Release", func() error { a.Release(m); all = all[:10]; return nil })
		alloc(60)
		again("Resident", func() error { _, err := a.Resident(); return err })
		again("Reset", func() error { a.Reset(); all = nil; return nil })
		alloc(5)
		again("Close", a.Close)
		return failure
	})
	t.Logf("%d memory calls", calls)
	if calls < 10 && !vm.HeapStandIn() {
		t.Errorf("only %d memory calls, want at least 10", calls)
	}
}
