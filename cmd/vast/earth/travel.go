package earth

import (
	"fmt"
	"math"

	"github.com/vastgo/vast"
)

// transport is a mode of transport. The distance of a trip determines the transport. Each step of a trip
// rotates the position and the direction of the traveller by the angle of the transport. A step takes twelve
// multiplications and no trigonometry.
type transport uint8

const (
	road transport = iota
	rail
	air
)

// String returns the name of the transport.
func (t transport) String() string {
	names := [...]string{"road", "rail", "air"}
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("transport(%d)", uint8(t))
}

// The variable means has, for each transport, the speed in km/h, and the longest trip in km that uses it.
var means = [...]struct{ speed, longest float64 }{road: {80, 150}, rail: {200, 700}, air: {800, math.Inf(1)}}

// turn is the rotation of a transport in one step.
type turn struct{ cos, sin float32 }

// turns has a fourth, unused element, so that the index By&3 is always in range.
var turns = func() (t [4]turn) {
	for by, m := range means {
		sin, cos := sinCosSmall(m.speed / 60 / earthRadius)
		t[by] = turn{float32(cos), float32(sin)}
	}
	return t
}()

const (
	// The mean lengths of stays, in ticks. The lengths are exponentially distributed.
	stayAtHome = 1440.0
	stayAway   = 720.0

	// leaveEvery is the number of ticks from one check of a cohort's stays to the next. Checking all stays in
	// each tick would be most of a tick's work. A stay may last up to three ticks too long, but most stays
	// last for hours.
	leaveEvery = 4

	// returning is the probability that a traveller who is not at home goes home. Otherwise the traveller
	// goes to a random place.
	returning = 0.75

	// normalizeEvery is the number of steps between two corrections of the length of the vectors. Rounding
	// changes the length by less than 1e-7 in each step.
	normalizeEvery = 32
)

func (g *globe) plan(from, to uint32) trip {
	t := newTrip(g.sites[from].At, g.sites[to].At)
	t.ToPlace = to
	return t
}

// newTrip plans the way between two points. The last step ends at the destination, so it may be shorter than
// the other steps.
func newTrip(from, to vector) trip {
	a, b := from.wide(), to.wide()
	distance := arc(a, b) * earthRadius
	by := road
	for distance > means[by].longest {
		by++
	}
	steps := max(1, math.Ceil(distance/(means[by].speed/60)))
	return trip{Direction: towards(a, b).narrow(), StepsLeft: uint16(steps), By: by}
}

// towards returns the direction of the shortest way from a to b at its start: a unit vector at a right angle
// to a.
func towards(a, b wide) wide {
	d := b.minus(a.times(a.dot(b)))
	if d.length() < 1e-6 {
		// b is a, or the point opposite to a: all directions at a right angle to a are equally good.
		axis := wide{x: 1}
		if math.Abs(a.x) > 0.5 {
			axis = wide{y: 1}
		}
		d = axis.minus(a.times(a.dot(axis)))
	}
	return d.times(1 / d.length())
}

// Lookahead is the number of ticks after which a departure in one region takes effect in another region. A
// traveller who departs is in transit for Lookahead ticks. No system changes a traveller in transit, so two
// processes can compute the two regions at the same time. At the end of the transit the traveller makes the
// missed steps, except the last step of the trip, which takes one more tick. Each trip of at most Lookahead
// steps therefore takes Lookahead+1 ticks.
const Lookahead = 8

// board makes the steps that a traveller at p has missed in transit, except the last step of the trip.
func (t *trip) board(p *vector) {
	for range Lookahead {
		if t.StepsLeft <= 1 {
			return
		}
		t.StepsLeft--
		step(p, t)
	}
}

