package guard

import (
	"errors"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newAllocator(t testing.TB, o Options) *Allocator {
	t.Helper()
	a, err := NewAllocator(o)
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

func alloc(t testing.TB, a *Allocator, size int) unsafe.Pointer {
	t.Helper()
	p, err := a.Alloc(size, 8)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestAddressesAreUsedAgainOldestFirst checks that the allocator first uses all addresses once. After that it
// uses freed addresses, in the order in which they were freed.
func TestAddressesAreUsedAgainOldestFirst(t *testing.T) {
	for _, pages := range pageKinds {
		const blocks = 10
		a := newAllocator(t, Options{Pages: pages, Addresses: (1 + 2*blocks) * vm.PageSize()})
		var order []unsafe.Pointer
		seen := map[unsafe.Pointer]bool{}
		kept := alloc(t, a, 40)
		for range blocks - 1 {
			p := alloc(t, a, 40)
			if seen[p] {
				t.Fatalf("%v: an address is used again after %d blocks", pages, len(order))
			}
			seen[p] = true
			order = append(order, p)
		}
		for _, i := range []int{3, 0, 5} {
			a.Free(order[i])
		}
		for _, i := range []int{3, 0, 5} {
			p := alloc(t, a, 40)
			if p != order[i] {
				t.Errorf("%v: got block %v, want %v", pages, p, order[i])
			}
			if *(*[5]uint64)(p) != [5]uint64{} {
				t.Errorf("%v: a new block at freed addresses holds %v, want zeros", pages, *(*[5]uint64)(p))
			}
		}
		_, err := a.Alloc(40, 8)
		var e *vm.Error
		if !errors.As(err, &e) || !errors.Is(err, vm.ErrCapacity) ||
			!strings.Contains(e.Detail, "raise Options.Addresses") {
			t.Errorf("%v: Alloc without free addresses: %v", pages, err)
		}
		a.Free(kept)
		for _, p := range order {
			a.Free(p)
		}
		large := alloc(t, a, (2*blocks-1)*vm.PageSize())
		*(*byte)(unsafe.Add(large, (2*blocks-1)*vm.PageSize()-1)) = 1
		a.Free(large)
		a.checkInvariants()
	}
}

func TestFreedMemoryIsGivenBack(t *testing.T) {
	a := newAllocator(t, Options{Name: "given back"})
	if a.faults != !vm.HeapStandIn() {
		t.Fatalf("a.faults is %t, want %t", a.faults, !vm.HeapStandIn())
	}
	size := 10 * vm.PageSize()
	var blocks []unsafe.Pointer
	for range 20 {
		p := alloc(t, a, size)
		clear(unsafe.Slice((*byte)(p), size))
		blocks = append(blocks, p)
	}
	if got := a.region.Committed(); got != 20*size {
		t.Errorf("%d bytes are committed for 20 blocks of %d bytes", got, size)
	}
	for _, p := range blocks[5:] {
		a.Free(p)
	}
	if got := a.region.Committed(); got != 5*size {
		t.Errorf("%d bytes are committed for 5 blocks of %d bytes", got, size)
	}
	if resident, err := a.region.Resident(); err != nil || resident != 5*size {
		t.Errorf("%d bytes are resident of 5 blocks of %d bytes: %v", resident, size, err)
	}
}

func TestMappings(t *testing.T) {
	if vm.HeapStandIn() || runtime.GOOS != "linux" {
		t.Skip("the mappings are read from /proc/self/maps of Linux")
	}
	mappings := func() int {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(maps), "\n")
	}
	a := newAllocator(t, Options{Capacity: 500})
	before := mappings()
	var blocks []unsafe.Pointer
	for range 500 {
		blocks = append(blocks, alloc(t, a, 100))
	}
	if n := mappings() - before; n < 900 || n > 1020 {
		t.Errorf("500 blocks cost %d mappings, want about 1000", n)
	}
	for _, p := range blocks {
		a.Free(p)
	}
	if n := mappings() - before; n > 20 {
		t.Errorf("500 freed blocks cost %d mappings", n)
	}
}

func TestLimits(t *testing.T) {
	for _, pages := range pageKinds {
		page := vm.PageSize()
		limit := vm.NewLimit(3*page + page/2)
		a := newAllocator(t, Options{Pages: pages, Capacity: 5, Limit: limit, Name: "limited"})
		var blocks []unsafe.Pointer
		for range 3 {
			blocks = append(blocks, alloc(t, a, 40))
		}
		for range 3 {
			if _, err := a.Alloc(40, 8); !errors.Is(err, vm.ErrLimit) || a.Len() != 3 ||
				limit.Used() != 3*page {
				t.Fatalf("%v: beyond the limit: %v; %d blocks, %d bytes", pages, err, a.Len(), limit.Used())
			}
		}
		_, e := caught(func() { Make[record](a) })
		if e == nil || !errors.Is(e, vm.ErrLimit) || e.Purpose != "limited" {
			t.Errorf("%v: Make beyond the limit: %v", pages, e)
		}
		a.Free(blocks[0])
		alloc(t, a, page)
		a.checkInvariants()

		b := newAllocator(t, Options{Pages: pages, Capacity: 2})
		alloc(t, b, 1)
		alloc(t, b, 1)
		_, err := b.Alloc(1, 1)
		if !errors.As(err, &e) || e.Op != "alloc" || e.Err != vm.ErrCapacity ||
			!strings.Contains(e.Detail, "2 of 2 blocks are in use: free some, or raise Options.Capacity") {
			t.Errorf("%v: a third block with Capacity 2: %v", pages, err)
		}
		for _, size := range []int{math.MaxInt, math.MaxInt - 5, b.region.Size() + 1, b.region.Size()} {
			c := newAllocator(t, Options{Pages: pages})
			if _, err := c.Alloc(size, 8); !errors.Is(err, vm.ErrCapacity) || c.Len() != 0 {
				t.Errorf("%v: a block of %d bytes: %v", pages, size, err)
			}
			alloc(t, c, 1)
		}
		if _, e := caught(func() { MakeSlice[record](b, 0, math.MaxInt/2) }); e == nil ||
			!errors.Is(e, vm.ErrSize) {
			t.Errorf("%v: a slice beyond all memory: %v", pages, e)
		}
		if limit.Used() != 3*page {
			t.Errorf("%v: %d bytes are used", pages, limit.Used())
		}
		if a.Close() != nil || limit.Used() != 0 {
			t.Errorf("%v: %d bytes are used after Close", pages, limit.Used())
		}
	}
}

func TestTyped(t *testing.T) {
	page := uintptr(vm.PageSize())
	for _, pages := range pageKinds {
		a := newAllocator(t, Options{Pages: pages})
		p := Make[record](a)
		if *p != (record{}) || (uintptr(unsafe.Pointer(p))+40)%page != 0 {
			t.Errorf("%v: a record lies at %p and holds %v", pages, p, *p)
		}
		s := MakeSlice[odd](a, 900, 1000)[:1000]
		if len(s) != 1000 || cap(s) != 1000 || (uintptr(unsafe.Pointer(&s[999]))+13)%page != 0 ||
			s[500] != (odd{}) {
			t.Errorf("%v: a slice of %d lies at %p", pages, len(s), s)
		}
		s[0], s[999] = numberedOdd(1), numberedOdd(2)
		none := MakeSlice[record](a, 0, 0)
		nothing := Make[struct{}](a)
		if len(none) != 0 || cap(none) != 0 || a.Len() != 3 {
			t.Errorf("%v: %d blocks are live, want 3", pages, a.Len())
		}
		if f, ok := Describe(uintptr(unsafe.Pointer(&s[3]))); !ok || f.Type != "[1000]odd" ||
			f.Size != 13000 || f.Offset != 39 {
			t.Errorf("%v: a slice is described as %+v", pages, f)
		}
		if !a.Owns(unsafe.Pointer(p)) || a.Owns(unsafe.Pointer(t)) {
			t.Errorf("%v: Owns denies a record of the allocator or claims a Go value", pages)
		}
		Free(a, p)
		FreeSlice(a, s)
		FreeSlice(a, none)
		Free(a, nothing)
		if a.Len() != 0 {
			t.Errorf("%v: %d blocks are left", pages, a.Len())
		}
		b := newAllocator(t, Options{Pages: pages, AtStart: true})
		if q := Make[record](b); uintptr(unsafe.Pointer(q))%page != 0 {
			t.Errorf("%v: a record lies at %p", pages, q)
		}
	}
}

func TestMisuse(t *testing.T) {
	a := newAllocator(t, Options{Name: "misused"})
	closed := newAllocator(t, Options{Name: "closed"})
	p := alloc(t, closed, 8)
	if closed.Close() != nil || closed.Len() != 0 {
		t.Error("Close failed")
	}
	for name, c := range map[string]struct {
		f    func()
		says string
	}{
		"size": {func() { _, _ = a.Alloc(-1, 8) },
			"guard: Alloc(-1, 8) on misused: a size is zero bytes or more"},
		"align 0": {func() { _, _ = a.Alloc(8, 0) },
			"an alignment is a power of two from 1 to the page size"},
		"align 3": {func() { _, _ = a.Alloc(8, 3) },
			"guard: Alloc(8, 3) on misused: an alignment is a power of two"},
		"align high": {func() { _, _ = a.Alloc(8, 2*vm.PageSize()) }, "an alignment is a power of two"},
		"length": {func() { MakeSlice[int](a, -2, 5) },
			"guard: AllocSlice[int](-2, 5) on misused: a length is from zero to the capacity"},
		"pointers": {func() { Make[struct{ Name string }](a) },
			"guard: Alloc[struct { Name string }]: struct { Name string }.Name is a string"},
		"slices": {func() { _, _ = AllocSlice[[]int](a, 1, 1) },
			"guard: AllocSlice[[]int]: []int is a slice"},
		"options": {func() { _, _ = NewAllocator(Options{Capacity: -1}) },
			"Options.Capacity is -1: leave it zero"},
		"addresses": {func() { _, _ = NewAllocator(Options{Addresses: -1}) },
			"Options.Addresses is -1: leave it zero"},
		"sampler": {func() { NewSampler(-1) }, "guard: NewSampler: the argument every"},
		"alloc": {func() { _, _ = closed.Alloc(1, 1) },
			"guard: closed is used after Close: keep it open"},
		"free":  {func() { closed.Free(p) }, "guard: closed is used after Close"},
		"check": {func() { _ = closed.Check() }, "guard: closed is used after Close"},
	} {
		if text := modeltest.PanicText(c.f); !strings.Contains(text, c.says) {
			t.Errorf("%s: %q does not say %q", name, text, c.says)
		}
	}
	if _, err := NewAllocator(Options{Addresses: math.MaxInt}); !errors.Is(err, vm.ErrSize) {
		t.Errorf("more addresses than the system has: %v", err)
	}
}

func TestManyGoroutines(t *testing.T) {
	for _, pages := range pageKinds {
		a := newAllocator(t, Options{Pages: pages, Addresses: 400 * vm.PageSize()})
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				var mine []*record
				for i := range 200 {
					p := Make[record](a)
					*p = numbered(worker*1000 + i)
					if f, ok := Describe(uintptr(unsafe.Pointer(p))); !ok || f.Kind != Nothing {
						t.Errorf("a live block is described as %+v", f)
					}
					if mine = append(mine, p); len(mine) == 10 {
						for j, p := range mine {
							if *p != numbered(worker*1000+i-9+j) {
								t.Errorf("worker %d: a record holds %v", worker, *p)
							}
							Free(a, p)
						}
						mine = nil
					}
				}
			})
		}
		all.Wait()
		if a.Len() != 0 {
			t.Errorf("%d blocks are left", a.Len())
		}
	}
}
