package earth

import (
	"fmt"
	"math/bits"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/sched"
)

// load makes a world and fills it, or reads it from the folder that keeps it.
func (e *Earth) load(c Config) error {
	list := c.Places
	if list == nil {
		var err error
		list, err = places.Embedded(places.Options{Progress: func(done, total int) {
			e.progress("places", done, total)
		}})
		if err != nil {
			return err
		}
	}
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
	if err := e.loadPlaces(list, kept); err != nil {
		return err
	}
	e.loadRegions(c.Travellers)
	e.keepTallies()
	if kept {
		return e.growChanging(e.world.Len())
	}
	return e.loadTravellers(c.Travellers)
}

// slotsFor returns the number of slots of a world. It exceeds the number of entities, because each region
// takes whole extents of slots, and takes them before it needs them.
func slotsFor(places, travellers int) int {
	const regionSlots = 1024
	return places + travellers + travellers/2 + regions*regionSlots
}

// siteOf returns the site of a place of the list.
func siteOf(list *places.List, i int) site {
	sinLat, cosLat := sinCos(list.Lat(i))
	sinLon, cosLon := sinCos(list.Lon(i))
	return site{
		At:     wide{float64(cosLat * cosLon), float64(cosLat * sinLon), sinLat}.narrow(),
		Weight: uint32(max(list.Population(i), leastWeight)),
	}
}

// loadPlaces finds the places, which are in the order of the list, and makes the tables that belong to them.
// If kept is not set, it fills in the sites.
func (e *Earth) loadPlaces(list *places.List, kept bool) error {
	n := list.Len()
	// The world was empty when the places were made, so they lie in one run and stay there.
	for run := range e.world.Query(e.site, e.presence).Runs() {
		e.places, e.sites, e.tallies = run, e.site.Slice(run), e.presence.Slice(run)
		break
	}
	if len(e.sites) != n {
		return fmt.Errorf("earth: the folder keeps %d of its %d places in a row: the others were deleted or "+
			"lost a component from outside", len(e.sites), n)
	}
	var err error
	if e.inhabitants, err = table[uint64](e, "earth: inhabitants so far", n); err != nil {
		return err
	}
	if e.painting.dots, err = table[int32](e, "earth: dots of places", n); err != nil {
		return err
	}
	if e.painting.tallies, err = table[presence](e, "earth: painted tallies", n); err != nil {
		return err
	}
	var sum uint64
	sites := e.sites
	if kept {
		// The tables follow the list, not the kept sites, which may have been edited from outside.
		sites = make([]site, n)
	}
	for i := range sites {
		sites[i] = siteOf(list, i)
		sum += uint64(sites[i].Weight)
		e.inhabitants[i] = sum
	}
	e.progress("places", n, n)
	if e.gravity, err = newGravity(e, list, sites); err != nil {
		return err
	}
	e.gravity.sites = e.sites
	return nil
}

// loadTravellers makes the travellers. Homes are spread evenly over the inhabitants, and some travellers are
// already on their way.
func (e *Earth) loadTravellers(n int) error {
	e.progress("travellers", 0, n)
	if n == 0 {
		return nil
	}
	for i := range e.region {
		r := &e.region[i]
		if err := r.travellers.Grow(int(r.size)); err != nil {
			return err
		}
		r.number = e.born
		r.travellers.NewN(int(r.size), nil)
		e.born += uint32(r.size)
	}
	if err := e.growChanging(e.world.Len()); err != nil {
		return err
	}
	return e.settle()
}

