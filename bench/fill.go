package main

import (
	arche "github.com/mlange-42/arche/ecs"
	ark "github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/filter"

	"github.com/akmonengine/volt"
	ggecs "github.com/marioolofo/go-gameengine-ecs"
	uot "github.com/unitoftime/ecs"
)

// fillers maps sideVast and the names of peers to functions that make a world of n entities. parts is the
// number of components of an entity. A function creates all entities with one call if the store has such a
// call, and writes to every component. It returns the world, and the number of entities that have all
// components. The world's memory lives as long as the returned value.
var fillers = map[string]func(n, parts int) (world any, made int){
	sideVast:    fillVast,
	peerSlice:   fillSlices,
	peerArk:     fillArk,
	peerArche:   fillArche,
	peerVolt:    fillVolt,
	peerDonburi: fillDonburi,
	peerUOT:     fillUOT,
	peerGGECS:   fillGGECS,
}

func fillVast(n, parts int) (any, int) {
	w := newSizedVastWorld(n)
	columns := append([]vast.AnyColumn{vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)},
		extraVast(w, parts-twoParts)...)
	w.Archetype(columns...).NewN(n, nil)
	all := w.Query(columns...)
	for _, column := range columns {
		switch c := column.(type) {
		case vast.Column[Position]:
			c.SetAll(all, Position{X: 1})
		case vast.Column[Velocity]:
			c.SetAll(all, Velocity{X: 1})
		case vast.Column[C1]:
			c.SetAll(all, C1{X: 1})
		case vast.Column[C2]:
			c.SetAll(all, C2{X: 1})
		case vast.Column[C3]:
			c.SetAll(all, C3{X: 1})
		case vast.Column[C4]:
			c.SetAll(all, C4{X: 1})
		case vast.Column[C5]:
			c.SetAll(all, C5{X: 1})
		case vast.Column[C6]:
			c.SetAll(all, C6{X: 1})
		case vast.Column[C7]:
			c.SetAll(all, C7{X: 1})
		case vast.Column[C8]:
			c.SetAll(all, C8{X: 1})
		}
	}
	return w, all.Count()
}

func fillSlices(n, parts int) (any, int) {
	slices := make([][]Position, parts)
	for i := range slices {
		slices[i] = make([]Position, n)
		for j := range slices[i] {
			slices[i][j].X = 1
		}
	}
	return slices, n
}

func fillArk(n, parts int) (any, int) {
	c := newArkCrowd(nil, parts)
	if parts == tenParts {
		c.ten.NewBatchFn(n,
			func(_ ark.Entity, p *Position, v *Velocity, c1 *C1, c2 *C2, c3 *C3, c4 *C4, c5 *C5, c6 *C6,
				c7 *C7, c8 *C8) {
				p.X, v.X, c1.X, c2.X, c3.X, c4.X, c5.X, c6.X, c7.X, c8.X = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1
			})
	} else {
		c.two.NewBatchFn(n, func(_ ark.Entity, p *Position, v *Velocity) { p.X, v.X = 1, 1 })
	}
	return c, countArk(c.complete())
}

func fillArche(n, parts int) (any, int) {
	s := newArche(parts - twoParts)
	query := s.world.Batch().NewQ(n, s.ids...)
	for query.Next() {
		for _, id := range s.ids {
			(*Position)(query.Get(id)).X = 1 // all component types have the layout of Position
		}
	}
	return s, s.count(arche.All(s.ids...))
}

func fillVolt(n, parts int) (any, int) {
	s := newVolt()
	for range n {
		var err error
		if parts == tenParts {
			var e volt.EntityId
			e, err = volt.CreateEntityWithComponents8(s.world, Position{X: 1}, Velocity{X: 1}, C1{X: 1},
				C2{X: 1}, C3{X: 1}, C4{X: 1}, C5{X: 1}, C6{X: 1})
			must(err)
			err = volt.AddComponents2(s.world, e, C7{X: 1}, C8{X: 1})
		} else {
			_, err = volt.CreateEntityWithComponents2(s.world, Position{X: 1}, Velocity{X: 1})
		}
		must(err)
	}
	return s, s.complete(parts)
}

func fillDonburi(n, parts int) (any, int) {
	s := newDonburi(parts - twoParts)
	s.world.CreateMany(n, s.types...)
	all := donburi.NewQuery(filter.Contains(s.types...))
	for entry := range all.Iter(s.world) {
		for _, t := range s.types {
			(*Position)(entry.Component(t)).X = 1 // all component types have the layout of Position
		}
	}
	return s, all.Count(s.world)
}

func fillUOT(n, parts int) (any, int) {
	s := newUOT(parts - twoParts)
	ones := []uot.Component{
		uot.C(Position{X: 1}), uot.C(Velocity{X: 1}), uot.C(C1{X: 1}), uot.C(C2{X: 1}), uot.C(C3{X: 1}),
		uot.C(C4{X: 1}), uot.C(C5{X: 1}), uot.C(C6{X: 1}), uot.C(C7{X: 1}), uot.C(C8{X: 1}),
	}[:parts]
	for range n {
		s.create(ones...)
	}
	return s, s.complete().Count()
}

func fillGGECS(n, parts int) (any, int) {
	s := newGGECS(parts - twoParts)
	for range n {
		s.world.NewEntity(s.ids...)
	}
	for query := s.world.Query(ggecs.MakeComponentMask(s.ids...)); query.Next(); {
		for _, id := range s.ids {
			(*Position)(query.Component(id)).X = 1 // all component types have the layout of Position
		}
	}
	return s, s.count(s.ids...)
}
