package earth

import "github.com/vastgo/vast"

// lifetime is the mean length of a life, in ticks; the lengths are exponentially distributed. It is much
// shorter than a real life, so that every tick of a large world makes and deletes entities: 43,000 travellers
// have about one birth and one death in a tick. The births in a town are in proportion to its inhabitants.
const lifetime = 30 * day

// births returns the number of births in a cohort in tick now. In this tick, it is the cohort's turn: see the
// method turn. The number depends only on the cohort, the seed and the tick, so prepareBirths can make room
// before the tick.
func (g *globe) births(index int, now uint32) int {
	expected := float64(float64(g.stretches[index].size) * (cohorts / lifetime))
	draw := draws(g.seed, uint32(index), now, forBirths)
	return int(expected + draw.unit())
}

// prepareBirths makes room for a cohort's births, for the components that the newborn gain later, and for the
// commands of the tick. If it returns an error, the state is unchanged.
func (e *Earth) prepareBirths(r *cohort) error {
	if err := e.schedule.GrowCommandBytes(recordedBytes(e.life.Len() + r.births)); err != nil {
		return err
	}
	if r.births == 0 {
		return nil
	}
	if err := r.travellers.Grow(r.births); err != nil {
		return err
	}
	return e.growChanging(e.world.Len())
}

// recordedBytes returns the room in bytes for the commands of a tick with n travellers. In a tick, about one
// of a few hundred travellers sets out or arrives, with commands of about 70 bytes.
func recordedBytes(n int) int { return 2*n + 64<<10 }

// bear makes the travellers who are born in a cohort, at their homes. Each region counts the births of all
// regions, so that each traveller of the Earth has a different number.
func (e *Earth) bear(r *cohort, now uint32, commands *vast.Commands) {
	for range r.births {
		number := e.born
		e.born++
		at := e.drawHome(r.stretch, number)
		if !e.owns(at) {
			continue
		}
		e.bornInTicks++
		who := commands.New(r.travellers)
		draw := draws(e.seed, number, now, forLife)
		e.body.SetLater(commands, who, body{e.sites[at].At})
		e.life.SetLater(commands, who, life{number, now + draw.exponential(lifetime)})
		e.home.SetLater(commands, who, e.place(at))
		e.at.SetLater(commands, who, e.place(at))
		stays := draws(e.seed, number, now, forStay)
		e.stay.SetLater(commands, who, stay{now + stays.exponential(stayAtHome)})
		if draw.below(carriers) == 0 {
			e.infect(who, now+draw.exponential(infectiousPeriod), commands)
		}
	}
}

// drawHome draws the home of a traveller who is born in a stretch.
func (g *globe) drawHome(s *stretch, number uint32) uint32 {
	draw := draws(g.seed, number, 0, forHome)
	return g.placeWith(s.first + draw.below(s.end-s.first))
}

// mourn deletes the travellers of a cohort whose life has ended.
func (e *Earth) mourn(r *cohort, now uint32, commands *vast.Commands) {
	for run := range r.everyone.Runs() {
		for i, l := range e.life.Slice(run) {
			if !passed(l.Ends, now) {
				continue
			}
			who := run.Entity(i)
			// The hooks of a deletion see all components of the entity. The hooks of e.at and of e.infectious
			// would both subtract an infection from the tally, so mourn removes the infection first.
			e.infectious.RemoveLater(commands, who)
			commands.Delete(who)
			e.died++
		}
	}
}
