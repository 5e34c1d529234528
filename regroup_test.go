package vast

import (
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestRegroupMovesWhatChanged(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	number, fast, armed := NewColumn[uint64](w), NewColumn[[3]uint64](w), NewTag(w, "armed")
	ships := w.Archetype(number)
	var es []Entity
	for i := range 1000 {
		e := ships.New()
		*number.Get(e) = uint64(i)
		if i%16 == 5 {
			fast.Add(e, [3]uint64{uint64(i), 1, 2})
		}
		if i%32 == 5 {
			armed.Add(e)
		}
		es = append(es, e)
	}
	names := w.Names()
	if _, err := names.Set(es[5], "five"); err != nil {
		t.Fatal(err)
	}
	withFast := w.Query(number, fast)
	m := w.Regroup(withFast, MoveOptions{})
	if m.Len() != 63 || withFast.Count() != 63 {
		t.Fatalf("%d of %d entities moved, want 63 of 63", m.Len(), withFast.Count())
	}
	runs := 0
	for r := range withFast.Runs() {
		runs++
		for i, v := range fast.Slice(r) {
			isArmed := int(v[0])%32 == 5
			if number.Slice(r)[i] != uint64(v[0]) || v[1] != 1 || v[2] != 2 ||
				armed.Has(r.Entity(i)) != isArmed {
				t.Errorf("%v has the number %d and the values %v", r.Entity(i), number.Slice(r)[i], v)
			}
		}
	}
	if runs != 2 { // one run with the tag, and one run without the tag
		t.Errorf("the entities lie in %d runs, want 2", runs)
	}
	if e, ok := names.Find("five"); !ok || e != m.Resolve(es[5]) || e == es[5] {
		t.Errorf("the name finds %v, want the moved entity %v", e, m.Resolve(es[5]))
	}
	if a := w.Archetype(number, fast, armed); a.Len() != 32 || ships.Len() != 1000-63 {
		t.Errorf("%d entities have all components, want 32; %d have only a number, want %d", a.Len(),
			ships.Len(), 1000-63)
	}
	if again := w.Regroup(w.Query(), MoveOptions{}); again.Len() != 0 {
		t.Errorf("a second Regroup moves %d entities", again.Len())
	}
	// An entity that loses the gained component moves back to the first hole.
	e := m.Resolve(es[21])
	fast.Remove(e)
	if m := w.Regroup(w.Query(number), MoveOptions{}); m.Len() != 1 || m.Resolve(e).Slot() != 5 {
		t.Errorf("%d entities moved, want 1; the entity is in slot %d, want 5", m.Len(), m.Resolve(e).Slot())
	}
	w.checkInvariants()
}

func TestRegroupInSteps(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	number, tag := NewColumn[uint64](w), NewTag(w, "tag")
	w.Archetype(number).NewN(500, nil)
	for e := range slices.Values(slices.Collect(w.Query().All())) {
		if e.Slot()%3 == 0 {
			tag.Add(e)
		}
	}
	for left := 167; left > 0; left -= min(left, 60) {
		if n := w.Regroup(w.Query(tag), MoveOptions{Most: 60}).Len(); n != min(left, 60) {
			t.Errorf("a step moves %d entities, want 60 or the remaining %d", n, left)
		}
		w.checkInvariants()
	}
}

func TestRegroupWithoutRoom(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 256})
	defer w.Close()
	number, one, two := NewColumn[uint64](w), NewTag(w, "one"), NewTag(w, "two")
	w.Archetype(number).NewN(192, nil)
	for i, e := range slices.Collect(w.Query().All()) {
		switch {
		case i < 10:
			one.Add(e)
		case i < 20:
			two.Add(e)
		}
	}
	changes := w.Changes()
	v := panicOf(func() { w.Regroup(w.Query(), MoveOptions{}) })
	if err, _ := v.(error); !errors.As(err, new(*vm.Error)) || !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Regroup without room for its second group panics with %v, want ErrCapacity", v)
	}
	if w.Changes() != changes || w.Stats().Slots != 192 {
		t.Errorf("a refused Regroup made %d changes, want 0; archetypes own %d slots, want 192",
			w.Changes()-changes, w.Stats().Slots)
	}
	w.checkInvariants()
	if n := w.Regroup(w.Query(one), MoveOptions{}).Len(); n != 10 {
		t.Errorf("%d entities moved, want 10", n)
	}
	w.checkInvariants()
}

func TestRegroupByTarget(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1 << 14})
	defer w.Close()
	number := NewColumn[uint64](w)
	city := NewRelation(w, "city", RelationOptions{})
	var cities []Entity
	for range 10 {
		cities = append(cities, w.Archetype().New())
	}
	for i := range 2000 {
		e := w.Archetype(number).New()
		*number.Get(e) = uint64(i)
		if i%7 != 0 {
			city.Set(e, cities[i*i%10])
		}
	}
	q := w.Query(number)
	o := MoveOptions{By: city}
	m := w.Regroup(q, o)
	runs, last := 0, Entity{}
	for e := range w.Query(number, city).All() {
		to, _ := city.Target(e)
		if n := int(*number.Get(e)); to != cities[n*n%10] {
			t.Fatalf("entity %d is in another city", n)
		}
		if to != last {
			runs, last = runs+1, to
		}
	}
	if runs != 6 || m.Len() != 2000-286 { // the squares end with six different digits
		t.Errorf("the cities have %d runs, %d entities moved", runs, m.Len())
	}
	if again := w.Regroup(q, o); again.Len() != 0 {
		t.Errorf("a second Regroup moves %d entities", again.Len())
	}
	w.checkInvariants()
	mustPanic(t, "MoveOptions.By is uint64: give a shared.Column or a Relation",
		func() { w.Regroup(q, MoveOptions{By: number}) })
	mustPanic(t, "MoveOptions has By and Most: leave Most out",
		func() { w.Regroup(q, MoveOptions{By: city, Most: 1}) })
}
