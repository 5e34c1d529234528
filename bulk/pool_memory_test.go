package bulk

import (
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestPoolTrim(t *testing.T) {
	every := 16 * vm.PageSize() / 64 // elements in sixteen pages
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
		t.Errorf("%d bytes resident of %d committed of %d reserved", before, p.Committed(), p.Reserved())
	}
	if err := p.Trim(); err != nil {
		t.Fatal(err)
	}
	after, err := p.Resident()
	if err != nil {
		t.Fatal(err)
	}
	if !vm.ReadFacts().HeapStandIn && before-after < n*64*8/10 {
		t.Errorf("%d bytes are left of %d", after, before)
	}
	for i, h := range hs {
		if i%every != 0 {
			if p.Valid(h) {
				t.Fatalf("element %d is back", i)
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
		t.Errorf("%d elements", p.Len())
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Resident(); n != 0 || err != nil || p.Committed() != 0 || p.Reserved() != 0 {
		t.Errorf("a closed pool has %d bytes in memory, %d committed: %v", n, p.Committed(), err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Trim of a closed pool does not panic")
		}
	}()
	_ = p.Trim()
}
