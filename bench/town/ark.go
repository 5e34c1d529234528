package main

import "github.com/mlange-42/ark/ecs"

type (
	arkHome   = Home[ecs.Entity]
	arkJob    = Job[ecs.Entity]
	arkInside = Inside[ecs.Entity]
	arkWalk   = Walk[ecs.Entity]
)

type arkTown struct {
	Params
	tick      int64
	world     *ecs.World
	buildings []ecs.Entity

	newPerson   *ecs.Map7[Person, Born, Place, Purse, arkHome, Stream, arkInside]
	newBuilding *ecs.Map3[Place, Crowd, Till]

	places  *ecs.Map[Place]
	homes   *ecs.Map[arkHome]
	jobs    *ecs.Map[arkJob]
	purses  *ecs.Map[Purse]
	streams *ecs.Map[Stream]
	crowds  *ecs.Map[Crowd]
	tills   *ecs.Map[Till]
	insides *ecs.Map[arkInside]
	walks   *ecs.Map[arkWalk]
	incubs  *ecs.Map[Incubating]
	sicks   *ecs.Map[Sick]
	immunes *ecs.Map[Immune]

	toWalk   *ecs.Exchange1[arkWalk]
	toInside *ecs.Exchange1[arkInside]
	toSick   *ecs.Exchange1[Sick]
	toImmune *ecs.Exchange1[Immune]

	inside     *ecs.Filter2[arkInside, arkHome]
	walking    *ecs.Filter2[Place, arkWalk]
	working    *ecs.Filter3[arkInside, arkJob, Purse]
	crowded    *ecs.Filter1[Crowd]
	present    *ecs.Filter1[arkInside]
	ill        *ecs.Filter1[arkInside]
	healthy    *ecs.Filter2[arkInside, Stream]
	incubating *ecs.Filter1[Incubating]
	sick       *ecs.Filter2[Sick, Stream]
	immune     *ecs.Filter1[Immune]
	parents    *ecs.Filter3[arkInside, arkHome, Purse]
	children   *ecs.Filter1[Born]
	all        *ecs.Filter1[Born]

	list, other []ecs.Entity
}

func newArkTown(p Params) *arkTown {
	w := ecs.NewWorld()
	t := &arkTown{
		Params: p, world: w,
		newPerson:   ecs.NewMap7[Person, Born, Place, Purse, arkHome, Stream, arkInside](w),
		newBuilding: ecs.NewMap3[Place, Crowd, Till](w),
		places:      ecs.NewMap[Place](w),
		homes:       ecs.NewMap[arkHome](w),
		jobs:        ecs.NewMap[arkJob](w),
		purses:      ecs.NewMap[Purse](w),
		streams:     ecs.NewMap[Stream](w),
		crowds:      ecs.NewMap[Crowd](w),
		tills:       ecs.NewMap[Till](w),
		insides:     ecs.NewMap[arkInside](w),
		walks:       ecs.NewMap[arkWalk](w),
		incubs:      ecs.NewMap[Incubating](w),
		sicks:       ecs.NewMap[Sick](w),
		immunes:     ecs.NewMap[Immune](w),
		toWalk:      ecs.NewExchange1[arkWalk](w).Removes(ecs.C[arkInside]()),
		toInside:    ecs.NewExchange1[arkInside](w).Removes(ecs.C[arkWalk]()),
		toSick:      ecs.NewExchange1[Sick](w).Removes(ecs.C[Incubating]()),
		toImmune:    ecs.NewExchange1[Immune](w).Removes(ecs.C[Sick]()),
		inside:      ecs.NewFilter2[arkInside, arkHome](w).Register(),
		walking:     ecs.NewFilter2[Place, arkWalk](w).Register(),
		working:     ecs.NewFilter3[arkInside, arkJob, Purse](w).Register(),
		crowded:     ecs.NewFilter1[Crowd](w).Register(),
		present:     ecs.NewFilter1[arkInside](w).Register(),
		ill:         ecs.NewFilter1[arkInside](w).With(ecs.C[Sick]()).Register(),
		healthy: ecs.NewFilter2[arkInside, Stream](w).
			Without(ecs.C[Incubating](), ecs.C[Sick](), ecs.C[Immune]()).Register(),
		incubating: ecs.NewFilter1[Incubating](w).Register(),
		sick:       ecs.NewFilter2[Sick, Stream](w).Register(),
		immune:     ecs.NewFilter1[Immune](w).Register(),
		parents:    ecs.NewFilter3[arkInside, arkHome, Purse](w).With(ecs.C[arkJob]()).Register(),
		children:   ecs.NewFilter1[Born](w).Without(ecs.C[arkJob]()).Register(),
		all:        ecs.NewFilter1[Born](w).Register(),
	}
	buildings, people := p.settle()
	for _, place := range buildings {
		t.buildings = append(t.buildings, t.newBuilding.NewEntity(&place, &Crowd{}, &Till{}))
	}
	for _, s := range people {
		home := t.buildings[s.Home]
		e := t.newPerson.NewEntity(&Person{s.ID}, &Born{s.Born}, &buildings[s.Home], &Purse{s.Coins},
			&arkHome{home}, &Stream{s.Seed}, &arkInside{home, s.Until})
		if -s.Born >= p.Adult {
			t.jobs.Add(e, &arkJob{t.buildings[s.Job]})
		}
		if s.Sick {
			t.sicks.Add(e, &Sick{p.Ill})
		}
	}
	return t
}

