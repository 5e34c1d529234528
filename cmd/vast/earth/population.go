package earth

import "github.com/vastgo/vast"

// lifetime is the mean of the exponentially distributed length of a life. It is much shorter than a real
// life, to let every tick of a large world make and delete entities: a world of 43,000 travellers has about
// one birth and one death in a tick. On average births equal deaths, so the number of travellers stays about
// the same. The births in a town are in proportion to its inhabitants.
const lifetime = 30 * day

// births returns the number of births in a cohort in a tick that examines it. The number depends only on the
// cohort, the seed and the tick, so room for the newborn can be made before anything changes.
func (g *globe) births(index int, now uint32) int {
	expected := float64(float64(g.stretches[index].size) * (cohorts / lifetime))
	draw := draws(g.seed, uint32(index), now, forBirths)
	return int(expected + draw.unit())
}

// prepareBirths makes room for a cohort's births, for all later components of the newborn, and for the
// commands of the tick. If it fails, the state is unchanged.
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
// in a few hundred travellers sets out or arrives, and the commands for this traveller take about 70 bytes.
func recordedBytes(n int) int { return 2*n + 64<<10 }

// bear makes the travellers who are born in a cohort, at their homes. Each region counts the births of all
// regions, so two regions never give the same number to two travellers.
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

// drawHome draws the home of a traveller born in a stretch.
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
			// The infection is removed first. Otherwise the hook of e.at, which sees all components of a
			// deleted entity, would subtract the infection from the tally a second time.
			e.infectious.RemoveLater(commands, who)
			commands.Delete(who)
			e.died++
		}
	}
}
