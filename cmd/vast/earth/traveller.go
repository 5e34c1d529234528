package earth

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/vastgo/vast"
)

// traveller describes a traveller who departs for another region. A section (see [Region.Tick]) is a sequence
// of encoded travellers. It does not contain their trips: the receiver computes a trip from its two places.
type traveller struct {
	life     life
	cohort   uint8
	home     uint32 // number of the home place
	from, to uint32 // numbers of the places where the trip starts and ends
	health   health
	until    uint32 // tick when the infection or the immunity ends
}

type health uint8

const (
	isSusceptible health = iota
	isInfectious
	isRecovered
)

// BytesTraveller is the number of bytes of a traveller in a section. BytesComponents is the number of bytes
// of a traveller's components in a world, without relations: body 12, life 8, trip 20 and health 4.
const (
	BytesTraveller  = 8 + 1 + 4 + 8 + 5
	BytesComponents = 12 + 8 + 20 + 4
)

// appendTo appends the encoded traveller. All numbers are little-endian.
func (t *traveller) appendTo(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint32(b, t.life.Number)
	b = le.AppendUint32(b, t.life.Ends)
	b = append(b, t.cohort)
	b = le.AppendUint32(b, t.home)
	b = le.AppendUint32(b, t.from)
	b = le.AppendUint32(b, t.to)
	b = append(b, byte(t.health))
	return le.AppendUint32(b, t.until)
}

func decodeTraveller(b []byte) (t traveller) {
	le := binary.LittleEndian
	return traveller{life: life{le.Uint32(b), le.Uint32(b[4:])}, cohort: b[8], home: le.Uint32(b[9:]),
		from: le.Uint32(b[13:]), to: le.Uint32(b[17:]), health: health(b[21]), until: le.Uint32(b[22:])}
}

// check returns an error if a traveller cannot enter the world. The text of the error continues the words
// "the traveller has".
func (e *Earth) check(t *traveller) error {
	switch {
	case t.cohort >= cohorts:
		return fmt.Errorf("the unknown cohort %d", t.cohort)
	case t.home >= uint32(len(e.sites)):
		return fmt.Errorf("the unknown home %d", t.home)
	case t.from >= uint32(len(e.sites)):
		return fmt.Errorf("the unknown start %d", t.from)
	case !e.owns(t.to):
		return fmt.Errorf("the destination %d, which lies in another region", t.to)
	case t.health > isRecovered:
		return fmt.Errorf("the unknown health %d", t.health)
	}
	return nil
}

// addTraveller adds a traveller in transit to a digest, as Earth.digest adds a traveller of the world. The
// transit ends at the tick transitEnds.
func (e *Earth) addTraveller(d *digest, t *traveller, transitEnds uint32) {
	number, at, trip := uint64(t.life.Number), e.sites[t.from].At, e.plan(t.from, t.to)
	d.add(hashTraveller, number, two(t.life.Ends, t.home), bitsOf(at.X, at.Y), uint64(math.Float32bits(at.Z)))
	d.addTrip(t.life.Number, &trip)
	d.add(hashTransit, number, two(transitEnds, t.from))
	switch t.health {
	case isSusceptible:
		d.add(hashSusceptible, number)
	case isInfectious:
		d.add(hashInfectious, number, uint64(t.until))
	case isRecovered:
		d.add(hashRecovered, number, uint64(t.until))
	}
}

// pack describes a traveller of the world. The traveller must be in transit.
func (e *Earth) pack(who vast.Entity, cohort int) traveller {
	t := traveller{life: *e.life.Get(who), cohort: uint8(cohort), home: e.homeOf(who),
		from: e.transit.Get(who).FromPlace, to: e.trip.Get(who).ToPlace}
	if c := e.infectious.Get(who); c != nil {
		t.health, t.until = isInfectious, c.Until
	} else if c := e.recovered.Get(who); c != nil {
		t.health, t.until = isRecovered, c.Until
	}
	return t
}

// admit records the commands that create a traveller on a trip.
func (e *Earth) admit(t *traveller, trip trip, at vector, commands *vast.Commands) {
	who := commands.New(e.cohort[t.cohort].travellers)
	e.stay.RemoveLater(commands, who)
	e.body.SetLater(commands, who, body{at})
	e.life.SetLater(commands, who, t.life)
	e.trip.AddLater(commands, who, trip)
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
