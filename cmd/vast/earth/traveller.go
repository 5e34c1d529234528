package earth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vastgo/vast"
)

// traveller is a traveller on the way, as it crosses the border of a region.
type traveller struct {
	life   life
	cohort uint8
	home   uint32 // number of the place
	body   body
	trip   trip
	health health
	until  uint32 // the end of an infection or of an immunity
}

type health uint8

const (
	isSusceptible health = iota
	isInfectious
	isRecovered
)

// bytesTraveller is the size of an encoded traveller. Its components have 48 bytes, without presence bits.
const bytesTraveller = 8 + 1 + 4 + 12 + 19 + 5

// appendTo appends the encoded traveller. All numbers are little-endian.
func (t *traveller) appendTo(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, t.life.Number)
	b = le.AppendUint32(b, t.life.Ends)
	b = append(b, t.cohort)
	b = le.AppendUint32(b, t.home)
	for _, v := range [...]vector{t.body.At, t.trip.Direction} {
		b = le.AppendUint32(b, math.Float32bits(v.X))
		b = le.AppendUint32(b, math.Float32bits(v.Y))
		b = le.AppendUint32(b, math.Float32bits(v.Z))
	}
	b = le.AppendUint32(b, t.trip.ToPlace)
	b = le.AppendUint16(b, t.trip.StepsLeft)
	b = append(b, byte(t.trip.By), byte(t.health))
	return le.AppendUint32(b, t.until)
}

// decodeTraveller decodes a traveller.
func decodeTraveller(b []byte) (t traveller) {
	le := binary.LittleEndian
	at := func(i int) vector {
		return vector{math.Float32frombits(le.Uint32(b[i:])), math.Float32frombits(le.Uint32(b[i+4:])),
			math.Float32frombits(le.Uint32(b[i+8:]))}
	}
	return traveller{
		life: life{le.Uint32(b), le.Uint32(b[4:])}, cohort: b[8], home: le.Uint32(b[9:]),
		body: body{at(13)},
		trip: trip{Direction: at(25), ToPlace: le.Uint32(b[37:]), StepsLeft: le.Uint16(b[41:]),
			By: transport(b[43])},
		health: health(b[44]), until: le.Uint32(b[45:]),
	}
}

// check reports why a traveller cannot come into the world.
func (e *Earth) check(t *traveller) error {
	switch {
	case t.cohort >= cohorts:
		return fmt.Errorf("the cohort %d", t.cohort)
	case t.home >= uint32(len(e.sites)):
		return fmt.Errorf("the home %d", t.home)
	case !e.owns(t.trip.ToPlace):
		return fmt.Errorf("the destination %d, which lies in another region", t.trip.ToPlace)
	case t.trip.By > air:
		return fmt.Errorf("the transport %d", t.trip.By)
	case t.trip.StepsLeft == 0:
		return errors.New("a trip without steps")
	case t.health > isRecovered:
		return fmt.Errorf("the health %d", t.health)
	}
	return nil
}

// addTraveller adds the components of a traveller in transit, as Hash does for a traveller of the world.
func (d *digest) addTraveller(t *traveller, until uint32) {
	number := uint64(t.life.Number)
	d.add(hashTraveller, number, two(t.life.Ends, t.home), bitsOf(t.body.At.X, t.body.At.Y),
		uint64(math.Float32bits(t.body.At.Z)))
	d.addTrip(t.life.Number, &t.trip)
	d.add(hashTransit, number, uint64(until))
	switch t.health {
	case isSusceptible:
		d.add(hashSusceptible, number)
	case isInfectious:
		d.add(hashInfectious, number, uint64(t.until))
	case isRecovered:
		d.add(hashRecovered, number, uint64(t.until))
	}
}

// pack returns a traveller of the world who is on the way.
func (e *Earth) pack(who vast.Entity, cohort int) traveller {
	t := traveller{life: *e.life.Get(who), cohort: uint8(cohort), home: e.homeOf(who), body: *e.body.Get(who),
		trip: *e.trip.Get(who)}
	if c := e.infectious.Get(who); c != nil {
		t.health, t.until = isInfectious, c.Until
	} else if c := e.recovered.Get(who); c != nil {
		t.health, t.until = isRecovered, c.Until
	}
	return t
}

// admit records the birth of a traveller who comes into the world on the way.
func (e *Earth) admit(t *traveller, commands *vast.Commands) {
	who := commands.New(e.cohort[t.cohort].travellers)
	e.stay.RemoveLater(commands, who)
	e.body.SetLater(commands, who, t.body)
	e.life.SetLater(commands, who, t.life)
	e.trip.AddLater(commands, who, t.trip)
	if e.owns(t.home) {
		e.home.SetLater(commands, who, e.place(t.home))
	} else {
		e.abroad.AddLater(commands, who, abroad{t.home})
	}
	switch t.health {
	case isInfectious:
		e.infect(who, t.until, commands)
	case isRecovered:
		e.susceptible.RemoveLater(commands, who)
		e.recovered.AddLater(commands, who, recovered{t.until})
	}
}
