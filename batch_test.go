package vast

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
)

// mixedWorld returns a world whose queries yield short runs and runs of several words.
func mixedWorld(t *testing.T) (*World, Column[uint64], Column[byte]) {
	t.Helper()
	w := NewWorld(Options{MaxEntities: 1 << 15})
	t.Cleanup(func() { w.Close() })
	a, b := NewColumn[uint64](w), NewColumn[byte](w)
	w.Archetype(a).NewN(1<<15, nil)
	for i, e := range entitiesOf(w.Query()) {
		switch {
		case i/3000%3 == 0 && i%7 == 0, i/3000%3 == 1 && i%2 == 0, i > 20_000 && i < 29_000:
			b.Add(e, 1)
		}
	}
	return w, a, b
}

func TestBatches(t *testing.T) {
	w, a, b := mixedWorld(t)
	for name, q := range map[string]Query{
		"all": w.Query(), "a": w.Query(a), "a b": w.Query(a, b), "a without b": w.Query(a).Without(b),
		"none": w.Query(b).Without(a),
	} {
		want := entitiesOf(q)
		for _, n := range []int{1, 2, 63, 64, 65, 100, 1000, 5000, 1 << 15, math.MaxInt} {
			var got []Entity
			end := uint32(0)
			batches := slices.Collect(q.Batches(n))
			for i, batch := range batches {
				one := slices.Collect(batch.All())
				got = append(got, one...)
				sum := 0
				for r := range batch.Runs() {
					sum += r.Len()
				}
				if len(one) != batch.Len() || sum != batch.Len() {
					t.Fatalf("%s, batches of %d: batch %d yields %d entities, and %d in runs, but its Len "+
						"is %d", name, n, i, len(one), sum, batch.Len())
				}
				if last := i == len(batches)-1; !last && batch.Len() < n || batch.Len() > n &&
					batch.Len() > n+63 || batch.Len() == 0 {
					t.Fatalf("%s, batches of %d: batch %d (of %d batches) has %d entities", name, n, i,
						len(batches), batch.Len())
				}
				if batch.lo < end || one[0].slot/64 < batch.lo || one[len(one)-1].slot/64 >= batch.end {
					t.Fatalf("%s, batches of %d: batch %d overlaps the batch before it, or has entities "+
						"outside of its words", name, n, i)
				}
				end = batch.end
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s, batches of %d: %d entities, want %d, or in another order", name, n, len(got),
					len(want))
			}
		}
	}
	for range w.Query().Batches(10) {
		break // leaving early is allowed
	}
	var none Batch
	if none.Len() != 0 || len(slices.Collect(none.Runs())) != 0 || len(slices.Collect(none.All())) != 0 {
		t.Error("the zero Batch is not empty")
	}
}

func TestBatchesOnGoroutines(t *testing.T) {
	w, a, b := mixedWorld(t)
	q := w.Query(a, b)
	batches := slices.Collect(q.Batches(500))
	for workers := 1; workers <= 4; workers++ {
		sums := make([]uint64, len(batches))
		var wg sync.WaitGroup
		for k := range workers {
			wg.Go(func() {
				for i := k; i < len(batches); i += workers {
					for r := range batches[i].Runs() {
						for j, p := range a.Slice(r) {
							a.Slice(r)[j] = p + uint64(r.Entity(j).Slot())
							sums[i] = sums[i]*31 + p
						}
					}
				}
			})
		}
		wg.Wait()
		for e := range q.All() {
			if *a.Get(e) != uint64(workers)*uint64(e.Slot()) {
				t.Fatalf("%d workers: %v is %d, want %d", workers, e, *a.Get(e),
					uint64(workers)*uint64(e.Slot()))
			}
		}
	}
}

func walkOver[T any](seq iter.Seq[T]) {
	for range seq {
	}
}

func TestBatchMisuse(t *testing.T) {
	w, a, b := mixedWorld(t)
	q := w.Query(a)
	for _, n := range []int{0, -3} {
		says(t, func() { q.Batches(n) }, "vast: Query.Batches: the number of entities must be positive")
	}
	says(t, func() { walkOver(Query{}.Batches(1)) }, "zero Query")
	first, _ := q.First()
	batches := slices.Collect(q.Batches(1000))
	says(t, func() {
		for range batches[0].All() {
			b.Remove(first)
		}
	}, "while a batch of a query was running, by Column.Remove")
	says(t, func() { walkOver(batches[1].Runs()) }, "while batches of a query were in use, by Column.Remove")
	says(t, func() {
		for range q.Batches(1000) {
			w.Archetype(a)
			w.Delete(first)
		}
	}, "while a query was running, by World.Delete")
	batches = slices.Collect(q.Batches(1000))
	says(t, func() {
		for range batches[0].Runs() {
			a.RemoveAll(q)
		}
	}, "while a query was running, by Column.RemoveAll")
	w.Close()
	says(t, func() { walkOver(batches[0].Runs()) }, "Batch.Runs on the closed world")
}

