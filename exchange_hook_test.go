package vast

import "testing"

func TestBulkOperationsCallHooks(t *testing.T) {
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
				t.Errorf("%s: OnAdd is called before the entity has the component", s.name)
			}
			added[s.name]++
		})
		c.hookRemove(func(e Entity) {
			if !c.has(e) {
				t.Errorf("%s: OnRemove is called after the entity lost the component", s.name)
			}
			removed[s.name]++
		})
	}
	for _, s := range all {
		for i := 0; i < n; i += 7 {
			s.add(es[i], uint64(i))
		}
		had := (n + 6) / 7
		clear(added)
		if got := w.Exchange(w.Query(base), []AnyColumn{s.column}, nil); got != n {
			t.Errorf("%s: Exchange reports %d entities, want %d", s.name, got, n)
		}
		if s.count() != n || added[s.name] != n-had {
			t.Errorf("%s: %d entities have the component after %d calls of OnAdd, want %d and %d",
				s.name, s.count(), added[s.name], n, n-had)
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
			t.Errorf("%s: %d entities have the component after %d calls of OnRemove, want 0 and %d",
				s.name, s.count(), removed[s.name], n)
		}
	}
	clear(added)
	clear(removed)
	c := Column[number]{base: all[0].column.column().base, c: all[0].column.column()}
	c.AddAll(w.Query(base), number{4})
	c.AddAll(w.Query(base), number{5})
	if added["column"] != n || c.Get(es[9]).N != 5 {
		t.Errorf("AddAll called OnAdd %d times and left the value %d, want %d and 5", added["column"],
			c.Get(es[9]).N, n)
	}
	if got := c.RemoveAll(w.Query(base)); got != n || removed["column"] != n {
		t.Errorf("RemoveAll returned %d and called OnRemove %d times, want %d", got, removed["column"], n)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
