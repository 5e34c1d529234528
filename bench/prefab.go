package main

import (
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/prefab"
)

// Work prefab2comp: make n instances of a template with Position and Velocity, with one call. Each instance
// knows its template, and the template finds its instances. Vast links each instance to the template. Ark has
// no templates: it creates a batch with the values of the template and with a relation to the template. The
// deletion of the instances is not timed.
//
// Work prefab10comp: prefab2comp with a template that also has C1 … C8.
//
// The functions with go:noinline are the timed work.

type vastInstances struct {
	*vastCrowd
	template prefab.Template
}

//go:noinline
func instantiateVast(c *vastInstances) {
	c.template.InstantiateN(len(c.entities), nil)
}

// InstanceOf relates an entity of Ark to its template.
type InstanceOf struct{ ecs.RelationMarker }

type arkInstances struct {
	*arkCrowd
	template  ecs.Entity
	three     *ecs.Map3[Position, Velocity, InstanceOf]
	eleven    *ecs.Map11[Position, Velocity, C1, C2, C3, C4, C5, C6, C7, C8, InstanceOf]
	instances *ecs.Filter2[Velocity, InstanceOf]
}

//go:noinline
func instantiateArk(c *arkInstances) {
	p, v := c.two.Get(c.template)
	c.three.NewBatch(len(c.entities), p, v, &InstanceOf{}, ecs.RelIdx(2, c.template))
}

//go:noinline
func instantiateArkTen(c *arkInstances) {
	p, v, c1, c2, c3, c4, c5, c6, c7, c8 := c.ten.Get(c.template)
	c.eleven.NewBatch(len(c.entities), p, v, c1, c2, c3, c4, c5, c6, c7, c8, &InstanceOf{},
		ecs.RelIdx(10, c.template))
}

// templateX is the Velocity.X of the template.
const templateX = 3

// checkInstances checks that the world has n instances. found is the number of entities that a query finds,
// without the template. linked is the number of instances that the template finds, and sum is the sum of
// their Velocity.X.
func checkInstances(n, found, linked int, sum float64) error {
	if found != n || linked != n || sum != float64(n)*templateX {
		return fmt.Errorf("want %d instances whose velocities add up to %d: a query finds %d, the template "+
			"finds %d, whose velocities add up to %v", n, n*templateX, found, linked, sum)
	}
	return nil
}

func (c *vastInstances) check(n int) error {
	linked, sum := 0, 0.0
	for e := range c.template.Instances() {
		linked++
		sum += c.vel.Get(e).X
	}
	return checkInstances(n, c.world.Query(c.columns...).Count(), linked, sum)
}

func (c *arkInstances) check(n int) error {
	linked, sum := 0, 0.0
	query := c.instances.Query(ecs.RelIdx(1, c.template))
	for query.Next() {
		v, _ := query.Get()
		linked++
		sum += v.X
	}
	found := countArk(c.complete()) - 1 // the filter also finds the template
	return checkInstances(n, found, linked, sum)
}

func newPrefabVast(parts int) func(n int) side {
	return func(n int) side {
		c := &vastInstances{vastCrowd: newVastCrowd(make([]vast.Entity, n+2), parts).find()}
		c.entities = c.entities[:n] // the template takes two more slots
		e := c.archetype.New()
		c.vel.Get(e).X = templateX
		c.template = prefab.New(c.world).Mark(e)
		undo := func(c *vastInstances) { c.world.DeleteAll(c.all) }
		made := crowdSide(c, n, instantiateVast, undo, n, c.check)
		made.close = closeVast(c.world)
		return made
	}
}

func newPrefabArk(parts int) func(n int) side {
	return func(n int) side {
		c := &arkInstances{arkCrowd: newArkCrowd(make([]ecs.Entity, n), parts)}
		c.three = c.three.New(c.world)
		c.instances = ecs.NewFilter2[Velocity, InstanceOf](c.world).Register()
		work := instantiateArk
		if parts == tenParts {
			c.template = c.ten.NewEntityFn(nil)
			c.eleven = c.eleven.New(c.world)
			work = instantiateArkTen
		} else {
			c.template = c.two.NewEntityFn(nil)
		}
		_, v := c.two.Get(c.template)
		v.X = templateX
		undo := func(c *arkInstances) { c.world.RemoveEntities(c.instances.Batch(), nil) }
		return crowdSide(c, n, work, undo, n, c.check)
	}
}
