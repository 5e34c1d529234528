package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work hierarchy_join: add up the X of the children whose parent has the component Chosen. There are n
// children and n/16 parents, at least one, and half of the parents have Chosen. The children of a parent are
// not created together, but scattered. Vast joins along its relation, with Query.Where. The peer ark has the
// parent in a component, and looks up Chosen in the parent of each child. The peer ark-tables has Ark's
// relation, which makes a table for each parent, and looks up Chosen once for each table.
//
// Work hierarchy_join_born: hierarchy_join, but the children are created parent by parent.

// joinExtras is the value of workload.extras for these works: the world that emptyquery.go makes for these
// works has two component types besides Position and Velocity.
const joinExtras = 2

// Chosen marks parents.
type Chosen struct{}

// A kinship maps children to their parents.
type kinship struct {
	parents  int
	parentOf func(child int) int
}

func scattered(n int) kinship {
	parents := max(1, n/16)
	return kinship{parents, func(i int) int {
		return int(uint64(i) * 0x9e3779b97f4a7c15 >> 32 % uint64(parents))
	}}
}

func parentByParent(n int) kinship {
	parents := max(1, n/16)
	return kinship{parents, func(i int) int { return i * parents / n }}
}

// isChosen reports whether a parent has Chosen. The argument is the parent's index.
func isChosen(parent int) bool { return uint64(parent)*0x9e3779b97f4a7c15>>63 == 0 }

// joinSide makes a side whose work adds the X of the chosen parents' children to *sum.
func joinSide[S any](s *S, work func(*S), n int, k kinship, sum *float64) side {
	return side{units: n, sample: timeAll(s, work), check: func(done int) error {
		want := 0.0
		for i := range n {
			if isChosen(k.parentOf(i)) {
				want += randomX(i) * float64(done)
			}
		}
		if *sum != want {
			return fmt.Errorf("after %d repetitions the sum is %v, not %v", done, *sum, want)
		}
		return nil
	}}
}

type vastJoin struct {
	pos      vast.Column[Position]
	children vast.Query // the children of chosen parents
	sum      float64    // sum of X over all repetitions
}

//go:noinline
func joinVast(s *vastJoin) {
	pos, sum := s.pos, 0.0
	for slot := range s.children.Slots() {
		sum += pos.At(slot).X
	}
	s.sum += sum
}

func newJoinVast(n int, k kinship) side {
	w := newSizedVastWorld(n + k.parents)
	s := &vastJoin{pos: vast.NewColumn[Position](w)}
	chosen := vast.NewTag(w, "Chosen")
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	parents := make([]vast.Entity, k.parents)
	for i := range parents {
		if isChosen(i) {
			parents[i] = w.Archetype(chosen).New()
		} else {
			parents[i] = w.Archetype().New()
		}
	}
	children := w.Archetype(s.pos)
	for i := range n {
		e := children.New()
		s.pos.Get(e).X = randomX(i)
		childOf.Set(e, parents[k.parentOf(i)])
	}
	s.children = w.Query(s.pos).Where(childOf, w.Query(chosen))
	made := joinSide(s, joinVast, n, k, &s.sum)
	made.close = closeVast(w)
	return made
}

// Parent has the parent of an entity of Ark.
type Parent struct{ Entity ecs.Entity }

// ChildOf relates an entity of Ark to its parent.
type ChildOf struct{ ecs.RelationMarker }

type arkJoin struct {
	chosen   *ecs.Map[Chosen]
	children *ecs.Filter2[Position, Parent]
	related  *ecs.Filter2[Position, ChildOf]
	sum      float64 // sum of X over all repetitions
}

//go:noinline
func joinArk(s *arkJoin) {
	chosen, sum := s.chosen, 0.0
	query := s.children.Query()
	for query.NextTable() {
		positions, parents := query.GetColumns()
		parents = parents[:len(positions)]
		for i := range positions {
			if chosen.Has(parents[i].Entity) {
				sum += positions[i].X
			}
		}
	}
	s.sum += sum
}

//go:noinline
func joinArkTables(s *arkJoin) {
	chosen, sum := s.chosen, 0.0
	query := s.related.Query()
	for query.NextTable() {
		if !chosen.Has(query.GetRelation(1)) {
			continue
		}
		positions, _ := query.GetColumns()
		for i := range positions {
			sum += positions[i].X
		}
	}
	s.sum += sum
}

func newJoinArk(n int, k kinship, related bool) side {
	w := ecs.NewWorld(initialCapacity)
	s := &arkJoin{chosen: ecs.NewMap[Chosen](w)}
	parents := make([]ecs.Entity, k.parents)
	for i := range parents {
		parents[i] = w.NewEntity()
		if isChosen(i) {
			s.chosen.Add(parents[i], &Chosen{})
		}
	}
	work := joinArk
	if related {
		work = joinArkTables
		children := ecs.NewMap2[Position, ChildOf](w)
		for i := range n {
			children.NewEntity(&Position{X: randomX(i)}, &ChildOf{}, ecs.RelIdx(1, parents[k.parentOf(i)]))
		}
		s.related = ecs.NewFilter2[Position, ChildOf](w).Register()
	} else {
		children := ecs.NewMap2[Position, Parent](w)
		for i := range n {
			children.NewEntity(&Position{X: randomX(i)}, &Parent{parents[k.parentOf(i)]})
		}
		s.children = ecs.NewFilter2[Position, Parent](w).Register()
	}
	return joinSide(s, work, n, k, &s.sum)
}

// joinMatches returns the matches of a work whose children have the parents that kin returns.
func joinMatches(kin func(n int) kinship) []match {
	vastSide := func(n int) side { return newJoinVast(n, kin(n)) }
	return []match{
		{peerArk, vastSide, func(n int) side { return newJoinArk(n, kin(n), false) }, newEmptyArk},
		{peerArkTables, vastSide, func(n int) side { return newJoinArk(n, kin(n), true) }, newEmptyArkTables},
	}
}
