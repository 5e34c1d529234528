package bulk

import (
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// hashModel is the expected content of a hash index: the values of each key.
type hashModel[K comparable] struct {
	values map[K]map[uint32]bool
	len    int
}

func (m *hashModel[K]) add(k K, v uint32) bool {
	if m.values[k][v] {
		return false
	}
	if m.values[k] == nil {
		m.values[k] = make(map[uint32]bool)
	}
	m.values[k][v] = true
	m.len++
	return true
}

func (m *hashModel[K]) remove(k K, v uint32) bool {
	if !m.values[k][v] {
		return false
	}
	delete(m.values[k], v)
	if len(m.values[k]) == 0 {
		delete(m.values, k)
	}
	m.len--
	return true
}

// playHash applies the operations in data to an index and to the model, and compares the index with the
// model. key makes a key from a number. spoil, which may be nil, makes the index's hash function worse.
func playHash[K comparable](t *testing.T, o Options, data []byte, key func(int) K, spoil func(*hasher[K])) {
	const capacity = 6000
	o.Capacity = capacity
	x, err := NewHashIndex[K, uint32](o)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if spoil != nil {
		spoil(&x.hash)
	}
	m := hashModel[K]{values: map[K]map[uint32]bool{}}
	add := func(k K, v uint32) {
		var got bool
		if e := exhausted(func() { got = x.Add(k, v) }); e != nil {
			if !errors.Is(e, vm.ErrCapacity) || m.len != capacity || m.values[k][v] {
				t.Fatalf("Add(%v, %d) to %d pairs: %v", k, v, m.len, e)
			}
			return
		}
		if want := m.add(k, v); got != want || m.len > capacity {
			t.Fatalf("Add(%v, %d) = %t", k, v, got)
		}
	}
	remove := func(k K, v uint32) {
		if want, got := m.remove(k, v), x.Remove(k, v); got != want {
			t.Fatalf("Remove(%v, %d) = %t", k, v, got)
		}
	}
	for in := modeltest.NewStream(data); in.More(); {
		op := in.Byte() % 12
		n := in.Below(65536)
		k := key(n)
		switch op {
		case 0:
			add(k, uint32(in.Byte()))
		case 1: // add one or a few values to each key of a range, or many values to one key
			count, way := in.Below(3000), in.Byte()
			for i := range count {
				switch way % 4 {
				case 0:
					add(key(n+i), uint32(i))
				case 1:
					add(key(n+i/5), uint32(i))
				case 2:
					add(key(n+i/12), uint32(i))
				case 3:
					add(k, uint32(i*7919%2003))
				}
			}
		case 2:
			remove(k, uint32(in.Byte()))
			for v := range m.values[k] {
				remove(k, v)
				break
			}
		case 3: // remove all or some values of each key of a range
			count, most := in.Below(3000), 1+in.Byte()%20
			for i := range count {
				var vs []uint32
				for v := range m.values[key(n+i)] {
					vs = append(vs, v)
				}
				for _, v := range vs[:min(most, len(vs))] {
					remove(key(n+i), v)
				}
			}
		case 4:
			want := len(m.values[k])
			if got := x.RemoveAll(k); got != want {
				t.Fatalf("RemoveAll(%v) = %d, want %d", k, got, want)
			}
			delete(m.values, k)
			m.len -= want
		case 5:
			if n %= 2 * capacity; (x.Grow(n) == nil) != (m.len+n <= capacity) {
				t.Fatalf("Grow(%d) of an index with %d pairs and capacity %d has the wrong result", n, m.len,
					capacity)
			}
		case 6:
			if n%16 == 0 {
				x.Clear()
				m = hashModel[K]{values: map[K]map[uint32]bool{}}
			}
			if err := x.Trim(); err != nil {
				t.Fatal(err)
			}
		case 7:
			compareHash(t, x, &m)
		case 8, 9, 10, 11:
			for i := range 20 {
				compareHashKey(t, x, &m, key(n+i))
			}
		}
		if x.Len() != m.len {
			t.Fatalf("Len() = %d, want %d", x.Len(), m.len)
		}
	}
	x.checkInvariants()
	compareHash(t, x, &m)
}

func compareHashKey[K comparable](t *testing.T, x *HashIndex[K, uint32], m *hashModel[K], k K) {
	t.Helper()
	want := m.values[k]
	got := slices.Collect(x.Values(k))
	for _, v := range got {
		if !want[v] || !x.Has(k, v) || x.Has(k, v+100_000) {
			t.Fatalf("Values(%v) yields %d", k, v)
		}
	}
	first, ok := x.First(k)
	if len(got) != len(want) || x.Count(k) != len(want) || ok != (len(want) > 0) || ok && first != got[0] ||
		x.Contains(k) != ok {
		t.Fatalf("key %v: %d values, First = %d, %t, Count = %d, Contains = %t; want %d values", k, len(got),
			first, ok, x.Count(k), x.Contains(k), len(want))
	}
}

func compareHash[K comparable](t *testing.T, x *HashIndex[K, uint32], m *hashModel[K]) {
	t.Helper()
	type pair struct {
		key   K
		value uint32
	}
	seen := make(map[pair]bool)
	for k, v := range x.All() {
		if p := (pair{k, v}); seen[p] || !m.values[k][v] {
			t.Fatalf("All yields %v", p)
		} else {
			seen[p] = true
		}
	}
	if len(seen) != m.len {
		t.Fatalf("All yields %d of %d pairs", len(seen), m.len)
	}
	for k := range m.values {
		compareHashKey(t, x, m, k)
	}
}
