package inspect

import (
	"fmt"
	"math"
	"regexp"

	"github.com/vastgo/vast"
)

// View is a picture of a world that lies on a plane or a map: the page shows it on a page of its own, to be zoomed, moved
// and clicked into. [Plane] makes one for a world whose entities have positions in a plane.
//
// What Paint, Pick and Where do is done while the world lets the inspector look. Paint and Pick may be called many times for
// one picture, with ticks in between: a call takes at most a quarter of a millisecond, keeps in Next where it was, and
// returns false to be called again.
type View struct {
	// ID is what addresses call the view: up to 32 small letters, digits and dashes.
	ID string
	// Title is what people read.
	Title string
	// Bounds are all that there may be to see, and Home is what is shown at first. Default of Home: Bounds.
	Bounds, Home Bounds
	// Down says that y grows downwards, as on screens. Default: upwards, as on maps.
	Down bool
	// Wraps says that the right border is the left one again.
	Wraps bool
	// Sphere says that x is a longitude and y a latitude, in degrees: the page shows a globe, too.
	Sphere bool
	// Unit is that of x and y, such as m; may be empty.
	Unit string
	// Layers are what is counted, up to 8.
	Layers []Layer
	// Paint adds to the counts of a picture.
	Paint func(p *Picture) (done bool)
	// Pick names what lies near a point. Default: nothing does.
	Pick func(p *Picking) (done bool)
	// Where returns where an entity is, and whether that is anywhere. Default: nowhere.
	Where func(e vast.Entity) (x, y float64, ok bool)
	// Outlines returns closed lines that never change, such as coasts; what an odd number of them surrounds is ground. It is
	// called once, on any goroutine, and must not look at the world. Default: none.
	Outlines func() [][]Point
	// Landmarks returns up to so many places in a window that are worth a name, the most important first. It is called on
	// any goroutine, several at once, and must not look at the world. Default: none.
	Landmarks func(window Bounds, most int) []Landmark
	// Attribution are lines about the sources of what is shown, for the foot of the picture.
	Attribution []string
}

// Point is a position in a view.
type Point struct{ X, Y float64 }

// Bounds are a rectangle: X0 < X1 and Y0 < Y1. In a view that wraps X1 may lie beyond the right border.
type Bounds struct {
	X0 float64 `json:"x0"`
	Y0 float64 `json:"y0"`
	X1 float64 `json:"x1"`
	Y1 float64 `json:"y1"`
}

// Layer is something that is counted.
type Layer struct {
	// Name is what people read, such as travellers.
	Name string
	// Colour is blue, red, green, amber or violet. Default: blue for the first layer, red for the others.
	Colour string
	// Part says that all it counts is counted by the first layer, too: it is shown as a share of that.
	Part bool
}

// Landmark is a named point that does not move.
type Landmark struct {
	X, Y   float64
	Name   string
	Weight float64 // the more, the more important
}

const maxLayers = 8

var viewID = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// colours are what Layer.Colour may say.
var colours = map[string]bool{"blue": true, "red": true, "green": true, "amber": true, "violet": true}

// withDefaults returns the view with what is left out filled in. It panics where it makes no sense.
func (v View) withDefaults() View {
	bad := func(format string, args ...any) {
		panic(fmt.Sprintf("inspect: Options.Views: view %q: %s", v.ID, fmt.Sprintf(format, args...)))
	}
	if v.Home == (Bounds{}) {
		v.Home = v.Bounds
	}
	switch {
	case !viewID.MatchString(v.ID):
		bad("an ID is 1 to 32 of a-z, 0-9 and -")
	case !v.Bounds.valid() || !v.Home.valid():
		bad("Bounds and Home need finite X0 < X1 and Y0 < Y1")
	case v.Paint == nil:
		bad("Paint is missing")
	case len(v.Layers) == 0 || len(v.Layers) > maxLayers:
		bad("%d layers: use 1 to %d", len(v.Layers), maxLayers)
	case v.Layers[0].Part:
		bad("the first layer cannot be a part of itself")
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
			bad("layer %q: there is no colour %q", l.Name, l.Colour)
		}
		layers[i] = l
	}
	v.Layers = layers
	return v
}

// valid reports whether it is a rectangle of a size that can be reckoned with.
func (b Bounds) valid() bool {
	const most = 1e15
	for _, v := range [...]float64{b.X0, b.Y0, b.X1, b.Y1} {
		if !(math.Abs(v) <= most) { // so that NaN fails
			return false
		}
	}
	return b.X0 < b.X1 && b.Y0 < b.Y1
}

// Contains reports whether a point lies in the rectangle. Its right and upper borders count.
func (b Bounds) Contains(x, y float64) bool { return x >= b.X0 && x <= b.X1 && y >= b.Y0 && y <= b.Y1 }