// move ends the transits of a cohort that are over, and makes one step for each traveller who is on the way
// and not in transit. A traveller who arrives gets a stay.
func (e *Earth) move(r *cohort, now uint32, commands *vast.Commands) {
	for run := range r.boarding.Runs() {
		bodies, trips := e.body.Slice(run), e.trip.Slice(run)
		for i, t := range e.transit.Slice(run) {
			if passed(t.Until, now) {
				trips[i].board(&bodies[i].At)
				e.transit.RemoveLater(commands, run.Entity(i))
			}
		}
	}
	for run := range r.moving.Runs() {
		bodies, trips := e.body.Slice(run), e.trip.Slice(run)
		trips = trips[:len(bodies)]
		for i := range bodies {
			t := &trips[i]
			if t.StepsLeft > 1 {
				t.StepsLeft--
				step(&bodies[i].At, t)
				continue
			}
			who, to := run.Entity(i), t.ToPlace
			if !e.owns(to) { // only after an edit from outside
				to = e.first + uint32(len(e.tallies)-1)
			}
			bodies[i].At = e.sites[to].At
			e.trip.RemoveLater(commands, who)
			e.at.SetLater(commands, who, e.place(to))
			e.stay.AddLater(commands, who, stay{now + e.stayLength(who, to, now)})
		}
	}
}

// step rotates a position and a direction by the angle of the transport. arithmetic.go gives the reason for
// the conversions to float32.
func step(p *vector, t *trip) {
	d, by := &t.Direction, &turns[t.By&3]
	x, y, z := p.X, p.Y, p.Z
	p.X = float32(x*by.cos) + float32(d.X*by.sin)
	p.Y = float32(y*by.cos) + float32(d.Y*by.sin)
	p.Z = float32(z*by.cos) + float32(d.Z*by.sin)
	d.X = float32(d.X*by.cos) - float32(x*by.sin)
	d.Y = float32(d.Y*by.cos) - float32(y*by.sin)
	d.Z = float32(d.Z*by.cos) - float32(z*by.sin)
	if t.StepsLeft%normalizeEvery == 0 {
		normalize(p)
		normalize(d)
	}
}

// normalize corrects the length of a vector whose length is nearly 1. It makes one step of Newton's method
// for 1/√x from the start value 1.
func normalize(v *vector) {
	f := 1.5 - float32(0.5*(float32(v.X*v.X)+float32(v.Y*v.Y)+float32(v.Z*v.Z)))
	v.X, v.Y, v.Z = v.X*f, v.Y*f, v.Z*f
}

// stayLength draws the length of a traveller's stay in a place, in ticks.
func (e *Earth) stayLength(who vast.Entity, place, now uint32) uint32 {
	mean := stayAway
	if e.homeOf(who) == place {
		mean = stayAtHome
	}
	s := draws(e.seed, e.life.Get(who).Number, now, forStay)
	return s.exponential(mean)
}

// leave starts the trips of a cohort's travellers whose stay has ended.
func (e *Earth) leave(r *cohort, now uint32, commands *vast.Commands) {
	r.leaving = r.leaving[:0]
	for run := range r.resting.Runs() {
		stays := e.stay.Slice(run)
		for i := range stays {
			if !passed(stays[i].Until, now) {
				continue
			}
			who := run.Entity(i)
			draw := draws(e.seed, e.life.Get(who).Number, now, forTrip)
			from, to := e.placeOf(who), e.homeOf(who)
			if to == from || draw.unit() > returning {
				to = e.gravity.destination(from, &draw)
			}
			if to == from {
				// There is no destination, so the traveller stays.
				stays[i].Until = now + e.stayLength(who, to, now)
				continue
			}
			e.setOut(who, e.plan(from, to), commands)
			e.transit.AddLater(commands, who, transit{now + Lookahead, from})
			if !e.owns(to) {
				r.leaving = append(r.leaving, who)
			}
		}
	}
}

// setOut records the commands that start a trip of a traveller at rest.
func (e *Earth) setOut(who vast.Entity, t trip, commands *vast.Commands) {
	e.stay.RemoveLater(commands, who)
	e.at.RemoveLater(commands, who)
	e.trip.AddLater(commands, who, t)
}
