package earth

import (
	"cmp"
	"slices"

	"github.com/vastgo/vast"
)

// An infection spreads among the travellers who stay in one place: the SIR model of W. O. Kermack and A. G.
// McKendrick, "A Contribution to the Mathematical Theory of Epidemics", Proc. R. Soc. A 115 (1927),
// separately in each place. Travellers are the only link between places. The rates are not those of a real
// disease. They are chosen for viewers: a wave runs around the world within days. The infection remains after
// the wave, because immunity is lost after ten days on average.
//
// A susceptible traveller meets other travellers at a constant rate. A share I/N of them is infectious, where
// I is the number of infectious travellers in the place and N is the number of all travellers there. A
// traveller on the way cannot be infected. In a large town the basic reproduction number is about 3.2: an
// infectious traveller has 4 infecting contacts a day for 1 day, and rests for 80 % of the time. The number
// is lower where few travellers meet.
const (
	day = 1440.0 // ticks

	contactRate      = 4 / day  // infecting contacts of one infectious traveller in a tick
	infectiousPeriod = 1 * day  // mean of an exponential distribution
	immunePeriod     = 10 * day // mean of an exponential distribution

	// On average, one of `carriers` newborn travellers is infectious. Otherwise the infection would die out
	// in a small world.
	carriers = 2000

	// outbreaks is the number of outbreaks at the start. Several outbreaks may be in one place. An outbreak
	// infects at most maxOutbreak travellers, and at most 1/2000 of all travellers plus one.
	outbreaks   = 12
	maxOutbreak = 100
)

// examine changes the health of the travellers in a cohort. Each tick examines one cohort, so an examination
// covers a time of `cohorts` ticks. The chance of an infection in that time is 1−exp(−x), where x is the rate
// times the time. examine computes the first three terms of the power series, which is exact enough for a
// small x.
func (e *Earth) examine(r *cohort, now uint32, commands *vast.Commands) {
	for run := range r.exposed.Runs() {
		lives := e.life.Slice(run)
		for i, at := range e.at.Targets(run) {
			p := e.tallies[e.index(uint32(at.Index()))]
			if p.Infectious == 0 {
				continue
			}
			x := contactRate * cohorts * float64(p.Infectious) / float64(p.Present)
			chance := x - float64(float64(x*x)*(0.5-float64(x/6)))
			draw := draws(e.seed, lives[i].Number, now, forInfection)
			if draw.unit() <= chance {
				e.infect(run.Entity(i), now+draw.exponential(infectiousPeriod), commands)
			}
		}
	}
	for run := range r.infectious.Runs() {
		lives := e.life.Slice(run)
		for i, c := range e.infectious.Slice(run) {
			if passed(c.Until, now) {
				who, draw := run.Entity(i), draws(e.seed, lives[i].Number, now, forImmunity)
				e.infectious.RemoveLater(commands, who)
				e.recovered.AddLater(commands, who, recovered{now + draw.exponential(immunePeriod)})
			}
		}
	}
	for run := range r.recovered.Runs() {
		for i, c := range e.recovered.Slice(run) {
			if passed(c.Until, now) {
				who := run.Entity(i)
				e.recovered.RemoveLater(commands, who)
				e.susceptible.AddLater(commands, who)
			}
		}
	}
}

func (e *Earth) infect(who vast.Entity, until uint32, commands *vast.Commands) {
	e.susceptible.RemoveLater(commands, who)
	e.infectious.AddLater(commands, who, infectious{until})
}

// breakOut infects travellers in a few places: the homes of randomly drawn travellers.
func (e *Earth) breakOut() error {
	commands := vast.NewCommands(e.world, vast.CommandsOptions{})
	defer commands.Close()
	draw := draws(e.seed, 0, 0, forOutbreak)
	var all uint64
	for i := range e.stretches {
		all += e.stretches[i].size
	}
	limit := int(min(maxOutbreak, 1+all/2000))
	for range outbreaks {
		s := &e.stretches[draw.below(cohorts)]
		if s.size == 0 {
			continue
		}
		inhabitant, _ := e.native(s, draw.below(s.size))
		place := e.placeWith(inhabitant)
		if !e.owns(place) {
			continue
		}
		for _, who := range e.susceptibleIn(e.place(place), limit) {
			draw := draws(e.seed, e.life.Get(who).Number, 0, forOutbreak)
			e.infect(who, draw.exponential(infectiousPeriod), commands)
		}
		// The next outbreak must not find travellers who are already infectious.
		if _, err := e.world.Apply(commands); err != nil {
			return err
		}
	}
	return nil
}

// susceptibleIn returns susceptible travellers who rest in a place, in the order of their numbers. If there
// are more than limit of them, it returns those with the lowest numbers.
func (e *Earth) susceptibleIn(place vast.Entity, limit int) []vast.Entity {
	var found []vast.Entity
	for who := range e.at.Sources(place) {
		if e.susceptible.Has(who) {
			found = append(found, who)
		}
	}
	slices.SortFunc(found, func(a, b vast.Entity) int {
		return cmp.Compare(e.life.Get(a).Number, e.life.Get(b).Number)
	})
	return found[:min(limit, len(found))]
}
