package bulk

import (
	"cmp"
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// orderedModel is the expected content of an ordered index: pairs in ascending order.
type orderedModel[K cmp.Ordered] []pair[K, uint32]

func comparePairs[K cmp.Ordered](a, b pair[K, uint32]) int { return a.compare(&b) }

func (m *orderedModel[K]) add(k K, v uint32) bool {
	at, there := slices.BinarySearchFunc(*m, pair[K, uint32]{k, v}, comparePairs)
	if !there {
		*m = slices.Insert(*m, at, pair[K, uint32]{k, v})
	}
	return !there
}

func (m *orderedModel[K]) remove(k K, v uint32) bool {
	at, there := slices.BinarySearchFunc(*m, pair[K, uint32]{k, v}, comparePairs)
	if there {
		*m = slices.Delete(*m, at, at+1)
	}
	return there
}

func (m orderedModel[K]) between(low, high K) orderedModel[K] {
	from, _ := slices.BinarySearchFunc(m, low, func(p pair[K, uint32],
		k K) int {
		return cmp.Compare(p.key, k)
	})
	to, _ := slices.BinarySearchFunc(m, high, func(p pair[K, uint32],
		k K) int {
		return cmp.Compare(p.key, k)
	})
	return m[from:max(from, to)]
}

// playOrdered applies the operations in data to an index and to its model, and compares the index with the
// model. key makes keys from the numbers 0 to 65,535, in ascending order.
func playOrdered[K cmp.Ordered](t *testing.T, o Options, data []byte, key func(int) K) {
	const capacity = 6000
	o.Capacity = capacity
	x, err := NewOrderedIndex[K, uint32](o)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var m orderedModel[K]
	add := func(k K, v uint32) {
		var got bool
		e := exhausted(func() { got = x.Add(k, v) })
		if e != nil {
			if !errors.Is(e, vm.ErrCapacity) || len(m) != capacity || x.Has(k, v) {
				t.Fatalf("Add(%v, %d) to %d of at most %d pairs panics with %v", k, v, len(m), capacity, e)
			}
			return
		}
		if want := m.add(k, v); got != want || len(m) > capacity {
			t.Fatalf("Add(%v, %d) = %t, want %t; there are %d pairs, want at most %d", k, v, got, want,
				len(m), capacity)
		}
	}
	remove := func(k K, v uint32) {
		if want, got := m.remove(k, v), x.Remove(k, v); got != want {
			t.Fatalf("Remove(%v, %d) = %t, want %t", k, v, got, want)
		}
	}
	for in := modeltest.NewStream(data); in.More(); {
		op := in.Byte() % 12
		n := in.Below(65536)
		k := key(n)
		switch op {
		case 0:
			add(k, uint32(in.Byte()))
		case 1: // add ascending, descending or scattered keys, values of one key, or three values of each key
			count, way := in.Below(2000), in.Byte()
			for i := range count {
				switch way % 5 {
				case 0:
					add(key((n+i)%65536), uint32(i))
				case 1:
					add(key((n-i+65536)%65536), uint32(i))
				case 2:
					add(key((n+i*7919)%65536), uint32(i*31))
				case 3:
					add(k, uint32(i*7919%2003))
				case 4:
					add(key((n+i/3)%65536), uint32(-i))
				}
			}
		case 2:
			if len(m) > 0 {
				p := m[in.Below(len(m))]
				remove(p.key, p.value)
			}
			remove(k, uint32(in.Byte()))
		case 3: // remove pairs at equal distances
			count, every := in.Below(2000), 1+in.Byte()%4
			for i := 0; i < count && len(m) > 0; i++ {
				p := m[(n+i*every)%len(m)]
				remove(p.key, p.value)
			}
		case 4:
			if len(m) > 0 && n%2 == 0 {
				k = m[n%len(m)].key
			}
			all := slices.Clone(m.between(k, key(65535)))
			want := 0
			for _, p := range all {
				if p.key == k {
					want++
					m.remove(p.key, p.value)
				}
			}
			if got := x.RemoveAll(k); got != want && k != key(65535) {
				t.Fatalf("RemoveAll(%v) = %d, want %d", k, got, want)
			} else if k == key(65535) {
				m = m.between(key(0), k)
			}
		case 5:
			if err := x.Grow(n % (2 * capacity)); (err == nil) != (len(m)+n%(2*capacity) <= capacity) {
				t.Fatalf("Grow(%d) with %d pairs: %v", n%(2*capacity), len(m), err)
			}
		case 6:
			if n%16 == 0 {
				x.Clear()
				m = nil
			}
			if err := x.Trim(); err != nil {
				t.Fatal(err)
			}
		case 7:
			high := key(in.Below(65536))
			compareRange(t, x, m.between(k, high), k, high)
		case 8:
			compareFrom(t, x, m, k)
		case 9, 10, 11:
			if len(m) > 0 && op != 9 {
				k = m[n%len(m)].key
			}
			compareKey(t, x, m, k)
		}
		if x.Len() != len(m) {
			t.Fatalf("Len() = %d, want %d", x.Len(), len(m))
		}
	}
	x.tree.checkInvariants("")
	compareOrdered(t, x, m)
}

func compareKey[K cmp.Ordered](t *testing.T, x *OrderedIndex[K, uint32], m orderedModel[K], k K) {
	t.Helper()
	var want []uint32
	at, _ := slices.BinarySearchFunc(m, k, func(p pair[K, uint32], k K) int { return cmp.Compare(p.key, k) })
	for ; at < len(m) && m[at].key == k; at++ {
		want = append(want, m[at].value)
	}
	if got := slices.Collect(x.Values(k)); !slices.Equal(got, want) {
		t.Fatalf("Values(%v) = %d, want %d", k, got, want)
	}
	first, ok := x.First(k)
	if ok != (len(want) > 0) || ok && first != want[0] || x.Contains(k) != ok || x.Count(k) != len(want) {
		t.Fatalf("First(%v) = %d, %t, Contains = %t and Count = %d, but the values are %d", k, first, ok,
			x.Contains(k), x.Count(k), want)
	}
}

func compareRange[K cmp.Ordered](t *testing.T, x *OrderedIndex[K, uint32], want orderedModel[K], low,
	high K) {
	t.Helper()
	var got, runs orderedModel[K]
	for k, v := range x.Range(low, high) {
		got = append(got, pair[K, uint32]{k, v})
	}
	for keys, values := range x.Runs(low, high) {
		for i, k := range keys {
			runs = append(runs, pair[K, uint32]{k, values[i]})
		}
	}
	if !slices.Equal(got, want) || !slices.Equal(runs, want) {
		t.Fatalf("Range(%v, %v) yields %d pairs and Runs %d, want %d, or the pairs are wrong", low, high,
			len(got), len(runs), len(want))
	}
}

func compareFrom[K cmp.Ordered](t *testing.T, x *OrderedIndex[K, uint32], m orderedModel[K], low K) {
	t.Helper()
	var got orderedModel[K]
	for k, v := range x.From(low) {
		if got = append(got, pair[K, uint32]{k, v}); len(got) == 100 {
			break
		}
	}
	at, _ := slices.BinarySearchFunc(m, low, func(p pair[K, uint32],
		k K) int {
		return cmp.Compare(p.key, k)
	})
	if want := m[at:min(len(m), at+100)]; !slices.Equal(got, want) {
		t.Fatalf("From(%v) yields %v, want %v", low, got, want)
	}
}

func compareOrdered[K cmp.Ordered](t *testing.T, x *OrderedIndex[K, uint32], m orderedModel[K]) {
	t.Helper()
	var up, down orderedModel[K]
	for k, v := range x.All() {
		up = append(up, pair[K, uint32]{k, v})
	}
	for k, v := range x.Descend() {
		down = append(down, pair[K, uint32]{k, v})
	}
	slices.Reverse(down)
	if !slices.Equal(up, m) || !slices.Equal(down, m) {
		t.Fatalf("All yields %d pairs and Descend %d, want %d, or the pairs are wrong", len(up), len(down),
			len(m))
	}
	k, v, ok := x.Min()
	if ok != (len(m) > 0) || ok && (pair[K, uint32]{k, v}) != m[0] {
		t.Fatalf("Min() = %v, %v, %t", k, v, ok)
	}
	k, v, ok = x.Max()
	if ok != (len(m) > 0) || ok && (pair[K, uint32]{k, v}) != m[len(m)-1] {
		t.Fatalf("Max() = %v, %v, %t", k, v, ok)
	}
}
