package heap

import (
	"errors"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// openSampled makes a heap that guards some small allocations. interval is the average number of small
// allocations for each guarded allocation.
func openSampled(t *testing.T, interval int, o Options) *Heap {
	t.Helper()
	h := open(t, o)
	h.sampled = newSampled(h.name, o, interval)
	h.unusual = true
	return h
}

func TestSampledHeap(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	steps := longtest.Pick(300, 2000)
	for _, o := range []Options{{}, {Unshared: true}, {Pages: vm.PagesHeap}, {Limit: vm.NewLimit(16 << 20)}} {
		for _, every := range []int{1, 3} {
			h := openSampled(t, every, o)
			type piece struct {
				p    unsafe.Pointer
				size int
				fill byte
			}
			var all []piece
			inUse, maxGuarded := 0, 0
			for i := range steps {
				maxGuarded = max(maxGuarded, h.sampled.blocks.Len())
				k := r.IntN(len(all) + 8)
				size := r.IntN(5000)
				align := 1 << r.IntN(8)
				if k >= len(all) || len(all) < 10 {
					p, err := h.Alloc(size, align)
					if err != nil {
						t.Fatal(err)
					}
					mustBeZero(t, p, 0, h.SizeOf(p))
					all = append(all, piece{p, size, byte(i)})
				} else if c := &all[k]; i%3 == 0 {
					p, err := h.Realloc(c.p, size, align)
					if err != nil {
						t.Fatal(err)
					}
					for j, b := range bytesOf(p, min(size, c.size)) {
						if b != c.fill {
							t.Fatalf("byte %d of %d is %d after Realloc, want %d", j, size, b, c.fill)
						}
					}
					mustBeZero(t, p, min(size, c.size), h.SizeOf(p))
					c.p, c.size = p, size
				} else {
					h.Free(c.p)
					all[k] = all[len(all)-1]
					all = all[:len(all)-1]
				}
				if len(all) > 0 && k < len(all) {
					fillBytes(all[k].p, all[k].size, all[k].fill)
				}
				if n := len(all); n > 0 {
					fillBytes(all[n-1].p, all[n-1].size, all[n-1].fill)
				}
			}
			for _, c := range all {
				inUse += h.SizeOf(c.p)
			}
			if s := h.Stats(); s.Allocations != len(all) || s.InUse != inUse || s.Committed < s.InUse ||
				s.Wasted < 0 {
				t.Errorf("%v, but there are %d allocations of %d bytes", s, len(all), inUse)
			}
			if maxGuarded == 0 || maxGuarded > sampledLive {
				t.Errorf("the largest number of guarded allocations was %d, want 1 to %d", maxGuarded,
					sampledLive)
			}
			for _, c := range all {
				h.Free(c.p)
			}
			if s := h.Stats(); s.Allocations != 0 || s.InUse != 0 {
				t.Errorf("after all frees: %v", s)
			}
			h.checked()
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func fillBytes(p unsafe.Pointer, n int, v byte) {
	b := bytesOf(p, n)
	for i := range b {
		b[i] = v
	}
}

func TestSampledHeapWithoutMemoryForGuards(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	h := openSampled(t, 1, Options{Limit: limit})
	if err := Grow[[100]byte](h, 50); err != nil {
		t.Fatal(err)
	}
	rest := limit.Max() - limit.Used()
	other, err := vm.Reserve(rest, vm.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Commit(0, rest); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		if _, err := Alloc[[100]byte](h); err != nil {
			t.Fatalf("allocation %d of the 50 that Grow has promised: %v", i, err)
		}
	}
	if n := h.sampled.blocks.Len(); n != 0 {
		t.Errorf("%d allocations are guarded without memory for the guards", n)
	}
}

func TestSampledMisuse(t *testing.T) {
	h := openSampled(t, 1, Options{})
	p := alloc(t, h, 40)
	if !h.guarded(p) {
		t.Fatal("the allocation is not guarded")
	}
	h.Free(p)
	for name, c := range map[string]struct {
		use  func()
		kind guard.Kind
	}{
		"Free":    {func() { h.Free(p) }, guard.DoubleFree},
		"SizeOf":  {func() { h.SizeOf(p) }, guard.AfterFree},
		"Realloc": {func() { _, _ = h.Realloc(p, 10, 0) }, guard.AfterFree},
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				var f *guard.Fault
				if !errors.As(err, &f) || f.Kind != c.kind || f.FreedAt == nil {
					t.Errorf("%s: %v", name, err)
				}
			}()
			c.use()
		}()
	}
	if s := h.Stats(); s.Allocations != 0 || s.InUse != 0 {
		t.Errorf("%v", s)
	}
}
