package inspect

import (
	"cmp"
	"math"
	"slices"

	"github.com/vastgo/vast"
)

const maxPicked = 8

// Picking collects the things near a point of a [View]. It keeps the 8 most important things. Among equally
// important things, it prefers the nearest.
type Picking struct {
	// X, Y is the point. Radius is the greatest distance of a thing from the point. In a view of a sphere,
	// Radius is in degrees of latitude.
	X, Y, Radius float64
	// Next stores the progress of View.Pick between its calls. It is 0 in the first call.
	Next int

	period float64 // width of the view if it wraps; 0 if it does not
	narrow float64 // length of a unit of x, in units of y
	found  []Picked
}

// Picked is a thing near a point.
type Picked struct {
	Entity vast.Entity // zero for a thing that is not an entity
	Name   string      // default: the name of the entity, or its ID if there is no name
	Detail string      // distinguishes things of the same name, such as a country; may be empty
	X, Y   float64
	Weight float64 // importance: higher first
	Facts  []Fact  // shown below the name
	Links  []Link

	distance float64
}

// Fact is a number with a name.
type Fact struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Link is a link to the entities that match a query.
type Link struct {
	Text  string `json:"text"`
	Query string `json:"query"`
}

func newPicking(v *View, x, y, radius float64) *Picking {
	p := &Picking{X: x, Y: y, Radius: radius, narrow: 1}
	if v.Wraps {
		p.period = v.Bounds.X1 - v.Bounds.X0
	}
	if v.Sphere {
		p.narrow = math.Cos(y * math.Pi / 180)
	}
	return p
}

// Takes reports whether [Picking.Add] would keep a thing of the given weight at a point. Add keeps a thing
// within Radius that is among the 8 most important things so far. Takes needs a few nanoseconds for a point
// outside of Radius.
func (p *Picking) Takes(x, y, weight float64) bool {
	if !(math.Abs(y-p.Y) <= p.Radius) { // also true for NaN
		return false
	}
	d := p.distance(x, y)
	if !(d <= p.Radius) {
		return false
	}
	if len(p.found) < maxPicked {
		return true
	}
	return comparePicked(Picked{Weight: weight, distance: d}, p.found[maxPicked-1]) < 0
}

func (p *Picking) distance(x, y float64) float64 {
	dx := x - p.X
	if p.period > 0 {
		dx = math.Remainder(dx, p.period)
	}
	return math.Hypot(dx*p.narrow, y-p.Y)
}

// Add keeps a thing if [Picking.Takes] reports true for it.
func (p *Picking) Add(k Picked) {
	if !p.Takes(k.X, k.Y, k.Weight) {
		return
	}
	k.distance = p.distance(k.X, k.Y)
	at, _ := slices.BinarySearchFunc(p.found, k, comparePicked)
	p.found = slices.Insert(p.found, at, k)
	p.found = p.found[:min(len(p.found), maxPicked)]
}

func comparePicked(a, b Picked) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.distance, b.distance))
}
