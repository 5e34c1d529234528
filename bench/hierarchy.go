package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
)

// Work hierarchy: n entities in families of 21. A family is a root, its four children, and four children of
// each child. Families are made one after the other. The work moves every root one step. It then sets the
// place of each entity to the sum of the entity's position and its parent's place, parents first.
//
// Vast walks its relation in the order of depth. On Ark, a component links each entity to its first child and
// its next sibling, and the work goes down from the roots. Ark's own relations are not used, because they
// make a table for each parent.

// A Place is the sum of the positions of an entity and of all its ancestors.
type Place struct{ X, Y float64 }

// hierarchyExtras is the value of workload.extras for the work hierarchy: the world that emptyquery.go makes
// for this work has one component type besides Position and Velocity.
const hierarchyExtras = 1

// The shape of a family.
const (
	familySize = 21
	childCount = 4
)

// parentOf returns the index of the i-th entity's parent, or −1 for a root.
func parentOf(i int) int {
	member := i % familySize
	if member == 0 {
		return -1
	}
	return i - member + (member-1)/childCount
}

// depthOf returns how many ancestors the i-th entity has.
func depthOf(i int) int {
	depth := 0
	for i = parentOf(i); i >= 0; i = parentOf(i) {
		depth++
	}
	return depth
}

// stepOf returns the initial position of the i-th entity, relative to its parent: zero for a root, one step
// for every other entity.
func stepOf(i int) Position {
	if parentOf(i) < 0 {
		return Position{}
	}
	return Position{X: 1}
}

// checkPlaces returns an error if sum is not the sum of X over n places. done is the number of repetitions.
func checkPlaces(n, done int, sum float64) error {
	want := 0
	for i := range n {
		want += done + depthOf(i)
	}
	if sum != float64(want) {
		return fmt.Errorf("after %d repetitions, the X of the places add up to %v, want %d", done, sum, want)
	}
	return nil
}

type vastTree struct {
	world   *vast.World
	pos     vast.Column[Position]
	place   vast.Column[Place]
	childOf vast.Relation
	roots   vast.Query
	all     vast.Query
}

//go:noinline
func walkVast(s *vastTree) {
	pos, place := s.pos, s.place
	for run := range s.roots.Runs() {
		p, at := pos.Slice(run), place.Slice(run)
		at = at[:len(p)]
		for i := range p {
			p[i].X++
			at[i] = Place(p[i])
		}
	}
	for run := range s.childOf.InDepthOrder(s.all) {
		p, at := pos.Slice(run), place.Slice(run)
		for i, target := range s.childOf.Targets(run) {
			parent := place.At(target)
			at[i] = Place{parent.X + p[i].X, parent.Y + p[i].Y}
		}
	}
}

// Kin links an entity of Ark to its first child and its next sibling. The zero entity stands for no entity.
type Kin struct{ First, Next ecs.Entity }

type arkTree struct {
	all   *ecs.Map3[Position, Place, Kin]
	roots *ecs.Filter3[Position, Place, Kin]
	stack []arkVisit // entities to visit
}

type arkVisit struct {
	entity      ecs.Entity
	parentPlace Place
}

//go:noinline
func walkArk(s *arkTree) {
	all, stack := s.all, s.stack[:0]
	query := s.roots.Query()
	for query.Next() {
		p, at, kin := query.Get()
		p.X++
		*at = Place(*p)
		if !kin.First.IsZero() {
			stack = append(stack, arkVisit{kin.First, *at})
		}
		for len(stack) > 0 {
			visit := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			p, at, kin := all.Get(visit.entity)
			*at = Place{visit.parentPlace.X + p.X, visit.parentPlace.Y + p.Y}
			if !kin.Next.IsZero() {
				stack = append(stack, arkVisit{kin.Next, visit.parentPlace})
			}
			if !kin.First.IsZero() {
				stack = append(stack, arkVisit{kin.First, *at})
			}
		}
	}
	s.stack = stack
}

func newHierarchyVast(n int) side {
	w := newSizedVastWorld(n)
	s := &vastTree{world: w, pos: vast.NewColumn[Position](w), place: vast.NewColumn[Place](w)}
	s.childOf = vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	s.all = w.Query(s.pos, s.place)
	s.roots = s.all.Without(s.childOf)
	archetype := w.Archetype(s.pos, s.place)
	entities := make([]vast.Entity, n)
	for i := range entities {
		entities[i] = archetype.New()
		*s.pos.Get(entities[i]) = stepOf(i)
		if parent := parentOf(i); parent >= 0 {
			s.childOf.Set(entities[i], entities[parent])
		}
	}
	return side{
		units:  n,
		sample: timeAll(s, walkVast),
		check: func(done int) error {
			sum := 0.0
			for run := range s.all.Runs() {
				for _, at := range s.place.Slice(run) {
					sum += at.X
				}
			}
			return checkPlaces(n, done, sum)
		},
		close: closeVast(w),
	}
}

// newHierarchyArk marks the roots with the component C1.
func newHierarchyArk(n int) side {
	w := ecs.NewWorld(initialCapacity)
	all, root := ecs.NewMap3[Position, Place, Kin](w), ecs.NewMap4[Position, Place, Kin, C1](w)
	entities := make([]ecs.Entity, n)
	last := make([]ecs.Entity, n) // the newest child of each entity
	for i := range entities {
		p := stepOf(i)
		parent := parentOf(i)
		if parent < 0 {
			entities[i] = root.NewEntity(&p, &Place{}, &Kin{}, &C1{})
			continue
		}
		entities[i] = all.NewEntity(&p, &Place{}, &Kin{})
		if last[parent].IsZero() {
			_, _, kin := all.Get(entities[parent])
			kin.First = entities[i]
		} else {
			_, _, kin := all.Get(last[parent])
			kin.Next = entities[i]
		}
		last[parent] = entities[i]
	}
	s := &arkTree{all: all, roots: ecs.NewFilter3[Position, Place, Kin](w).With(ecs.C[C1]()).Register()}
	return side{
		units:  n,
		sample: timeAll(s, walkArk),
		check: func(done int) error {
			sum := 0.0
			query := ecs.NewFilter1[Place](w).Query()
			for query.Next() {
				sum += query.Get().X
			}
			return checkPlaces(n, done, sum)
		},
	}
}
