package main

import (
	"errors"
	"fmt"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
)

// Work clone_tree: copy a tree of 16 entities, a root and its children, until there are n copied entities.
// All entities have Position and Velocity. The trees are copied one at a time. The rows of the peer "self"
// compare this with one call of Vast that makes all copies. The copy of a root is the parent of the copies of
// the children, and lists them in the order of the original. The deletion of the copies is not timed.
//
// Vast clones along a relation. On Ark, a component links an entity to its parent, its first child and its
// next sibling, and the work follows these links and sets those of the copies. Ark's own relations are not
// used, because they make a table for each parent.
//
// The functions with go:noinline are the timed work.

// treeSize is the number of entities of a tree of clone_tree.
const treeSize = 16

// treeSizes are the sizes of clone_tree. With fewer entities there would be no tree.
var treeSizes = []int{16, 64, 256, 1024, 16_000, 256_000, 1_000_000}

type vastTrees struct {
	*vastCrowd // the entities are the copies of the root
	original   vast.Entity
	childOf    vast.Relation
	cloner     *clone.Cloner
}

//go:noinline
func cloneTreesVast(c *vastTrees) {
	for i := range c.entities {
		c.entities[i], _ = c.cloner.Clone(c.original)
	}
}

//go:noinline
func cloneTreesVastN(c *vastTrees) {
	copies, _ := c.cloner.CloneN(c.original, len(c.entities))
	for i := range c.entities {
		c.entities[i] = copies.Root(i)
	}
}

// Family links an entity of Ark to its parent, its first child and its next sibling. The zero entity stands
// for no entity.
type Family struct{ Parent, First, Next ecs.Entity }

type arkTrees struct {
	*arkCrowd // the entities are the copies of the root
	original  ecs.Entity
	family    *ecs.Map[Family]
}

// All entities are alive, so the look-ups need no check.
//
//go:noinline
func cloneTreesArk(c *arkTrees) {
	w, family := c.world, c.family
	for i := range c.entities {
		root := w.CopyEntity(c.original)
		c.entities[i] = root
		last := ecs.Entity{}
		for child := family.GetUnchecked(c.original).First; !child.IsZero(); {
			copied := w.CopyEntity(child)
			f := family.GetUnchecked(copied)
			child = f.Next
			f.Parent, f.Next = root, ecs.Entity{}
			if last.IsZero() {
				family.GetUnchecked(root).First = copied
			} else {
				family.GetUnchecked(last).Next = copied
			}
			last = copied
		}
	}
}

// childX returns the Velocity.X of the i-th child of a tree.
func childX(i int) float64 { return float64(i + 1) }

var errNoTree = errors.New("a copy has other children than the original, or a child has another parent")

// checkTrees checks the number of the entities in a world with some copies of the tree.
func checkTrees(entities, trees int) error {
	if want := (trees + 1) * treeSize; entities != want {
		return fmt.Errorf("there are %d entities, want %d", entities, want)
	}
	return nil
}

// check checks the copies. n is the number of copies that must be in the world.
func (c *vastTrees) check(n int) error {
	for _, root := range c.entities[:n] {
		i := 0
		for child := range c.childOf.Sources(root) {
			if parent, _ := c.childOf.Target(child); parent != root || c.vel.Get(child).X != childX(i) {
				return errNoTree
			}
			i++
		}
		if i != treeSize-1 {
			return errNoTree
		}
	}
	return checkTrees(c.all.Count(), n)
}

func (c *vastTrees) deleteTrees() {
	for _, root := range c.entities {
		c.world.Delete(root) // also deletes the children
	}
}

func (c *arkTrees) check(n int) error {
	for _, root := range c.entities[:n] {
		i := 0
		for child := c.family.Get(root).First; !child.IsZero(); child = c.family.Get(child).Next {
			_, v := c.two.Get(child)
			if c.family.Get(child).Parent != root || v.X != childX(i) {
				return errNoTree
			}
			i++
		}
		if i != treeSize-1 {
			return errNoTree
		}
	}
	return checkTrees(countArk(c.all), n)
}

func (c *arkTrees) deleteTrees() {
	for _, root := range c.entities {
		for child := c.family.Get(root).First; !child.IsZero(); {
			next := c.family.Get(child).Next
			c.world.RemoveEntity(child)
			child = next
		}
		c.world.RemoveEntity(root)
	}
}

// treesSide makes a side from the functions of vastTrees or arkTrees.
func treesSide[C any](c *C, trees int, work, undo func(*C), check func(n int) error) side {
	made := crowdSide(c, trees, work, undo, trees, check)
	made.units = trees * treeSize
	return made
}

func newTreeVast(work func(*vastTrees)) func(n int) side {
	return func(n int) side {
		trees := n / treeSize
		c := &vastTrees{vastCrowd: newVastCrowd(make([]vast.Entity, n+treeSize), twoParts).find()}
		c.entities = c.entities[:trees]
		c.childOf = vast.NewRelation(c.world, "ChildOf", vast.RelationOptions{OnDelete: vast.Cascade})
		c.original = c.archetype.New()
		for i := range treeSize - 1 {
			child := c.archetype.New()
			c.vel.Get(child).X = childX(i)
			c.childOf.Set(child, c.original)
		}
		var err error
		c.cloner, err = clone.New(c.world, c.world, clone.Options{})
		must(err)
		made := treesSide(c, trees, work, (*vastTrees).deleteTrees, c.check)
		made.close = closeVast(c.world)
		return made
	}
}

func newTreeArk(n int) side {
	trees := n / treeSize
	c := newTreeOfArk(trees)
	return treesSide(c, trees, cloneTreesArk, (*arkTrees).deleteTrees, c.check)
}

// newTreeOfArk makes a world of Ark with the original, for the given number of copies.
func newTreeOfArk(trees int) *arkTrees {
	c := &arkTrees{arkCrowd: newArkCrowd(make([]ecs.Entity, trees), twoParts).find()}
	c.family = ecs.NewMap[Family](c.world)
	all := ecs.NewMap3[Position, Velocity, Family](c.world)
	c.original = all.NewEntityFn(nil)
	last := ecs.Entity{}
	for i := range treeSize - 1 {
		child := all.NewEntity(&Position{}, &Velocity{X: childX(i)}, &Family{Parent: c.original})
		if last.IsZero() {
			c.family.Get(c.original).First = child
		} else {
			c.family.Get(last).Next = child
		}
		last = child
	}
	return c
}
