package heap

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func alloc(t *testing.T, h *Heap, size int) unsafe.Pointer {
	t.Helper()
	p, err := h.Alloc(size, 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestMisuse(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesAuto, vm.PagesHeap} {
		h := open(t, Options{Name: "ships", Pages: pages})
		page := vm.PageSize()
		object, other := alloc(t, h, 100), alloc(t, h, 100)
		block, room := alloc(t, h, 3*page), alloc(t, h, 2*testBlock)
		freedBlock, freedRoom := alloc(t, h, 2*page), alloc(t, h, 2*testBlock)
		alloc(t, h, 2*page)
		alloc(t, h, 2*testBlock)
		h.Free(other)
		h.Free(freedBlock)
		h.Free(freedRoom)
		mine := new([64]byte)
		before := h.Stats()
		for _, c := range []struct {
			p    unsafe.Pointer
			says string
		}{
			{other, "it was freed already"},
			{freedBlock, "it was freed already"},
			{freedRoom, "it was freed already"},
			{unsafe.Add(object, 8), "it points 8 bytes into an allocation of 112"},
			{unsafe.Add(block, page), "no allocation begins there"},
			{unsafe.Add(block, 24), "it points 24 bytes into an allocation of"},
			{unsafe.Add(room, 4097), "it points 4097 bytes into an allocation of"},
			{unsafe.Add(room, testUnit), "no allocation begins there"},
			{unsafe.Pointer(mine), "it lies outside the heap's addresses"},
			{h.pages.at(h.pages.top), "no allocation begins there"},
			{h.rooms.at(h.rooms.top), "no allocation begins there"},
		} {
			for op, use := range map[string]func(){
				"Free": func() { h.Free(c.p) }, "SizeOf": func() { h.SizeOf(c.p) },
				"Realloc": func() { _, _ = h.Realloc(c.p, 5, 0) },
			} {
				text := modeltest.PanicText(use)
				if !strings.HasPrefix(text, "heap: "+op+"(0x") ||
					!strings.Contains(text, ") on ships: "+c.says) {
					t.Errorf("%v: %s panics with %q, want %q", pages, op, text, c.says)
				}
			}
		}
		for says, use := range map[string]func(){
			"Alloc(-1 bytes, alignment 0) on ships: a size is zero or more": func() {
				_, _ = h.Alloc(-1, 0)
			},
			"Alloc(8 bytes, alignment 24) on ships: an alignment is a power of two": func() {
				_, _ = h.Alloc(8, 24)
			},
			"Alloc(8 bytes, alignment -8) on ships: an alignment is a power of two": func() {
				_, _ = h.Alloc(8, -8)
			},
			"Alloc(8 bytes, alignment 2097152) on ships: an alignment is a power of two up to 1048": func() {
				_, _ = h.Alloc(8, 2<<20)
			},
			"Realloc(-7 bytes, alignment 0) on ships: a size is zero or more": func() {
				_, _ = h.Realloc(object, -7, 0)
			},
			"Realloc(7 bytes, alignment 3) on ships: an alignment": func() {
				_, _ = h.Realloc(object, 7, 3)
			},
		} {
			if text := modeltest.PanicText(use); !strings.Contains(text, says) {
				t.Errorf("%v: panic %q, want %q", pages, text, says)
			}
		}
		if after := h.Stats(); after != before {
			t.Errorf("misuse changed %v to %v", before, after)
		}
		h.checked()
		h.Free(nil)
		if err := errors.Join(h.Close(), h.Close()); err != nil {
			t.Error(err)
		}
		for op, use := range map[string]func(){
			"Free": func() { h.Free(object) }, "SizeOf": func() { h.SizeOf(object) },
			"Alloc":   func() { _, _ = h.Alloc(5, 0) },
			"Realloc": func() { _, _ = h.Realloc(object, 5, 0) }, "Grow": func() { _ = Grow[int](h, 1) },
			"Trim": func() { _ = h.Trim() },
		} {
			if text := modeltest.PanicText(use); !strings.Contains(text,
				op+" on ships after Close: keep it open") {
				t.Errorf("%v: %s after Close panics with %q", pages, op, text)
			}
		}
		if s := h.Stats(); s.Committed != 0 || s.Reserved != 0 {
			t.Errorf("after Close: %v", s)
		}
	}
	if text := modeltest.PanicText(func() { _, _ = New(Options{Capacity: -1}) }); !strings.Contains(text,
		"Options.Capacity is -1") {
		t.Errorf("panic %q", text)
	}
}

func TestStaleWrites(t *testing.T) {
	h := open(t, Options{})
	var all []unsafe.Pointer
	sizes := []int{16, 40, 300, 2500, vm.PageSize(), 5 * vm.PageSize()}
	// The heap keeps up to bytesKept of freed pages, and clears them when it reuses them. With this count,
	// the heap keeps all freed pages.
	count := min(600, 3*bytesKept/vm.PageSize())
	for i := range count {
		all = append(all, alloc(t, h, sizes[i%len(sizes)]))
	}
	for i := 0; i < len(all); i += 2 {
		size := h.SizeOf(all[i])
		h.Free(all[i])
		b := bytesOf(all[i], size)
		for k := range b {
			b[k] = 0xff
		}
		h.checked()
	}
	for i := 1; i < len(all); i += 2 {
		mustBeZero(t, all[i], 0, h.SizeOf(all[i]))
	}
	found := 0
	for i := range count / 2 {
		size := sizes[2*i%len(sizes)]
		if invariants.Enabled {
			if text := modeltest.PanicText(func() { alloc(t, h, size) }); strings.Contains(text,
				" on TestStaleWrites was written after it was freed: ") {
				found++
			} else if text != "" {
				t.Fatal(text)
			}
			continue
		}
		p := alloc(t, h, size)
		mustBeZero(t, p, 0, h.SizeOf(p))
	}
	if invariants.Enabled && found < count/6 {
		t.Errorf("%d of %d allocations found a write to freed memory, want at least %d", found, count/2,
			count/6)
	}
	h.checked()
}

// TestFreeInsideBlocks allocates blocks from the pages of freed pools. The table of pages then has stale
// entries of pools for pages inside of blocks.
func TestFreeInsideBlocks(t *testing.T) {
	h := open(t, Options{})
	page := vm.PageSize()
	var all []unsafe.Pointer
	for range 2 * testCapacity / page / 2 { // half of the heap's pages
		all = append(all, alloc(t, h, page/2))
	}
	for _, p := range all {
		h.Free(p)
	}
	for range testCapacity / testBlock / 2 {
		p := alloc(t, h, testBlock)
		for off := page; off < testBlock; off += page / 2 {
			if text := modeltest.PanicText(func() { h.Free(unsafe.Add(p, off)) }); !strings.Contains(text,
				"no allocation begins there") &&
				!strings.Contains(text, "into an allocation of") {
				t.Fatalf("freeing %d bytes inside a block panics with %q", off, text)
			}
		}
		h.checked()
	}
}

func TestZeroSize(t *testing.T) {
	h := open(t, Options{})
	p, q := alloc(t, h, 0), alloc(t, h, 0)
	if p == q || p == nil || h.SizeOf(p) != grain {
		t.Errorf("allocations of size zero lie at %p and %p, and have %d bytes", p, q, h.SizeOf(p))
	}
	h.Free(p)
	h.Free(q)
	if s := h.Stats(); s.Allocations != 0 || s.InUse != 0 {
		t.Error(s)
	}
}

func TestManyGoroutines(t *testing.T) {
	h := open(t, Options{})
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	passed := make(chan piece, 64)
	var makers, enders sync.WaitGroup
	for g := range 3 {
		makers.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(g)))
			for i := range 3000 {
				size := r.IntN(200)
				if i%50 == 0 {
					size = r.IntN(2 * testBlock)
				}
				p, err := h.Alloc(size, 0)
				if errors.Is(err, vm.ErrCapacity) {
					continue
				}
				c := piece{p: p, size: size, number: byte(r.Uint32())}
				c.fill()
				passed <- c
			}
		})
		enders.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(g)+100))
			for c := range passed {
				c.mustHold(t, c.size)
				if size := r.IntN(2*c.size + 1); r.IntN(4) == 0 {
					if p, err := h.Realloc(c.p, size, 0); err == nil {
						c.p = p
						c.mustHold(t, min(size, c.size))
					}
				}
				h.Free(c.p)
			}
		})
	}
	makers.Wait()
	close(passed)
	enders.Wait()
	h.checked()
	if s := h.Stats(); s.Allocations != 0 || s.InUse != 0 {
		t.Error(s)
	}
}
