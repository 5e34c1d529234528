package inspect

import (
	"cmp"
	"math"
	"slices"

	"github.com/vastgo/vast"
)

// mostPicked is how many things near a point are told of.
const mostPicked = 8

// Picking gathers what lies near a point of a [View]: of more than a few only the most important, and of equally important
// ones the nearest.
type Picking struct {
	// X, Y is the point, and Radius how far from it is near. In a view of a sphere the radius is in degrees of latitude.
	X, Y, Radius float64
	// Next is for Pick to remember where it was: 0 at first.
	Next int

	period float64 // of x in views that wrap; else 0
	narrow float64 // how much shorter a unit of x is than one of y
	found  []Picked
}

// Picked is something near a point.
type Picked struct {
	Entity vast.Entity // the zero Entity where it is none
	Name   string      // default: the entity's own
	Detail string      // what tells it from others of that name, such as a country; may be empty
	X, Y   float64
	Weight float64 // the more, the more important
	Facts  []Fact  // what is worth knowing of it
	Links  []Link

	distance float64
}

// Fact is a number with its name.
type Fact struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Link leads to the entities of a query.
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

// Takes reports whether [Picking.Add] would keep something of a weight at a point: it is near, and there are not enough more
// important things. It takes some nanoseconds for what is far.
func (p *Picking) Takes(x, y, weight float64) bool {
	if !(math.Abs(y-p.Y) <= p.Radius) { // so that NaN is not taken
		return false
	}
	d := p.distance(x, y)
	if !(d <= p.Radius) {
		return false
	}
	if len(p.found) < mostPicked {
		return true
	}
	return comparePicked(Picked{Weight: weight, distance: d}, p.found[mostPicked-1]) < 0
}

func (p *Picking) distance(x, y float64) float64 {
	dx := x - p.X
	if p.period > 0 {
		dx = math.Remainder(dx, p.period)
	}
	return math.Hypot(dx*p.narrow, y-p.Y)
}

// Add keeps something, if [Picking.Takes] would take it.
func (p *Picking) Add(k Picked) {
	if !p.Takes(k.X, k.Y, k.Weight) {
		return
	}
	k.distance = p.distance(k.X, k.Y)
	at, _ := slices.BinarySearchFunc(p.found, k, comparePicked)
	p.found = slices.Insert(p.found, at, k)
	p.found = p.found[:min(len(p.found), mostPicked)]
}

func comparePicked(a, b Picked) int {
	return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.distance, b.distance))
}
