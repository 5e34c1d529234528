package bulk

import (
	"fmt"
	"maps"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

func FuzzSharedTable(f *testing.F) {
	f.Add([]byte{0, 5, 0, 5, 1, 5, 2, 5, 0, 250, 3, 0, 4, 100, 5, 0, 0, 7, 6, 0, 2, 7, 7, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playTable(t, Options{Pages: pages, Capacity: 4000}, data)
		}
	})
}

func TestSharedTableAgainstModel(t *testing.T) {
	for range 4 {
		data := modeltest.RandomBytes(t, 20_000)
		for _, pages := range pageKinds {
			playTable(t, Options{Pages: pages, Capacity: 4000}, data)
		}
	}
}

// playTable applies the operations in data to a table and to a map, and compares the table with the map. An
// operation has two bytes: its kind, and an entry or a number for Grow and GrowEntries. Operations must not
// change the values that a reader has seen since Enter.
func playTable(t *testing.T, o Options, data []byte) {
	t.Helper()
	table := openTable(t, o)
	w, r := table.Writer(), table.Reader()
	model := make(map[int]object)
	seen := make(map[*object]object)
	inside := false
	for n := 0; n+1 < len(data); n += 2 {
		i := int(data[n+1]) * 4000 / 256
		v := objectOf(uint64(n) + 1)
		_, had := model[i]
		switch data[n] % 8 {
		case 0, 1:
			w.Set(i, v)
			model[i] = v
		case 2:
			if w.Remove(i) != had {
				t.Fatalf("Remove(%d) = %t, want %t", i, !had, had)
			}
			delete(model, i)
		case 3:
			updated := w.Update(i, func(o *object) {
				if *o != model[i] {
					t.Fatalf("Update of entry %d sees %v, want %v", i, *o, model[i])
				}
				*o = v
			})
			if updated != had {
				t.Fatalf("Update(%d) = %t, want %t", i, updated, had)
			}
			if had {
				model[i] = v
			}
		case 4:
			if err := w.Grow(int(data[n+1])); err != nil {
				t.Fatal(err)
			}
			if len(w.free) < int(data[n+1]) {
				t.Fatalf("the writer has %d free places after Grow(%d)", len(w.free), data[n+1])
			}
		case 5:
			if !inside {
				r.Enter()
			} else {
				r.Leave()
				clear(seen)
			}
			inside = !inside
		case 6:
			w.Close()
			w = table.Writer()
		case 7:
			if err := table.GrowEntries(i); err != nil {
				t.Fatal(err)
			}
		}
		if got, ok := r.Load(i); got != model[i] || ok != (model[i] != object{}) {
			t.Fatalf("entry %d is %v, want %v", i, got, model[i])
		}
		if inside {
			if p := r.Get(i); p != nil {
				seen[p] = *p
			}
			for p, was := range seen {
				if *p != was {
					t.Fatalf("a value that the reader has seen changed from %v to %v", was, *p)
				}
			}
		}
	}
	if !inside {
		r.Enter()
	}
	all := make(map[int]object)
	for i, v := range r.All() {
		all[i] = *v
	}
	r.Leave()
	if !maps.Equal(all, model) || table.Len() != len(model) {
		t.Fatalf("Len() = %d, want %d; All yields %s", table.Len(), len(model), fmt.Sprint(all))
	}
	checkTable(t, table)
}
