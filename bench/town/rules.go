package main

import (
	"encoding/binary"
	"hash/fnv"
	"math"
)

// Params are the numbers of the model. Times are in ticks.
type Params struct {
	People, Buildings int
	Width             float32

	Rest       int64   // length of a stay at home
	Shift      int64   // length of a stay at work
	Wage       int64   // coins for each tick at work
	ChildCost  int64   // coins for a child
	Adult      int64   // age of the first job
	Life       int64   // age of death
	Incubation int64   // time from the infection to the illness
	Ill        int64   // length of an illness
	Immunity   int64   // time from the end of an illness until the person can be infected again
	Contagion  float32 // probability of an infection, per tick and per sick person in the building
	Lethality  float32 // probability that an illness ends in death
	FirstSick  int     // one person in FirstSick is sick at the beginning
}

// defaults returns the parameters of a town with a number of people.
func defaults(people int) Params {
	return Params{
		People: people, Buildings: people / 20, Width: 300,
		Rest: 120, Shift: 80, Wage: 1, ChildCost: 700, Adult: 500, Life: 3000,
		Incubation: 60, Ill: 100, Immunity: 800, Contagion: 0.003, Lethality: 0.02, FirstSick: 50,
	}
}

// Stream yields the random numbers of a new town, or of one person. The numbers of a person do not depend on
// the order in which people are visited.
type Stream struct{ State uint64 }

func (s *Stream) next() uint64 {
	s.State += 0x9e3779b97f4a7c15
	z := s.State
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *Stream) chance(p float32) bool      { return s.float() < p }
func (s *Stream) float() float32             { return float32(s.next()>>40) / (1 << 24) }
func (s *Stream) below(n int) int            { return int(s.next() >> 33 * uint64(n) >> 31) }
func (s *Stream) place(w float32) Place      { return Place{s.float() * w, s.float() * w} }
func (s *Stream) ticks(least, n int64) int64 { return least + int64(s.below(int(n))) }

// The components of people. E is the library's entity.
type (
	Person      struct{ ID uint64 }
	Born        struct{ Tick int64 }
	Place       struct{ X, Y float32 }
	Purse       struct{ Coins int64 }
	Home[E any] struct{ Building E }
	Job[E any]  struct{ Building E } // only adults have a job

	// A person has either Inside or Walk.
	Inside[E any] struct {
		Building E
		Until    int64
	}
	Walk[E any] struct {
		To     E
		Target Place
	}

	// A person has at most one of Incubating, Sick and Immune.
	Incubating struct{ Until int64 }
	Sick       struct{ Until int64 }
	Immune     struct{ Until int64 }
)

// The components of buildings. A building also has a Place.
type (
	Crowd struct{ People, Sick int32 }
	Till  struct{ Coins int64 }
)

// step moves p towards a target by a distance of at most 1, and reports whether p has arrived.
func (p *Place) step(target Place) bool {
	dx, dy := target.X-p.X, target.Y-p.Y
	d := float32(math.Sqrt(float64(dx*dx + dy*dy)))
	if d <= 1 {
		*p = target
		return true
	}
	p.X += dx / d
	p.Y += dy / d
	return false
}

// Settler is a person of a new town. Home and Job are indexes of buildings.
type Settler struct {
	ID, Seed  uint64
	Born      int64
	Coins     int64
	Home, Job int
	Until     int64
	Sick      bool
}

func (p *Params) settle() (buildings []Place, people []Settler) {
	rng := Stream{1}
	for range p.Buildings {
		buildings = append(buildings, rng.place(p.Width))
	}
	for i := range p.People {
		people = append(people, Settler{
			ID: uint64(i), Seed: rng.next(), Born: -rng.ticks(0, p.Life), Coins: rng.ticks(0, p.ChildCost),
			Home: rng.below(p.Buildings), Job: rng.below(p.Buildings), Until: rng.ticks(1, p.Rest),
			Sick: i%p.FirstSick == 0,
		})
	}
	return buildings, people
}

// Census counts the people of a town. Native counts the people who were born after the first tick. Sum is the
// sum of the hashes of all records, and does not depend on their order.
type Census struct {
	People, Children, Native, Walking, Incubating, Sick, Immune int

	Sum uint64
}

// Record is the entry of a person or a building in a census. For a building, ID and Stream are the numbers of
// people and of sick people inside.
type Record struct {
	ID, Stream, Born, Coins        uint64
	X, Y, HomeX, HomeY, JobX, JobY float32
	Until, Health, HealthTo        uint64
}

// The values of Record.Health. 0 stands for people who can be infected, and for buildings.
const (
	incubating = 1 + iota
	sick
	immune
)

func (c *Census) person(r Record, adult, walking bool) {
	c.People++
	if !adult {
		c.Children++
	}
	if int64(r.Born) > 0 {
		c.Native++
	}
	if walking {
		c.Walking++
	}
	switch r.Health {
	case incubating:
		c.Incubating++
	case sick:
		c.Sick++
	case immune:
		c.Immune++
	}
	c.mix(r)
}

func (c *Census) building(at *Place, crowd *Crowd, till *Till) {
	c.mix(Record{
		X: at.X, Y: at.Y, ID: uint64(crowd.People), Stream: uint64(crowd.Sick), Coins: uint64(till.Coins),
	})
}

func (c *Census) mix(r Record) {
	h := fnv.New64a()
	if err := binary.Write(h, binary.LittleEndian, r); err != nil {
		panic(err)
	}
	c.Sum += h.Sum64()
}
