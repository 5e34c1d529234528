// Package handle compares handles and entities.
package handle

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
)

type ship struct {
	Fuel   int
	Target bulk.Handle[ship]
}

func wrong(a, b bulk.Handle[ship], e, f vast.Entity, s *ship) int {
	if a.Slot() == b.Slot() { // want `a and b are compared by slot only, and slots are reused: compare them with ==`
		return 1
	}
	if (s.Target).Slot() != a.Slot() { // want `compared by slot only`
		return 2
	}
	if e != (vast.Entity{}) && e.Slot() == f.Slot() || s.Fuel == 0 { // want `e and f are compared by slot only`
		return 3
	}
	switch {
	case f.Slot() == e.Slot(): // want `compared by slot only`
		return 4
	}
	return 0
}

func wrongInParentheses(a, b vast.Entity) bool {
	return (a.Slot()) == (b.Slot()) // want `a and b are compared by slot only`
}

func wrongOneAlive(w *vast.World, a, b vast.Entity) bool {
	return w.Alive(a) && a.Slot() == b.Slot() // want `a and b are compared by slot only`
}

func wrongOthersCompared(a, b, c vast.Entity) bool {
	if a == c || b == c {
		return true
	}
	{
		a, b := c, vast.Entity{}
		if a == b {
			return true
		}
	}
	return a.Slot() == b.Slot() // want `a and b are compared by slot only`
}

func right(a, b bulk.Handle[ship], e, f vast.Entity, other bulk.Handle[int]) int {
	if a == b || e == f {
		return 1
	}
	if a.Slot() == b.Slot() && a.Generation() == b.Generation() {
		return 2
	}
	if e.Slot() == f.Slot() && e != f { // the slot was reused
		return 3
	}
	return 0
}

func rightAlone(a, b bulk.Handle[ship], e, f vast.Entity, other bulk.Handle[int]) int {
	if e.Slot() == 7 || a.Slot() == e.Slot() || a.Slot() == other.Slot() || a.Slot() < b.Slot() {
		return 4
	}
	//vastvet:ignore handle: the slot is the place on the screen
	if e.Slot() == f.Slot() {
		return 5
	}
	return 0
}

func rightOrder(a, b vast.Entity) bool {
	if a.Slot() != b.Slot() {
		return a.Slot() < b.Slot()
	}
	return a.Generation() < b.Generation()
}

func rightNested(a, b bulk.Handle[ship]) string {
	if a.Slot() == b.Slot() {
		if a != b {
			return "used again"
		}
		return "the same"
	}
	return "another"
}

func rightSwitch(a, b vast.Entity) string {
	switch {
	case a == b:
		return "the same"
	case a.Slot() == b.Slot():
		return "used again"
	}
	return "another"
}

func rightInParts(a, b vast.Entity) bool {
	same := a.Slot() == b.Slot()
	return same && a.Generation() == b.Generation()
}

func rightBothAlive(w *vast.World, a, b vast.Entity) bool {
	return w.Alive(a) && w.Alive(b) && a.Slot() == b.Slot()
}

func rightBothThere(ships *bulk.Pool[ship], a, b bulk.Handle[ship]) bool {
	if ships.Get(a) == nil || ships.Get(b) == nil {
		return false
	}
	return func() bool { return a.Slot() == b.Slot() }()
}

// rightPlaces compares places: two entities that used a slot one after the other have the same place.
func rightPlaces(seen []bool, a, b vast.Entity) bool {
	first, second := a.Slot(), b.Slot()
	seen[first], seen[second] = true, true
	return first != second
}

func rightGroups(a, b vast.Entity) bool {
	return uint8(a.Slot()) == uint8(b.Slot()) || a.Slot()/64 == b.Slot()/64
}

func rightRepeated(list []vast.Entity) bool {
	var last uint32
	for _, e := range list {
		if e.Slot() == last {
			return true
		}
		last = e.Slot()
	}
	return false
}

//vastvet:ignore handle: there is nothing here // want `this comment silences nothing: handle finds no mistake here; remove it`
func nothing() {}
