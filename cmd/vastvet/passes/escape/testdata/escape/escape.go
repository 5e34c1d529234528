// Package escape keeps pointers to components.
package escape

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
)

type ship struct {
	Fuel int
	Hold [4]int
}

type selection struct {
	ship *ship
	name string
}

var (
	selected *ship
	known    = map[string]*ship{}
	list     []*ship
	state    struct{ first, second *ship }
	row      []ship
	sink     *ship
	chosen   vast.Entity
	Public   *ship
)

func wrong(ships vast.Column[ship], pool *bulk.Pool[ship], q vast.Query, e vast.Entity, h bulk.Handle[ship]) {
	selected = ships.Get(e) // want `ships.Get\(e\) leads to memory off the Go heap and is kept in selected, which may outlive it: keep the vast.Entity, and look the component up where it is used`
	p := ships.Edit(e)
	known["a"] = p                    // want `p leads to memory off the Go heap and is kept in known`
	list = append(list, p)            // want `p leads to memory off the Go heap and is kept in list`
	state.first = p                   // want `kept in state`
	Public = ships.Get(e)             // want `kept in Public`
	state.second = pool.Get(h)        // want `pool.Get\(h\) leads to memory off the Go heap and is kept in state, which may outlive it: keep the bulk.Handle`
	h, selected = pool.Insert(ship{}) // want `kept in selected`
	for run := range q.Runs() {
		row = ships.Slice(run)[1:] // want `kept in row`
		s := ships.Slice(run)
		selected = &s[0] // want `&s\[0\] leads to memory off the Go heap and is kept in selected`
	}
	for _, p := range pool.All() {
		selected = p // want `p leads to memory off the Go heap and is kept in selected`
	}
	order := vast.NewOrder(q, ships, func(s *ship) int { return s.Fuel })
	for _, p := range order.Ascending() {
		known["b"] = p // want `kept in known`
	}
}

func wrongChannel(ships vast.Column[ship], e vast.Entity, c chan *ship, selections chan selection) {
	c <- ships.Get(e)                           // want `ships.Get\(e\) leads to memory off the Go heap and goes through a channel to a receiver that may use the memory when it is gone: keep the vast.Entity`
	selections <- selection{ship: ships.Get(e)} // want `goes through a channel`
}

func wrongGoroutine(ships vast.SparseColumn[ship], e vast.Entity) {
	p := ships.Get(e)
	go func() {
		fmt.Println(p.Fuel) // want `p leads to memory off the Go heap and belongs to a goroutine that the function does not wait for: wait for the goroutine, or keep the vast.Entity`
	}()
	go use(p) // want `p leads to memory off the Go heap and belongs to a goroutine`
}

func wrongKept(w *vast.World, ships vast.Column[ship], targets vast.HeapColumn[selection], e vast.Entity) {
	p := ships.Get(e)
	vast.SetResource(w, selection{ship: p})                                             // want `p leads to memory off the Go heap and is kept by vast.SetResource`
	targets.Add(e, selection{p, "x"})                                                   // want `kept by targets.Add`
	targets.SetLater(vast.NewCommands(w, vast.CommandsOptions{}), e, selection{p, "x"}) // want `kept by targets.SetLater`
}

func use(*ship) {}

func right(w *vast.World, ships vast.Column[ship], names vast.HeapColumn[selection], e vast.Entity,
	c chan vast.Entity, fuel chan int) {
	p := ships.Get(e)
	use(p)
	chosen = e
	c <- e
	fuel <- p.Fuel
	list = nil
	sink = ships.Get(e) // never read
	local := []*ship{p}
	fmt.Println(local, selected, known, state, row, chosen)
	selected = &ship{Fuel: p.Fuel}
	row = append(row, *p)
	state.first = &ship{}
	name := names.Get(e)
	go func() { fmt.Println(name, e) }()
	go func() {
		p := ships.Get(e)
		use(p)
	}()
	vast.SetResource(w, selection{name: "x"})
}

func rightWaits(ships vast.Column[ship], q vast.Query, jobs chan []ship, done chan bool) {
	var wg sync.WaitGroup
	for run := range q.Runs() {
		s := ships.Slice(run)
		wg.Add(1)
		go func() {
			defer wg.Done()
			s[0].Fuel++
		}()
		jobs <- ships.Slice(run)
	}
	wg.Wait()
}

func rightReceives(ships vast.Column[ship], e vast.Entity, done chan bool) {
	p := ships.Get(e)
	go func() {
		use(p)
		done <- true
	}()
	<-done
}

type label struct{ Text string }

var (
	shown *label
	count *int
)

// rightColumn keeps pointers to the Go heap, although the type of the column does not show it.
func rightColumn(w *vast.World, e vast.Entity) {
	labels := vast.NewHeapColumn[label](w)
	var column vast.ValueColumn[label] = labels
	shown = column.Get(e)
	order := vast.NewOrder(w.Query(labels), labels, func(l *label) int { return len(l.Text) })
	for _, l := range order.Ascending() {
		shown = l
	}
	var counts vast.ValueColumn[int] = vast.NewHeapColumn[int](w)
	count = counts.Get(e)
	fmt.Println(shown, count)
}

func wrongColumn(w *vast.World, e vast.Entity) {
	var column vast.ValueColumn[int] = vast.NewColumn[int](w)
	count = column.Get(e) // want `kept in count`
}

type server struct {
	ships vast.Column[ship]
	wait  sync.WaitGroup
	end   chan struct{}
}

