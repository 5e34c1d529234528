// Package useafter uses containers and memory after their end.
package useafter

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/ring"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

type ship struct{ Fuel, Crew int }

func wrongClose(ships *bulk.Array[ship]) int {
	first := ships.At(0)
	all := ships.Slice()[1:]
	second := &all[0]
	ships.Close()
	ships.Append(ship{}) // want `ships is used after ships.Close: Append panics then; call ships.Close after the last use`
	n := first.Fuel      // want `first is used after ships.Close: its memory is gone; before that call, copy the values that you need later`
	n += all[0].Fuel     // want `all is used after ships.Close`
	second.Crew = 5      // want `second is used after ships.Close`
	*first = ship{}      // want `first is used after ships.Close`
	for range all {      // want `all is used after ships.Close`
	}
	return n
}

func wrongOnEachWay(ships *bulk.Pool[ship], early bool) {
	h, p := ships.Insert(ship{})
	if early {
		ships.Close()
	} else {
		fmt.Println("late")
		if err := ships.Close(); err != nil {
			return
		}
	}
	ships.Get(h)        // want `ships is used after ships.Close: Get panics then`
	fmt.Println(p.Fuel) // want `p is used after ships.Close`
}

func wrongArena(a *arena.Arena) {
	frame := arena.MakeSlice[ship](a, 0, 10)
	m := a.Mark()
	scratch := arena.Make[ship](a)
	frame = append(frame[:0], *scratch)
	a.Release(m)
	scratch.Fuel = 1 // want `scratch is used after a.Release\(m\)`
	a.Release(m)     // want `the mark m is released after a.Release\(m\): release a mark only once`
	again := arena.Make[ship](a)
	other := a.Mark()
	a.Reset()
	fmt.Println(again.Crew) // want `again is used after a.Reset`
	a.Release(other)        // want `the mark other is released after a.Reset`
	a.Close()
	arena.Make[ship](a) // want `a is used after a.Close: Make panics then`
	a.Reset()           // want `a is used after a.Close: Reset panics then`
}

func wrongTruncate(ships *bulk.Array[ship], b *heap.Buffer[int]) int {
	first := ships.At(0)
	ships.Truncate(0)
	x := b.At(3)
	b.Truncate(0)
	return first.Fuel + *x // want `first is used after ships.Truncate\(0\)` `x is used after b.Truncate\(0\)`
}

func wrongFree(h *heap.Heap) {
	p := heap.Make[ship](h)
	heap.Free(h, p)
	p.Fuel = 1      // want `p is used after heap.Free\(h, p\)`
	heap.Free(h, p) // want `p is used after heap.Free\(h, p\)`
}

type game struct {
	ships *bulk.Dense[ship]
	world *vast.World
	hull  vast.Column[ship]
}

func (g *game) wrongFields(h bulk.Handle[ship]) {
	g.ships.Close()
	g.ships.Remove(h) // want `g.ships is used after g.ships.Close`
}

func wrongWorld(e vast.Entity) {
	w := vast.NewWorld(vast.Options{})
	hull := vast.NewColumn[ship](w)
	q := w.Query(hull)
	a := w.Archetype(hull)
	p := hull.Get(e)
	w.Reset()
	fmt.Println(p.Crew) // want `p is used after w.Reset`
	p = hull.Get(e)
	w.Regroup(q, vast.MoveOptions{})
	fmt.Println(p.Crew) // want `p is used after w.Regroup`
	p = hull.Get(e)
	w.Close()
	p.Crew = 3               // want `p is used after w.Close`
	vast.NewColumn[ship](w)  // want `w is used after w.Close: NewColumn panics then`
	hull.Add(e, ship{})      // want `hull is used after w.Close: Add panics then`
	a.New()                  // want `a is used after w.Close: New panics then`
	for e := range q.All() { // want `q is used after w.Close: All panics then`
		fmt.Println(e)
	}
}

func wrongMadeFrom(pool *bulk.Pool[ship]) {
	w := vast.NewWorld(vast.Options{})
	hull := vast.NewColumn[ship](w)
	a := w.Archetype(hull)
	q := w.Query(hull)
	byCrew := vast.NewOrder(q, hull, func(s *ship) int { return s.Crew })
	fleet := bulk.NewIndexed(pool)
	pool.Close()
	fleet.Insert(ship{}) // want `fleet is used after pool.Close: Insert panics then`
	w.Close()
	a.NewSlot()              // want `a is used after w.Close: NewSlot panics then`
	for range a.NewEach(2) { // want `a is used after w.Close: NewEach panics then`
	}
	for s := range q.Slots() { // want `q is used after w.Close: Slots panics then`
		hull.At(s) // want `hull is used after w.Close: At panics then`
	}
	byCrew.Descending()   // want `byCrew is used after w.Close: Descending panics then`
	vast.NewTracker(w)    // want `w is used after w.Close: NewTracker panics then`
	vast.Resource[int](w) // want `w is used after w.Close: Resource panics then`
}

func wrongQueue(w *vast.World) {
	s := sched.New(w, sched.Options{})
	q := event.New[int](s, event.Options{})
	r := q.NewReader()
	s.Close()
	q.Send(nil, 1)          // a hook may send events when the world closes
	for range r.Next(nil) { // want `r is used after s.Close: Next panics then`
	}
	fmt.Println(q.Len(nil)) // want `q is used after s.Close: Len panics then`
}

func wrongRegion(r *vm.Region) byte {
	base := r.Base()
	r.Close()
	r.Commit(0, 1)        // want `r is used after r.Close: Commit panics then`
	return *(*byte)(base) // want `base is used after r.Close`
}

