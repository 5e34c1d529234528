package metamorphic

import (
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/observe"
)

// watch is a monitor, and the keys of the entities that matched its query at the last look.
type watch struct {
	*observe.Monitor
	keys map[vast.Entity]uint64
}

func (p *player) newWatch() {
	p.watch = watch{observe.NewMonitor(p.world.Query(p.columns[0].In()).Without(p.tag)),
		map[vast.Entity]uint64{}}
}

// next looks. It writes the keys of the entities that entered and left the query.
func (p *player) next() {
	var entered, left []uint64
	p.watch.Next()
	for e := range p.watch.Left() {
		left = append(left, p.watch.keys[e])
		delete(p.watch.keys, e)
	}
	for e := range p.watch.Entered() {
		entered = append(entered, p.keyOf(e))
		p.watch.keys[e] = p.keyOf(e)
	}
	slices.Sort(entered)
	slices.Sort(left)
	p.see("watch", entered, left)
}
