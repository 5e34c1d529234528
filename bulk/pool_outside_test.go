package bulk

import (
	"math"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/internal/outside"
)

// keptOutside is a store with one element.
type keptOutside struct {
	h Handle[record]
	e *record
}

func (k *keptOutside) Get(h Handle[record]) *record {
	if h != k.h {
		return nil
	}
	return k.e
}

func (k *keptOutside) Remove(h Handle[record]) bool {
	if h != k.h || k.e == nil {
		return false
	}
	k.e = nil
	return true
}

func TestOutside(t *testing.T) {
	p := newPool[record](t, Options{Capacity: 100})
	store := &keptOutside{e: &record{7}}
	first := outside.Keep(p, store)
	if first != 100 {
		t.Errorf("the first slot outside is %d", first)
	}
	store.h = HandleOf[record](uint64(first) | 5<<32)
	h, e := p.Insert(numbered(1))
	if HandleOf[record](h.ID()) != h || h.ID()&math.MaxUint32 != uint64(h.Slot()) {
		t.Errorf("the handle of ID %#x is not %v", h.ID(), h)
	}
	if p.Get(h) != e || p.Get(store.h) != store.e || !p.Valid(store.h) {
		t.Error("Get does not find the element in the pool, or the element outside")
	}
	for _, stale := range []Handle[record]{{100, 6}, {101, 5}, {99, 5}, {h.slot, 5}} {
		if p.Get(stale) != nil || p.Valid(stale) || p.Remove(stale) {
			t.Errorf("the stale handle %v has an element", stale)
		}
	}
	if !p.Remove(store.h) || p.Remove(store.h) || p.Valid(store.h) || p.Len() != 1 {
		t.Errorf("the element outside was not removed exactly once, or Len counts it: %d elements", p.Len())
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if text := modeltest.PanicText(func() { p.Get(store.h) }); text == "" {
		t.Error("Get of a closed pool does not panic")
	}
}
