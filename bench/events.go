package main

import (
	"fmt"
	"sync"

	"github.com/mlange-42/ark/ecs"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/sched"
	"github.com/yohamta/donburi"
	"github.com/yohamta/donburi/features/events"
)

// Work events: send an event of eight bytes to each of n entities, read each event once, and add up the
// values of the events. Vast sends in one system of a schedule with one worker and reads in the next system.
// The time is that of the tick, so it includes running the schedule. Ark's custom events carry no value and
// are not queued: the work puts the value into a variable, and an observer reads the variable during the call
// of Emit. donburi queues the events and calls a subscriber for each event. The peer slice is a Go slice with
// a mutex.
//
// The functions with go:noinline are the timed work.

// A Hit is an event.
type Hit struct{ Damage float64 }

// damageOf returns the damage of the i-th event, a small whole number, so that sums are exact.
func damageOf(i int) float64 { return float64(i&1023 + 1) }

// damages is the result of the readers: the number of events and the sum of their values.
type damages struct {
	events int
	sum    float64
}

// eventSide makes a side whose work sends n events and adds them to d.
func eventSide[S any](s *S, work func(*S), n int, d *damages) side {
	return side{units: n, sample: timeAll(s, work), check: func(done int) error {
		want := damages{events: n * done}
		for i := range n {
			want.sum += damageOf(i) * float64(done)
		}
		if *d != want {
			return fmt.Errorf("after %d repetitions: got %+v, want %+v", done, *d, want)
		}
		return nil
	}}
}

type vastEvents struct {
	schedule *sched.Schedule
	queue    *event.Queue[Hit]
	reader   *event.Reader[Hit]
	targets  []vast.Entity
	read     damages
}

//go:noinline
func tickVast(s *vastEvents) {
	if err := s.schedule.Tick(); err != nil {
		panic(err)
	}
}

//go:noinline
func (s *vastEvents) send(c *sched.Context) {
	queue := s.queue
	for i, e := range s.targets {
		queue.SendTo(c, e, Hit{damageOf(i)})
	}
}

//go:noinline
func (s *vastEvents) receive(c *sched.Context) {
	d := s.read
	for _, hit := range s.reader.Next(c) {
		d.events++
		d.sum += hit.Damage
	}
	s.read = d
}

func newEventsVast(n int) side {
	w := newSizedVastWorld(n)
	s := &vastEvents{schedule: sched.New(w, sched.Options{Workers: 1, Visits: -1})}
	s.queue = event.New[Hit](s.schedule, event.Options{})
	s.reader = s.queue.NewReader()
	archetype := w.Archetype(vast.NewColumn[Position](w))
	for range n {
		s.targets = append(s.targets, archetype.New())
	}
	resource := sched.Resources(s.queue.Resource())
	s.schedule.Add(sched.System{Name: "send", WritesResources: resource, Run: s.send})
	s.schedule.Add(sched.System{Name: "receive", ReadsResources: resource, Run: s.receive})
	made := eventSide(s, tickVast, n, &s.read)
	made.close = func() {
		must(s.schedule.Close())
		closeVast(w)()
	}
	return made
}

// arkEventTypes has the event types of all worlds of Ark.
var arkEventTypes ecs.EventRegistry

var arkHit = arkEventTypes.NewEventType()

type arkEvents struct {
	event   ecs.Event
	hit     Hit // value of the event that is being emitted
	targets []ecs.Entity
	read    damages
}

//go:noinline
func emitArk(s *arkEvents) {
	for i, e := range s.targets {
		s.hit = Hit{damageOf(i)}
		s.event.Emit(e)
	}
}

func newEventsArk(n int) side {
	w := ecs.NewWorld(initialCapacity)
	s := &arkEvents{event: w.Event(arkHit)}
	positions := ecs.NewMap1[Position](w)
	for range n {
		s.targets = append(s.targets, positions.NewEntityFn(nil))
	}
	ecs.Observe(arkHit).Do(func(ecs.Entity) {
		s.read.events++
		s.read.sum += s.hit.Damage
	}).Register(w)
	return eventSide(s, emitArk, n, &s.read)
}

// targetedHit is an event with its target, for the stores whose events have no targets.
type targetedHit[E any] struct {
	Target E
	Hit    Hit
}

var donburiHit = events.NewEventType[targetedHit[donburi.Entity]]()

type donburiEvents struct {
	world   donburi.World
	targets []donburi.Entity
	read    damages
}

//go:noinline
func publishDonburi(s *donburiEvents) {
	w := s.world
	for i, e := range s.targets {
		donburiHit.Publish(w, targetedHit[donburi.Entity]{e, Hit{damageOf(i)}})
	}
	donburiHit.ProcessEvents(w)
}

func newEventsDonburi(n int) side {
	s := &donburiEvents{world: donburi.NewWorld()}
	s.targets = s.world.CreateMany(n, donburiPosition)
	donburiHit.Subscribe(s.world, func(_ donburi.World, hit targetedHit[donburi.Entity]) {
		s.read.events++
		s.read.sum += hit.Hit.Damage
	})
	return eventSide(s, publishDonburi, n, &s.read)
}

type lockedEvents struct {
	mu      sync.Mutex
	queue   []targetedHit[int]
	targets int
	read    damages
}

func (s *lockedEvents) send(hit targetedHit[int]) {
	s.mu.Lock()
	s.queue = append(s.queue, hit)
	s.mu.Unlock()
}

//go:noinline
func sendLocked(s *lockedEvents) {
	for i := range s.targets {
		s.send(targetedHit[int]{i, Hit{damageOf(i)}})
	}
	d := s.read
	for _, hit := range s.queue {
		d.events++
		d.sum += hit.Hit.Damage
	}
	s.read, s.queue = d, s.queue[:0]
}

func newEventsSlice(n int) side {
	s := &lockedEvents{targets: n}
	return eventSide(s, sendLocked, n, &s.read)
}
