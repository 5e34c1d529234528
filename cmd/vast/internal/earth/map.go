package earth

import (
	"strconv"

	"github.com/vastgo/vast"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/inspect"
)

// newMap returns the inspector's map of the Earth.
func newMap(l loaded, credits []string) inspect.View {
	return inspect.View{
		ID: "earth", Title: "Earth",
		Bounds: inspect.Bounds{X0: -180, Y0: -90, X1: 180, Y1: 90},
		Home:   inspect.Bounds{X0: -180, Y0: atlas.MinLat, X1: 180, Y1: atlas.MaxLat},
		Wraps:  true, Sphere: true, Unit: "°",
		Layers: []inspect.Layer{{Name: "travellers", Colour: "blue"},
			{Name: "infectious", Colour: "red", Part: true}},
		Paint:     func(p *inspect.Picture) bool { return paintCrowds(l.earth, p) },
		Pick:      func(p *inspect.Picking) bool { return pickPlaces(l, p) },
		Where:     func(e vast.Entity) (x, y float64, ok bool) { return whereIs(l.earth, e) },
		Outlines:  outlines,
		Landmarks: l.index.landmarks, Attribution: credits,
	}
}

// paintCrowds paints the next part of the travellers and reports whether this part is the last.
func paintCrowds(e *simulation.Earth, p *inspect.Picture) bool {
	for c := range e.Crowds(p.Next) {
		cell := p.Cell(float64(c.Lon), float64(c.Lat))
		p.Add(0, cell, c.Travellers)
		p.Add(1, cell, c.Infectious)
	}
	p.Next++
	return p.Next == simulation.CrowdParts
}

// pickPlaces offers the next part of the places to p and reports whether this part is the last.
func pickPlaces(l loaded, p *inspect.Picking) bool {
	const placesPerCall = 1 << 15
	list := l.index.list
	end := min(p.Next+placesPerCall, list.Len())
	for i := p.Next; i < end; i++ {
		if x, y := list.Lon(i), list.Lat(i); p.Takes(x, y, float64(list.Population(i))) {
			p.Add(l.picked(i))
		}
	}
	p.Next = end
	return end == list.Len()
}

func (l loaded) picked(place int) inspect.Picked {
	list := l.index.list
	name := l.index.name(place)
	atPlace := "At(" + strconv.Quote(name) + ")"
	travellers, infectious := l.earth.Present(place)
	k := inspect.Picked{
		Entity: l.earth.Place(place), Name: list.Name(place), Detail: list.Country(place),
		X: list.Lon(place), Y: list.Lat(place), Weight: float64(list.Population(place)),
		Facts: []inspect.Fact{{Name: "travellers here", Value: float64(travellers)},
			{Name: "infectious", Value: float64(infectious)}},
		Links: []inspect.Link{
			{Text: "Travellers here", Query: atPlace},
			{Text: "Infectious here", Query: "Infectious, " + atPlace},
			{Text: "At home here", Query: "Home(" + strconv.Quote(name) + ")"},
		},
	}
	if people := list.Population(place); people > 0 {
		k.Facts = append(k.Facts, inspect.Fact{Name: "inhabitants", Value: float64(people)})
	}
	return k
}

func whereIs(e *simulation.Earth, entity vast.Entity) (x, y float64, ok bool) {
	lat, lon, ok := e.Position(entity)
	return float64(lon), float64(lat), ok
}

func outlines() (lines [][]inspect.Point) {
	for _, ring := range atlas.Outlines() {
		line := make([]inspect.Point, len(ring))
		for i, p := range ring {
			line[i] = inspect.Point{X: hundredths(p.Lon), Y: hundredths(p.Lat)}
		}
		lines = append(lines, line)
	}
	return lines
}

// hundredths rounds v to two decimals, the precision of the outlines.
func hundredths(v float32) float64 {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'f', 2, 32), 64)
	return rounded
}

// landmarks returns up to n places in a window, the most populous first.
func (x *index) landmarks(window inspect.Bounds, n int) (list []inspect.Landmark) {
	for _, number := range x.byPopulation {
		place := int(number)
		lon, lat := x.list.Lon(place), x.list.Lat(place)
		if lon < window.X0 {
			lon += 360 // the window may lie across the antimeridian
		}
		if !window.Contains(lon, lat) {
			continue
		}
		list = append(list, inspect.Landmark{X: x.list.Lon(place), Y: lat, Name: x.list.Name(place),
			Weight: float64(x.list.Population(place))})
		if len(list) == n {
			break
		}
	}
	return list
}
