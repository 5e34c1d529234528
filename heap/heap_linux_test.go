package heap

import (
	"bytes"
	"os"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

func countMappings(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Count(b, []byte("\n"))
}

func resident(t *testing.T, h *Heap) int {
	t.Helper()
	n, err := h.Resident()
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func skipOnGoHeap(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build")
	}
}

// The order of calls is from "Virtual Memory Tricks": allocate, free every second allocation, and make one
// large allocation of the freed size.
func TestMemoryGoesBack(t *testing.T) {
	skipOnGoHeap(t)
	h, err := New(Options{Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const count = 2000
	page := vm.PageSize()
	var all []unsafe.Pointer
	for range count {
		p := alloc(t, h, 4*page)
		for b := bytesOf(p, 4*page); len(b) > 0; b = b[page:] {
			b[0] = 1
		}
		all = append(all, p)
	}
	full, mappings := resident(t, h), countMappings(t)
	if least := count * 4 * page; full < least || full > least+least/50 {
		t.Errorf("%d bytes are resident of %d allocated", full, least)
	}
	for i := 0; i < count; i += 2 {
		h.Free(all[i])
	}
	if n, most := resident(t, h), full/2+bytesKept+full/100; n > most {
		t.Errorf("%d bytes are resident after every second allocation was freed, want at most %d", n, most)
	}
	large := alloc(t, h, count/2*4*page)
	for b := bytesOf(large, count/2*4*page); len(b) > 0; b = b[page:] {
		b[0] = 1
	}
	if n, most := resident(t, h), full+bytesKept+full/100; n > most {
		t.Errorf("%d bytes are resident with the large allocation, %d before", n, full)
	}
	if n := countMappings(t); n > mappings+8 {
		t.Errorf("%d mappings, %d before", n, mappings)
	}
	h.Free(large)
	for i := 1; i < count; i += 2 {
		h.Free(all[i])
	}
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	if n := resident(t, h); n > 64*page {
		t.Errorf("%d bytes are resident after everything was freed", n)
	}
}

func TestPoolsGiveMemoryBack(t *testing.T) {
	skipOnGoHeap(t)
	h := open(t, Options{Capacity: 64 << 20})
	for _, size := range []int{16, 100, 1000, 3000} {
		var all []unsafe.Pointer
		for range (8 << 20) / size {
			p := alloc(t, h, size)
			bytesOf(p, size)[0] = 1
			all = append(all, p)
		}
		if n := resident(t, h); n < 8<<20 {
			t.Errorf("%d bytes are resident of objects of %d bytes, want at least 8 MiB", n, size)
		}
		for _, p := range all {
			h.Free(p)
		}
		if n := resident(t, h); n > bytesKept+1<<20 {
			t.Errorf("%d bytes are resident after all objects of %d bytes were freed", n, size)
		}
	}
}

func TestReallocTakesNoMemory(t *testing.T) {
	skipOnGoHeap(t)
	h, err := New(Options{Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	const size = 16 << 20
	p := alloc(t, h, size)
	alloc(t, h, size)
	for b := bytesOf(p, size/2); len(b) > 0; b = b[vm.PageSize():] {
		b[0] = 1
	}
	before := resident(t, h)
	q, err := h.Realloc(p, 4*size, 0)
	if err != nil || q == p {
		t.Fatalf("Realloc of %p returns %p and %v, want another address", p, q, err)
	}
	// The entries of the new room may need another page.
	if n := resident(t, h); n > before+2*vm.PageSize() {
		t.Errorf("%d bytes are resident after the move, %d before", n, before)
	}
}

func TestMoreRoomsThanMappings(t *testing.T) {
	skipOnGoHeap(t)
	if most := vm.ReadFacts().MaxMappings; most == 0 || most > 100_000 {
		t.Skipf("the process may have %d mappings", most)
	}
	if testing.Short() {
		t.Skip("the test makes tens of thousands of mappings")
	}
	const size = maxBlock + 1
	all := make([]unsafe.Pointer, 60_000)
	h, err := New(Options{Capacity: len(all) * (size + 4*vm.PageSize()), Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	for i := range all {
		all[i] = alloc(t, h, size)
		if i%100 == 0 {
			bytesOf(all[i], size)[size-1] = byte(i)
		}
	}
	for i := 0; i < len(all); i += 100 {
		if bytesOf(all[i], size)[size-1] != byte(i) {
			t.Fatal("an allocation overlaps another allocation")
		}
	}
	if s := h.Stats(); s.Allocations != len(all) {
		t.Error(s)
	}
	for i := len(all) - 1; i >= 0; i-- {
		h.Free(all[i])
	}
	h.checked()
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); s.Allocations != 0 || s.Committed != s.Own {
		t.Error(s)
	}
}
