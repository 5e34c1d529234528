package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/vastgo/vast"
)

type vigor struct {
	Points int32
	Friend vast.Entity
}

type cargo struct{ Tons [3]uint32 }

type letters struct{ Lines []string }

type calendar struct {
	Tick uint64
	Sum  uint64
}

// island is a small world with a Column, a SparseColumn and a HeapColumn. Its changes depend only on its
// state and a seed.
type island struct {
	w        *vast.World
	vigor    vast.Column[vigor]
	cargo    vast.SparseColumn[cargo]
	letters  vast.HeapColumn[letters]
	follows  vast.Relation
	people   *vast.Archetype
	calendar *calendar
}

func newIsland() *island {
	n := &island{w: vast.NewWorld(vast.Options{Name: "island", MaxEntities: 1 << 10})}
	n.vigor = vast.NewColumn[vigor](n.w)
	n.cargo = vast.NewSparseColumn[cargo](n.w)
	n.letters = vast.NewHeapColumn[letters](n.w)
	n.follows = vast.NewRelation(n.w, "follows", vast.RelationOptions{Cyclic: true})
	n.people = n.w.Archetype(n.vigor)
	n.calendar = vast.SetResource(n.w, calendar{})
	return n
}

func (n *island) fill() { n.people.NewN(20, nil) }

func (n *island) change(seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 5))
	all := slices.Collect(n.w.Query().All())
	for i := range steps {
		var e, f vast.Entity
		if len(all) > 0 {
			e, f = all[r.IntN(len(all))], all[r.IntN(len(all))]
		}
		switch r.IntN(9) {
		case 0:
			if n.w.Len() < 150 {
				all = append(all, n.people.New())
			}
		case 1:
			n.w.Delete(e)
		case 2, 3:
			n.vigor.Set(e, vigor{int32(i) + r.Int32(), f})
		case 4:
			n.cargo.Add(e, cargo{[3]uint32{r.Uint32(), uint32(i), 3}})
		case 5:
			n.cargo.Remove(e)
		case 6:
			n.letters.Add(e, letters{[]string{fmt.Sprint(seed), "", "Dear"}[:r.IntN(4)]})
		case 7:
			n.follows.Set(e, f)
		case 8:
			n.letters.Remove(e)
			n.follows.Remove(f)
		}
	}
	n.calendar.Sum = n.calendar.Sum*31 + seed
}

func (n *island) tick() error {
	n.calendar.Tick++
	n.change(n.calendar.Tick, 6)
	return nil
}

func (n *island) apply(input []byte) { n.change(binary.LittleEndian.Uint64(input), 3) }

func (n *island) outside(seed uint64) {
	n.vigor.Set(n.people.New(), vigor{Points: -1})
	n.change(seed, 2)
}

// hash returns a hash of the visible state of the island, in the order of the iterators. The mark of the
// world (see [vast.Entity]) has no effect on the hash.
func (n *island) hash() uint64 {
	h := uint64(14695981039346656037)
	add := func(values ...uint64) {
		for _, v := range values {
			h = (h ^ v) * 1099511628211
			h ^= h >> 29
		}
	}
	entity := func(e vast.Entity) { add(uint64(e.Slot()), uint64(e.Generation())) }
	for e := range n.w.Query().All() {
		entity(e)
		if v := n.vigor.Get(e); v != nil {
			add(1, uint64(v.Points))
			entity(v.Friend)
		}
		if l := n.letters.Get(e); l != nil {
			add(2, uint64(len(l.Lines)))
			for _, line := range l.Lines {
				add(uint64(len(line)))
				for _, c := range []byte(line) {
					add(uint64(c))
				}
			}
		}
		for s := range n.follows.Sources(e) {
			entity(s)
		}
		add(3)
	}
	for e, c := range n.cargo.All() {
		entity(e)
		add(uint64(c.Tons[0]), uint64(c.Tons[1]), uint64(c.Tons[2]))
	}
	add(n.calendar.Tick, n.calendar.Sum)
	return h
}

