package sched

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

// TestFault: the error of a tick with a memory fault describes the memory.
func TestFault(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("columns are Go heap memory in this build, where nothing faults")
	}
	for _, workers := range []int{1, 2, 4} {
		w := vast.NewWorld(vast.Options{Name: "demo"})
		t.Cleanup(func() { _ = w.Close() })
		c := vast.NewColumn[uint64](w)
		a := w.Archetype(c)
		a.NewN(1000, nil)
		stray := (*uint64)(unsafe.Add(unsafe.Pointer(c.Get(a.New())), 8*1_000_000))
		s := newSchedule(t, w, Options{Workers: workers})
		where, ran := "", 0
		q := w.Query(c)
		s.Add(System{Name: "other", Run: func(*Context) { ran++ }})
		s.Add(System{Name: "bad", Writes: Columns(c), Run: func(x *Context) {
			if where == "system" {
				*stray = 1
			}
			x.Each(q, 64, func(*Context, vast.Batch) {
				if where == "part" {
					*stray = 1
				}
			})
		}})
		for _, place := range []string{"system", "part"} {
			where = place
			err := s.Tick()
			var stopped *PanicError
			var f *vm.Fault
			if !errors.As(err, &stopped) || stopped.System != "bad" || !errors.As(err, &f) ||
				f.Address != uintptr(unsafe.Pointer(stray)) {
				t.Fatalf("%d workers, %s: %v", workers, place, err)
			}
			text := err.Error()
			if !strings.Contains(text, `sched: system "bad" panicked: vm: bad access at 0x`) ||
				!strings.Contains(text, ` of column uint64 of world "demo" is beyond its `) ||
				!strings.Contains(string(stopped.Stack), "fault_test.go") {
				t.Errorf("%d workers, %s: the error says\n%s\n%s", workers, place, text, stopped.Stack)
			}
			where, ran = "", 0
			if err := s.Tick(); err != nil || ran != 1 {
				t.Errorf("%d workers, after %s: %v, the other system ran %d times", workers, place, err, ran)
			}
		}
	}
}
