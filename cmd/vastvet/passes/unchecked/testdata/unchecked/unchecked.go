// Package unchecked drops errors.
package unchecked

import (
	"context"
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/ring"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

func wrong(ships *bulk.Array[int], a *vast.Archetype, w *vast.World, cs *vast.Commands) error {
	ships.Grow(100)     // want `the error of bulk.Array.Grow is dropped: there may be no room, and then nothing has changed; check it, or write _ = to drop it on purpose`
	w.Apply(cs)         // want `the error of vast.World.Apply is dropped: the commands from the failing one on are still recorded`
	defer a.Grow(1)     // want `vast.Archetype.Grow`
	go ships.AppendN(5) // want `bulk.Array.AppendN`
	func() {
		(ships.Grow(1)) // want `bulk.Array.Grow`
	}()
	return nil
}

func wrongJob(jobs *sched.Jobs[int, int], c *sched.Context) {
	jobs.Start(c, 1) // want `sched.Jobs.Start is dropped: the job may not have started, because too many are in flight`
}

func wrongElsewhere(r *vm.Region, s *sched.Schedule, q *ring.Ring) {
	r.Commit(0, 1)                       // want `vm.Region.Commit`
	s.Tick()                             // want `the tick stopped before its end`
	q.Reserve(5)                         // want `the error of ring.Ring.Reserve is dropped: there may be no room`
	vm.Reserve(1<<20, vm.Options{})      // want `there may be nothing to use`
	bulk.NewPool[int](bulk.Options{})    // want `bulk.NewPool`
	var x struct{ *bulk.Pool[int] }      // the pool is embedded
	x.Grow(1)                            // want `bulk.Pool.Grow`
	func(p *bulk.SharedArray[int]) int { // its result is not an error
		p.Grow(1) // want `bulk.SharedArray.Grow`
		return 0
	}(nil)
}

func wrongMakers(q *ring.Ring, names *vast.Names, s *sched.Schedule, ctx context.Context, e vast.Entity) {
	names.Set(e, "Vela")                                  // want `the error of vast.Names.Set is dropped: the entity may have no name`
	ring.New(ring.Options{Capacity: 1 << 20})             // want `ring.New`
	ring.NewEndless(ring.EndlessOptions{})                // want `ring.NewEndless`
	q.ReserveContext(ctx, 5)                              // want `ring.Ring.ReserveContext is dropped: there may be no room`
	bulk.NewSharedArray[int](bulk.Options{})              // want `bulk.NewSharedArray`
	bulk.NewSharedPool[int](bulk.Options{})               // want `bulk.NewSharedPool`
	bulk.NewSharedTable[int](bulk.Options{})              // want `bulk.NewSharedTable`
	s.Run(ctx)                                            // want `a tick stopped before its end`
	s.RunOnce(sched.System{})                             // want `sched.Schedule.RunOnce is dropped: the system`
	guard.NewSampledPool[int](guard.SampledPoolOptions{}) // want `guard.NewSampledPool`
}

// wrongPlaces drops errors in places where an if statement is not allowed.
func wrongPlaces(ships *bulk.Array[int]) error {
	for ships.Grow(1); ships.Len() < 3; ships.Grow(2) { // want `bulk.Array.Grow` `bulk.Array.Grow`
	}
	if ships.Grow(3); ships.Len() < 3 { // want `bulk.Array.Grow`
		return nil
	}
	switch ships.Grow(4); { // want `bulk.Array.Grow`
	case ships.Len() > 3:
		ships.Grow(5) // want `bulk.Array.Grow`
	}
	return nil
}

func right(ships *bulk.Array[int], w *vast.World, cs *vast.Commands, q *ring.Ring, names *vast.Names,
	columns vast.Column[int], e vast.Entity) error {
	_ = ships.Grow(100)
	if err := ships.Grow(100); err != nil {
		return err
	}
	if _, err := w.Apply(cs); err != nil {
		return err
	}
	ships.Append(5)
	_, _ = names.Set(e, "Vela")
	columns.Set(e, 5)
	q.Commit(0)
	fmt.Println("Println returns an error too")
	defer ships.Close()
	ships.Close()
	return w.Close()
}

// rightSilenced has a silencing comment in the middle of a comment group.
//
//vastvet:ignore unchecked: the room was made before
//go:noinline
func rightSilenced(ships *bulk.Array[int]) {
	ships.Grow(5)
}
