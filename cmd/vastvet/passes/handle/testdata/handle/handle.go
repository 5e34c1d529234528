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
	if a.Slot() == b.Slot() { // want `a and b are compared by slot only, and a slot is used again: compare them with ==`
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

func right(a, b bulk.Handle[ship], e, f vast.Entity, other bulk.Handle[int]) int {
	if a == b || e == f {
		return 1
	}
	if a.Slot() == b.Slot() && a.Generation() == b.Generation() {
		return 2
	}
	if e.Slot() == f.Slot() && e != f { // the slot was used again
		return 3
	}
	if e.Slot() == 7 || a.Slot() == e.Slot() || a.Slot() == other.Slot() || a.Slot() < b.Slot() {
		return 4
	}
	//vastvet:ignore handle: the place on the screen goes by slot
	if e.Slot() == f.Slot() {
		return 5
	}
	return 0
}

//vastvet:ignore handle: there is nothing here // want `this comment silences nothing: handle finds no fault here; remove it`
func nothing() {}
