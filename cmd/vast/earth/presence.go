package earth

import "github.com/vastgo/vast"

// owns reports whether a place lies in this world.
func (e *Earth) owns(number uint32) bool { return number-e.first < uint32(len(e.tallies)) }

// place returns the entity of the place with this number. The places were the first entities of the world, so
// they lie in one run.
func (e *Earth) place(number uint32) vast.Entity { return e.places.Entity(int(number - e.first)) }

// index returns the index in tallies of the place in a slot. A link that was edited from outside may lead to
// an entity that is not a place. Then index returns the index of the last place.
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

// keepTallies registers hooks that update the tally of a place whenever a traveller arrives, departs, is born
// or dies, falls ill or recovers. Before mourn deletes an infectious traveller, mourn removes the infection.
// Otherwise the hooks of e.at and the hooks of e.infectious would both subtract the infection from the tally.
func (e *Earth) keepTallies() {
	comesOrGoes := func(by int32) func(who, place vast.Entity) {
		return func(who, place vast.Entity) {
			p := e.presence.Edit(place)
			if p == nil {
				return // the link was edited from outside and does not lead to a place
			}
			p.Present += by
			if e.infectious.Has(who) {
				p.Infectious += by
			}
		}
	}
	e.at.OnAdd(comesOrGoes(1))
	e.at.OnRemove(comesOrGoes(-1))
	changesHealth := func(by int32) func(vast.Entity, *infectious) {
		return func(who vast.Entity, _ *infectious) {
			place, _ := e.at.Target(who)
			if p := e.presence.Edit(place); p != nil {
				p.Infectious += by
			}
		}
	}
	e.infectious.OnAdd(changesHealth(1))
	e.infectious.OnRemove(changesHealth(-1))
}
