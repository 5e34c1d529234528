package heap

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// The figures are from "Virtual Memory Tricks": elements of 300 bytes in pages of 4 KiB.
func TestBufferFigures(t *testing.T) {
	var capacities []int
	pages, wasted := 0, 0
	for range 4 {
		pages = nextPages(pages, 4096, 300, fitting(pages, 4096, 300)+1)
		capacities = append(capacities, fitting(pages, 4096, 300))
		wasted += pages*4096 - capacities[len(capacities)-1]*300
	}
	if want := []int{13, 27, 54, 109}; !slices.Equal(capacities, want) {
		t.Errorf("the capacities are %v, want %v", capacities, want)
	}
	if mean := wasted / 4; mean > 150 {
		t.Errorf("%d bytes are wasted on average, want at most half an element", mean)
	}
}

type bytes300 [300]byte

func TestBufferGrows(t *testing.T) {
	h := open(t, Options{Capacity: 16 << 20})
	checkGrowth[bytes300](t, h)
	checkGrowth[byte](t, h)
	checkGrowth[[5000]byte](t, h)
}

func checkGrowth[T any](t *testing.T, h *Heap) {
	t.Helper()
	b := NewBuffer[T](h)
	size := layout.Size[T]()
	if b.Cap() != 0 || b.Len() != 0 {
		t.Errorf("a new buffer of elements of %d bytes has room for %d", size, b.Cap())
	}
	pages := 0
	for pages < 64 {
		var v T
		b.Append(v)
		switch now := b.Committed() / vm.PageSize(); {
		case now == pages:
		case pages == 0 && now == (size+vm.PageSize()-1)/vm.PageSize(), pages > 0 && now == 2*pages:
			pages = now
		default:
			t.Fatalf("elements of %d bytes: the buffer grows to %d pages from %d", size, now, pages)
		}
		if unused := pages*vm.PageSize() - b.Cap()*size; unused < 0 || unused >= size {
			t.Fatalf("elements of %d bytes: a capacity of %d leaves %d bytes of %d pages unused", size,
				b.Cap(), unused, pages)
		}
	}
	b.Close()
	if s := h.Stats(); s.Allocations != 0 {
		t.Errorf("after Close: %v", s)
	}
}

func TestBufferAgainstSlice(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	steps := longtest.Pick(600, 3000)
	for _, pages := range pageKinds {
		h := open(t, Options{Pages: pages, Capacity: 16 << 20})
		b := NewBuffer[[7]uint32](h)
		var want [][7]uint32
		for i := range steps {
			switch v := [7]uint32{uint32(i), 6: ^uint32(i)}; r.IntN(8) {
			case 0, 1, 2:
				b.Append(v)
				want = append(want, v)
			case 3:
				n := r.IntN(900)
				added, err := b.AppendN(n)
				if cap(added) != n {
					t.Fatalf("AppendN(%d) returns a slice of capacity %d", n, cap(added))
				}
				if err != nil || len(added) != n {
					t.Fatalf("AppendN(%d) returns %d elements and %v", n, len(added), err)
				}
				for k := range added {
					if added[k] != ([7]uint32{}) {
						t.Fatalf("added element %d of %d is not zero", k, n)
					}
					added[k] = v
					want = append(want, v)
				}
			case 4:
				n := r.IntN(len(want) + 1)
				b.Truncate(n)
				want = want[:n]
			case 5:
				n := r.IntN(1000)
				if err := b.Grow(n); err != nil || b.Cap() < len(want)+n {
					t.Fatalf("Grow(%d) returns %v, and the capacity is %d", n, err, b.Cap())
				}
			case 6:
				if len(want) > 0 {
					k := r.IntN(len(want))
					*b.At(k) = v
					want[k] = v
				}
			case 7:
				if text := modeltest.PanicText(func() { b.At(len(want)) }); !strings.Contains(text,
					"heap: At(") {
					t.Fatalf("panic %q", text)
				}
			}
			if b.Len() != len(want) || !slices.Equal(b.Slice(), want) {
				t.Fatalf("%v: after %d operations the elements differ", pages, i)
			}
			h.checked()
		}
		b.Close()
	}
}

func TestBufferExhaustion(t *testing.T) {
	limit := vm.NewLimit(40 * vm.PageSize())
	h := open(t, Options{Name: "ships", Limit: limit})
	b := NewBuffer[bytes300](h)
	n := 0
	for {
		text := modeltest.PanicText(func() { b.Append(bytes300{0: byte(n)}) })
		if text != "" {
			if !strings.Contains(text, "for ships: memory limit reached") {
				t.Errorf("panic %q", text)
			}
			break
		}
		n++
	}
	if b.Len() != n || b.Cap() != n || n < 8*vm.PageSize()/300 {
		t.Errorf("%d elements, room for %d, appended %d", b.Len(), b.Cap(), n)
	}
	for i, v := range b.Slice() {
		if v[0] != byte(i) {
			t.Fatalf("element %d is %d", i, v[0])
		}
	}
	for _, more := range []int{1 << 30, math.MaxInt / 300, math.MaxInt} {
		if err := b.Grow(more); !errors.Is(err, vm.ErrSize) && !errors.Is(err, vm.ErrLimit) &&
			!errors.Is(err, vm.ErrCapacity) {
			t.Errorf("Grow(%d): %v", more, err)
		}
	}
	for says, use := range map[string]func(){
		"Grow(-1) on a buffer in ships":                            func() { _ = b.Grow(-1) },
		"Truncate(1000000) on a buffer of length":                  func() { b.Truncate(1000000) },
		"NewBuffer[string]: string is a string":                    func() { NewBuffer[string](h) },
		"NewBuffer[struct {}] on ships: the elements have no size": func() { NewBuffer[struct{}](h) },
	} {
		if text := modeltest.PanicText(use); !strings.Contains(text, says) {
			t.Errorf("panic %q, want %q", text, says)
		}
	}
	b.Close()
	b.Close()
	for op, use := range map[string]func(){
		"Grow": func() { b.Append(bytes300{}) }, "At": func() { b.At(0) },
		"Truncate": func() { b.Truncate(0) },
	} {
		if text := modeltest.PanicText(use); !strings.Contains(text, op+" on a buffer in ships after Close") {
			t.Errorf("panic %q after Close", text)
		}
	}
	c := NewBuffer[int](h)
	c.Append(1)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	c.Close() // must not panic, although the heap is closed
}
