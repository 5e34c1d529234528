package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cluster"
	"github.com/vastgo/vast/cluster/internal/globe"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/inspect"
)

// The components of a region, and of the cluster.
type (
	// Capital is the position of the largest place, in degrees, north and east positive.
	Capital struct{ Lat, Lon float64 }
	// Owner is the process that runs the region, or the last process that ran it. Failovers and Moves count
	// the changes of the owner, as in cluster.Status.
	Owner struct {
		Process          string
		Failovers, Moves int
	}
	// Waiting has the text of cluster.Status.Waiting. If that text is empty, the region has no Waiting.
	Waiting struct{ Reason string }
	// Ticking has the last tick of the region, and its ticks a second.
	Ticking struct {
		Tick      uint64
		PerSecond float64
	}
	// Population counts the travellers of the region. InTransit counts the travellers in transit to another
	// region. The other counts do not include these travellers.
	Population struct {
		Travellers, Moving, Infectious, Recovered, InTransit int
		CrossingPerSecond                                    float64 // departures for other regions
	}
	// Cluster has the sums of all regions. Travellers and Moving include travellers in transit. Tick is the
	// tick of the slowest region.
	Cluster struct {
		Tick                           uint64
		TicksPerSecond                 float64
		Travellers, Moving, Infectious int
		CrossingPerSecond              float64
		Regions, Processes             int
	}
)

// inspector shows the regions to browsers. It has a world of its own, with an entity for each region.
type inspector struct {
	*inspect.Inspector
	regions  []vast.Entity
	capitals []Capital
	cluster  vast.Entity
	end      chan struct{} // closed to end the method own
	ended    chan struct{} // closed when the method own has returned

	// Only functions in World.Visit use the content of the world and the other fields below.
	world      *vast.World
	owner      vast.HeapColumn[Owner]
	waiting    vast.HeapColumn[Waiting]
	capital    vast.Column[Capital]
	ticking    vast.Column[Ticking]
	population vast.Column[Population]
	sums       vast.Column[Cluster]
	picture    *globe.Picture // the travellers of all regions
	holders    []holder       // by square
	past       []mark         // counts at the last samples, oldest first
}

// holder is the region that has the most travellers in a square, and their number. The number is 0 if the
// square is empty.
type holder struct {
	region     int32
	travellers uint32
}

// mark has the counts of the regions at one moment.
type mark struct {
	when    time.Time
	ticks   []uint64 // by region
	crossed []uint64 // by region
}

// rateMarks is the number of earlier samples that the inspector keeps. The rates of a region compare a new
// sample with the oldest of them, not with the previous one: a process publishes the figures of its regions
// about once a second, so two successive samples may have the same figures.
const rateMarks = 5

func (o options) serve(planet *simulation.Globe, node *cluster.Node) (*inspector, error) {
	w := vast.NewWorld(vast.Options{Name: "regions"})
	i := &inspector{world: w, end: make(chan struct{}), ended: make(chan struct{}),
		owner: vast.NewHeapColumn[Owner](w), waiting: vast.NewHeapColumn[Waiting](w),
		capital: vast.NewColumn[Capital](w), ticking: vast.NewColumn[Ticking](w),
		population: vast.NewColumn[Population](w), sums: vast.NewColumn[Cluster](w),
		picture: new(globe.Picture), holders: make([]holder, globe.SquaresAcross*globe.SquaresDown)}
	i.populate(o, planet)
	credits := []string{atlas.Attribution}
	if o.places == "" {
		credits = append([]string{places.Attribution}, credits...)
	}
	var err error
	i.Inspector, err = inspect.Serve(context.Background(), w, inspect.Options{Addr: o.inspect,
		Views: []inspect.View{i.view(credits)}, Attribution: credits,
		Collectors: []prometheus.Collector{cluster.NewCollector(node)}})
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("%s is taken by another program: choose another address with -inspect, such as "+
			"127.0.0.1:0 for any free port, or off", o.inspect)
	} else if err != nil {
		err = fmt.Errorf("%w: try another address with -inspect, such as 127.0.0.1:0, or off", err)
	}
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	go i.own()
	return i, nil
}

func (i *inspector) populate(o options, planet *simulation.Globe) {
	names := i.world.Names()
	name := func(e vast.Entity, name string) {
		if _, err := names.Set(e, name); err != nil {
			panic(err) // impossible: the names are unique
		}
	}
	kind := i.world.Archetype(i.owner, i.capital, i.ticking, i.population)
	for r := range o.regions {
		e := kind.New()
		lat, lon := planet.Capital(r)
		i.capital.Set(e, Capital{lat, lon})
		name(e, regionName(r))
		i.regions, i.capitals = append(i.regions, e), append(i.capitals, Capital{lat, lon})
	}
	i.cluster = i.world.Archetype(i.sums).New()
	name(i.cluster, "cluster "+o.name)
}

