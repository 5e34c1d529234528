package bulk

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/generation"
	"github.com/vastgo/vast/internal/state"
)

// denseState implements state.Container. The presence bits and the owners are derived from the locators.
type denseState[T any] struct{ d *Dense[T] }

func (d *Dense[T]) keep() (any, error) {
	d.mustBeOpen()
	return &denseState[T]{d}, nil
}

func (s *denseState[T]) Of() []any { return []any{s.d} }

func (s *denseState[T]) Describe() state.Contents {
	// Slots beyond room can have generations, because Trim keeps the locators.
	slots := min(s.d.tables[0].Committed()/bytesLocator, s.d.plan.capacity)
	for slots > 0 && s.d.locator(uint(slots)-1).generation == 0 {
		slots--
	}
	return state.Contents{Kind: kindDense, Len: s.d.len, Slots: slots, Mark: uint32(s.d.tag)}
}

func (s *denseState[T]) Arrays(c state.Contents, column int) []state.Array {
	arrays := []state.Array{{Kind: state.DenseSlots, Column: column, Type: reflect.TypeFor[locator](),
		Len: c.Slots, Base: s.d.locators}}
	var v T
	if unsafe.Sizeof(v) == 0 {
		return arrays
	}
	return append(arrays, state.Array{Kind: state.Elements, Column: column, Type: reflect.TypeFor[T](),
		Len: c.Len, Base: s.d.base})
}

func (s *denseState[T]) Reserve(c state.Contents) error {
	d := s.d
	if d.tables[0].Committed() > 0 && d.locator(0).generation != 0 {
		return d.plan.wasUsed()
	}
	if err := d.plan.mustHold(c.Slots); err != nil {
		return err
	}
	if err := mustBeMark(c.Mark); err != nil {
		return err
	}
	if c.Len < 0 || c.Len > c.Slots {
		return fmt.Errorf("a dense has %d elements in %d slots", c.Len, c.Slots)
	}
	if err := d.commit(c.Slots); err != nil {
		return err
	}
	d.tag = generation.Mark(c.Mark)
	d.room = 0 // no handle is valid before Settle has checked the locators
	return nil
}

func (s *denseState[T]) Settle(c state.Contents, _ []state.Array) error {
	d := s.d
	for slot := range uint(c.Slots) {
		l := *d.locator(slot)
		if l.generation != 0 && l.generation&^generation.MaxCount != uint32(d.tag) {
			return fmt.Errorf("slot %d of a dense has the wrong generation %#x", slot, l.generation)
		}
		if generation.Exhausted(l.generation) {
			d.retire(slot)
		}
		if l.number == 0 {
			continue
		}
		if int64(l.number) > int64(c.Len) {
			return fmt.Errorf("slot %d of a dense has element %d, but there are %d elements", slot,
				l.number-1, c.Len)
		}
		d.live.Set(slot)
		*d.owner(uint(l.number) - 1) = uint32(slot)
	}
	d.len = c.Len
	d.measure()
	d.lower(0)
	if d.room > 0 {
		d.lowest()
	}
	return sound(d.checkInvariants)
}

func (s *denseState[T]) Abandon(c state.Contents) {
	d := s.d
	for slot := range uint(c.Slots) {
		*d.locator(slot) = locator{}
	}
	d.retired, d.len = nil, 0
	d.live.Reset()
	d.elements.shrinkTo(0) // the memory is zero when it is committed again
	d.measure()
	d.lower(0)
}