func (s *server) rightElsewhere(e vast.Entity) {
	p := s.ships.Get(e)
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		p.Fuel++
	}()
	go s.work(p)
	go func() { s.work(p) }()
	go func() {
		for {
			select {
			case <-s.end:
				s.end <- struct{}{}
				return
			default:
				p.Fuel++
			}
		}
	}()
}

func (s *server) work(p *ship) {
	defer s.wait.Done()
	p.Fuel++
}

func rightReturned(ships vast.Column[ship], e vast.Entity) <-chan struct{} {
	p := ships.Get(e)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.Fuel++
	}()
	return done
}

func rightCleanup(t *testing.T, ships vast.Column[ship], e vast.Entity) {
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	p := ships.Get(e)
	wg.Add(1)
	go func() {
		defer wg.Done()
		p.Fuel++
	}()
}

func rightHelper(ships vast.Column[ship], e vast.Entity) {
	var wg sync.WaitGroup
	p := ships.Get(e)
	wg.Go(func() { p.Fuel++ })
	settle(&wg)
}

func settle(wg *sync.WaitGroup) { wg.Wait() }

func rightMonitor(ships vast.Column[ship], e vast.Entity) <-chan int {
	var wg sync.WaitGroup
	fuel := make(chan int)
	p := ships.Get(e)
	wg.Add(1)
	go burn(p, &wg)
	go func() {
		wg.Wait()
		close(fuel)
	}()
	return fuel
}

func burn(p *ship, wg *sync.WaitGroup) {
	p.Fuel--
	wg.Done()
}

type semaphore struct{}

func (*semaphore) Acquire(context.Context, int64) error { return nil }
func (*semaphore) Release(int64)                        {}

func rightLatches(ctx context.Context, ships vast.Column[ship], e vast.Entity) error {
	p := ships.Get(e)
	var mu sync.Mutex
	mu.Lock()
	go func() {
		defer mu.Unlock()
		p.Fuel++
	}()
	mu.Lock()
	var running atomic.Int32
	running.Store(1)
	go func() {
		p.Fuel++
		running.Store(0)
	}()
	for running.Load() > 0 {
		runtime.Gosched()
	}
	slots := make(chan struct{}, 4)
	slots <- struct{}{}
	go func() {
		defer func() { <-slots }()
		p.Fuel++
	}()
	for range cap(slots) {
		slots <- struct{}{}
	}
	sem := new(semaphore)
	go func() {
		defer sem.Release(1)
		p.Fuel++
	}()
	return sem.Acquire(ctx, 8)
}

func wrongStopped(ships vast.Column[ship], e vast.Entity, done chan bool) {
	p := ships.Get(e)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				p.Fuel++ // want `p leads to memory off the Go heap and belongs to a goroutine`
			}
		}
	}()
	go func() {
		<-done
		p.Fuel++ // want `p leads to memory off the Go heap and belongs to a goroutine`
	}()
	var mu sync.Mutex
	go func() {
		mu.Lock()
		defer mu.Unlock()
		p.Fuel++ // want `p leads to memory off the Go heap and belongs to a goroutine`
	}()
	mu.Lock()
}

func wrongForgotten(ships vast.Column[ship], e vast.Entity) {
	p := ships.Get(e)
	var wg, other, counted sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		p.Fuel++ // want `p leads to memory off the Go heap and belongs to a goroutine`
	}()
	other.Go(func() { p.Fuel++ }) // want `p leads to memory off the Go heap and belongs to a goroutine`
	counted.Add(1)
	go burn(p, &counted) // want `p leads to memory off the Go heap and belongs to a goroutine`
	f := func() {
		p.Fuel++ // want `p leads to memory off the Go heap and belongs to a goroutine`
	}
	go f()
	go func() {
		go func() {
			p.Fuel++ // want `p leads to memory off the Go heap and belongs to a goroutine`
		}()
	}()
}

func (s *ship) burn()    { s.Fuel-- }
func (s ship) fuel() int { return s.Fuel }

func wrongReceiver(ships vast.Column[ship], e vast.Entity) {
	p := ships.Get(e)
	go p.burn()                                      // want `p leads to memory off the Go heap and belongs to a goroutine`
	go ships.Get(e).burn()                           // want `ships.Get\(e\) leads to memory off the Go heap and belongs to a goroutine`
	go p.fuel()                                      // the method has a copy
	time.AfterFunc(time.Second, func() { p.Fuel++ }) // want `p leads to memory off the Go heap and belongs to a goroutine`
}

var (
	world   = vast.NewWorld(vast.Options{})
	fleet   = vast.NewColumn[ship](world)
	First   = fleet.Get(vast.Entity{})                        // want `kept in First`
	choose  = func(e vast.Entity) { selected = fleet.Get(e) } // want `kept in selected`
	current atomic.Pointer[ship]
	cache   sync.Map
	numbers []int
)

func wrongStores(ships vast.Column[ship], pool *bulk.Indexed[ship], lists *bulk.Lists[int], l bulk.List[int],
	x *bulk.Field[int], b bulk.Block, e vast.Entity) {
	current.Store(ships.Get(e))       // want `kept in current`
	cache.Store(e, ships.Get(e))      // want `kept in cache`
	_, selected = pool.Insert(ship{}) // want `kept in selected`
	numbers = lists.Slice(l)          // want `kept in numbers, which may outlive it: keep the bulk.List, and look the elements up where they are used`
	numbers = x.Slice(b)              // want `kept in numbers, which may outlive it: keep the row's number`
	var local atomic.Pointer[ship]
	local.Store(ships.Get(e))
	fmt.Println(choose, numbers, local.Load())
}
