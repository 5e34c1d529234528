package metamorphic

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/observe"
)

// watch is a monitor and an observer. The player runs both once after each operation and once after each
// tick. A system of the schedule also runs the observer.
type watch struct {
	*observe.Monitor
	keys map[vast.Entity]uint64 // keys of the entities that matched at the last call of Monitor.Next

	observers *observe.Observers
	observed  map[vast.Entity]uint64 // keys of the entities that have entered the query of the observer
	events    []string               // of the observer, since the last call of next
	skipping  bool                   // whether player.observe ignores events
}

func (p *player) newWatch() {
	w, a, b := p.world, p.columns[0].In(), p.columns[1].In()
	p.watch = watch{Monitor: observe.NewMonitor(w.Query(a).Without(p.tag)), keys: map[vast.Entity]uint64{},
		observers: observe.New(w), observed: map[vast.Entity]uint64{}}
	p.watch.observers.Add(observe.Observer{Query: w.Query(b).Without(p.tag), Column: p.key, Up: p.parent,
		Left:    func(e observe.Event) { p.observe("left", e) },
		Entered: func(e observe.Event) { p.observe("entered", e) },
		Changed: func(e observe.Event) { p.observe("changed", e) }})
}

// observe notes an event of the observer. In a tick it gives the tag to some entities that have entered, so
// that they leave the query.
func (p *player) observe(what string, e observe.Event) {
	if p.watch.skipping {
		return
	}
	if what == "entered" && e.At == e.Entity {
		key := p.keyOf(e.Entity)
		p.watch.observed[e.Entity] = key
		if e.Context != nil && key>>16%8 == 1 {
			p.tag.Add(e.Entity)
		}
	}
	p.watch.events = append(p.watch.events, fmt.Sprint(what, p.watch.observed[e.Entity], p.keyOf(e.At)))
}

// next runs the monitor and the observer, and notes the changes that they report.
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
	p.watch.observers.Run(nil)
	slices.Sort(p.watch.events) // the order of slots is not compared
	p.see("events", p.watch.events)
	p.watch.events = p.watch.events[:0]
}

// skip runs the monitor and the observer, and ignores the changes that they report.
func (w *watch) skip() {
	w.Next()
	w.skipping = true
	w.observers.Run(nil)
	w.skipping = false
}

// moved renews the reference to an entity.
func (w *watch) moved(old, new vast.Entity) {
	for _, keys := range []map[vast.Entity]uint64{w.keys, w.observed} {
		if key, ok := keys[old]; ok {
			delete(keys, old)
			keys[new] = key
		}
	}
}

// Close closes the monitor and the observers.
func (w *watch) Close() error { return errors.Join(w.Monitor.Close(), w.observers.Close()) }
