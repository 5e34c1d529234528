// Package unchecked drops errors.
package unchecked

import (
	"fmt"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/ring"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

func wrong(ships *bulk.Array[int], a *vast.Archetype, w *vast.World, cs *vast.Commands) error {
	ships.Grow(100)     // want `the error of bulk.Array.Grow is dropped: there may be no room, and then nothing has changed; look at it, or write _ = to drop it on purpose`
	w.Apply(cs)         // want `the error of vast.World.Apply is dropped: the commands from the failing one on are still recorded`
	defer a.Grow(1)     // want `vast.Archetype.Grow`
	go ships.AppendN(5) // want `bulk.Array.AppendN`
	func() {
		(ships.Grow(1)) // want `bulk.Array.Grow`
	}()
	return nil
}

func wrongElsewhere(r *vm.Region, s *sched.Schedule, q *ring.Ring) {
	r.Commit(0, 1)                       // want `vm.Region.Commit`
	s.Tick()                             // want `the tick stopped on its way`
	q.Reserve(5)                         // want `the error of ring.Ring.Reserve is dropped: there may be no room`
	vm.Reserve(1<<20, vm.Options{})      // want `there may be nothing to use`
	bulk.NewPool[int](bulk.Options{})    // want `bulk.NewPool`
	var x struct{ *bulk.Pool[int] }      // which is embedded
	x.Grow(1)                            // want `bulk.Pool.Grow`
	func(p *bulk.SharedArray[int]) int { // a function with a result of another kind
		p.Grow(1) // want `bulk.SharedArray.Grow`
		return 0
	}(nil)
}

func right(ships *bulk.Array[int], w *vast.World, cs *vast.Commands, q *ring.Ring) error {
	_ = ships.Grow(100)
	if err := ships.Grow(100); err != nil {
		return err
	}
	if _, err := w.Apply(cs); err != nil {
		return err
	}
	ships.Append(5)
	q.Commit(0)
	fmt.Println("Println returns an error too")
	defer ships.Close()
	ships.Close()
	return w.Close()
}
