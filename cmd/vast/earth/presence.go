package earth

import "github.com/vastgo/vast"

// owns reports whether the place with this number lies in this world.
func (e *Earth) owns(number uint32) bool { return number-e.first < uint32(len(e.tallies)) }

// place returns the entity of the place with this number. Places are the first entities of a world, so they
// lie in one run.
func (e *Earth) place(number uint32) vast.Entity { return e.places.Entity(int(number - e.first)) }

// index returns the index in tallies of the place in a slot. It returns the last index for a slot without a
// place, because an edit from outside can set a link to any entity.
func (e *Earth) index(slot uint32) uint32 {
	return min(slot-uint32(e.places.Start()), uint32(len(e.tallies)-1))
}

// number returns the number of the place in a slot.
func (e *Earth) number(slot uint32) uint32 { return e.first + e.index(slot) }

// homeOf returns the number of a traveller's home.
func (e *Earth) homeOf(who vast.Entity) uint32 {
	if home := e.abroad.Get(who); home != nil {
		return home.HomePlace
	}
	home, _ := e.home.Target(who)
	return e.number(home.Slot())
}

// placeOf returns the number of the place where a traveller stays. The traveller must be at rest.
func (e *Earth) placeOf(who vast.Entity) uint32 {
	at, _ := e.at.Target(who)
	return e.number(at.Slot())
}

// keepTallies registers hooks that update the tally of a place whenever a traveller arrives, departs, is
// born, dies, falls ill or recovers there.
func (e *Earth) keepTallies() {
	countPresent := func(by int32) func(who, place vast.Entity) {
		return func(who, place vast.Entity) {
			p := e.presence.Edit(place)
			if p == nil {
				return // an edit from outside has set the link to an entity that is not a place
			}
			p.Present += by
			if e.infectious.Has(who) {
				p.Infectious += by
			}
		}
	}
	e.at.OnAdd(countPresent(1))
	e.at.OnRemove(countPresent(-1))
	countInfectious := func(by int32) func(vast.Entity, *infectious) {
		return func(who vast.Entity, _ *infectious) {
			place, _ := e.at.Target(who)
			if p := e.presence.Edit(place); p != nil {
				p.Infectious += by
			}
		}
	}
	e.infectious.OnAdd(countInfectious(1))
	e.infectious.OnRemove(countInfectious(-1))
}
