package earth

import (
	"fmt"
	"math/bits"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/sched"
)

// load makes a world and fills it, or reads the world from the folder that keeps it.
func (e *Earth) load(c Config, list *places.List) error {
	e.world = vast.NewWorld(vast.Options{Name: "earth", MaxEntities: slotsFor(list.Len(), c.Travellers),
		Limit: c.Limit})
	e.components = newComponents(e.world)
	kept, err := e.open(c, list)
	if err != nil {
		return err
	}
	if !kept {
		archetype := e.world.Archetype(e.site, e.presence)
		if err := archetype.Grow(list.Len()); err != nil {
			return err
		}
		archetype.NewN(list.Len(), nil)
	}
	if err := e.loadPlaces(list, c.Travellers, kept); err != nil {
		return err
	}
	e.loadCohorts()
	e.keepTallies()
	if kept {
		return e.growChanging(e.world.Len())
	}
	if err := e.makeTravellers(c.Travellers); err != nil || c.Travellers == 0 {
		return err
	}
	return e.breakOut()
}

// slotsFor returns the number of slots of a world. A world needs more slots than entities, because each
// cohort reserves whole extents of slots in advance.
func slotsFor(places, travellers int) int {
	const cohortSlots = 1024
	return places + travellers + travellers/2 + cohorts*cohortSlots
}

func siteOf(list *places.List, i int) site {
	sinLat, cosLat := sinCos(list.Lat(i))
	sinLon, cosLon := sinCos(list.Lon(i))
	return site{
		At:     wide{float64(cosLat * cosLon), float64(cosLat * sinLon), sinLat}.narrow(),
		Weight: uint32(max(list.Population(i), minWeight)),
	}
}

// loadPlaces finds the places of the world, and makes their tables. The places are in the order of the list.
// If kept is false, loadPlaces also fills in the sites.
func (e *Earth) loadPlaces(list *places.List, travellers int, kept bool) error {
	sites, err := e.findPlaces(list.Len())
	if err != nil {
		return err
	}
	filled := sites
	if kept {
		// The tables are computed from the list, because the kept sites may have been edited from outside.
		filled = make([]site, len(sites))
	}
	if err := e.survey(list, filled, travellers); err != nil {
		return err
	}
	e.sites, e.gravity.sites = sites, sites
	return nil
}

// findPlaces finds the n places of the world, makes the tables for painting them, and returns their sites.
func (e *Earth) findPlaces(n int) (sites []site, err error) {
	// The places were the first entities of the world, so they all lie in the first run, except after an edit
	// from outside.
	for run := range e.world.Query(e.site, e.presence).Runs() {
		e.places, sites, e.tallies = run, e.site.Slice(run), e.presence.Slice(run)
		break
	}
	if len(sites) != n {
		return nil, fmt.Errorf("earth: a place is missing in the folder: the first run of places has %d of "+
			"%d places, because an edit deleted a place or removed its components: use another folder",
			len(sites), n)
	}
	if e.painting.dots, err = table[int32](e.globe, "earth: dots of places", n); err != nil {
		return nil, err
	}
	e.painting.tallies, err = table[presence](e.globe, "earth: painted tallies", n)
	return sites, err
}

// makeTravellers makes the travellers at the start whose homes lie in this world. All regions together have n
// travellers. Homes are spread evenly over the inhabitants, and some travellers are already on their way.
func (e *Earth) makeTravellers(n int) error {
	e.progress("travellers", 0, n)
	if n == 0 {
		return nil
	}
	for i := range e.cohort {
		r := &e.cohort[i]
		lo, hi := e.natives(r.stretch, e.first, e.first+uint32(len(e.tallies)))
		if err := r.travellers.Grow(int(hi - lo)); err != nil {
			return err
		}
		r.settled = lo
		r.travellers.NewN(int(hi-lo), nil)
	}
	e.born = uint32(n)
	if err := e.growChanging(e.world.Len()); err != nil {
		return err
	}
	return e.settle()
}

