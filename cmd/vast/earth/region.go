package earth

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/store"
)

// Globe has the data that the regions of one Earth share: the places, and the distances between them. Each
// region is a world of its own, and may be in a process of its own.
//
// A traveller who departs for another region is in transit for [Lookahead] ticks, and continues the trip in
// the other region. After each tick, the travellers in the regions and in transit have the same states as
// the travellers of the single world that [New] makes from the same Config.
type Globe struct {
	globe
	list       *places.List
	given      uint64 // Config.Seed
	travellers int
	bounds     []uint32 // region i has the places bounds[i] to bounds[i+1]-1

	departOnce sync.Once     // runs depart
	arriving   [][]traveller // arriving[i] has the travellers from other regions to region i at the start
}

// NewGlobe makes a globe of regions with about equal numbers of inhabitants. Each region has consecutive
// places of the list, which follows a Hilbert curve, so the places of a region lie close together. NewGlobe
// ignores Config.Data.
func NewGlobe(c Config, regions int) (*Globe, error) {
	list, err := c.complete()
	if err != nil {
		return nil, err
	}
	if regions < 1 || regions > list.Len() {
		return nil, fmt.Errorf("earth: %d regions: use 1 to %d, the number of places", regions, list.Len())
	}
	g := &Globe{globe: newGlobe(c), list: list, given: c.Seed, travellers: c.Travellers}
	sites, err := table[site](&g.globe, "earth: places", list.Len())
	if err == nil {
		err = g.survey(list, sites, c.Travellers)
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	all := g.inhabitants[len(g.inhabitants)-1]
	for i := range regions {
		// Each region gets at least one place, even if one place has most of the inhabitants.
		least, most := uint32(i), uint32(list.Len()-regions+i)
		if i > 0 {
			least = g.bounds[i-1] + 1
		}
		g.bounds = append(g.bounds, min(max(g.placeWith(all*uint64(i)/uint64(regions)), least), most))
	}
	g.bounds[0] = 0
	g.bounds = append(g.bounds, uint32(list.Len()))
	return g, nil
}

// Close frees the memory. The caller must have closed all regions.
func (g *Globe) Close() error { return g.close() }

// Regions returns the number of regions.
func (g *Globe) Regions() int { return len(g.bounds) - 1 }

// Schema describes the encoding of the sections that regions exchange (see [Region.Tick]), and the Earth of
// the regions. Regions can work together only if their Globes have the same schema.
func (g *Globe) Schema() string {
	return fmt.Sprintf("earth 1, seed %d, %d travellers, places %s", g.given, g.travellers, hashOf(g.list))
}

// Capital returns the position of the largest place in a region, in degrees, north and east positive.
func (g *Globe) Capital(region int) (lat, lon float64) {
	largest := g.bounds[region]
	for i := largest; i < g.bounds[region+1]; i++ {
		if g.sites[i].Weight > g.sites[largest].Weight {
			largest = i
		}
	}
	return g.list.Lat(int(largest)), g.list.Lon(int(largest))
}

// RegionOf returns the region in which a place lies.
func (g *Globe) RegionOf(place int) int { return g.regionOf(uint32(place)) }

func (g *Globe) regionOf(place uint32) int {
	lo, hi := 0, g.Regions()
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; g.bounds[mid] <= place {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// depart finds the travellers who are on the way from one region to another at the start.
func (g *Globe) depart() {
	g.arriving = make([][]traveller, g.Regions())
	var found [cohorts][]traveller
	g.parallel(cohorts, func(i int) {
		s := &g.stretches[i]
		for index := range s.size {
			inhabitant, draw := g.native(s, index)
			ends := draw.exponential(lifetime)
			if draw.below(onTheWay) != 0 {
				continue
			}
			home, number := g.placeWith(inhabitant), s.number+uint32(index)
			trip, _, _ := g.startOf(number, home)
			if trip.StepsLeft > 0 && g.regionOf(home) != g.regionOf(trip.ToPlace) {
				found[i] = append(found[i], traveller{life: life{number, ends}, cohort: uint8(i), home: home,
					from: home, to: trip.ToPlace})
			}
		}
	})
	for _, travellers := range found {
		for _, t := range travellers {
			to := g.regionOf(t.to)
			g.arriving[to] = append(g.arriving[to], t)
		}
	}
}

// Region is one region of a Globe. Only one of its methods may run at a time. Call Tick, Save or Load before
// any other method except Earth and Close.
type Region struct {
	globe    *Globe
	index    int
	earth    *Earth // nil before the first call of Tick, Save or Load, and after Close
	commands *vast.Commands
	sections [][]byte
	arriving []traveller
	saved    bytes.Buffer // the result of the last Save
}

// Region returns a region before its first tick.
func (g *Globe) Region(index int) *Region {
	return &Region{globe: g, index: index, sections: make([][]byte, g.Regions())}
}

// Earth returns the world of the region, for maps and statistics. It returns nil before the first call of
// Tick, Save or Load, and after Close.
func (r *Region) Earth() *Earth { return r.earth }

// Close frees the memory of the region.
func (r *Region) Close() error {
	if r.earth == nil {
		return nil
	}
	err := r.earth.Close()
	r.earth, r.commands = nil, nil
	return err
}

// begin makes the world of the region, and calls fill to add its entities.
func (r *Region) begin(fill func(e *Earth) error) (err error) {
	if err := r.Close(); err != nil {
		return err
	}
	g := r.globe
	shared := g.globe
	shared.closers = nil // Close of the Globe frees the tables
	e := &Earth{globe: &shared, first: g.bounds[r.index]}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	n := int(g.bounds[r.index+1] - e.first)
	e.world = vast.NewWorld(vast.Options{Name: fmt.Sprintf("earth, region %d", r.index),
		MaxEntities: slotsFor(n, g.travellers), Limit: g.limit})
	e.components = newComponents(e.world)
	e.past = vast.SetResource(e.world, past{})
	r.commands = vast.NewCommands(e.world, vast.CommandsOptions{})
	if err := fill(e); err != nil {
		return err
	}
	e.schedule = e.newSchedule(e.workers)
	r.earth = e
	return nil
}

// fill adds the entities that the region has before the first tick.
func (r *Region) fill(e *Earth) error {
	g := r.globe
	n := int(g.bounds[r.index+1] - e.first)
	archetype := e.world.Archetype(e.site, e.presence)
	if err := archetype.Grow(n); err != nil {
		return err
	}
	archetype.NewN(n, nil)
	if err := r.find(e); err != nil {
		return err
	}
	for i := range n {
		*e.site.Get(e.places.Entity(i)) = e.sites[int(e.first)+i]
	}
	if err := e.makeTravellers(g.travellers); err != nil || g.travellers == 0 {
		return err
	}
	g.departOnce.Do(g.depart)
	err := r.admit(e, g.arriving[r.index], func(t *traveller) (trip, vector) {
		trip, at, _ := e.startOf(t.life.Number, t.home)
		return trip, at
	})
	if err != nil {
		return err
	}
	return e.breakOut()
}

// find finds the places in the world, and makes the data that Save does not store.
func (r *Region) find(e *Earth) error {
	if _, err := e.findPlaces(int(r.globe.bounds[r.index+1] - e.first)); err != nil {
		return err
	}
	e.loadCohorts()
	e.keepTallies()
	return nil
}

// admit adds travellers to the world. way returns the trip and the position of a traveller.
func (r *Region) admit(e *Earth, travellers []traveller, way func(*traveller) (trip, vector)) error {
	const perApply = 1 << 14 // bounds the memory of the commands
	for len(travellers) > 0 {
		n := min(perApply, len(travellers))
		for i := range travellers[:n] {
			trip, at := way(&travellers[i])
			e.admit(&travellers[i], trip, at, r.commands)
		}
		if _, err := e.world.Apply(r.commands); err != nil {
			return err
		}
		travellers = travellers[n:]
	}
	return nil
}

// Tick advances the region by a tick. sections[i] has the travellers who departed for region i in this tick.
// The sections are valid until the next tick. received[i] must be the section for this region that region i
// returned Lookahead ticks earlier. received must be empty in the first Lookahead ticks.
//
// Tick returns an error if tick is not the next tick, if a section is invalid, or if there is too little
// memory.
func (r *Region) Tick(tick uint64, received [][]byte) (sections [][]byte, err error) {
	if r.earth == nil {
		if err := r.begin(r.fill); err != nil {
			return nil, err
		}
	}
	e := r.earth
	if tick != e.ticks+1 {
		return nil, fmt.Errorf("earth: tick %d cannot follow tick %d: run tick %d next", tick, e.ticks,
			e.ticks+1)
	}
	if err := e.Tick(); err != nil {
		return nil, err
	}
	if err := r.receive(received); err != nil {
		return nil, err
	}
	r.send()
	return r.sections, nil
}

func (r *Region) receive(received [][]byte) error {
	e := r.earth
	r.arriving = r.arriving[:0]
	for from, section := range received {
		bad := func(why error) error {
			return fmt.Errorf("earth: invalid section from region %d to region %d in tick %d: %w", from,
				r.index, e.ticks-Lookahead, why)
		}
		if len(section)%BytesTraveller != 0 {
			return bad(fmt.Errorf("%d bytes are not a multiple of the %d bytes of a traveller", len(section),
				BytesTraveller))
		}
		for ; len(section) > 0; section = section[BytesTraveller:] {
			t := decodeTraveller(section)
			if err := e.check(&t); err != nil {
				return bad(fmt.Errorf("traveller %d has %w", t.life.Number, err))
			}
			r.arriving = append(r.arriving, t)
		}
	}
	return r.admit(e, r.arriving, func(t *traveller) (trip, vector) {
		trip, at := e.plan(t.from, t.to), e.sites[t.from].At
		trip.board(&at)
		return trip, at
	})
}

// send deletes the travellers who departed for other regions in this tick, and writes them to the sections.
func (r *Region) send() {
	e := r.earth
	for i := range r.sections {
		r.sections[i] = r.sections[i][:0]
	}
	departed := &e.departed[e.ticks%Lookahead]
	departed.digest, departed.travellers = digest{}, 0
	until := e.now + Lookahead
	// Only these cohorts have departures in this tick.
	for i := int(e.now % leaveEvery); i < cohorts; i += leaveEvery {
		for _, who := range e.cohort[i].leaving {
			if !e.world.Alive(who) { // the traveller has died in this tick
				continue
			}
			t := e.pack(who, i)
			to := r.globe.regionOf(min(t.to, uint32(len(e.sites)-1)))
			r.sections[to] = t.appendTo(r.sections[to])
			e.addTraveller(&departed.digest, &t, until)
			departed.travellers++
			e.crossed++
			e.world.Delete(who)
		}
	}
}

// InTransit returns the number of travellers who have departed from the region and have not yet arrived in
// another region.
func (r *Region) InTransit() (n int) {
	for _, gone := range r.earth.departed {
		n += gone.travellers
	}
	return n
}

// Crossed returns the number of travellers who have departed for other regions since the first tick.
func (r *Region) Crossed() uint64 { return r.earth.crossed }

// State is a digest of the state of a region. [Globe.HashOf] makes the hash of the Earth from the States of
// all regions after the same tick.
type State [40]byte

// State returns the digest. Complexity: as [Earth.Hash].
func (r *Region) State() (s State) {
	e := r.earth
	d := e.digest()
	for _, gone := range e.departed {
		d.a += gone.digest.a
		d.b += gone.digest.b
	}
	le := binary.LittleEndian
	le.PutUint64(s[0:], d.a)
	le.PutUint64(s[8:], d.b)
	le.PutUint64(s[16:], uint64(e.died))
	le.PutUint64(s[24:], e.ticks)
	le.PutUint64(s[32:], uint64(e.born))
	return s
}

// HashOf returns the [Earth.Hash] of the Earth. states must have one State of each region, all after the same
// tick. HashOf returns an error if the number of states is wrong, or if their ticks differ.
func (g *Globe) HashOf(states []State) (string, error) {
	le := binary.LittleEndian
	var d digest
	died := uint64(0)
	for _, s := range states {
		if [16]byte(s[24:]) != [16]byte(states[0][24:]) {
			return "", errors.New("earth: the states are of different ticks: pass states of the same tick")
		}
		d.a += le.Uint64(s[0:])
		d.b += le.Uint64(s[8:])
		died += le.Uint64(s[16:])
	}
	if len(states) != g.Regions() {
		return "", fmt.Errorf("earth: %d states for %d regions: pass one state of each region", len(states),
			g.Regions())
	}
	ticks, born := le.Uint64(states[0][24:]), le.Uint64(states[0][32:])
	d.addWorld(g.seed, ticks, uint32(born), died)
	return d.String(), nil
}

// Save returns the state of the region, for Load. The bytes are valid until the next call of Save.
func (r *Region) Save() ([]byte, error) {
	if r.earth == nil {
		if err := r.begin(r.fill); err != nil {
			return nil, err
		}
	}
	r.saved.Reset()
	if r.saved.Cap() == 0 { // the state is hardly larger than the world's memory
		r.saved.Grow(r.earth.world.Stats().Committed)
	}
	err := store.Save(r.earth.world, &r.saved, store.Options{Resources: resources()})
	return r.saved.Bytes(), err
}

// Compare returns nil if the region is in the given state, which Save has returned. Otherwise it returns an
// error that names the first column, entity and field that differ.
func (r *Region) Compare(state []byte) error {
	return store.Compare(r.earth.world, bytes.NewReader(state), store.Options{Resources: resources()})
}

// Load sets the region to a state that Save has returned in any process.
func (r *Region) Load(state []byte) error {
	return r.begin(func(e *Earth) error {
		_, err := store.Load(e.world, bytes.NewReader(state), store.Options{Resources: resources()})
		if err != nil {
			return err
		}
		e.past = vast.FindResource[past](e.world)
		if err := r.find(e); err != nil {
			return err
		}
		return e.growChanging(e.world.Len())
	})
}