func regionName(region int) string { return "region " + strconv.Itoa(region) }

// own owns the world until end is closed. All other goroutines visit the world.
func (i *inspector) own() {
	defer close(i.ended)
	i.world.Idle(func() { <-i.end })
}

func (i *inspector) close() error {
	err := i.Close()
	close(i.end)
	<-i.ended
	return errors.Join(err, i.world.Close())
}

// show writes a sample into the world.
func (i *inspector) show(s *sample) {
	_ = i.world.Visit(context.Background(), func() bool { // the error is ErrClosed at the end of the program
		i.write(s)
		return true
	})
}

func (i *inspector) write(s *sample) {
	now := mark{when: s.when}
	clear(i.picture.Travellers[:])
	clear(i.picture.Infectious[:])
	clear(i.holders)
	for r, status := range s.regions {
		e, f := i.regions[r], &s.figures[r]
		now.ticks, now.crossed = append(now.ticks, status.Tick), append(now.crossed, f.Crossed)
		ticks, crossing := i.rates(r, &now)
		i.owner.Set(e, Owner{status.Process, status.Failovers, status.Moves})
		if status.Waiting == "" {
			i.waiting.Remove(e)
		} else {
			i.waiting.Add(e, Waiting{status.Waiting})
		}
		i.ticking.Set(e, Ticking{status.Tick, ticks})
		i.population.Set(e, Population{f.Travellers, f.Moving, f.Infectious, f.Recovered, f.InTransit,
			crossing})
		i.paint(r, f.Picture)
	}
	t := &s.total
	i.sums.Set(i.cluster, Cluster{t.Tick, tenths(s.rate), t.Travellers, t.Moving, t.Infectious,
		tenths(s.crossing), len(s.regions), s.processes()})
	if len(i.past) == rateMarks {
		i.past = i.past[1:]
	}
	i.past = append(i.past, now)
}

// rates returns how many ticks a region runs in a second, and how many of its travellers depart for other
// regions in a second. A new owner may continue from an earlier tick; the rates are then 0, not negative.
func (i *inspector) rates(region int, now *mark) (ticks, crossing float64) {
	if len(i.past) == 0 {
		return 0, 0
	}
	past := &i.past[0]
	seconds := now.when.Sub(past.when).Seconds()
	perSecond := func(now, past uint64) float64 { return tenths(max(float64(int64(now-past))/seconds, 0)) }
	return perSecond(now.ticks[region], past.ticks[region]),
		perSecond(now.crossed[region], past.crossed[region])
}

func tenths(rate float64) float64 { return math.Round(rate*10) / 10 }

func (i *inspector) paint(region int, encoded string) {
	for s := range globe.Squares(encoded) {
		i.picture.Travellers[s.Number] += s.Travellers
		i.picture.Infectious[s.Number] += s.Infectious
		if s.Travellers > i.holders[s.Number].travellers {
			i.holders[s.Number] = holder{int32(region), s.Travellers}
		}
	}
}

func (i *inspector) view(credits []string) inspect.View {
	return inspect.View{
		ID: "regions", Title: "Regions",
		Bounds: inspect.Bounds{X0: -180, Y0: -90, X1: 180, Y1: 90},
		Home:   inspect.Bounds{X0: -180, Y0: atlas.MinLat, X1: 180, Y1: atlas.MaxLat},
		Wraps:  true, Sphere: true, Unit: "°",
		Layers: []inspect.Layer{{Name: "travellers", Colour: "blue"},
			{Name: "infectious", Colour: "red", Part: true}},
		Paint: i.paintView, Pick: i.pick, Where: i.where, Outlines: outlines, Landmarks: i.landmarks,
		Attribution: credits,
	}
}

// paintView paints the next squares. It reports whether all squares are painted.
func (i *inspector) paintView(p *inspect.Picture) bool {
	const squaresPerCall = 10 * globe.SquaresAcross
	for square := p.Next; square < p.Next+squaresPerCall; square++ {
		if i.picture.Travellers[square] > 0 {
			i.spread(p, square)
		}
	}
	p.Next += squaresPerCall
	return p.Next == len(i.picture.Travellers)
}