func wrongReader(t *bulk.SharedTable[ship], q *ring.Ring) {
	r := t.Reader()
	r.Enter()
	p := r.Get(1)
	r.Leave()
	fmt.Println(p.Fuel) // want `p is used after r.Leave`
	r.Close()
	r.Enter() // want `r is used after r.Close: Enter panics then`
	b, _ := q.Reserve(10)
	q.Commit(5)
	b[0] = 1 // want `b is used after q.Commit`
}

func wrongIgnored(ships *bulk.Array[ship]) {
	ships.Close()
	ships.Append(ship{}) //vastvet:ignore useafter: to see that it panics
	ships.Append(ship{}) // want `ships is used after ships.Close`
}

func rightDefer(ships *bulk.Array[ship]) int {
	defer ships.Close()
	ships.Append(ship{})
	first := ships.At(0)
	defer func() { fmt.Println(first.Fuel) }()
	return ships.At(0).Fuel
}

func rightAgain(o bulk.Options) error {
	ships, err := bulk.NewPool[ship](o)
	if err != nil {
		return err
	}
	if err := ships.Grow(5); err != nil {
		ships.Close()
		return err
	}
	_, p := ships.Insert(ship{})
	fuel := p.Fuel
	ships.Close()
	fmt.Println(fuel, ships.Len(), ships.Committed())
	if err := ships.Close(); err != nil {
		return err
	}
	ships, err = bulk.NewPool[ship](o)
	if err != nil {
		return err
	}
	h, p := ships.Insert(ship{})
	ships.Get(h).Fuel = p.Crew
	return ships.Close()
}

func rightLoop(a *arena.Arena, worlds []*vast.World, n int) {
	for range n {
		m := a.Mark()
		s := arena.MakeSlice[ship](a, 3, 3)
		s[0].Fuel = 1
		a.Release(m)
	}
	for {
		p := arena.Make[ship](a)
		p.Fuel++
		a.Reset()
		if n--; n == 0 {
			break
		}
	}
	for _, w := range worlds {
		vast.NewTag(w, "x")
		w.Close()
	}
}

func rightOnOneWay(ships *bulk.Array[ship], keep bool) {
	if !keep {
		ships.Close()
	}
	if keep {
		ships.Append(ship{})
	}
}

func rightPanics(ships *bulk.Array[ship], fail bool) {
	if fail {
		ships.Close()
		panic("failed")
	}
	ships.Append(ship{})
	switch {
	case fail:
		ships.Close()
		os.Exit(1)
	}
	ships.Append(ship{})
}

func rightAddresses(ships *bulk.Array[ship], a *arena.Arena, r *vm.Region) {
	p, base := ships.At(0), r.Base()
	s := arena.MakeSlice[ship](a, 1, 2)
	ships.Close()
	a.Reset()
	r.Close()
	fmt.Println(len(s), cap(s), base, uintptr(base), r.Size(), p == nil)
	q := unsafe.Pointer(nil)
	fmt.Println(q == base, p != nil)
	_ = p
}

func rightTruncate(ships *bulk.Array[ship], n int) int {
	first := ships.At(0)
	ships.Truncate(1)
	ships.Truncate(n)
	return first.Fuel
}

func (g *game) reopen() { g.ships, _ = bulk.NewDense[ship](bulk.Options{}) }

func (g *game) rightFields(h bulk.Handle[ship]) {
	g.ships.Close()
	g.reopen()
	g.ships.Remove(h)
}

func rightClosure(ships *bulk.Array[ship]) {
	open := func() { ships, _ = bulk.NewArray[ship](bulk.Options{}) }
	ships.Close()
	open()
	ships.Append(ship{})
}

func rightWorld(e vast.Entity) {
	w := vast.NewWorld(vast.Options{})
	hull := vast.NewColumn[ship](w)
	w.Close()
	fmt.Println(w.Len(), w.Alive(e), w.Delete(e), hull.Name())
	w = vast.NewWorld(vast.Options{})
	hull = vast.NewColumn[ship](w)
	hull.Add(e, ship{})
}

func wrongGroup(w *vast.World, tag vast.Tag, g *group.Group) int {
	q := g.Query().Without(tag)
	moving := g.Query()
	g.Close()
	for range moving.Runs() { // want `moving is used after g.Close: Runs panics then`
	}
	n := moving.Without(tag).Count()         // want `moving is used after g.Close: Without panics then`
	return n + q.Count() + g.Query().Count() // want `g is used after g.Close: Query panics then`
}

func wrongGroupOfClosedWorld(w *vast.World, tag vast.Tag) {
	q := w.Query(tag)
	g := group.New(q)
	w.Close()
	g.Query() // want `g is used after w.Close`
	g.Close()
}

func rightGroup(w *vast.World, tag vast.Tag, g *group.Group) int {
	moving := g.Query()
	n := moving.Count()
	g.Close()
	g.Close()
	moving = w.Query(tag)
	g = group.New(moving)
	return n + moving.Count() + g.Query().Count()
}

func wrongTemplate(w *vast.World, e vast.Entity) {
	p := prefab.New(w)
	t := p.Mark(e)
	w.Close()
	t.Instantiate() // want `t is used after w.Close: Instantiate panics then`
	p.Mark(e)       // want `p is used after w.Close: Mark panics then`
	_ = t.Root()
}

func wrongMonitor(w *vast.World, q vast.Query, m *observe.Monitor) {
	m.Next()
	m.Close()
	for range m.Entered() { // want `m is used after m.Close: Entered panics then`
	}
	o := observe.New(w)
	o.Close()
	o.Run(nil) // want `o is used after o.Close: Run panics then`
}
