package inspect

import (
	"cmp"
	"fmt"
	"math"
	"net/http"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// placeAnswer describes a place: the number of a byte of the world's memory, with the reservations laid end
// to end.
type placeAnswer struct {
	Place       int       `json:"place"`
	Reservation int       `json:"reservation"`
	Offset      int       `json:"offset"` // offset in the reservation, in bytes
	Address     string    `json:"address"`
	State       string    `json:"state"`     // state of the page, such as "committed resident huge"
	Area        int       `json:"area"`      // index of the area; -1 between areas
	Kind        string    `json:"kind"`      // kind of the area; empty between areas
	Column      int       `json:"column"`    // number of the area's column, or -1
	Name        string    `json:"name"`      // name of the column
	FirstSlot   int       `json:"firstSlot"` // first slot whose data is at the place, or -1
	Slots       int       `json:"slots"`     // number of slots whose data is at the place
	InUse       int       `json:"inUse"`     // number of used slots whose data is at the place
	Word        int       `json:"word"`      // word of 64 slots that holds FirstSlot, or -1
	Entity      *occupant `json:"entity"`    // entity in the slot if Slots is 1; nil if no entity lives there
	Component   bool      `json:"component"` // whether the entity has the component; true without a column
	Byte        int       `json:"byte"`      // index of the byte in the data of the slots
	Field       string    `json:"field"`     // path of the field that holds the byte
	FieldType   string    `json:"fieldType"`
	Archetype   []string  `json:"archetype"` // components of the archetype that owns the slots
}

// occupant is an entity with its name.
type occupant struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

func (in *Inspector) describePlace(r *http.Request) (any, error) {
	place, err := wholeNumber(r, "offset", -1, 0, math.MaxInt/4)
	if err != nil || place < 0 {
		return nil, cmp.Or(err, badRequest("offset is missing: give the number of a byte of the world's "+
			"memory"))
	}
	a := placeAnswer{Place: place, Area: -1, Column: -1, FirstSlot: -1, Word: -1, Archetype: []string{}}
	l, _, err := in.lookAtMemory(r.Context(), false)
	if err != nil {
		return nil, err
	}
	if at := a.findArea(l); at != nil {
		// The area is still valid in this second look, because areas do not move.
		if err := in.look(r.Context(), func() bool { a.findSlots(in, l, at); return true }); err != nil {
			return nil, err
		}
		a.findField(l, at)
	}
	for i, res := range l.reservations {
		if place < res.From+res.Bytes {
			a.Reservation, a.Offset = i, place-res.From
			a.Address = fmt.Sprintf("%#x", res.r.Address()+uintptr(a.Offset))
			err = l.eachPages(r.Context(), place, place+1,
				func(_, _ int, s vm.PageState) { a.State = s.String() })
			return a, err
		}
	}
	return nil, notFound("the world's memory ends at place %d", l.bytes)
}

// findArea returns the area that holds the place, or nil.
func (a *placeAnswer) findArea(l *layout) *area {
	i := l.at(a.Place)
	if i == len(l.areas) || a.Place < l.areas[i].From {
		return nil
	}
	at := &l.areas[i]
	a.Area, a.Kind, a.Column, a.Name = i, at.Kind, at.Column, at.Name
	return at
}

// findSlots finds the slots whose data is at the place. Call findSlots only in a look (see Inspector.look).
func (a *placeAnswer) findSlots(in *Inspector, l *layout, at *area) {
	lo, hi := at.slots(a.Place, a.Place+1)
	if lo >= hi || hi > l.maxEntities+64 {
		return
	}
	from, _ := at.place(lo)
	a.FirstSlot, a.Slots, a.Word, a.Byte = lo, hi-lo, lo/64, a.Place-from
	_, a.Archetype, _ = ownerOf(in.world, lo)
	col, _ := at.density()
	a.InUse = probe.Occupied(in.world, col, lo, hi)
	if a.Slots > 1 {
		return
	}
	if e, alive := probe.EntityAt(in.world, lo); alive {
		a.Entity = in.occupant(e)
		a.Component = a.InUse > 0
	}
}

func (a *placeAnswer) findField(l *layout, at *area) {
	if a.Slots != 1 || at.Column < 0 || at.Kind != probe.AreaElements.String() {
		return
	}
	c := &l.columns[at.Column]
	if c.info.Storage != probe.StorageDense {
		return // the area holds handles, or numbers of shared values, not components
	}
	for _, f := range c.fields() {
		if size := int(f.typ.Size()); f.offset <= a.Byte && a.Byte < f.offset+size {
			a.Field, a.FieldType = f.Path, f.Type
		}
	}
}

// occupant returns an entity with its name. Call occupant only in a look.
func (in *Inspector) occupant(e vast.Entity) *occupant {
	return &occupant{ID: e.String(), Name: in.nameOf(e)}
}

// columnAt returns the column with a number, or nil. Call columnAt only in a look.
func (in *Inspector) columnAt(id int) *column {
	all := in.model.look()
	if id < 0 || id >= len(all) {
		return nil
	}
	return &all[id]
}
