package metamorphic

import (
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
)

// clone performs the operations Clone, CloneMany and CloneTree on e, and gives new keys to the copies. Method
// do explains ordered.
func (p *player) clone(op Op, e vast.Entity) (ordered bool) {
	key, n := uint64(p.at+1)<<16, 1
	originals := []vast.Entity{e}
	switch op.Do {
	case CloneMany:
		n = int(op.B % 20)
	case CloneTree:
		n = 1 + int(op.B%2)
		originals = append(originals, slices.Collect(p.parent.Descendants(e))...)
	}
	edges := p.roads.Len()
	for _, one := range originals {
		edges += n * p.roads.CountTargets(one)
	}
	if len(p.living)+n*len(originals) > maxLiving || edges > maxEntities/2 {
		return true
	}
	rename := func(c vast.Entity) {
		p.key.Set(c, key)
		key++
	}
	switch op.Do {
	case Clone:
		rename(p.world.Clone(e))
		return true
	case CloneMany:
		p.world.CloneN(e, n, func(r vast.Run) {
			for _, c := range r.All() {
				rename(c)
			}
			p.meddle()
		})
	case CloneTree:
		cloner, err := clone.New(p.world, p.world, clone.Options{}) // meddle may have registered columns
		if err != nil {
			panic(err)
		}
		copies, err := cloner.CloneN(e, n)
		if err != nil {
			panic(err)
		}
		for i := range copies.Len() {
			for _, c := range copies.All(i) {
				rename(c)
			}
		}
	}
	return false
}
