package inspect

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
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

// whereabouts are the places of columns' elements, which never move: read once, and again when there are more columns.
type whereabouts struct {
	mu    sync.Mutex
	known int // columns
	of    map[vast.AnyColumn]elements
}

// elements are where a column's elements lie.
type elements struct {
	area probe.Area
	base uintptr // of the reservation
}

// place returns where e's component lies; nil for those that have no bytes, or have them in memory of their own. It is called
// while the world lets the inspector look.
func (k *whereabouts) place(w *vast.World, c *column, e vast.Entity) *place {
	of, ok := k.elements(w, c)
	if !ok || c.Size == 0 {
		return nil
	}
	off, n := of.area.Place(int(e.Slot()))
	return &place{of.area.Reservation, off, n, fmt.Sprintf("0x%x", of.base+uintptr(off))}
}

// number returns the number of the place of the first byte of e's component, as the memory page counts; -1
// where it has none. It is called while the world lets the inspector look.
func (k *whereabouts) number(w *vast.World, c *column, e vast.Entity) int {
	of, ok := k.elements(w, c)
	if !ok {
		return -1
	}
	at, _ := of.area.Place(int(e.Slot()))
	for _, r := range probe.Reservations(w)[:of.area.Reservation] {
		at += r.Bytes()
	}
	return at
}

// elements returns where a column's elements lie, and whether they lie in the world's reservations.
func (k *whereabouts) elements(w *vast.World, c *column) (elements, bool) {
	if c.info.Storage != probe.StorageDense {
		return elements{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.ID >= k.known {
		k.read(w)
	}
	of, ok := k.of[c.col]
	return of, ok
}

func (k *whereabouts) read(w *vast.World) {
	k.of = make(map[vast.AnyColumn]elements)
	reservations := probe.Reservations(w)
	for _, a := range probe.Areas(w) {
		if a.Kind == probe.AreaElements && a.Reservation >= 0 {
			k.of[a.Column] = elements{a, reservations[a.Reservation].Address()}
		}
	}
	k.known = len(probe.Columns(w))
}

// addressOf returns where an entity is, and the names of the components that it was born with.
func addressOf(w *vast.World, e vast.Entity) (a address, born []string) {
	slot := int(e.Slot())
	a = address{Slot: slot, Word: slot / 64, Bit: slot % 64}
	born = []string{}
	for x := range probe.Extents(w, slot) {
		a.Extent, a.Slots, a.Entities = x.First, x.Slots, x.Entities
		for _, col := range probe.ColumnsOf(x.Archetype) {
			born = append(born, col.Name())
		}
		break
	}
	return a, born
}
