package earth

import "github.com/vastgo/vast"

// An infection spreads among the travellers who stay in one place: the SIR model of W. O. Kermack and A. G.
// McKendrick, "A Contribution to the Mathematical Theory of Epidemics", Proc. R. Soc. A 115 (1927),
// separately in each place. Travellers are the only link between places. The rates belong to no real disease.
// They are chosen for viewers: a wave runs around the world within days, and goes on for ever because
// immunity is lost after a week or two.
//
// A susceptible traveller meets others at a constant rate. A share I/N of them is infectious, where I and N
// are the infectious and all travellers in the place. Travellers on the way are not infected. So the basic
// reproduction number is contacts × infectious period × share of time at rest, about 4 × 1 × 0.8 = 3.2 in a
// large town, and less where few travellers meet.
const (
	day = 1440.0 // ticks

	contactRate      = 4 / day  // infecting contacts of one infectious traveller in a tick
	infectiousPeriod = 1 * day  // mean of an exponential distribution
	immunePeriod     = 10 * day // mean of an exponential distribution

	// carriers is the number of newborn travellers among whom one is infectious, like a newcomer from
	// elsewhere. Without such newcomers the infection would die out in a small world.
	carriers = 2000

	// outbreaks is the number of places where the infection begins. In each place it begins with at most
	// outbreakMax travellers, and with at most 1 + n/2000 in a world of n travellers.
	outbreaks   = 12
	outbreakMax = 100
)

// examine changes the health of the travellers in a region. Each tick examines one region, so an examination
// stands for a time of `regions` ticks. The chance of an infection in that time is 1−exp(−rate × time),
// computed from its power series.
func (e *Earth) examine(r *region, now uint32, commands *vast.Commands) {
	for run := range r.exposed.Runs() {
		lives := e.life.Slice(run)
		for i, at := range e.at.Targets(run) {
			p := e.tallies[e.number(uint32(at.Index()))]
			if p.Infectious == 0 {
				continue
			}
			x := contactRate * regions * float64(p.Infectious) / float64(p.Present)
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

// infect makes a susceptible traveller infectious.
func (e *Earth) infect(who vast.Entity, until uint32, commands *vast.Commands) {
	e.susceptible.RemoveLater(commands, who)
	e.infectious.AddLater(commands, who, infectious{until})
}

// breakOut infects travellers in a few places, which it finds by drawing travellers at rest.
func (e *Earth) breakOut() error {
	commands := vast.NewCommands(e.world, vast.CommandsOptions{})
	defer commands.Close()
	draw := draws(e.seed, 0, 0, forOutbreak)
	most := min(outbreakMax, 1+e.life.Len()/2000)
	for range outbreaks {
		r := &e.region[draw.below(regions)]
		if r.size == 0 {
			continue
		}
		for _, who := range e.together(r, int(draw.below(r.size)), most) {
			draw := draws(e.seed, e.life.Get(who).Number, 0, forOutbreak)
			e.infect(who, draw.exponential(infectiousPeriod), commands)
		}
		// The next search must not find travellers who are infectious by now.
		if _, err := e.world.Apply(commands); err != nil {
			return err
		}
	}
	return nil
}

// together returns up to most susceptible travellers of a region who rest in one place. It skips the region's
// first skip susceptible travellers; the next one determines the place.
func (e *Earth) together(r *region, skip, most int) (found []vast.Entity) {
	var place vast.Slot
	for run := range r.exposed.Runs() {
		if skip >= run.Len() {
			skip -= run.Len()
			continue
		}
		for i, at := range e.at.Targets(run) {
			if i < skip {
				continue
			}
			if len(found) == 0 {
				place = at
			}
			if at == place {
				found = append(found, run.Entity(i))
			}
			if len(found) == most {
				return found
			}
		}
		skip = 0
	}
	return found
}
