package vast

import "testing"

// TestBulkOperationsTellAndStore holds bulk operations over columns of all kinds, with hooks, against single ones.
func TestBulkOperationsTellAndStore(t *testing.T) {
	w := NewWorld(Options{})
	base := NewColumn[number](w)
	all := storages(w)
	plain := w.Archetype(base)
	const n = 10_000 // more than one block of presence bits
	var es []Entity
	plain.NewN(n, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	added, removed := map[string]int{}, map[string]int{}
	for _, s := range all {
		c := s.column.column()
		c.hookAdd(func(e Entity) {
			if !c.has(e) {
				t.Errorf("%s: told of a gain before it is one", s.name)
			}
			added[s.name]++
		})
		c.hookRemove(func(e Entity) {
			if !c.has(e) {
				t.Errorf("%s: told of a loss after it", s.name)
			}
			removed[s.name]++
		})
	}
	for _, s := range all {
		// One in seven has it already.
		for i := 0; i < n; i += 7 {
			s.add(es[i], uint64(i))
		}
		had := (n + 6) / 7
		clear(added)
		if got := w.Exchange(w.Query(base), []AnyColumn{s.column}, nil); got != n {
			t.Errorf("%s: Exchange reports %d entities, want %d", s.name, got, n)
		}
		if s.count() != n || added[s.name] != n-had {
			t.Errorf("%s: %d have it, told of %d gains, want %d and %d", s.name, s.count(), added[s.name], n, n-had)
		}
		for i, e := range es {
			want := uint64(0)
			if i%7 == 0 && s.name != "tag" {
				want = uint64(i)
			}
			if got, ok := s.get(e); !ok || got != want {
				t.Fatalf("%s: entity %d has %d, %v; want %d", s.name, i, got, ok, want)
			}
		}
		w.Exchange(w.Query(base), nil, []AnyColumn{s.column})
		if s.count() != 0 || removed[s.name] != n {
			t.Errorf("%s: %d still have it, told of %d losses, want 0 and %d", s.name, s.count(), removed[s.name], n)
		}
	}
	clear(added)
	clear(removed)
	c := Column[number]{base: all[0].column.column().base, c: all[0].column.column()}
	c.AddAll(w.Query(base), number{4})
	c.AddAll(w.Query(base), number{5})
	if added["column"] != n || c.Get(es[9]).N != 5 {
		t.Errorf("AddAll told of %d gains and left %d, want %d and 5", added["column"], c.Get(es[9]).N, n)
	}
	if got := c.RemoveAll(w.Query(base)); got != n || removed["column"] != n {
		t.Errorf("RemoveAll took %d and told of %d losses, want %d", got, removed["column"], n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
