package earth

import (
	"fmt"
	"math"

	"github.com/vastgo/vast"
)

// transport is the mode of transport of a trip. A traveller at rest sets out when its stay ends, and the
// distance of the trip determines the transport. On the way, each tick rotates position and direction by the
// angle of the transport. Both rotations together take twelve multiplications and no trigonometry.
type transport uint8

const (
	road transport = iota
	rail
	air
)

// String returns the name of the transport, for tools that show a world.
func (t transport) String() string {
	names := [...]string{"road", "rail", "air"}
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("transport(%d)", uint8(t))
}

// means has the speed of each transport in km/h, and the longest trip in km that uses the transport.
var means = [...]struct{ speed, longest float64 }{road: {80, 150}, rail: {200, 700}, air: {800, math.Inf(1)}}

// turn is the rotation of a transport in one step. The fourth element of turns is unused. Because of it,
// every index from 0 to 3 is in range.
type turn struct{ cos, sin float32 }

var turns = func() (t [4]turn) {
	for by, m := range means {
		sin, cos := sinCosSmall(m.speed / 60 / earthRadius)
		t[by] = turn{float32(cos), float32(sin)}
	}
	return t
}()

const (

	// Stays have exponentially distributed lengths with these means, in ticks.
	stayAtHome = 1440.0
	stayAway   = 720.0

	// leaveEvery is the number of ticks from one check of a cohort's stays to the next check. A stay may
	// therefore last up to three ticks too long. Most stays last for hours, and checking all stays in each
	// tick would be most of a tick's work.
	leaveEvery = 4

	// returning is the share of travellers away from home who go home when they set out. The others travel
	// on.
	returning = 0.75

	// normalizeEvery is the number of steps from one correction of the vectors' length to the next. Rounding
	// changes the length by less than 1e-7 a step.
	normalizeEvery = 32
)

// plan plans the way between two places.
func (g *globe) plan(from, to uint32) trip {
	t := newTrip(g.sites[from].At, g.sites[to].At)
	t.ToPlace = to
	return t
}

// newTrip plans the way between two points. All steps have the same angle, except that the last one ends at
// the destination.
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

// towards returns the direction in which the shortest way from a to b begins: a unit vector at a right angle
// to a.
func towards(a, b wide) wide {
	d := b.minus(a.times(a.dot(b)))
	if d.length() < 1e-6 {
		// All ways to the same point or to the opposite point are equally short: take any direction at a
		// right angle to a.
		axis := wide{x: 1}
		if math.Abs(a.x) > 0.5 {
			axis = wide{y: 1}
		}
		d = axis.minus(a.times(a.dot(axis)))
	}
	return d.times(1 / d.length())
}

// Lookahead is the number of ticks after which a departure in one region takes effect in another region. A
// traveller who departs is in transit for Lookahead ticks. No system changes the traveller during this time,
// so two processes can compute the two regions at the same time. At the end of the transit the traveller
// makes the steps that it has missed, but not the last step of the trip, which takes one more tick. A trip of
// at most Lookahead steps therefore takes Lookahead+1 ticks.
const Lookahead = 8

// board makes the steps that a traveller has missed in transit, except the last step of the trip.
func (t *trip) board(p *vector) {
	for range Lookahead {
		if t.StepsLeft <= 1 {
			return
		}
		t.StepsLeft--
		step(p, t)
	}
}

// move makes one step for all travellers on their way in a cohort, and ends the transits whose time is over.
// A traveller who arrives gets a stay.
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

// step turns a position and the direction by the transport's angle. See arithmetic.go for the conversions.
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

// normalize corrects the length of a vector that is nearly of unit length. It makes one step of Newton's
// method for 1/√x from the start value 1.
func normalize(v *vector) {
	f := 1.5 - float32(0.5*(float32(v.X*v.X)+float32(v.Y*v.Y)+float32(v.Z*v.Z)))
	v.X, v.Y, v.Z = v.X*f, v.Y*f, v.Z*f
}

// stayLength draws the length of a traveller's stay in a place.
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
				// There is no destination, so the traveller stays. Values may be changed while the query
				// runs.
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

// setOut begins a trip of a traveller at rest.
func (e *Earth) setOut(who vast.Entity, t trip, commands *vast.Commands) {
	e.stay.RemoveLater(commands, who)
	e.at.RemoveLater(commands, who)
	e.trip.AddLater(commands, who, t)
}
