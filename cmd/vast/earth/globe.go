package earth

import (
	"errors"
	"io"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/vm"
)

// globe has the constant data that all regions of an Earth share: the places, the tables of the gravity
// model, and the homes of the travellers at the start.
type globe struct {
	seed    uint64
	workers int
	limit   *vm.Limit
	report  func(stage string, done, total int)
	closers []io.Closer

	sites       []site   // by number of the place
	inhabitants []uint64 // inhabitants[i] is the number of inhabitants of the places 0 to i
	gravity     *gravity
	stretches   [cohorts]stretch
}

// stretch is the part of the Earth where the travellers of a cohort have their homes. The stretches have
// equal numbers of inhabitants, apart from rounding.
type stretch struct {
	size       uint64 // number of travellers at the start
	number     uint32 // number of the first traveller at the start
	first, end uint64 // the inhabitants first to end-1 live in the stretch: see placeWith
}

func newGlobe(c Config) globe {
	return globe{seed: mix(c.Seed), workers: c.Workers, limit: c.Limit, report: c.Progress}
}

// survey fills the tables for n travellers, and puts the site of each place into sites. g keeps sites.
func (g *globe) survey(list *places.List, sites []site, n int) error {
	var err error
	if g.inhabitants, err = table[uint64](g, "earth: inhabitants so far", len(sites)); err != nil {
		return err
	}
	g.sites = sites
	var sum uint64
	for i := range sites {
		sites[i] = siteOf(list, i)
		sum += uint64(sites[i].Weight)
		g.inhabitants[i] = sum
	}
	g.progress("places", len(sites), len(sites))
	if g.gravity, err = newGravity(g, list, sites); err != nil {
		return err
	}
	number := uint32(0)
	for i := range g.stretches {
		s := &g.stretches[i]
		s.first, s.end = sum*uint64(i)/cohorts, sum*uint64(i+1)/cohorts
		s.size = uint64(n)*uint64(i+1)/cohorts - uint64(n)*uint64(i)/cohorts
		s.number = number
		number += uint32(s.size)
	}
	return nil
}

func (g *globe) progress(stage string, done, total int) {
	if g.report != nil {
		g.report(stage, done, total)
	}
}

func (g *globe) close() error {
	var errs []error
	for _, c := range g.closers {
		errs = append(errs, c.Close())
	}
	g.closers = nil
	return errors.Join(errs...)
}

// table returns n zero elements outside the Go heap. The elements are valid until g.close.
func table[T any](g *globe, name string, n int) ([]T, error) {
	a, err := bulk.NewArray[T](bulk.Options{Name: name, Capacity: max(n, 1), Limit: g.limit})
	if err != nil {
		return nil, err
	}
	g.closers = append(g.closers, a)
	return a.AppendN(n)
}

// parallel runs n parts of work, divided among the workers.
func (g *globe) parallel(n int, part func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range g.workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				part(i)
			}
		})
	}
	wg.Wait()
}

// placeWith returns the place of an inhabitant. Inhabitants are numbered in the order of their places.
func (g *globe) placeWith(inhabitant uint64) uint32 {
	place, _ := slices.BinarySearch(g.inhabitants, inhabitant+1)
	return uint32(place)
}

// inhabitantsBefore returns the number of the first inhabitant of a place.
func (g *globe) inhabitantsBefore(place uint32) uint64 {
	if place == 0 {
		return 0
	}
	return g.inhabitants[place-1]
}

// native returns the home of a traveller at the start, as the number of an inhabitant, and the traveller's
// stream of random numbers. index is the traveller's index in the stretch. Homes are spread evenly over the
// inhabitants, in the order of the indices.
func (g *globe) native(s *stretch, index uint64) (inhabitant uint64, draw stream) {
	draw = draws(g.seed, s.number+uint32(index), 0, forLife)
	return s.first + part(index<<16|draw.below(1<<16), s.size<<16, s.end-s.first), draw
}

// natives returns the travellers of a stretch whose homes lie in the places first to end-1. They have the
// indices lo to hi-1.
func (g *globe) natives(s *stretch, first, end uint32) (lo, hi uint64) {
	at := func(place uint32) uint64 {
		before := g.inhabitantsBefore(place)
		return uint64(sort.Search(int(s.size), func(i int) bool {
			inhabitant, _ := g.native(s, uint64(i))
			return inhabitant >= before
		}))
	}
	return at(first), at(end)
}

// startOf returns the trip and the position of a traveller at the start. If the traveller stays at home, the
// trip has no steps, and until is the end of the stay.
func (g *globe) startOf(number, home uint32) (t trip, at vector, until uint32) {
	draw := draws(g.seed, number, 0, forTrip)
	at = g.sites[home].At
	if t = g.tripUnderWay(home, &draw); t.StepsLeft == 0 {
		return t, at, draw.exponential(stayAtHome)
	}
	t.skip(&at, int(draw.below(uint64(t.StepsLeft))))
	return t, at, 0
}
