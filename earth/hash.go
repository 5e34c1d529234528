package earth

import (
	"fmt"
	"math"
)

// digest is the sum of two hashes of each component. A sum, so that it does not matter in which slots the entities lie,
// which depends on the page sizes of the machine.
type digest struct{ a, b uint64 }

// add adds one component: its kind, whose it is, and up to six words of content.
func (d *digest) add(kind, whose uint64, words ...uint64) {
	a := mix(kind*golden + whose)
	b := mix(a ^ golden)
	for _, w := range words {
		a = mix(a + golden ^ w)
		b = mix(b ^ w*golden)
	}
	d.a += a
	d.b += b
}

func two(high, low uint32) uint64 { return uint64(high)<<32 | uint64(low) }

func bitsOf(x, y float32) uint64 { return two(math.Float32bits(x), math.Float32bits(y)) }

// Kinds of components in a digest.
const (
	hashWorld = iota + 1
	hashPlace
	hashTraveller
	hashStay
	hashTrip
	hashSusceptible
	hashInfectious
	hashRecovered
)

// Hash returns a hash over the whole state, 32 hexadecimal digits: the same on every machine and for any number of
// workers. Complexity: all entities, some tens of nanoseconds each.
func (e *Earth) Hash() string {
	e.mustBeOpen("Hash")
	var d digest
	d.add(hashWorld, e.seed, e.ticks, uint64(e.born), uint64(e.died))
	for i, s := range e.sites {
		p := e.tallies[i]
		d.add(hashPlace, uint64(i), bitsOf(s.at.X, s.at.Y), two(math.Float32bits(s.at.Z), s.weight),
			two(uint32(p.present), uint32(p.infectious)))
	}
	for run := range e.world.Query(e.life, e.home, e.body).Runs() {
		lives, homes, bodies := e.life.Slice(run), e.home.Slice(run), e.body.Slice(run)
		for i, l := range lives {
			at := bodies[i].at
			d.add(hashTraveller, uint64(l.number), two(l.ends, e.number(homes[i])), bitsOf(at.X, at.Y),
				uint64(math.Float32bits(at.Z)))
		}
	}
	for run := range e.world.Query(e.life, e.stay, e.at).Runs() {
		lives, places := e.life.Slice(run), e.at.Slice(run)
		for i, s := range e.stay.Slice(run) {
			d.add(hashStay, uint64(lives[i].number), two(s.until, e.number(places[i])))
		}
	}
	for run := range e.world.Query(e.life, e.trip).Runs() {
		lives := e.life.Slice(run)
		for i, t := range e.trip.Slice(run) {
			d.add(hashTrip, uint64(lives[i].number), bitsOf(t.direction.X, t.direction.Y),
				two(math.Float32bits(t.direction.Z), t.to), two(uint32(t.left), uint32(t.by)))
		}
	}
	for run := range e.world.Query(e.life, e.susceptible).Runs() {
		for _, l := range e.life.Slice(run) {
			d.add(hashSusceptible, uint64(l.number))
		}
	}
	for run := range e.world.Query(e.life, e.infectious).Runs() {
		lives := e.life.Slice(run)
		for i, c := range e.infectious.Slice(run) {
			d.add(hashInfectious, uint64(lives[i].number), uint64(c.until))
		}
	}
	for run := range e.world.Query(e.life, e.recovered).Runs() {
		lives := e.life.Slice(run)
		for i, c := range e.recovered.Slice(run) {
			d.add(hashRecovered, uint64(lives[i].number), uint64(c.until))
		}
	}
	return fmt.Sprintf("%016x%016x", d.a, d.b)
}