// settle gives new travellers their values and homes, and starts the first trips and infections. settle
// handles a few regions at a time, because the commands for all regions at once would take more memory than
// the world.
func (e *Earth) settle() error {
	const atOnce = 4
	s := sched.New(e.world, sched.Options{Workers: e.workers, Visits: -1})
	defer s.Close()
	first := 0
	for _, sys := range [...]struct {
		phase sched.Phase
		look  look
	}{{"settle down", e.settleDown}, {"start trips", e.startTrips}} {
		s.Add(sched.System{
			Name: string(sys.phase), Phase: sys.phase,
			Reads:  sched.Columns(e.site, e.home, e.at),
			Writes: sched.Columns(e.body, e.life, e.stay),
			Run:    e.inRegions(atOnce, func(i int) int { return first + i }, sys.look),
		})
	}
	for ; first < regions; first += atOnce {
		e.progress("travellers", int(e.region[first].number), int(e.born))
		if err := s.Tick(); err != nil {
			return err
		}
	}
	e.progress("travellers", int(e.born), int(e.born))
	return e.breakOut()
}

// loadRegions makes the regions, for n travellers.
func (e *Earth) loadRegions(n int) {
	var all uint64
	if k := len(e.inhabitants); k > 0 {
		all = e.inhabitants[k-1]
	}
	e.region = make([]region, regions)
	for i := range e.region {
		e.region[i] = e.newRegion(e.world, i)
		r := &e.region[i]
		r.first, r.end = all*uint64(i)/regions, all*uint64(i+1)/regions
		r.size = uint64(n)*uint64(i+1)/regions - uint64(n)*uint64(i)/regions
	}
}

// One in onTheWay travellers is on its way at the start.
const onTheWay = 4

// settleDown settles a region's travellers at their homes, and sets the body, life and stay of each
// traveller. A stay that ends at 0 marks a traveller for startTrips.
func (e *Earth) settleDown(r *region, _ uint32, commands *vast.Commands) {
	index, number := uint64(0), r.number
	place := e.placeWith(r.first)
	for run := range e.world.Query(r.tag, e.body, e.life, e.stay).Runs() {
		bodies, lives, stays := e.body.Slice(run), e.life.Slice(run), e.stay.Slice(run)
		for i := range bodies {
			draw := draws(e.seed, number, 0, forLife)
			inhabitant := r.first + part(index<<16|draw.below(1<<16), r.size<<16, r.end-r.first)
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
			index++
			number++
		}
	}
}

// part returns whole × n / of, for n < of.
func part(n, of, whole uint64) uint64 {
	high, low := bits.Mul64(n, whole)
	quotient, _ := bits.Div64(high, low, of)
	return quotient
}

// startTrips finds the travellers of a region with a stay that ends at 0. startTrips puts each of these
// travellers on a trip, somewhere between home and destination.
func (e *Earth) startTrips(r *region, _ uint32, commands *vast.Commands) {
	for run := range r.resting.Runs() {
		stays := e.stay.Slice(run)
		for i := range stays {
			if stays[i].Until != 0 {
				continue
			}
			who := run.Entity(i)
			draw := draws(e.seed, e.life.Get(who).Number, 0, forTrip)
			t := e.tripUnderWay(e.placeOf(who), &draw)
			if t.StepsLeft == 0 {
				stays[i].Until = draw.exponential(stayAtHome)
				continue
			}
			t.skip(&e.body.Get(who).At, int(draw.below(uint64(t.StepsLeft))))
			e.setOut(who, t, commands)
		}
	}
}

// tripUnderWay draws a trip from a place. A longer trip is likelier, because longer trips are a larger share
// of all trips under way at one moment. The trip has no steps if there is no destination.
func (e *Earth) tripUnderWay(from uint32, draw *stream) (t trip) {
	const tries, long = 4, 512
	for range tries {
		to := e.gravity.destination(from, draw)
		if to == from {
			continue
		}
		t = e.plan(from, to)
		if draw.below(long) < uint64(t.StepsLeft) {
			break
		}
	}
	return t
}

// skip makes n steps at once.
func (t *trip) skip(p *vector, n int) {
	a, d := p.wide(), t.Direction.wide()
	sin, cos := sinCos(float64(float64(n) * (means[t.By].speed / 60 / earthRadius * degreesPerRadian)))
	*p = a.times(cos).plus(d.times(sin)).narrow()
	t.Direction = d.times(cos).minus(a.times(sin)).narrow()
	t.StepsLeft -= uint16(n)
}
