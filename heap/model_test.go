package heap

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// sizeOf reads a size from the stream. Most sizes are sizes of small objects. Others are near a multiple of
// the page size, or are sizes of blocks or rooms.
func sizeOf(s *modeltest.Stream) int {
	page := vm.PageSize()
	switch v := s.Byte(); v % 8 {
	case 0, 1, 2:
		return s.Byte()
	case 3:
		return s.Byte() * 16
	case 4:
		return max(0, s.Byte()%5*page+v-128)
	case 5:
		return s.Byte() * page / 16
	case 6:
		return testBlock + s.Byte()*page/2
	}
	return s.Byte() * testUnit / 100
}

// Test heaps are small, so that they reach their limits.
var (
	testBlock    = max(128<<10, 8*vm.PageSize())
	testUnit     = 2 * testBlock
	testCapacity = 32 * testBlock
)

var pageKinds = []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap}

func open(tb testing.TB, o Options) *Heap {
	tb.Helper()
	if o.Name == "" {
		o.Name = tb.Name()
	}
	h, err := newHeap(o, testCapacity, testBlock, testUnit)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := h.Close(); err != nil {
			tb.Error(err)
		}
	})
	return h
}

func (h *Heap) checked() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.check()
}

// piece is the model of an allocation. The allocation holds a pattern that depends on number.
type piece struct {
	p      unsafe.Pointer
	size   int
	usable int
	align  int
	number byte
}

