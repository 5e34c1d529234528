package bulk

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// inSmaps returns how many of the n bytes at base are writable and how many are resident, as the kernel
// counts them.
func inSmaps(t *testing.T, base unsafe.Pointer, n int) (committed, resident int) {
	t.Helper()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	begin := uintptr(base)
	inside := false
	for line := range strings.Lines(string(smaps)) {
		var lo, hi uintptr
		var access string
		var kib int
		if k, _ := fmt.Sscanf(line, "%x-%x %s", &lo, &hi, &access); k == 3 {
			inside = lo >= begin && hi <= begin+uintptr(n)
			if inside && strings.HasPrefix(access, "rw") {
				committed += int(hi - lo)
			}
		} else if k, _ := fmt.Sscanf(line, "Rss: %d kB", &kib); k == 1 && inside {
			resident += kib << 10
		}
	}
	return committed, resident
}

type aligned [8]uint64 // 64 bytes: elements fill a page without a remainder

// checkWaste appends elements and compares the kernel's figures with the bounds in the package documentation.
func checkWaste[T any](t *testing.T, pages vm.Pages, step int) {
	size := int(unsafe.Sizeof(*new(T)))
	const capacity = 200_000
	a := newArray[T](t, Options{Pages: pages, Step: step, Capacity: capacity})
	page, unit := vm.PageSize(), vm.PageSize()
	worstCommitted, worstResident := 0, 0
	lengths := []int{1, 2, page/size + 1, 1000, 1639, 5000, 40_000, 52_429, 131_073, capacity}
	slices.Sort(lengths)
	for _, n := range lengths {
		before := a.span.Committed()
		for a.Len() < n {
			before = a.span.Committed()
			a.Append(*new(T))
		}
		committed, resident := inSmaps(t, unsafe.Pointer(a.base), a.region.Size())
		if huge := vm.HugePageSize(); pages != vm.PagesSmall && huge > 0 && committed >= huge {
			unit = huge
		}
		ahead := step
		if ahead == 0 {
			ahead = max(minStep, before/8)
		}
		ahead = (ahead + unit - 1) / unit * unit
		part := 0 // upper bound of the part of an element at the end of the memory
		if page%size != 0 {
			part = size - 1
		}
		used := n * size
		if committed < used || committed-used > ahead+unit-page+part {
			t.Errorf("%d elements of %d bytes: %d bytes are committed, %d are used, want at most %d ahead", n,
				size, committed, used, ahead+unit-page+part)
		}
		if resident < used || resident-used > unit-size+part {
			t.Errorf("%d elements of %d bytes: %d bytes are resident, %d are used, want at most %d more", n,
				size, resident, used, unit-size+part)
		}
		worstCommitted, worstResident = max(worstCommitted, committed-used), max(worstResident, resident-used)
	}
	t.Logf("%v, step %d, %d bytes an element: up to %d bytes committed and %d resident beyond the elements",
		pages, step, size, worstCommitted, worstResident)
}

func TestWasteIsBounded(t *testing.T) {
	longtest.Only(t)
	if heapStandIn() {
		t.Skip("the heap stand-in takes all memory when it reserves addresses")
	}
	for _, pages := range []vm.Pages{vm.PagesSmall, vm.PagesAuto} {
		for _, step := range []int{0, vm.PageSize(), 1 << 20} {
			checkWaste[aligned](t, pages, step)
			checkWaste[record](t, pages, step)
		}
	}
}

func TestSmallContainersTakeNoHugePage(t *testing.T) {
	if heapStandIn() {
		t.Skip("the heap stand-in takes all memory when it reserves addresses")
	}
	p := newPool[record](t, Options{})
	for i := range 50 {
		p.Insert(numbered(i))
	}
	committed, resident := inSmaps(t, p.region.Base(), p.region.Size())
	if resident > 6*vm.PageSize() || resident == 0 || committed > 6*minStep {
		t.Errorf("a pool of 50 elements has %d bytes committed and %d in memory", committed, resident)
	}
}

// TestUnsharedGenerationsTakeNoMemory fills and clears a pool as a whole. The pool must not touch the memory
// for generations of single slots.
func TestUnsharedGenerationsTakeNoMemory(t *testing.T) {
	if heapStandIn() {
		t.Skip("the heap stand-in takes all memory when it reserves addresses")
	}
	p := newPool[record](t, Options{Capacity: 200_000})
	for range 3 {
		for i := range 200_000 {
			p.Insert(numbered(i))
		}
		p.Clear(nil)
	}
	single := p.generations.spans[2]
	if _, resident := inSmaps(t, single.Base(), single.Size()); resident != 0 {
		t.Errorf("%d bytes of generations are in memory", resident)
	}
}
