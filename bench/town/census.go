package main

import "github.com/mlange-42/ark/ecs"

// The census is not in ark.go and vast.go, so that it does not count as lines of code.

func (t *arkTown) census() (c Census) {
	people := ecs.NewFilter6[Person, Born, Place, Purse, arkHome, Stream](t.world).Query()
	for people.Next() {
		person, born, place, purse, home, stream := people.Get()
		at := t.places.Get(home.Building)
		r := Record{
			ID: person.ID, Stream: stream.State, Born: uint64(born.Tick), Coins: uint64(purse.Coins),
			X: place.X, Y: place.Y, HomeX: at.X, HomeY: at.Y,
		}
		e := people.Entity()
		if t.jobs.Has(e) {
			at := t.places.Get(t.jobs.Get(e).Building)
			r.JobX, r.JobY = at.X, at.Y
		}
		if t.insides.Has(e) {
			r.Until = uint64(t.insides.Get(e).Until)
		}
		switch {
		case t.incubs.Has(e):
			r.Health, r.HealthTo = incubating, uint64(t.incubs.Get(e).Until)
		case t.sicks.Has(e):
			r.Health, r.HealthTo = sick, uint64(t.sicks.Get(e).Until)
		case t.immunes.Has(e):
			r.Health, r.HealthTo = immune, uint64(t.immunes.Get(e).Until)
		}
		c.person(r, t.jobs.Has(e), t.walks.Has(e))
	}
	buildings := ecs.NewFilter3[Place, Crowd, Till](t.world).Query()
	for buildings.Next() {
		c.building(buildings.Get())
	}
	return c
}

func (t *vastTown) census() (c Census) {
	for s := range t.world.Query(t.person, t.born, t.place, t.purse, t.home, t.stream).Slots() {
		place, at := t.place.At(s), t.place.Get(t.home.At(s).Building)
		r := Record{
			ID: t.person.At(s).ID, Stream: t.stream.At(s).State, Born: uint64(t.born.At(s).Tick),
			Coins: uint64(t.purse.At(s).Coins), X: place.X, Y: place.Y, HomeX: at.X, HomeY: at.Y,
		}
		job := t.job.TryAt(s)
		if job != nil {
			at := t.place.Get(job.Building)
			r.JobX, r.JobY = at.X, at.Y
		}
		if in := t.inside.TryAt(s); in != nil {
			r.Until = uint64(in.Until)
		}
		if i := t.incubs.TryAt(s); i != nil {
			r.Health, r.HealthTo = incubating, uint64(i.Until)
		} else if i := t.sick.TryAt(s); i != nil {
			r.Health, r.HealthTo = sick, uint64(i.Until)
		} else if i := t.immune.TryAt(s); i != nil {
			r.Health, r.HealthTo = immune, uint64(i.Until)
		}
		c.person(r, job != nil, t.walks.TryAt(s) != nil)
	}
	for s := range t.world.Query(t.place, t.crowd, t.till).Slots() {
		c.building(t.place.At(s), t.crowd.At(s), t.till.At(s))
	}
	return c
}