// settle gives new travellers their values and homes, and starts the first trips. It handles a few cohorts at
// a time, because the commands for all cohorts together would take more memory than the world.
func (e *Earth) settle() error {
	const cohortsAtATime = 4
	s := sched.New(e.world, sched.Options{Workers: e.workers, Visits: -1})
	defer s.Close()
	first := 0
	for _, sys := range [...]struct {
		phase sched.Phase
		work  cohortWork
	}{{"settle down", e.settleDown}, {"start trips", e.startTrips}} {
		s.Add(sched.System{
			Name: string(sys.phase), Phase: sys.phase,
			Reads:  sched.Columns(e.site, e.home, e.at),
			Writes: sched.Columns(e.body, e.life, e.stay),
			Run:    e.inCohorts(cohortsAtATime, func(i int) int { return first + i }, sys.work),
		})
	}
	for ; first < cohorts; first += cohortsAtATime {
		e.progress("travellers", int(e.cohort[first].number), int(e.born))
		if err := s.Tick(); err != nil {
			return err
		}
	}
	e.progress("travellers", int(e.born), int(e.born))
	return nil
}

func (e *Earth) loadCohorts() {
	e.cohort = make([]cohort, cohorts)
	for i := range e.cohort {
		e.cohort[i] = e.newCohort(e.world, i, &e.stretches[i])
	}
}

// At the start, about one of `onTheWay` travellers is on a trip.
const onTheWay = 4

// settleDown settles a cohort's travellers at their homes, and sets the body, life and stay of each
// traveller. A stay that ends at tick 0 marks a traveller for startTrips.
func (e *Earth) settleDown(r *cohort, _ uint32, commands *vast.Commands) {
	place := max(e.first, e.placeWith(r.first))
	for run := range e.world.Query(r.tag, e.body, e.life, e.stay).Runs() {
		bodies, lives, stays := e.body.Slice(run), e.life.Slice(run), e.stay.Slice(run)
		for i := range bodies {
			number := r.number + uint32(r.settled)
			inhabitant, draw := e.native(r.stretch, r.settled)
			for e.inhabitants[place] <= inhabitant {
				place++
			}
			bodies[i] = body{e.sites[place].At}
			lives[i] = life{number, draw.exponential(lifetime)}
			if draw.below(onTheWay) != 0 {
				stays[i].Until = draw.exponential(stayAtHome)
			}
			e.home.SetLater(commands, run.Entity(i), e.place(place))
			e.at.SetLater(commands, run.Entity(i), e.place(place))
			r.settled++
		}
	}
}

// part returns whole × n / parts, rounded down, for n < parts.
func part(n, parts, whole uint64) uint64 {
	high, low := bits.Mul64(n, whole)
	quotient, _ := bits.Div64(high, low, parts)
	return quotient
}

// startTrips handles the travellers of a cohort whose stay ends at tick 0. It draws a trip for each of them,
// and puts the traveller at a random step of the trip. It deletes a traveller whose destination lies in
// another region. A traveller without a destination stays at home.
func (e *Earth) startTrips(r *cohort, _ uint32, commands *vast.Commands) {
	for run := range r.resting.Runs() {
		stays := e.stay.Slice(run)
		for i := range stays {
			if stays[i].Until != 0 {
				continue
			}
			who := run.Entity(i)
			t, at, until := e.startOf(e.life.Get(who).Number, e.placeOf(who))
			switch {
			case t.StepsLeft == 0:
				stays[i].Until = until
			case !e.owns(t.ToPlace):
				commands.Delete(who) // another region makes the traveller
			default:
				e.body.Get(who).At = at
				e.setOut(who, t, commands)
			}
		}
	}
}

// tripUnderWay draws a trip from a place. A longer trip is more likely to be drawn, because longer trips are
// a larger share of all trips under way at one moment. The trip has no steps if there is no destination.
func (g *globe) tripUnderWay(from uint32, draw *stream) (t trip) {
	const tries, long = 4, 512
	for range tries {
		to := g.gravity.destination(from, draw)
		if to == from {
			continue
		}
		t = g.plan(from, to)
		if draw.below(long) < uint64(t.StepsLeft) {
			break
		}
	}
	return t
}

// skip makes the next n steps in one rotation.
func (t *trip) skip(p *vector, n int) {
	a, d := p.wide(), t.Direction.wide()
	sin, cos := sinCos(float64(float64(n) * (means[t.By].speed / 60 / earthRadius * degreesPerRadian)))
	*p = a.times(cos).plus(d.times(sin)).narrow()
	t.Direction = d.times(cos).minus(a.times(sin)).narrow()
	t.StepsLeft -= uint16(n)
}
