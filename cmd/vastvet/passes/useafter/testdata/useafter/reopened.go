package useafter

import (
	"context"
	"errors"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/ring"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

type fleet struct {
	ships *bulk.Pool[ship]
	first *ship
}

func rightPointer(pp **bulk.Pool[ship], h *heap.Heap, slot **ship) error {
	(*pp).Close()
	fresh, err := bulk.NewPool[ship](bulk.Options{})
	if err != nil {
		return err
	}
	*pp = fresh
	(*pp).Insert(ship{})
	heap.Free(h, *slot)
	*slot = nil
	return nil
}

func wrongPointer(pp **bulk.Pool[ship], h *heap.Heap, slot **ship) {
	(*pp).Close()
	(*pp).Insert(ship{}) // want `\*pp is used after \(\*pp\).Close`
	heap.Free(h, *slot)
	(*slot).Fuel = 1 // want `\*slot is used after heap.Free\(h, \*slot\)`
}

func (f *fleet) rightWhole(fresh *bulk.Pool[ship]) {
	f.ships.Close()
	*f = fleet{ships: fresh}
	f.ships.Insert(ship{})
}

func (f *fleet) wrongPart() {
	f.ships.Close()
	f.first = nil
	f.ships.Insert(ship{}) // want `f.ships is used after f.ships.Close`
}

func rightSiblings() {
	var pool *bulk.Pool[ship]
	open := func() { pool, _ = bulk.NewPool[ship](bulk.Options{}) }
	reopen := func() {
		pool.Close()
		open()
		pool.Insert(ship{})
	}
	open()
	reopen()
}

func wrongSiblings(pool *bulk.Pool[ship], show func()) {
	shut := func() {
		pool.Close()
		show()
		pool.Insert(ship{}) // want `pool is used after pool.Close`
	}
	shut()
}

// wrongCaptured does not assign p in the literal: it changes the target of p.
func wrongCaptured(ships *bulk.Array[ship]) int {
	p := ships.At(0)
	f := func() { p.Fuel = 1 }
	f()
	ships.Close()
	return p.Fuel // want `p is used after ships.Close`
}

type navy struct{ fleet }

func rightEmbedded(n *navy, log *struct{ *bulk.Array[byte] }, fresh *bulk.Array[byte]) {
	n.fleet.ships.Close()
	n.ships = nil
	n.fleet.ships.Insert(ship{})
	log.Close()
	log.Array = fresh
	log.Append(1)
}

func wrongEmbedded(n *navy, log *struct{ *bulk.Array[byte] }) {
	n.fleet.ships.Close()
	n.ships.Insert(ship{}) // want `n.fleet.ships is used after n.fleet.ships.Close`
	log.Close()
	log.Array.Append(1) // want `log.Array is used after log.Close`
}

func rightAlias(n *navy, fresh *bulk.Pool[ship]) {
	f := &n.fleet
	f.ships.Close()
	n.fleet.ships = fresh
	f.ships.Insert(ship{})
	f.ships.Close()
	n.fleet = fleet{ships: fresh}
	f.ships.Insert(ship{})
}

func rightVariablesAddress(fresh *bulk.Pool[ship]) {
	var f fleet
	g, slot := &f, &f.ships
	g.ships.Close()
	f.ships = fresh
	g.ships.Insert(ship{})
	g.ships.Close()
	f = fleet{ships: fresh}
	g.ships.Insert(ship{})
	(*slot).Close()
	f.ships = fresh
	(*slot).Insert(ship{})
}

// rightCallbacks calls functions that may open the pool again.
func (f *fleet) rightCallbacks(w *vast.World, s *sched.Schedule, a *vast.Archetype, hull vast.Column[ship],
	e vast.Entity,
	others *bulk.Pool[ship]) {
	f.ships.Close()
	s.Tick()
	f.ships.Insert(ship{})
	f.ships.Close()
	w.Visit(context.Background(), func() bool { return true })
	f.ships.Insert(ship{})
	f.ships.Close()
	w.Apply()
	f.ships.Insert(ship{})
	f.ships.Close()
	a.New()
	f.ships.Insert(ship{})
	f.ships.Close()
	a.NewSlot()
	f.ships.Insert(ship{})
	f.ships.Close()
	for range a.NewEach(2) {
		f.ships.Insert(ship{})
	}
	f.ships.Close()
	s.Close()
	f.ships.Insert(ship{})
	f.ships.Close()
	hull.Add(e, ship{})
	f.ships.Insert(ship{})
	f.ships.Close()
	w.Delete(e)
	f.ships.Insert(ship{})
	f.ships.Close()
	others.Clear(func(bulk.Handle[ship], *ship) {})
	f.ships.Insert(ship{})
}

func (f *fleet) rightOthers(ask, done chan int, q *ring.Ring, each func(func(int) bool),
	wait *sync.WaitGroup) {
	f.ships.Close()
	ask <- 1
	f.ships.Insert(ship{})
	f.ships.Close()
	<-done
	f.ships.Insert(ship{})
	f.ships.Close()
	select {
	case <-done:
		f.ships.Insert(ship{})
	case <-ask:
	}
	f.ships.Close()
	for range done {
		f.ships.Insert(ship{})
	}
	f.ships.Close()
	for range each {
		f.ships.Insert(ship{})
	}
	f.ships.Insert(ship{})
	f.ships.Close()
	q.Peek(1)
	f.ships.Insert(ship{})
	f.ships.Close()
	q.WriteByte(1)
	f.ships.Insert(ship{})
	f.ships.Close()
	wait.Wait()
	f.ships.Insert(ship{})
}

func (g *game) wrongWorldsHooks(e vast.Entity) {
	g.ships.Close()
	g.world.Close()
	g.ships.Insert(ship{})
	g.world.Query() // want `g.world is used after g.world.Close`
}

func (f *fleet) wrongWithoutCallbacks(others *bulk.Pool[ship], w *vast.World) {
	f.ships.Close()
	others.Clear(nil)
	others.Insert(ship{})
	for range others.All() {
	}
	for range w.Query().All() {
	}
	w.Query()
	f.ships.Insert(ship{}) // want `f.ships is used after f.ships.Close`
}

func rightReceived(pools chan *bulk.Pool[ship], p *bulk.Pool[ship]) {
	p.Close()
	select {
	case p = <-pools:
		p.Insert(ship{})
	}
}

func rightStillOpen(a *guard.Allocator, r *vm.Region, m *vm.Mirror, e *ring.Endless) error {
	if err := a.Close(); err != nil {
		return errors.Join(err, a.Check())
	}
	err := r.Close()
	if err == nil {
		return nil
	}
	base := (*byte)(m.Base())
	if err := m.Close(); err != nil {
		*base = 1
	}
	if e.Close() != nil {
		e.Append(nil)
	}
	return errors.Join(err, r.Decommit(0, r.Size()))
}

func wrongStillOpen(a *guard.Allocator, r *vm.Region, e *ring.Endless) error {
	if err := a.Close(); err != nil {
		return err
	}
	a.Check() // want `a is used after a.Close: Check panics then`
	b, _ := e.At(0, 1)
	e.Close()
	e.Append(b) // want `e is used after e.Close: Append panics then` `b is used after e.Close`
	err := r.Close()
	if err != nil {
		return err
	}
	return r.Decommit(0, 1) // want `r is used after r.Close: Decommit panics then`
}
