package main

import "github.com/vastgo/vast"

type vastTown struct {
	Params
	tick      int64
	world     *vast.World
	buildings []vast.Entity

	person vast.Column[Person]
	born   vast.Column[Born]
	place  vast.Column[Place]
	purse  vast.Column[Purse]
	home   vast.Column[Home[vast.Entity]]
	stream vast.Column[Stream]
	job    vast.Column[Job[vast.Entity]]
	inside vast.Column[Inside[vast.Entity]]
	walks  vast.Column[Walk[vast.Entity]]
	incubs vast.SparseColumn[Incubating]
	sick   vast.SparseColumn[Sick]
	immune vast.SparseColumn[Immune]
	crowd  vast.Column[Crowd]
	till   vast.Column[Till]

	people      *vast.Archetype
	list, other []vast.Entity
}

func newVastTown(p Params) *vastTown {
	w := vast.NewWorld(vast.Options{MaxEntities: 4*p.People + 100_000})
	t := &vastTown{
		Params: p, world: w,
		person: vast.NewColumn[Person](w),
		born:   vast.NewColumn[Born](w),
		place:  vast.NewColumn[Place](w),
		purse:  vast.NewColumn[Purse](w),
		home:   vast.NewColumn[Home[vast.Entity]](w),
		stream: vast.NewColumn[Stream](w),
		job:    vast.NewColumn[Job[vast.Entity]](w),
		inside: vast.NewColumn[Inside[vast.Entity]](w),
		walks:  vast.NewColumn[Walk[vast.Entity]](w),
		incubs: vast.NewSparseColumn[Incubating](w),
		sick:   vast.NewSparseColumn[Sick](w),
		immune: vast.NewSparseColumn[Immune](w),
		crowd:  vast.NewColumn[Crowd](w),
		till:   vast.NewColumn[Till](w),
	}
	t.people = w.Archetype(t.person, t.born, t.place, t.purse, t.home, t.stream, t.inside)
	buildings, people := p.settle()
	houses := w.Archetype(t.place, t.crowd, t.till)
	for _, place := range buildings {
		e := houses.New()
		t.place.Set(e, place)
		t.buildings = append(t.buildings, e)
	}
	for _, s := range people {
		e := t.birth(s.ID, s.Seed, t.buildings[s.Home], s.Born, s.Until)
		t.purse.Set(e, Purse{s.Coins})
		if -s.Born >= p.Adult {
			t.job.Add(e, Job[vast.Entity]{t.buildings[s.Job]})
		}
		if s.Sick {
			t.sick.Add(e, Sick{p.Ill})
		}
	}
	return t
}

// birth makes a person who is at home.
func (t *vastTown) birth(id, seed uint64, home vast.Entity, born, until int64) vast.Entity {
	e := t.people.New()
	t.person.Set(e, Person{id})
	t.born.Set(e, Born{born})
	t.place.Set(e, *t.place.Get(home))
	t.home.Set(e, Home[vast.Entity]{home})
	t.stream.Set(e, Stream{seed})
	t.inside.Set(e, Inside[vast.Entity]{home, until})
	return e
}

func (t *vastTown) phases() []phase {
	return []phase{
		{"leave", t.leave}, {"walk", t.walk}, {"work", t.work}, {"gather", t.gather}, {"infect", t.infect},
		{"fall ill", t.fallIll}, {"recover", t.recover}, {"bear", t.bear}, {"grow up", t.growUp},
		{"die", t.die},
	}
}

func (t *vastTown) begin(tick int64) { t.tick = tick }

// leave sends people to work, or home.
func (t *vastTown) leave() {
	t.list = t.list[:0]
	for s := range t.world.Query(t.inside, t.home).Slots() {
		in := t.inside.At(s)
		if in.Until > t.tick {
			continue
		}
		if in.Building == t.home.At(s).Building && t.job.TryAt(s) == nil {
			in.Until = t.tick + t.Rest
			continue
		}
		t.list = append(t.list, s.Entity())
	}
	for _, e := range t.list {
		to := t.home.Get(e).Building
		if t.inside.Get(e).Building == to {
			to = t.job.Get(e).Building
		}
		t.inside.Remove(e)
		t.walks.Add(e, Walk[vast.Entity]{to, *t.place.Get(to)})
	}
}

