package vast

import (
	"math"
	"testing"
)

func TestAt(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	for _, slot := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
		if e, ok := w.At(slot); ok || !e.IsZero() {
			t.Errorf("At(%d) of an empty world: %v", slot, e)
		}
	}
	a := w.Archetype(NewColumn[int](w))
	var all []Entity
	for range 100 {
		all = append(all, a.New())
	}
	for i := 0; i < len(all); i += 3 {
		w.Delete(all[i])
	}
	for i, e := range all {
		got, ok := w.At(int(e.Slot()))
		if want := i%3 != 0; ok != want || want && got != e {
			t.Errorf("At(%d): %v, %t", e.Slot(), got, ok)
		}
	}
	again := a.New() // in the lowest slot
	if got, ok := w.At(0); !ok || got != again || got == all[0] {
		t.Errorf("At(0): %v, %t, want %v", got, ok, again)
	}
	w.Close()
	if _, ok := w.At(0); ok {
		t.Error("an entity in a closed world")
	}
}
