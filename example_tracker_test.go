package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// A server sends only changes to its client.
func ExampleTracker() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	ships := w.Archetype(pos)
	var es []vast.Entity
	for i := range 5 {
		e := ships.New()
		pos.Set(e, Position{X: float64(i)})
		es = append(es, e)
	}
	sent := vast.NewTracker(w, pos) // the client already has all present values

	send := func() {
		for e := range sent.Removed(pos) {
			fmt.Print("remove ", e, ", ")
		}
		for e := range sent.Added(pos) {
			fmt.Print("add ", e, " at ", pos.Get(e).X, ", ")
		}
		for e := range sent.Changed(pos) {
			fmt.Print("move ", e, " to ", pos.Get(e).X, ", ")
		}
		sent.Next()
		fmt.Println("done")
	}
	pos.Edit(es[1]).X = 10
	w.Delete(es[3])
	send()

	ships.New() // in the slot of the deleted entity
	pos.Set(es[1], Position{X: 11})
	pos.Get(es[2]).X = 7 // a write through Get is not tracked
	send()
	send()
	// Output:
	// remove 3.1, move 1.1 to 10, done
	// add 3.2 at 0, move 1.1 to 11, done
	// done
}

// The loop computes the cells of those ships whose positions were added or written.
func ExampleQuery_Changed() {
	type Position struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, cell := vast.NewColumn[Position](w), vast.NewColumn[int32](w)
	ships := w.Archetype(pos, cell)
	moved := vast.NewTracker(w, pos)
	ships.NewN(1000, func(run vast.Run) {
		for i := range pos.Slice(run) {
			pos.Slice(run)[i].X = float64(run.Start() + i)
		}
	})
	q := w.Query(pos, cell).Changed(pos, moved)
	for range 2 {
		n := 0
		for run := range q.Runs() {
			p, c := pos.Slice(run), cell.Slice(run)
			for i := range p {
				c[i] = int32(p[i].X) / 100
				n++
			}
		}
		moved.Next()
		fmt.Println(n, "computed")
		e, _ := w.Query(pos).First()
		pos.Edit(e).X += 250
	}
	// Output:
	// 1000 computed
	// 1 computed
}