// event is a tick, a change outside of ticks, or inputs that Store.submit has applied.
type event struct {
	outside   uint64 // seed of a change outside of ticks, or 0
	failed    bool   // whether the event is a tick that failed
	submitted bool   // whether the event is a call of Store.submit
	position  uint64 // position that Store.submit has returned
	inputs    int    // number of inputs that the event applied
	hash      uint64 // hash of the island after the event
}

func (e *event) isTick() bool { return e.outside == 0 && !e.submitted }

// happens carries out an event. inputs are the inputs that the event applies.
func (n *island) happens(e event, inputs []note) {
	for _, in := range inputs {
		n.apply(in.data)
	}
	switch {
	case e.outside != 0:
		n.outside(e.outside)
	case e.failed:
		_ = n.fail()
	case e.isTick():
		_ = n.tick()
	}
}

var errTick = errors.New("the tick fails")

// fail makes a tick whose changes differ from the changes of tick, and returns an error.
func (n *island) fail() error {
	n.calendar.Tick++
	n.change(n.calendar.Tick+1<<20, 4)
	return errTick
}

// history holds the events and inputs of an island.
type history struct {
	events []event
	inputs []note // in the order of Record; the events have applied a prefix of them
	floor  int    // number of events that the store has reported as durable
	kept   int    // number of inputs that the store has reported as durable
	exists bool   // whether the store has reported something as durable
}

// note is a recorded input.
type note struct {
	data     []byte
	position uint64
}

func (h *history) copy() *history {
	c := *h
	c.events, c.inputs = slices.Clone(h.events), slices.Clone(h.inputs)
	return &c
}

// applied returns the number of inputs that h.events[:events] have applied.
func (h *history) applied(events int) (n int) {
	for _, e := range h.events[:events] {
		n += e.inputs
	}
	return n
}

// ticks returns the number of ticks in h.events[:events].
func (h *history) ticks(events int) (n uint64) {
	for i := range h.events[:events] {
		if h.events[i].isTick() {
			n++
		}
	}
	return n
}

// find returns the largest n such that, after the first n events, the island had made the given number of
// ticks and had the given hash. fresh is the hash of the island before the first event.
func (h *history) find(ticks, hash, fresh uint64) (events int, ok bool) {
	for n := len(h.events); n >= 0; n-- {
		now := fresh
		if n > 0 {
			now = h.events[n-1].hash
		}
		if now == hash && h.ticks(n) == ticks {
			return n, true
		}
	}
	return 0, false
}

// durableTick notes that the store has reported a tick as durable.
func (h *history) durableTick(tick uint64) error {
	for n := range len(h.events) + 1 {
		if h.ticks(n) == tick {
			h.floor = max(h.floor, n)
			h.exists = h.exists || tick > 0
			return nil
		}
	}
	return fmt.Errorf("the store reports tick %d as durable, but only %d ticks were made", tick,
		h.ticks(len(h.events)))
}

// durable notes that the store has reported inputs below a position as durable.
func (h *history) durable(position uint64) {
	for i, in := range h.inputs {
		if in.position < position && h.kept <= i {
			h.kept, h.exists = i+1, true
		}
	}
	for i := range h.events {
		if e := &h.events[i]; e.submitted && e.position < position {
			h.floor = max(h.floor, i+1)
		}
	}
}

// rebuild makes an island, and repeats h.events[:events] in it.
func (h *history) rebuild(events int) (*island, error) {
	n := newIsland()
	n.fill()
	next := 0
	for i, e := range h.events[:events] {
		n.happens(e, h.inputs[next:next+e.inputs])
		next += e.inputs
		if n.hash() != e.hash {
			return n, fmt.Errorf("the test is not deterministic: event %d gives another hash now", i)
		}
	}
	return n, nil
}

func sameInputs(inputs [][]byte, notes []note) bool {
	return slices.EqualFunc(inputs, notes, func(a []byte, b note) bool { return bytes.Equal(a, b.data) })
}

func islandOptions() Options {
	return Options{Resources: []reflect.Type{reflect.TypeFor[calendar]()}, Build: "a"}
}