func TestWords(t *testing.T) {
	w, a, b := mixedWorld(t)
	for name, q := range map[string]Query{"all": w.Query(), "b": w.Query(b),
		"a without b": w.Query(a).Without(b), "none": w.Query(b).Without(a)} {
		want, got := map[int]uint64{}, map[int]uint64{}
		for e := range q.All() {
			want[int(e.Slot()/64)] |= 1 << (e.Slot() % 64)
		}
		last, n := -1, 0
		for word, mask := range q.Words() {
			if word <= last || mask == 0 {
				t.Fatalf("%s: word %d with mask %#x comes after word %d", name, word, mask, last)
			}
			got[word], last = mask, word
			n += bits.OnesCount64(mask)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) || n != q.Count() {
			t.Errorf("%s: %d words with %d bits, want %d words with %d bits", name, len(got), n, len(want),
				q.Count())
		}
	}
	first, _ := w.Query(b).First()
	for range w.Query().Words() {
		w.Delete(first)
		break // a loop that ends right after a change does not panic
	}
	says(t, func() {
		for range w.Query().Words() {
			w.Archetype(a).New()
		}
	}, "while a query was running, by Archetype.New")
	says(t, func() {
		for range (Query{}).Words() {
		}
	}, "zero Query")
}

func TestFirstAndSingle(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	a, b := NewColumn[uint64](w), NewColumn[byte](w)
	q := w.Query(b)
	check := func(what string, first Entity, found, single bool) {
		t.Helper()
		if e, ok := q.First(); e != first || ok != found {
			t.Errorf("%s: First is %v, %v, want %v, %v", what, e, ok, first, found)
		}
		if e, ok := q.Single(); e != first || ok != single {
			t.Errorf("%s: Single is %v, %v, want %v, %v", what, e, ok, first, single)
		}
	}
	check("empty world", Entity{}, false, false)
	w.Archetype(a).NewN(1000, nil)
	es := entitiesOf(w.Query())
	check("no match", Entity{}, false, false)
	b.Add(es[700], 1)
	check("one match", es[700], true, true)
	b.Add(es[900], 1)
	check("two matches", es[700], true, false)
	b.Add(es[699], 1)
	b.Remove(es[900])
	check("two matches in one run", es[699], true, false)
	w.Delete(es[699])
	check("one match again", es[700], true, true)
	w.Close()
	says(t, func() { q.First() }, "closed world")
	says(t, func() { q.Single() }, "closed world")
	says(t, func() { Query{}.First() }, "zero Query")
	says(t, func() { Query{}.Single() }, "zero Query")
}

// TestQueryFormsAllocateNothing tests the methods that TestQueryAllocatesNothing leaves out.
func TestQueryFormsAllocateNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the invariant checks allocate")
	}
	w, a, b := mixedWorld(t)
	c := anotherColumn[uint64](w)
	if err := c.Grow(1); err != nil {
		t.Fatal(err)
	}
	q, other, all := w.Query(a).Any(b, c), w.Query(a).Without(c), w.Query()
	batches := make([]Batch, 0, 100)
	n := 0
	if allocated := testing.AllocsPerRun(10, func() {
		for range q.Runs() {
			n++
		}
		for _, mask := range q.Words() {
			n += bits.OnesCount64(mask)
		}
		if e, ok := q.First(); ok {
			n += int(e.Slot())
		}
		if _, ok := q.Single(); ok {
			n++
		}
		batches = slices.AppendSeq(batches[:0], q.Batches(1000))
		for _, batch := range batches {
			for r := range batch.Runs() {
				n += r.Len()
			}
			for range batch.All() {
				n++
			}
		}
		n += c.AddAll(other, 1)
		n += c.SetAll(q, 2)
		n += c.RemoveAll(q)
		n += c.RemoveAll(all)
	}); allocated != 0 || n == 0 {
		t.Errorf("%v allocations, want 0; %d steps, want more than 0", allocated, n)
	}
}
