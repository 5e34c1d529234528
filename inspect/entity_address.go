package inspect

import (
	"fmt"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// address is the slot of an entity and the extent that holds the slot. An extent is a run of slots of one
// archetype.
type address struct {
	Slot int `json:"slot"`
	Word int `json:"word"` // number of the slot's word; a word has 64 slots
	Bit  int `json:"bit"`  // number of the slot's bit in the word

	Extent   int `json:"extent"`   // first slot of the extent
	Slots    int `json:"slots"`    // number of slots in the extent
	Entities int `json:"entities"` // number of entities in the extent
}

// place is the position of a component's bytes.
type place struct {
	Reservation int    `json:"reservation"` // number of the reservation in the world
	Offset      int    `json:"offset"`      // bytes from the base of the reservation
	Bytes       int    `json:"bytes"`
	Address     string `json:"address"` // memory address, in hexadecimal
}

// elementPlaces caches the position of each column's elements. Positions never change, so they are read again
// only when the world has more columns.
type elementPlaces struct {
	mu       sync.Mutex
	known    int // number of columns at the last read
	byColumn map[vast.AnyColumn]elements
}

// elements is the position of a column's elements.
type elements struct {
	area probe.Area
	base uintptr // memory address of the reservation
}

// place returns where e's component lies. It returns nil if the component has no bytes, or if its bytes lie
// outside of the world's reservations. Call place in a look (see Inspector.look).
func (k *elementPlaces) place(w *vast.World, c *column, e vast.Entity) *place {
	es, ok := k.elements(w, c)
	if !ok || c.Size == 0 {
		return nil
	}
	off, n := es.area.Place(int(e.Slot()))
	return &place{es.area.Reservation, off, n, fmt.Sprintf("0x%x", es.base+uintptr(off))}
}

// number returns the number of the first byte of e's component. It returns -1 if the component has no bytes,
// or if its bytes lie outside of the world's reservations. The bytes of all reservations have consecutive
// numbers. Call number in a look.
func (k *elementPlaces) number(w *vast.World, c *column, e vast.Entity) int {
	es, ok := k.elements(w, c)
	if !ok {
		return -1
	}
	at, _ := es.area.Place(int(e.Slot()))
	for _, r := range probe.Reservations(w)[:es.area.Reservation] {
		at += r.Bytes()
	}
	return at
}

// elements returns where a column's elements lie, and whether they lie in the world's reservations.
func (k *elementPlaces) elements(w *vast.World, c *column) (elements, bool) {
	if c.info.Storage != probe.StorageDense {
		return elements{}, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if c.ID >= k.known {
		k.read(w)
	}
	es, ok := k.byColumn[c.col]
	return es, ok
}

func (k *elementPlaces) read(w *vast.World) {
	k.byColumn = make(map[vast.AnyColumn]elements)
	reservations := probe.Reservations(w)
	for _, a := range probe.Areas(w) {
		if a.Kind == probe.AreaElements && a.Reservation >= 0 {
			k.byColumn[a.Column] = elements{a, reservations[a.Reservation].Address()}
		}
	}
	k.known = len(probe.Columns(w))
}

// addressOf returns the address of an entity, and the names of the components of the entity's archetype.
func addressOf(w *vast.World, e vast.Entity) (a address, born []string) {
	slot := int(e.Slot())
	a = address{Slot: slot, Word: slot / 64, Bit: slot % 64}
	x, born, _ := ownerOf(w, slot)
	a.Extent, a.Slots, a.Entities = x.First, x.Slots, x.Entities
	return a, born
}

// ownerOf returns the extent that holds a slot, and the names of the columns of the extent's archetype. owned
// is false if no extent holds the slot. Call ownerOf in a look.
func ownerOf(w *vast.World, slot int) (x probe.Extent, names []string, owned bool) {
	names = []string{}
	for x := range probe.Extents(w, slot) {
		if x.First > slot {
			break
		}
		for _, col := range probe.ColumnsOf(x.Archetype) {
			names = append(names, col.Name())
		}
		return x, names, true
	}
	return probe.Extent{}, names, false
}
