package bulk

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// TestBadAccesses checks that the report of a fault names the element. Stray pointers, stale pointers and
// stale slices cause the faults.
func TestBadAccesses(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("containers are Go heap memory in this build, where nothing faults")
	}
	const far = 3_000_000
	stray := func(p unsafe.Pointer, size uintptr) *byte { return (*byte)(unsafe.Add(p, far*size)) }
	one := numbered(1)
	size := unsafe.Sizeof(one)
	for name, c := range map[string]struct {
		at   func(t *testing.T) *byte
		says []string // parts of the report, in their order
	}{
		"array": {func(t *testing.T) *byte {
			a := newArray[record](t, Options{Name: "ships"})
			return stray(unsafe.Pointer(a.Append(one)), size)
		}, []string{"element 3000000 of ships is beyond its ", " usable elements: "}},
		"truncated array": {func(t *testing.T) *byte {
			a := newArray[record](t, Options{Name: "ships"})
			all, err := a.AppendN(100_000)
			if err != nil {
				panic(err)
			}
			a.Truncate(10)
			return (*byte)(unsafe.Pointer(&all[99_999]))
		}, []string{"element 99999 of ships lies in memory that was given back: drop pointers and slices " +
			"to elements that are removed, truncated"}},
		"pool": {func(t *testing.T) *byte {
			p := newPool[record](t, Options{})
			_, e := p.Insert(one)
			return stray(unsafe.Pointer(e), size)
		}, []string{"slot 3000000 of bulk.Pool[", "] is beyond its ", " usable slots: "}},
		"closed pool": {func(t *testing.T) *byte {
			p := newPool[record](t, Options{Name: "ships"})
			_, e := p.Insert(one)
			if err := p.Close(); err != nil {
				panic(err)
			}
			return (*byte)(unsafe.Pointer(e)) //vastvet:ignore useafter: the test is about this fault
		}, []string{"slot 0 of ships is gone: its region was closed: keep the region open", "made at ",
			"fault_test.go:", "closed at ", "fault_test.go:"}},
		"dense": {func(t *testing.T) *byte {
			d := newDense[record](t, Options{Name: "ships"})
			_, e := d.Insert(one)
			return stray(unsafe.Pointer(e), size)
		}, []string{"element 3000000 of ships is beyond its "}},
		"table": {func(t *testing.T) *byte {
			table := NewTable(TableOptions{Name: "planets"})
			t.Cleanup(func() {
				if err := table.Close(); err != nil {
					t.Error(err)
				}
			})
			NewField[uint64](table, "mass")
			radius := NewField[uint64](table, "radius")
			if _, err := table.AppendN(1); err != nil {
				panic(err)
			}
			return stray(unsafe.Pointer(radius.At(0)), 8)
		}, []string{"row 3000000 of field radius of planets is beyond its ", " usable rows"}},
		"shared pool": {func(t *testing.T) *byte {
			p := newSharedPool[record](t, Options{Name: "ships"})
			return stray(p.base, size)
		}, []string{"slot 3000000 of ships is beyond its "}},
		"shared array": {func(t *testing.T) *byte {
			a := newSharedArray[record](t, Options{Name: "ships"})
			_, e := a.Append(one)
			return stray(unsafe.Pointer(e), size)
		}, []string{"element 3000000 of ships is beyond its "}},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.at(t)
			var f *vm.Fault
			func() {
				defer func() {
					err, _ := recover().(error)
					if !errors.As(err, &f) {
						t.Fatalf("the access panics with %v", err)
					}
				}()
				vm.Do(func() { *p = 1 })
			}()
			rest := f.Error()
			for _, want := range c.says {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("the report does not contain %q (in this order):\n%s", want, f)
				}
				rest = after
			}
		})
	}
}
