package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work random: look up the Position of each of n entities in shuffled order, and add up the X. Vast, Ark,
// arche, uot and ggecs check that the entity is alive; donburi and volt do not.

type vastLookUp struct {
	world    *vast.World
	pos      vast.Column[Position]
	entities []vast.Entity
	sum      float64 // sum of X over all repetitions
}

//go:noinline
func lookUpVast(s *vastLookUp) {
	pos, sum := s.pos, 0.0
	for _, e := range s.entities {
		sum += pos.Get(e).X
	}
	s.sum += sum
}

type arkLookUp struct {
	pos      *ecs.Map[Position]
	entities []ecs.Entity
	sum      float64 // sum of X over all repetitions
}

//go:noinline
func lookUpArk(s *arkLookUp) {
	pos, sum := s.pos, 0.0
	for _, e := range s.entities {
		sum += pos.Get(e).X
	}
	s.sum += sum
}

// shuffle permutes the entities. The permutation depends only on their number, so all sides have the same
// order.
func shuffle[E any](entities []E) {
	r := rand.New(rand.NewPCG(1, uint64(len(entities))))
	r.Shuffle(len(entities), func(i, j int) { entities[i], entities[j] = entities[j], entities[i] })
}

// randomX returns the X of the i-th entity. It is a small whole number, so that sums are exact.
func randomX(i int) float64 {
	return float64(i%1021 + 1)
}

func checkSum(got float64, n, done int) error {
	want := 0.0
	for i := range n {
		want += randomX(i)
	}
	if want *= float64(done); got != want {
		return fmt.Errorf("after %d repetitions the sum is %v, not %v", done, got, want)
	}
	return nil
}

// lookUpSide makes a side whose work looks up n entities and adds their X to *sum.
func lookUpSide[S any](s *S, work func(*S), n int, sum *float64) side {
	return side{units: n, sample: timeAll(s, work), check: func(done int) error {
		return checkSum(*sum, n, done)
	}}
}

func newRandomVast(n int) side {
	w := newSizedVastWorld(n)
	s := &vastLookUp{world: w, pos: vast.NewColumn[Position](w)}
	archetype := w.Archetype(s.pos)
	for i := range n {
		e := archetype.New()
		s.pos.Get(e).X = randomX(i)
		s.entities = append(s.entities, e)
	}
	shuffle(s.entities)
	made := lookUpSide(s, lookUpVast, n, &s.sum)
	made.close = closeVast(w)
	return made
}

func newRandomArk(n int) side {
	w := ecs.NewWorld(initialCapacity)
	s := &arkLookUp{pos: ecs.NewMap[Position](w)}
	for i := range n {
		s.entities = append(s.entities, s.pos.NewEntity(&Position{X: randomX(i)}))
	}
	shuffle(s.entities)
	return lookUpSide(s, lookUpArk, n, &s.sum)
}
