package earth

import (
	"fmt"
	"math"

	"github.com/vastgo/vast"
)

// digest has two sums of hashes: of all components, and of the counts and the seed of the world. The sums do
// not depend on the order of the components, which differs between machines with huge pages of different
// sizes.
type digest struct{ a, b uint64 }

// add adds a hash of a component to each sum. The arguments are the kind of the hash, the number of the
// component's entity, and the component's content. For hashWorld, number is the seed, and words are the
// counts.
func (d *digest) add(kind, number uint64, words ...uint64) {
	a := mix(kind*golden + number)
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

// Kinds of hashes in a digest. hashWorld stands for the counts and the seed of the world. hashPlace,
// hashTraveller and hashStay each stand for several components of an entity.
const (
	hashWorld = iota + 1
	hashPlace
	hashTraveller
	hashStay
	hashTrip
	hashSusceptible
	hashInfectious
	hashRecovered
	hashTransit
)

// Hash returns a hash of the whole state, 32 hexadecimal digits. The hash is the same on every machine and
// for any number of workers. Complexity: some tens of nanoseconds for each entity.
func (e *Earth) Hash() string {
	e.mustBeOpen("Hash")
	d := e.digest()
	d.addWorld(e.seed, e.ticks, e.born, uint64(e.died))
	return d.String()
}

func (d *digest) addWorld(seed, ticks uint64, born uint32, died uint64) {
	d.add(hashWorld, seed, ticks, uint64(born), died)
}

func (d *digest) addTrip(number uint32, t *trip) {
	d.add(hashTrip, uint64(number), bitsOf(t.Direction.X, t.Direction.Y),
		two(math.Float32bits(t.Direction.Z), t.ToPlace), two(uint32(t.StepsLeft), uint32(t.By)))
}

func (d *digest) String() string { return fmt.Sprintf("%016x%016x", d.a, d.b) }

// digest returns the digest of the places and travellers. Each function of kinds is the work of one worker.
func (e *Earth) digest() (d digest) {
	kinds := []func(d *digest){func(d *digest) {
		for i, p := range e.tallies {
			number := e.first + uint32(i)
			s := e.sites[number]
			d.add(hashPlace, uint64(number), bitsOf(s.At.X, s.At.Y), two(math.Float32bits(s.At.Z), s.Weight),
				two(uint32(p.Present), uint32(p.Infectious)))
		}
	}}
	kind := func(q vast.Query, add func(d *digest, run vast.Run)) {
		kinds = append(kinds, func(d *digest) {
			for run := range q.Runs() {
				add(d, run)
			}
		})
	}
	kind(e.world.Query(e.life, e.home, e.body), func(d *digest, run vast.Run) {
		lives, bodies := e.life.Slice(run), e.body.Slice(run)
		for i, home := range e.home.Targets(run) {
			l, at := lives[i], bodies[i].At
			d.add(hashTraveller, uint64(l.Number), two(l.Ends, e.number(uint32(home.Index()))),
				bitsOf(at.X, at.Y), uint64(math.Float32bits(at.Z)))
		}
	})
	kind(e.world.Query(e.life, e.abroad, e.body), func(d *digest, run vast.Run) {
		lives, bodies := e.life.Slice(run), e.body.Slice(run)
		for i, home := range e.abroad.Slice(run) {
			l, at := lives[i], bodies[i].At
			d.add(hashTraveller, uint64(l.Number), two(l.Ends, home.HomePlace), bitsOf(at.X, at.Y),
				uint64(math.Float32bits(at.Z)))
		}
	})
	kind(e.world.Query(e.life, e.stay, e.at), func(d *digest, run vast.Run) {
		lives, stays := e.life.Slice(run), e.stay.Slice(run)
		for i, place := range e.at.Targets(run) {
			d.add(hashStay, uint64(lives[i].Number), two(stays[i].Until, e.number(uint32(place.Index()))))
		}
	})
	kind(e.world.Query(e.life, e.trip), func(d *digest, run vast.Run) {
		lives := e.life.Slice(run)
		for i, t := range e.trip.Slice(run) {
			d.addTrip(lives[i].Number, &t)
		}
	})
	kind(e.world.Query(e.life, e.transit), func(d *digest, run vast.Run) {
		lives := e.life.Slice(run)
		for i, t := range e.transit.Slice(run) {
			d.add(hashTransit, uint64(lives[i].Number), two(t.Until, t.FromPlace))
		}
	})
	kind(e.world.Query(e.life, e.susceptible), func(d *digest, run vast.Run) {
		for _, l := range e.life.Slice(run) {
			d.add(hashSusceptible, uint64(l.Number))
		}
	})
	kind(e.world.Query(e.life, e.infectious), func(d *digest, run vast.Run) {
		lives := e.life.Slice(run)
		for i, c := range e.infectious.Slice(run) {
			d.add(hashInfectious, uint64(lives[i].Number), uint64(c.Until))
		}
	})
	kind(e.world.Query(e.life, e.recovered), func(d *digest, run vast.Run) {
		lives := e.life.Slice(run)
		for i, c := range e.recovered.Slice(run) {
			d.add(hashRecovered, uint64(lives[i].Number), uint64(c.Until))
		}
	})
	digests := make([]digest, len(kinds))
	e.parallel(len(kinds), func(i int) { kinds[i](&digests[i]) })
	for _, k := range digests {
		d.a += k.a
		d.b += k.b
	}
	return d
}
