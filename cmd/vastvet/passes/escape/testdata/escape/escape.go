// Package escape keeps pointers.
package escape

import (
	"fmt"
	"sync"

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
	for _, p := range order.All() {
		known["b"] = p // want `kept in known`
	}
}

func wrongChannel(ships vast.Column[ship], e vast.Entity, c chan *ship, selections chan selection) {
	c <- ships.Get(e)                           // want `ships.Get\(e\) leads to memory off the Go heap and goes through a channel to whoever may use it when it is gone: keep the vast.Entity`
	selections <- selection{ship: ships.Get(e)} // want `goes through a channel`
}

func wrongGoroutine(ships vast.SparseColumn[ship], e vast.Entity) {
	p := ships.Get(e)
	go func() {
		fmt.Println(p.Fuel) // want `p leads to memory off the Go heap and belongs to a goroutine that nobody waits for here, and that may use it when it is gone: wait for the goroutine, or keep the vast.Entity`
	}()
	go use(p) // want `p leads to memory off the Go heap and belongs to a goroutine`
}

func wrongKept(w *vast.World, ships vast.Column[ship], targets vast.HeapColumn[selection], e vast.Entity) {
	p := ships.Get(e)
	vast.SetResource(w, selection{ship: p})                 // want `p leads to memory off the Go heap and is kept by vast.SetResource`
	targets.Add(e, selection{p, "x"})                       // want `kept by targets.Add`
	targets.SetLater(w.NewCommands(), e, selection{p, "x"}) // want `kept by targets.SetLater`
}

func use(*ship) {}

func right(w *vast.World, ships vast.Column[ship], names vast.HeapColumn[selection], e vast.Entity, c chan vast.Entity, fuel chan int) {
	p := ships.Get(e)
	use(p)
	chosen = e
	c <- e
	fuel <- p.Fuel
	list = nil
	sink = ships.Get(e) // nobody reads it
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
