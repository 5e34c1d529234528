package inspect

import (
	"fmt"
	"math"
	"regexp"

	"github.com/vastgo/vast"
)

// View is a map of a world that lies on a plane or a sphere. The page has a tab for each View. The user can
// zoom, move and click the map. [Plane] makes a View of entities with positions in a plane.
//
// The inspector calls Paint, Pick and Where between ticks. Each call should take at most a quarter of a
// millisecond. Paint and Pick may need many calls for one request, with ticks in between. A call that does
// not finish the work must store its progress in the field Next of its parameter and return false. The
// inspector then calls the function again.
type View struct {
	// ID names the view in URLs: 1 to 32 lower-case letters, digits and dashes.
	ID string
	// Title is shown to people. Default: ID.
	Title string
	// Bounds is the whole area of the view. Home is the area that the page shows at first. Default of Home:
	// Bounds.
	Bounds, Home Bounds
	// Down makes y grow downwards, as on screens. Default: upwards, as on maps.
	Down bool
	// Wraps joins the right border to the left border.
	Wraps bool
	// Sphere declares that x is a longitude and y a latitude, in degrees. The page then also offers a globe.
	Sphere bool
	// Unit is the unit of x and y, such as m; may be empty.
	Unit string
	// Layers are the kinds of things that the view counts, 1 to 8.
	Layers []Layer
	// Paint adds to the counts of a picture. It is required.
	Paint func(p *Picture) (done bool)
	// Pick finds the things near a point. Default: no thing is found.
	Pick func(p *Picking) (done bool)
	// Where returns the position of an entity. ok reports whether the entity has a position. Default: no
	// entity has a position.
	Where func(e vast.Entity) (x, y float64, ok bool)
	// Outlines returns closed lines that never change, such as coasts. A point is ground if an odd number of
	// lines surrounds it. The inspector calls Outlines at most once, on any goroutine. Outlines must not use
	// the world. Default: none.
	Outlines func() [][]Point
	// Landmarks returns named places in a window, the most important first. The parameter most limits the
	// number of places. Several goroutines may call Landmarks at the same time. Landmarks must not use the
	// world. Default: none.
	Landmarks func(window Bounds, most int) []Landmark
	// Attribution has one line for each source of the data. The lines appear at the foot of the map.
	Attribution []string
}

// Point is a position in a view.
type Point struct{ X, Y float64 }

// Bounds are a rectangle: X0 < X1 and Y0 < Y1. In a view that wraps, X1 may lie beyond the right border.
type Bounds struct {
	X0 float64 `json:"x0"`
	Y0 float64 `json:"y0"`
	X1 float64 `json:"x1"`
	Y1 float64 `json:"y1"`
}

// Layer is a kind of thing that a view counts.
type Layer struct {
	// Name, such as travellers, is shown to people.
	Name string
	// Colour is blue, red, green, amber or violet. Default: blue for the first layer, red for the others.
	Colour string
	// Part declares that the first layer counts everything that this layer counts. The page then shows this
	// layer as a share of the first.
	Part bool
}

// Landmark is a named point that does not move.
type Landmark struct {
	X, Y   float64
	Name   string
	Weight float64 // importance, such as a population; the page gets it and does not sort by it
}

const maxLayers = 8

var viewID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

var colours = map[string]bool{"blue": true, "red": true, "green": true, "amber": true, "violet": true}

// withDefaults returns the view with defaults filled in. It panics if the view is invalid.
func (v View) withDefaults() View {
	bad := func(format string, args ...any) {
		panic(fmt.Sprintf("inspect: Options.Views: view %q: %s", v.ID, fmt.Sprintf(format, args...)))
	}
	if v.Home == (Bounds{}) {
		v.Home = v.Bounds
	}
	switch {
	case !viewID.MatchString(v.ID):
		bad("ID must be 1 to 32 characters of a-z, 0-9 and -")
	case !v.Bounds.valid() || !v.Home.valid():
		bad("Bounds and Home must have X0 < X1, Y0 < Y1 and numbers from -1e15 to 1e15")
	case v.Paint == nil:
		bad("Paint is nil")
	case len(v.Layers) == 0 || len(v.Layers) > maxLayers:
		bad("%d layers: use 1 to %d", len(v.Layers), maxLayers)
	case v.Layers[0].Part:
		bad("the first layer must not have Part")
	}
	if v.Title == "" {
		v.Title = v.ID
	}
	layers := make([]Layer, len(v.Layers))
	for i, l := range v.Layers {
		if l.Colour == "" {
			l.Colour = "red"
			if i == 0 {
				l.Colour = "blue"
			}
		}
		if !colours[l.Colour] {
			bad("layer %q: unknown colour %q", l.Name, l.Colour)
		}
		layers[i] = l
	}
	v.Layers = layers
	return v
}

// valid reports whether b is a rectangle of numbers small enough to compute with.
func (b Bounds) valid() bool {
	const most = 1e15
	for _, v := range [...]float64{b.X0, b.Y0, b.X1, b.Y1} {
		if !(math.Abs(v) <= most) { // also true for NaN
			return false
		}
	}
	return b.X0 < b.X1 && b.Y0 < b.Y1
}

// Contains reports whether a point lies in the rectangle or on its border.
func (b Bounds) Contains(x, y float64) bool { return x >= b.X0 && x <= b.X1 && y >= b.Y0 && y <= b.Y1 }
