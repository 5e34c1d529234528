package earth

import "github.com/vastgo/vast"

// An infection spreads among those who stay in one place: the SIR model of W. O. Kermack and A. G. McKendrick, "A
// Contribution to the Mathematical Theory of Epidemics", Proc. R. Soc. A 115 (1927), in each place on its own, with the
// travellers as the only link between places. Its rates are of no real disease but chosen to be watched: a wave runs around
// the world within days, and because immunity is lost after a week or two it goes on for ever.
//
// A susceptible traveller meets others at an even rate, a share I/N of them infectious, where I and N are the infectious and
// all travellers in the place. On the way nobody is infected. So the basic reproduction number is contacts × infectious
// period × share of time at rest, about 4 × 1 × 0.8 = 3.2 in a large town, and less where few meet.
const (
	day = 1440.0 // ticks

	contactRate      = 4 / day // infecting contacts of one infectious traveller in a tick
	infectiousPeriod = 1 * day // mean, exponentially distributed as the following
	immunePeriod     = 10 * day

	// carriers is one in how many of the newborn are infectious, as newcomers from elsewhere would be: without them the
	// infection would die out for good in a small world.
	carriers = 2000

	// outbreaks is the number of places where the infection begins, with so many travellers in each at most, and no more
	// than one and one in two thousand of all.
	outbreaks   = 12
	outbreakMax = 100
)

// change is a traveller's change of health.
type change struct {
	who   vast.Entity
	to    condition
	until uint32
}

type condition uint32

const (
	toInfectious condition = iota
	toRecovered
	toSusceptible
)

// examine collects the changes of health in a region. Each region is examined once in regions ticks, for as many ticks at
// once: the chance of an infection in that time is 1−exp(−rate × time), taken by its series.
func (e *Earth) examine(r *region, now uint32) {
	b := &e.changesOfHealth
	b.n = 0
	for run := range r.exposed.Runs() {
		for i, at := range e.goal.Slice(run) {
			p := e.tallies[at.place]
			if p.infectious == 0 {
				continue
			}
			x := contactRate * regions * float64(p.infectious) / float64(p.present)
			chance := x - float64(float64(x*x)*(0.5-float64(x/6)))
			l := e.life.Slice(run)[i]
			draw := draws(e.seed, l.number, now, forInfection)
			if draw.unit() > chance {
				continue
			}
			if b.full() {
				return
			}
			b.add(change{run.Entity(i), toInfectious, now + draw.exponential(infectiousPeriod)})
		}
	}
	for run := range r.infectious.Runs() {
		for i, c := range e.infectious.Slice(run) {
			if !passed(c.until, now) {
				continue
			}
			if b.full() {
				return
			}
			draw := draws(e.seed, e.life.Slice(run)[i].number, now, forImmunity)
			b.add(change{run.Entity(i), toRecovered, now + draw.exponential(immunePeriod)})
		}
	}
	for run := range r.recovered.Runs() {
		for i, c := range e.recovered.Slice(run) {
			if !passed(c.until, now) {
				continue
			}
			if b.full() {
				return
			}
			b.add(change{who: run.Entity(i), to: toSusceptible})
		}
	}
}

// changeHealth carries out the changes of health that examine found.
func (e *Earth) changeHealth() {
	for _, c := range e.changesOfHealth.all() {
		switch c.to {
		case toInfectious:
			e.infect(c.who, c.until)
		case toRecovered:
			e.tallyInfectious(c.who, -1)
			e.infectious.Remove(c.who)
			e.recovered.Add(c.who, recovered{c.until})
			e.changes += 2
		case toSusceptible:
			e.recovered.Remove(c.who)
			e.susceptible.Add(c.who)
			e.changes += 2
		}
	}
}

// infect makes a susceptible traveller infectious.
func (e *Earth) infect(who vast.Entity, until uint32) {
	e.susceptible.Remove(who)
	e.infectious.Add(who, infectious{until})
	e.tallyInfectious(who, 1)
	e.changes += 2
}

// tallyInfectious adds to the infectious of the place where a traveller stays, if it does.
func (e *Earth) tallyInfectious(who vast.Entity, n int32) {
	if e.stay.Has(who) {
		e.tallies[e.goal.Get(who).place].infectious += n
	}
}

// breakOut infects some travellers in a few places: where travellers rest who are drawn by chance.
func (e *Earth) breakOut() {
	draw := draws(e.seed, 0, 0, forOutbreak)
	most := min(outbreakMax, 1+e.life.Len()/2000)
	for range outbreaks {
		r := &e.region[draw.below(regions)]
		if r.size == 0 {
			continue
		}
		for _, who := range e.together(r, int(draw.below(r.size)), most) {
			draw := draws(e.seed, e.life.Get(who).number, 0, forOutbreak)
			e.infect(who, draw.exponential(infectiousPeriod))
		}
	}
}

// together returns up to most of a region's susceptible travellers who rest in one place, the first of them the one after
// as many others as skip says.
func (e *Earth) together(r *region, skip, most int) (found []vast.Entity) {
	var place uint32
	for run := range r.exposed.Runs() {
		if skip >= run.Len() {
			skip -= run.Len()
			continue
		}
		for i, at := range e.goal.Slice(run)[skip:] {
			if len(found) == 0 {
				place = at.place
			}
			if at.place == place {
				found = append(found, run.Entity(skip+i))
			}
			if len(found) == most {
				return found
			}
		}
		skip = 0
	}
	return found
}
