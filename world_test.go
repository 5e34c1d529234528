package vast

import "testing"

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }

func TestWorldStory(t *testing.T) {
	w := NewWorld(Options{})
	pos, vel := NewColumn[position](w), NewColumn[velocity](w)
	docked := NewColumn[struct{}](w)
	ships := w.Archetype(pos, vel)
	var es []Entity
	for i := range 1000 {
		e := ships.New()
		es = append(es, e)
		*pos.Get(e) = position{float64(i), 1}
		*vel.Get(e) = velocity{1, 2}
	}
	for i := 0; i < 1000; i += 3 {
		docked.Add(es[i], struct{}{})
	}
	q := w.Query(pos, vel).Without(docked)
	n := 0
	for run := range q.Runs() {
		p, v := pos.Slice(run), vel.Slice(run)
		for i := range p {
			p[i].X += v[i].X
			n++
		}
	}
	if n != 666 || q.Count() != 666 {
		t.Fatalf("visited %d, count %d", n, q.Count())
	}
	if got := w.DeleteAll(q); got != 666 || w.Len() != 334 {
		t.Fatalf("deleted %d, left %d", got, w.Len())
	}
	for i, e := range es {
		if pos.Has(e) != (i%3 == 0) || w.Alive(e) != (i%3 == 0) {
			t.Fatalf("entity %d", i)
		}
	}
	ships.NewN(100000, nil)
	if ships.Len() != 100334 || q.Count() != 100000 {
		t.Fatalf("%d %d", ships.Len(), q.Count())
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