// spread spreads the travellers of a square over points in the square. With one point in each square, cells
// that are smaller than a square would stay empty between the points.
func (i *inspector) spread(p *inspect.Picture, square int) {
	const width = 0.5 // width of a square in degrees
	w := p.Window
	lat, lon := globe.Centre(square)
	if lat+width < w.Y0 || lat-width > w.Y1 || (lon+width < w.X0 || lon-width > w.X1) &&
		(lon+360+width < w.X0 || lon+360-width > w.X1) {
		return
	}
	points := func(cells int, from, to float64) int {
		return int(min(max(math.Ceil(2*width*float64(cells)/(to-from)), 1), 8))
	}
	across, down := points(p.Columns, w.X0, w.X1), points(p.Rows, w.Y0, w.Y1)
	all := uint64(across * down)
	travellers, infectious := uint64(i.picture.Travellers[square]), uint64(i.picture.Infectious[square])
	// The remainders of the squares differ. Otherwise each lone traveller would lie at the last point of its
	// square.
	remainder := uint64(square) * 2_654_435_761 % all
	painted, ill := uint64(0), uint64(0)
	for point := range all {
		until := (travellers*(point+1) + remainder) / all
		illUntil := infectious * until / travellers
		column, row := point%uint64(across), point/uint64(across)
		cell := p.Cell(lon+width*((float64(column)+0.5)/float64(across)-0.5),
			lat+width*((float64(row)+0.5)/float64(down)-0.5))
		p.Add(0, cell, uint32(until-painted))
		p.Add(1, cell, uint32(illUntil-ill))
		painted, ill = until, illUntil
	}
}

// pick finds the regions whose capital is near a point, the region that has the most travellers in the square
// of the point, and the cluster.
func (i *inspector) pick(p *inspect.Picking) bool {
	lat, lon := min(max(p.Y, -90), 90), math.Remainder(p.X, 360)
	here := i.holders[globe.SquareAt(lat, lon)]
	for r, c := range i.capitals {
		if p.Takes(c.Lon, c.Lat, 1) {
			p.Add(i.picked(r, c.Lon, c.Lat))
		} else if here.travellers > 0 && here.region == int32(r) {
			p.Add(i.picked(r, p.X, p.Y))
		}
	}
	c := i.sums.Get(i.cluster)
	p.Add(inspect.Picked{Entity: i.cluster, X: p.X, Y: p.Y, Facts: []inspect.Fact{
		{Name: "ticks a second", Value: c.TicksPerSecond},
		{Name: "travellers", Value: float64(c.Travellers)},
		{Name: "crossings a second", Value: c.CrossingPerSecond},
		{Name: "regions", Value: float64(c.Regions)},
		{Name: "processes", Value: float64(c.Processes)},
	}, Links: []inspect.Link{{Text: "Regions", Query: "Population"},
		{Text: "Regions that wait", Query: "Waiting"}}})
	return true
}

func (i *inspector) picked(region int, x, y float64) inspect.Picked {
	e := i.regions[region]
	owner, ticking, population := i.owner.Get(e), i.ticking.Get(e), i.population.Get(e)
	return inspect.Picked{Entity: e, X: x, Y: y, Weight: 1, Detail: owner.Process, Facts: []inspect.Fact{
		{Name: "ticks a second", Value: ticking.PerSecond},
		{Name: "travellers", Value: float64(population.Travellers)},
		{Name: "infectious", Value: float64(population.Infectious)},
		{Name: "crossings a second", Value: population.CrossingPerSecond},
	}, Links: []inspect.Link{
		{Text: "Regions of this process", Query: "Owner.Process == " + strconv.Quote(owner.Process)},
	}}
}

func (i *inspector) where(e vast.Entity) (x, y float64, ok bool) {
	if c := i.capital.Get(e); c != nil {
		return c.Lon, c.Lat, true
	}
	return 0, 0, false
}

// outlines returns the coasts, rounded to hundredths of a degree.
func outlines() (lines [][]inspect.Point) {
	hundredths := func(v float32) float64 { return math.Round(float64(v)*100) / 100 }
	for _, ring := range atlas.Outlines() {
		var line []inspect.Point
		for _, p := range ring {
			line = append(line, inspect.Point{X: hundredths(p.Lon), Y: hundredths(p.Lat)})
		}
		lines = append(lines, line)
	}
	return lines
}

// landmarks returns the capitals of regions in a window, but not more than the limit.
func (i *inspector) landmarks(window inspect.Bounds, limit int) (list []inspect.Landmark) {
	for r, c := range i.capitals {
		lon := c.Lon
		if lon < window.X0 {
			lon += 360 // the window may lie across the antimeridian
		}
		if window.Contains(lon, c.Lat) && len(list) < limit {
			list = append(list, inspect.Landmark{X: c.Lon, Y: c.Lat, Name: regionName(r), Weight: 1})
		}
	}
	return list
}