func bytesOf(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// probes yields the indices of the tested bytes of a piece: of all bytes if the piece is small, otherwise of
// every 509th byte and the last byte.
func (c *piece) probes(yield func(i int)) {
	step := 1
	if c.size > 512 {
		step = 509
	}
	for i := 0; i < c.size; i += step {
		yield(i)
	}
	if c.size > 0 {
		yield(c.size - 1)
	}
}

func (c *piece) pattern(i int) byte { return c.number*31 + byte(i) + byte(i>>8)*7 }

func (c *piece) fill() { c.probes(func(i int) { bytesOf(c.p, c.size)[i] = c.pattern(i) }) }

// mustHold checks that the first n bytes hold the pattern.
func (c *piece) mustHold(t *testing.T, n int) {
	t.Helper()
	c.probes(func(i int) {
		if i < n && bytesOf(c.p, n)[i] != c.pattern(i) {
			t.Fatalf("byte %d of %d at %p is %#x, want %#x", i, n, c.p, bytesOf(c.p, n)[i], c.pattern(i))
		}
	})
}

var zeros [64 << 10]byte

func mustBeZero(t *testing.T, p unsafe.Pointer, lo, hi int) {
	t.Helper()
	for ; lo < hi; lo += len(zeros) {
		if n := min(len(zeros), hi-lo); !bytes.Equal(bytesOf(unsafe.Add(p, lo), n), zeros[:n]) {
			t.Fatalf("some of the bytes %d to %d at %p are not zero", lo, lo+n, p)
		}
	}
}

// heapModel is the expected content of a heap.
type heapModel struct {
	t      *testing.T
	h      *Heap
	limit  *vm.Limit
	pieces []piece
	freed  map[unsafe.Pointer]bool // addresses freed and not allocated again
	number byte
}

// refused reports whether err is an expected error. It fails the test for an unexpected error.
func (m *heapModel) refused(err error) bool {
	m.t.Helper()
	if err == nil {
		return false
	}
	if e := (*vm.Error)(nil); !errors.As(err, &e) || !errors.Is(err, vm.ErrCapacity) &&
		(m.limit == nil || !errors.Is(err, vm.ErrLimit)) {
		m.t.Fatalf("an unexpected error: %v", err)
	}
	return true
}

// add checks a new allocation, fills it and adds it to the model. The bytes from zeroFrom on must be zero.
func (m *heapModel) add(p unsafe.Pointer, size, align, zeroFrom int) {
	c := piece{p: p, size: size, align: align, number: m.number, usable: m.h.SizeOf(p)}
	m.number++
	if c.usable < size || uintptr(p)%uintptr(max(align, grain)) != 0 {
		m.t.Fatalf("%p has %d bytes, want %d, aligned to %d", p, c.usable, size, align)
	}
	mustBeZero(m.t, p, zeroFrom, c.usable)
	delete(m.freed, p)
	c.fill()
	m.pieces = append(m.pieces, c)
}

func (m *heapModel) drop(i int) piece {
	c := m.pieces[i]
	m.pieces[i] = m.pieces[len(m.pieces)-1]
	m.pieces = m.pieces[:len(m.pieces)-1]
	return c
}

func (m *heapModel) compare() {
	m.t.Helper()
	m.h.checked()
	sum := 0
	sorted := slices.SortedFunc(slices.Values(m.pieces), func(a, b piece) int {
		return int(uintptr(a.p)) - int(uintptr(b.p))
	})
	for i, c := range sorted {
		if i > 0 && uintptr(sorted[i-1].p)+uintptr(sorted[i-1].usable) > uintptr(c.p) {
			m.t.Fatalf("%d bytes at %p overlap the allocation at %p", sorted[i-1].usable, sorted[i-1].p, c.p)
		}
		c.mustHold(m.t, c.size)
		sum += c.usable
	}
	s := m.h.Stats()
	if s.Allocations != len(m.pieces) || s.InUse != sum || s.Wasted < 0 ||
		s.Committed < sum+s.Wasted+s.Kept+s.Own {
		m.t.Fatalf("%v; want %d allocations of %d bytes", s, len(m.pieces), sum)
	}
	if m.limit != nil && m.limit.Used() != s.Committed {
		m.t.Fatalf("%d bytes of the limit are used, but %d are committed", m.limit.Used(), s.Committed)
	}
}

// play applies the operations that data encodes to a heap and to a model, and fails if the two differ.
func play(t *testing.T, o Options, data []byte) {
	o.Capacity = testCapacity
	h := open(t, o)
	m := &heapModel{t: t, h: h, limit: o.Limit, freed: map[unsafe.Pointer]bool{}}
	aligns := []int{0, 0, 0, 1, 8, 16, 64, 512, vm.PageSize(), 2 * vm.PageSize(), maxAlign}
	for in := modeltest.NewStream(data); in.More(); {
		switch in.Byte() % 12 {
		case 0, 1, 2:
			size, align := sizeOf(in), aligns[in.Byte()%len(aligns)]
			if p, err := h.Alloc(size, align); !m.refused(err) {
				m.add(p, size, align, 0)
			}
		case 3: // several allocations of one size
			size := sizeOf(in) % 5000
			for range in.Byte() % 64 {
				if p, err := h.Alloc(size, 0); !m.refused(err) {
					m.add(p, size, 0, 0)
				}
			}
		case 4, 5:
			if len(m.pieces) > 0 {
				c := m.drop(in.Byte() * len(m.pieces) / 256)
				c.mustHold(t, c.size)
				h.Free(c.p)
				m.freed[c.p] = true
			}
		case 6: // free every second piece
			for i := len(m.pieces) - 1; i >= 0; i -= 2 {
				c := m.drop(i)
				c.mustHold(t, c.size)
				h.Free(c.p)
				m.freed[c.p] = true
			}
		case 7, 8:
			if len(m.pieces) == 0 {
				break
			}
			i, size := in.Byte()*len(m.pieces)/256, sizeOf(in)
			c := m.pieces[i]
			p, err := h.Realloc(c.p, size, c.align)
			if m.refused(err) {
				if size <= c.usable {
					t.Fatalf("Realloc to %d of %d usable bytes fails: %v", size, c.usable, err)
				}
				c.mustHold(t, c.size)
				break
			}
			m.drop(i)
			if p != c.p {
				m.freed[c.p] = true
			}
			kept := min(size, c.size)
			(&piece{p: p, size: c.size, number: c.number}).mustHold(t, kept)
			m.add(p, size, c.align, kept)
		case 9:
			m.compare()
			if err := h.Trim(); err != nil {
				t.Fatal(err)
			}
			if s := h.Stats(); s.Kept != 0 {
				t.Fatalf("%d bytes are kept after Trim", s.Kept)
			}
			m.compare()
		case 10:
			m.misuse(in)
		case 11:
			number, n := in.Byte()%len(classes), in.Byte()
			h.mu.Lock()
			err := h.promise(number, n)
			h.mu.Unlock()
			if m.refused(err) {
				break
			}
			for range n {
				p, err := h.Alloc(int(classes[number].size), 0)
				if err != nil {
					t.Fatalf("an allocation that was promised: %v", err)
				}
				m.add(p, int(classes[number].size), 0, 0)
			}
		}
		h.checked()
	}
	m.compare()
	for _, c := range m.pieces {
		h.Free(c.p)
	}
	if err := h.Trim(); err != nil {
		t.Fatal(err)
	}
	if s := h.Stats(); s.Allocations != 0 || s.InUse != 0 || s.Kept != 0 || s.Wasted > h.promisedBytes() {
		t.Fatalf("after everything was freed: %v", s)
	}
	h.checked()
}

// promisedBytes returns an upper bound for the bytes of the pools that Trim keeps because of promised
// objects.
func (h *Heap) promisedBytes() int {
	n := 0
	for number, s := range h.supplies {
		c := &classes[number]
		n += (s.promised + int(c.objects) - 1) / int(c.objects) * int(c.pages) << h.pages.shift
	}
	return n
}

func (m *heapModel) misuse(in *modeltest.Stream) {
	var p unsafe.Pointer
	switch kind := in.Byte(); {
	case kind%3 == 0 && len(m.pieces) > 0: // a pointer into an allocation
		c := m.pieces[in.Byte()*len(m.pieces)/256]
		p = unsafe.Add(c.p, 1+in.Byte()*(c.usable-1)/256)
	case kind%3 == 1:
		for freed := range m.freed {
			p = freed
			break
		}
	default:
		p = unsafe.Add(m.h.region.Base(), in.Byte()*m.h.region.Size()/256+in.Byte())
	}
	if p == nil || slices.ContainsFunc(m.pieces, func(c piece) bool { return c.p == p }) {
		return
	}
	for name, use := range map[string]func(){
		"Free": func() { m.h.Free(p) }, "SizeOf": func() { m.h.SizeOf(p) },
		"Realloc": func() { _, _ = m.h.Realloc(p, 10, 0) },
	} {
		if text := modeltest.PanicText(use); len(text) < 20 || text[:6] != "heap: " {
			m.t.Fatalf("%s of %p, which is no allocation, panics with %q", name, p, text)
		}
	}
}

func TestAgainstModel(t *testing.T) {
	rounds, length := 3, 1200
	if !longtest.Enabled() {
		rounds, length = 1, 600
	}
	for round := range rounds {
		data := modeltest.RandomBytes(t, length)
		for _, pages := range pageKinds {
			play(t, Options{Pages: pages, Unshared: round%2 == 1}, data)
			play(t, Options{Pages: pages, Limit: vm.NewLimit(1 << 20)}, data)
		}
	}
}

func TestImpossibleSizes(t *testing.T) {
	h := open(t, Options{})
	p, err := h.Alloc(100, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := h.Stats()
	for _, size := range []int{math.MaxInt, math.MaxInt - vm.PageSize(), 1 << 30, testCapacity * 20} {
		if q, err := h.Alloc(size, 0); q != nil || !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("Alloc(%d) = %p, %v", size, q, err)
		}
		if q, err := h.Realloc(p, size, 0); q != nil || !errors.Is(err, vm.ErrCapacity) {
			t.Errorf("Realloc(%d) = %p, %v", size, q, err)
		}
	}
	if after := h.Stats(); after != before {
		t.Errorf("the heap has %v, before %v", after, before)
	}
	h.checked()
}

func FuzzHeap(f *testing.F) {
	f.Add([]byte{3, 3, 40, 63, 6, 0, 5, 200, 0, 7, 0, 7, 255, 7, 255, 6, 9, 10, 0, 0, 9, 10, 1, 11, 5, 200, 4,
		0, 9})
	f.Add([]byte{0, 6, 10, 0, 7, 0, 6, 200, 7, 0, 7, 250, 7, 0, 5, 40, 0, 6, 30, 8, 9, 10, 2, 50, 50})
	f.Add([]byte{0, 7, 255, 0, 0, 7, 255, 0, 0, 7, 255, 0, 4, 100, 0, 7, 200, 0, 9, 7, 255, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
			play(t, Options{Pages: pages}, data)
			play(t, Options{Pages: pages, Limit: vm.NewLimit(1 << 20)}, data)
		}
	})
}
