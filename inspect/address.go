package inspect

import (
	"fmt"

	"github.com/vastgo/vast"
)

// address says where an entity is, for the memory picture.
type address struct {
	Slot     int `json:"slot"`
	Word     int `json:"word"`     // of 64 slots
	Bit      int `json:"bit"`      // in the word
	Extent   int `json:"extent"`   // its first slot: the run of slots, owned by one archetype, that the slot is in
	Slots    int `json:"slots"`    // of the extent
	Entities int `json:"entities"` // in the extent
}

// place is where a component's bytes lie: base + slot × size.
type place struct {
	Reservation int    `json:"reservation"` // of the world's
	Offset      int    `json:"offset"`      // bytes from its base
	Bytes       int    `json:"bytes"`
	Address     string `json:"address"` // to be shown
}

// whereabouts are an entity's address and the areas of its world's memory. They are read while the world lets the inspector
// look.
type whereabouts struct {
	areas        []vast.Area // of elements
	reservations []vast.Reservation
}

func whereaboutsIn(w *vast.World) (k whereabouts) {
	k.reservations = w.Reservations()
	for _, a := range w.Areas() {
		if a.Kind == vast.AreaElements && a.Reservation >= 0 {
			k.areas = append(k.areas, a)
		}
	}
	return k
}

// place returns where e's component lies; nil for those that have no bytes, or have them in memory of their own.
func (k whereabouts) place(c *column, e vast.Entity) *place {
	if c.info.Storage != vast.StorageDense || c.Size == 0 {
		return nil
	}
	for i := range k.areas {
		if a := &k.areas[i]; a.Column == c.col {
			off, n := a.Place(int(e.Slot()))
			return &place{a.Reservation, off, n, fmt.Sprintf("0x%x", k.reservations[a.Reservation].Address()+uintptr(off))}
		}
	}
	return nil
}

// addressOf returns where an entity is, and the names of the components that it was born with.
func addressOf(w *vast.World, e vast.Entity) (a address, born []string) {
	slot := int(e.Slot())
	a = address{Slot: slot, Word: slot / 64, Bit: slot % 64}
	born = []string{}
	for x := range w.Extents(slot) {
		a.Extent, a.Slots, a.Entities = x.First, x.Slots, x.Entities
		for _, col := range x.Archetype.Columns() {
			born = append(born, col.Name())
		}
		break
	}
	return a, born
}
