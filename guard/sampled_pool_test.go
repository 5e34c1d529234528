package guard

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

func newSampledPool[T any](t testing.TB, o SampledPoolOptions) *SampledPool[T] {
	t.Helper()
	p, err := NewSampledPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p
}

func TestSampler(t *testing.T) {
	for _, every := range []int{1, 2, 10, 1000} {
		s := NewSampler(every)
		const picked = 20_000
		n, last, longest := 0, 0, 0
		distinct := map[int]bool{}
		for range picked {
			for n++; !s.Sample(); n++ {
			}
			distinct[n-last] = true
			longest, last = max(longest, n-last), n
		}
		// The intervals from 1 to 2·every - 1 are equally likely. The standard error of the mean interval is
		// at most every/√(3·picked), which is 0.4 % of every.
		if mean := float64(n) / picked; mean < 0.97*float64(every) || mean > 1.03*float64(every) {
			t.Errorf("one in %.2f was picked, want one in %d", mean, every)
		}
		if longest > 2*every-1 || len(distinct) < min(every, 100) {
			t.Errorf("one in %d: the longest of %d distinct intervals is %d", every, len(distinct), longest)
		}
	}
	for _, s := range []Sampler{{}, NewSampler(0)} {
		for range 10_000 {
			if s.Sample() {
				t.Fatal("a sampler that must pick nothing picks an element")
			}
		}
	}
}

func TestSampledPool(t *testing.T) {
	const slots = 8
	p := newSampledPool[record](t, SampledPoolOptions{Options: bulk.Options{Name: "sampled", Capacity: 1000},
		Every: 10, Slots: slots, Quarantine: 20})
	var handles []bulk.Handle[record]
	for i := range 800 {
		h, e := p.Insert(numbered(i))
		if p.guarded.a.Owns(unsafe.Pointer(e)) != (h.Slot() >= 1000) || *p.Get(h) != numbered(i) ||
			!p.Valid(h) {
			t.Fatalf("element %d has handle %v", i, h)
		}
		handles = append(handles, h)
	}
	if p.Guarded() != slots || p.Len() != 800 || p.plain.Len() != 800-slots {
		t.Errorf("%d of %d elements are guarded, %d are not", p.Guarded(), p.Len(), p.plain.Len())
	}
	seen, last := 0, -1
	for first, run := range p.Runs() {
		if first <= last {
			t.Errorf("slot %d comes after %d", first, last)
		}
		last = first + len(run) - 1
		seen += len(run)
	}
	if seen != 800 || last != 1000+slots-1 {
		t.Errorf("Runs yields %d elements, the last in slot %d", seen, last)
	}
	var stale []*record
	for i, h := range handles {
		if h.Slot() >= 1000 {
			stale = append(stale, p.Get(h))
		}
		if !p.Remove(h) || p.Remove(h) || p.Valid(h) || p.Get(h) != nil {
			t.Fatalf("element %d was not removed exactly once", i)
		}
	}
	if p.Len() != 0 || p.Guarded() != 0 || len(stale) != slots {
		t.Errorf("%d elements are left; %d were guarded", p.Len(), len(stale))
	}
	if !vm.HeapStandIn() {
		if f := fault(func() { stale[3][2] = 1 }); f == nil || f.Kind != AfterFree || f.Offset != 16 ||
			f.Allocator != "sampled" {
			t.Errorf("a guarded element after Remove: %+v", f)
		}
	}
	guarded := 0
	for i := range 5000 {
		h, _ := p.Insert(numbered(i))
		guarded += p.Guarded()
		p.Remove(h)
	}
	if guarded < 350 || guarded > 650 {
		t.Errorf("%d of 5000 elements were guarded, want about 500", guarded)
	}
}

func TestSampledPoolWithoutMemoryForGuards(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	p := newSampledPool[record](t, SampledPoolOptions{Options: bulk.Options{Capacity: 1000, Limit: limit},
		Every: 1})
	if err := p.Grow(1000); err != nil {
		t.Fatal(err)
	}
	rest := newAllocator(t, Options{Limit: limit})
	for limit.Used() < limit.Max() {
		alloc(t, rest, 1)
	}
	for i := range 1000 {
		if _, e := p.Insert(numbered(i)); *e != numbered(i) {
			t.Fatalf("element %d is %v", i, *e)
		}
	}
	if p.Guarded() != 0 || p.Len() != 1000 {
		t.Errorf("%d of %d elements are guarded", p.Guarded(), p.Len())
	}
	if _, e := caught(func() { p.Insert(record{}) }); e == nil || !errors.Is(e, vm.ErrCapacity) ||
		p.Len() != 1000 {
		t.Errorf("Insert into a full pool: %v", e)
	}
	if p.Reserved() <= p.plain.Reserved() || p.Committed() < p.plain.Committed() {
		t.Errorf("%d bytes reserved, %d committed", p.Reserved(), p.Committed())
	}
	if resident, err := p.Resident(); err != nil || resident < 40_000 {
		t.Errorf("%d bytes resident: %v", resident, err)
	}
	if err := p.Trim(); err != nil {
		t.Error(err)
	}
}

func TestSampledPoolMisuse(t *testing.T) {
	p := newSampledPool[odd](t, SampledPoolOptions{Options: bulk.Options{Name: "odds", Capacity: 10},
		Every: 1, Slots: 2})
	h, e := p.Insert(numberedOdd(1))
	*(*byte)(unsafe.Add(unsafe.Pointer(e), -1)) = 0
	if f, ok := p.Check().(*Fault); !ok || f.Kind != Overwritten {
		t.Errorf("Check: %+v", f)
	}
	if f, _ := caught(func() { p.Remove(h) }); f == nil || f.Kind != Overwritten {
		t.Errorf("Remove of a damaged element: %+v", f)
	}
	h, _ = p.Insert(numberedOdd(2))
	_, e = p.Insert(numberedOdd(3))
	*(*byte)(unsafe.Add(unsafe.Pointer(e), -1)) = 0
	if f, ok := p.Close().(*Fault); !ok || f.Kind != Overwritten {
		t.Errorf("Close: %+v", f)
	}
	if err := p.Close(); err != nil || p.Len() != 0 {
		t.Errorf("the second Close: %v", err)
	}
	for name, f := range map[string]func(){
		"Get": func() { p.Get(h) }, "Remove": func() { p.Remove(h) }, "Valid": func() { p.Valid(h) },
		"Insert": func() { p.Insert(odd{}) }, "Clear": func() { p.Clear(nil) },
	} {
		if text := modeltest.PanicText(f); !strings.Contains(text, "odds is used after Close") {
			t.Errorf("%s after Close: %q", name, text)
		}
	}
	stranger, err := bulk.NewPool[odd](bulk.Options{Capacity: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if stranger.Get(h) != nil || stranger.Valid(h) || stranger.Remove(h) {
		t.Error("another pool accepts the handle of a guarded element")
	}
}