func (t *vastTown) walk() {
	t.list = t.list[:0]
	for s := range t.world.Query(t.place, t.walks).Slots() {
		if t.place.At(s).step(t.walks.At(s).Target) {
			t.list = append(t.list, s.Entity())
		}
	}
	for _, e := range t.list {
		to, stay := t.walks.Get(e).To, t.Shift
		if to == t.home.Get(e).Building {
			stay = t.Rest
		}
		t.walks.Remove(e)
		t.inside.Add(e, Inside[vast.Entity]{to, t.tick + stay})
	}
}

// work pays wages to people at work, and fills the till of the building.
func (t *vastTown) work() {
	for s := range t.world.Query(t.inside, t.job, t.purse).Slots() {
		if in := t.inside.At(s).Building; in == t.job.At(s).Building {
			t.purse.At(s).Coins += t.Wage
			t.till.Get(in).Coins++
		}
	}
}

func (t *vastTown) gather() {
	t.crowd.SetAll(t.world.Query(t.crowd), Crowd{})
	for s := range t.world.Query(t.inside).Slots() {
		t.crowd.Get(t.inside.At(s).Building).People++
	}
	for s := range t.world.Query(t.inside, t.sick).Slots() {
		t.crowd.Get(t.inside.At(s).Building).Sick++
	}
}

func (t *vastTown) infect() {
	t.list = t.list[:0]
	for s := range t.world.Query(t.inside, t.stream).Without(t.incubs, t.sick, t.immune).Slots() {
		n := t.crowd.Get(t.inside.At(s).Building).Sick
		if n > 0 && t.stream.At(s).chance(t.Contagion*float32(n)) {
			t.list = append(t.list, s.Entity())
		}
	}
	for _, e := range t.list {
		t.incubs.Add(e, Incubating{t.tick + t.Incubation})
	}
}

func (t *vastTown) fallIll() {
	t.list = t.list[:0]
	for e, incub := range t.incubs.All() {
		if incub.Until <= t.tick {
			t.list = append(t.list, e)
		}
	}
	for _, e := range t.list {
		t.incubs.Remove(e)
		t.sick.Add(e, Sick{t.tick + t.Ill})
	}
}

// recover ends illnesses, by death or by immunity, and ends immunity.
func (t *vastTown) recover() {
	t.list, t.other = t.list[:0], t.other[:0]
	for e, sick := range t.sick.All() {
		if sick.Until > t.tick {
			continue
		} else if t.stream.Get(e).chance(t.Lethality) {
			t.other = append(t.other, e)
		} else {
			t.list = append(t.list, e)
		}
	}
	for _, e := range t.other {
		t.world.Delete(e)
	}
	for _, e := range t.list {
		t.sick.Remove(e)
		t.immune.Add(e, Immune{t.tick + t.Immunity})
	}
	t.list = t.list[:0]
	for e, immune := range t.immune.All() {
		if immune.Until <= t.tick {
			t.list = append(t.list, e)
		}
	}
	for _, e := range t.list {
		t.immune.Remove(e)
	}
}

// bear adds a child for each person who has a job, is at home and can pay for a child.
func (t *vastTown) bear() {
	t.list = t.list[:0]
	for s := range t.world.Query(t.inside, t.home, t.purse, t.job).Slots() {
		if t.purse.At(s).Coins >= t.ChildCost && t.inside.At(s).Building == t.home.At(s).Building {
			t.list = append(t.list, s.Entity())
		}
	}
	for _, e := range t.list {
		t.purse.Get(e).Coins -= t.ChildCost
		stream := t.stream.Get(e)
		t.birth(stream.next(), stream.next(), t.home.Get(e).Building, t.tick, t.tick+t.Rest)
	}
}

// growUp gives a job to children who are old enough.
func (t *vastTown) growUp() {
	t.list = t.list[:0]
	for s := range t.world.Query(t.born).Without(t.job).Slots() {
		if t.tick-t.born.At(s).Tick >= t.Adult {
			t.list = append(t.list, s.Entity())
		}
	}
	for _, e := range t.list {
		t.job.Add(e, Job[vast.Entity]{t.buildings[t.stream.Get(e).below(len(t.buildings))]})
	}
}

func (t *vastTown) die() {
	t.list = t.list[:0]
	for s := range t.world.Query(t.born).Slots() {
		if t.tick-t.born.At(s).Tick >= t.Life {
			t.list = append(t.list, s.Entity())
		}
	}
	for _, e := range t.list {
		t.world.Delete(e)
	}
}