func (t *arkTown) phases() []phase {
	return []phase{
		{"leave", t.leave}, {"walk", t.walk}, {"work", t.work}, {"gather", t.gather}, {"infect", t.infect},
		{"fall ill", t.fallIll}, {"recover", t.recover}, {"bear", t.bear}, {"grow up", t.growUp},
		{"die", t.die},
	}
}

func (t *arkTown) begin(tick int64) { t.tick = tick }

// leave sends people to work, or home.
func (t *arkTown) leave() {
	t.list = t.list[:0]
	q := t.inside.Query()
	for q.Next() {
		in, home := q.Get()
		if in.Until > t.tick {
			continue
		}
		if in.Building == home.Building && !t.jobs.Has(q.Entity()) {
			in.Until = t.tick + t.Rest
			continue
		}
		t.list = append(t.list, q.Entity())
	}
	for _, e := range t.list {
		to := t.homes.Get(e).Building
		if t.insides.Get(e).Building == to {
			to = t.jobs.Get(e).Building
		}
		t.toWalk.Exchange(e, &arkWalk{to, *t.places.Get(to)})
	}
}

func (t *arkTown) walk() {
	t.list = t.list[:0]
	q := t.walking.Query()
	for q.Next() {
		place, walk := q.Get()
		if place.step(walk.Target) {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.list {
		to, stay := t.walks.Get(e).To, t.Shift
		if to == t.homes.Get(e).Building {
			stay = t.Rest
		}
		t.toInside.Exchange(e, &arkInside{to, t.tick + stay})
	}
}

// work pays wages to people at work, and fills the till of the building.
func (t *arkTown) work() {
	q := t.working.Query()
	for q.Next() {
		in, job, purse := q.Get()
		if in.Building == job.Building {
			purse.Coins += t.Wage
			t.tills.Get(in.Building).Coins++
		}
	}
}

func (t *arkTown) gather() {
	q := t.crowded.Query()
	for q.Next() {
		*q.Get() = Crowd{}
	}
	people := t.present.Query()
	for people.Next() {
		t.crowds.Get(people.Get().Building).People++
	}
	ill := t.ill.Query()
	for ill.Next() {
		t.crowds.Get(ill.Get().Building).Sick++
	}
}

func (t *arkTown) infect() {
	t.list = t.list[:0]
	q := t.healthy.Query()
	for q.Next() {
		in, stream := q.Get()
		if n := t.crowds.Get(in.Building).Sick; n > 0 && stream.chance(t.Contagion*float32(n)) {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.list {
		t.incubs.Add(e, &Incubating{t.tick + t.Incubation})
	}
}

func (t *arkTown) fallIll() {
	t.list = t.list[:0]
	q := t.incubating.Query()
	for q.Next() {
		if q.Get().Until <= t.tick {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.list {
		t.toSick.Exchange(e, &Sick{t.tick + t.Ill})
	}
}

// recover ends illnesses, by death or by immunity, and ends immunity.
func (t *arkTown) recover() {
	t.list, t.other = t.list[:0], t.other[:0]
	q := t.sick.Query()
	for q.Next() {
		if sick, stream := q.Get(); sick.Until > t.tick {
			continue
		} else if stream.chance(t.Lethality) {
			t.other = append(t.other, q.Entity())
		} else {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.other {
		t.world.RemoveEntity(e)
	}
	for _, e := range t.list {
		t.toImmune.Exchange(e, &Immune{t.tick + t.Immunity})
	}
	t.list = t.list[:0]
	immune := t.immune.Query()
	for immune.Next() {
		if immune.Get().Until <= t.tick {
			t.list = append(t.list, immune.Entity())
		}
	}
	for _, e := range t.list {
		t.immunes.Remove(e)
	}
}

// bear adds a child for each person who has a job, is at home and can pay for a child.
func (t *arkTown) bear() {
	t.list = t.list[:0]
	q := t.parents.Query()
	for q.Next() {
		in, home, purse := q.Get()
		if in.Building == home.Building && purse.Coins >= t.ChildCost {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.list {
		t.purses.Get(e).Coins -= t.ChildCost
		stream, home := t.streams.Get(e), *t.homes.Get(e)
		t.newPerson.NewEntity(&Person{stream.next()}, &Born{t.tick}, t.places.Get(home.Building), &Purse{},
			&home, &Stream{stream.next()}, &arkInside{home.Building, t.tick + t.Rest})
	}
}

// growUp gives a job to children who are old enough.
func (t *arkTown) growUp() {
	t.list = t.list[:0]
	q := t.children.Query()
	for q.Next() {
		if t.tick-q.Get().Tick >= t.Adult {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.list {
		t.jobs.Add(e, &arkJob{t.buildings[t.streams.Get(e).below(len(t.buildings))]})
	}
}

func (t *arkTown) die() {
	t.list = t.list[:0]
	q := t.all.Query()
	for q.Next() {
		if t.tick-q.Get().Tick >= t.Life {
			t.list = append(t.list, q.Entity())
		}
	}
	for _, e := range t.list {
		t.world.RemoveEntity(e)
	}
}
