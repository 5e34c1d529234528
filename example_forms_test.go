package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

func ExampleQuery_Optional() {
	type Position struct{ X float64 }
	type Wind struct{ X float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, wind := vast.NewColumn[Position](w), vast.NewColumn[Wind](w)
	w.Archetype(pos).NewN(3, nil)
	w.Archetype(pos, wind).NewN(2, func(r vast.Run) {
		for i := range wind.Slice(r) {
			wind.Slice(r)[i].X = 0.5
		}
	})
	for run := range w.Query(pos).Optional(wind).Runs() {
		p, blown := pos.Slice(run), wind.TrySlice(run)
		for i := range p {
			p[i].X++
			if blown != nil {
				p[i].X += blown[i].X
			}
		}
		fmt.Println(p)
	}
	// Output:
	// [{1} {1} {1}]
	// [{1.5} {1.5}]
}

func ExampleQuery_Exactly() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	position, cargo := vast.NewColumn[float64](w), vast.NewTag(w, "Cargo")
	w.Archetype(position).NewN(3, nil)
	w.Archetype(position, cargo).NewN(2, nil)
	fmt.Println(w.Query(position).Count(), w.Query(position).Exactly().Count())
	// Output: 5 3
}

func ExampleQuery_Among() {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	armor, burning := vast.NewColumn[int](w), vast.NewTag(w, "Burning")
	plain, armored := w.Archetype(), w.Archetype(armor)
	hit := []vast.Entity{armored.New(), plain.New(), plain.New()}
	hit = append(hit, hit[1]) // a duplicate counts once
	fmt.Println(burning.AddAll(w.Query().Without(armor).Among(hit)))
	fmt.Println(w.DeleteAll(w.Query().Among(hit)), w.Len())
	// Output:
	// 2
	// 3 0
}

func ExampleNewOrder() {
	type Position struct{ Z float32 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos := vast.NewColumn[Position](w)
	a := w.Archetype(pos)
	for _, z := range []float32{2, -1, 7} {
		pos.Set(a.New(), Position{z})
	}
	byHeight := vast.NewOrder(w.Query(pos), pos, func(p *Position) float32 { return p.Z })
	for s, p := range byHeight.Ascending() {
		fmt.Println(s.Entity(), p.Z)
	}
	for _, p := range byHeight.Descending() {
		fmt.Println("highest:", p.Z)
		break
	}
	// Output:
	// 1.1 -1
	// 0.1 2
	// 2.1 7
	// highest: 7
}
