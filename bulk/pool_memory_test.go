package bulk

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestPoolTrim(t *testing.T) {
	every := 16 * vm.PageSize() / 64 // number of elements that fill 16 pages
	n := 16 * every
	p, err := NewPool[[8]uint64](Options{Pages: vm.PagesSmall, Capacity: 2 * n})
	if err != nil {
		t.Fatal(err)
	}
	var hs []Handle[[8]uint64]
	for i := range n {
		h, _ := p.Insert([8]uint64{7: uint64(i)})
		hs = append(hs, h)
	}
	before, err := p.Resident()
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range hs {
		if i%every != 0 {
			p.Remove(h)
		}
	}
	if p.Committed() < before || p.Reserved() < p.Committed() {
		t.Errorf("%d bytes are resident, %d committed, %d reserved, want ascending numbers", before,
			p.Committed(), p.Reserved())
	}
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	after, err := p.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if !vm.ReadFacts().HeapStandIn && before-after < n*64*8/10 {
		t.Errorf("after Trim, %d of %d bytes are still resident", after, before)
	}
	for i, h := range hs {
		if i%every != 0 {
			if p.Valid(h) {
				t.Fatalf("element %d was removed, but its handle is valid", i)
			}
		} else if v := p.Get(h); v == nil || v[7] != uint64(i) {
			t.Fatalf("element %d is lost", i)
		}
	}
	for i := range n {
		if h, v := p.Insert([8]uint64{uint64(i)}); *v != [8]uint64{uint64(i)} || *p.Get(h) != *v {
			t.Fatalf("element %d cannot be written", i)
		}
	}
	if p.Len() != n+n/every {
		t.Errorf("%d elements, want %d", p.Len(), n+n/every)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Resident(); n != 0 || err != nil || p.Committed() != 0 || p.Reserved() != 0 {
		t.Errorf("a closed pool has %d resident, %d committed and %d reserved bytes: %v", n, p.Committed(),
			p.Reserved(), err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Trim of a closed pool does not panic")
		}
	}()
	_ = p.Trim()
}

func TestTrimBeforeTheFirstElement(t *testing.T) {
	p, d := newPool[int](t, Options{}), newDense[int](t, Options{})
	defer p.Close()
	defer d.Close()
	for range 2 {
		if err := errors.Join(p.Trim(), d.Trim()); err != nil {
			t.Fatal(err)
		}
		h, _ := p.Insert(5)
		k, _ := d.Insert(6)
		if *p.Get(h) != 5 || *d.Get(k) != 6 {
			t.Errorf("the elements are %d and %d, want 5 and 6", *p.Get(h), *d.Get(k))
		}
		p.Remove(h)
		d.Remove(k)
	}
}

func TestTrimGivesTheBudgetBack(t *testing.T) {
	const n = 50_000
	for name, construct := range map[string]func(Options) (handled[[8]uint64], error){
		"Pool":  func(o Options) (handled[[8]uint64], error) { return NewPool[[8]uint64](o) },
		"Dense": func(o Options) (handled[[8]uint64], error) { return NewDense[[8]uint64](o) },
	} {
		limit := vm.NewLimit(5 << 20)
		p, err := construct(Options{Limit: limit, Pages: vm.PagesSmall, Capacity: n})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Close() })
		other := newArray[uint64](t, Options{Limit: limit, Pages: vm.PagesSmall, Capacity: 500_000})
		var hs []Handle[[8]uint64]
		for i := range n {
			h, _ := p.Insert([8]uint64{uint64(i)})
			hs = append(hs, h)
		}
		for i, h := range hs {
			if i != 100 {
				p.Remove(h)
			}
		}
		if err := other.Grow(400_000); !errors.Is(err, vm.ErrLimit) {
			t.Fatalf("%s: the limit has room before Trim: %v", name, err)
		}
		if err := p.Trim(); err != nil {
			t.Fatal(err)
		}
		if err := other.Grow(400_000); err != nil && !heapStandIn() {
			t.Errorf("%s: after Trim the limit of %d bytes counts %d, and the array cannot grow: %v", name,
				limit.Max(), limit.Used(), err)
		}
		if err := p.Grow(n - 1); err == nil && !heapStandIn() {
			t.Errorf("%s: there is room for all elements, although the array has taken the memory", name)
		}
		for i, h := range hs {
			if e := p.Get(h); (e != nil) != (i == 100) || p.Valid(h) != (i == 100) ||
				i != 100 && p.Remove(h) {
				t.Fatalf("%s: after Trim element %d is %v; only element 100 is live", name, i, e)
			}
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		for i := range n - 1 {
			if h, v := p.Insert([8]uint64{uint64(i)}); *v != [8]uint64{uint64(i)} || p.Get(h) != v {
				t.Fatalf("%s: element %d cannot be written", name, i)
			}
		}
		for i, h := range hs {
			if p.Valid(h) != (i == 100) {
				t.Fatalf("%s: Valid of old handle %d is %t; only element 100 is live", name, i, p.Valid(h))
			}
		}
		if err := p.Trim(); err != nil || p.Len() != n {
			t.Errorf("%s: %d elements after Trim: %v", name, p.Len(), err)
		}
	}
}

func TestWalksOfPoolThatLostItsRoom(t *testing.T) {
	p := newPool[[512]byte](t, Options{Capacity: 1 << 18})
	room := p.roomOf()
	before := room.Committed()
	if err := p.Grow(100_000); err != nil {
		t.Fatal(err)
	}
	room.Restore(before)
	for first := range p.Runs() {
		t.Errorf("Runs yields a run at %d", first)
	}
	for h := range p.All() {
		t.Errorf("All yields %v", h)
	}
	p.Clear(nil)
}
