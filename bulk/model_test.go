package bulk

import (
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/vm"
)

// stream turns bytes into choices, so that the fuzzer and a random test make the same operations.
type stream struct{ rest []byte }

func (s *stream) more() bool { return len(s.rest) > 0 }

func (s *stream) byte() int {
	if len(s.rest) == 0 {
		return 0
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return int(b)
}

// below returns a number in [0, n), often a small one.
func (s *stream) below(n int) int {
	v := s.byte()
	if v >= 128 {
		v = (v-128)<<8 | s.byte()
	}
	return v % n
}

// randomBytes returns an input for a stream, from a seed that the test prints.
func randomBytes(t *testing.T, n int) []byte {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// record is 40 bytes, so that elements lie across pages.
type record [5]uint64

func numbered(i int) record { return record{uint64(i), uint64(i) * 3, ^uint64(i), 7, uint64(i) << 32} }

// large is more than a page.
type large [700]uint64

func numberedLarge(i int) large { return large{0: uint64(i), 350: uint64(i), 699: ^uint64(i)} }

func numberedByte(i int) uint8 { return uint8(i*7 + i>>8) }

// each kind of pages must give the same answers.
var pageKinds = []vm.Pages{vm.PagesAuto, vm.PagesSmall, vm.PagesHuge, vm.PagesHeap}

// exhausted calls f and returns the *vm.Error that it panics with, or nil.
func exhausted(f func()) (e *vm.Error) {
	defer func() {
		if r := recover(); r != nil {
			var ok bool
			if e, ok = r.(*vm.Error); !ok {
				panic(r)
			}
		}
	}()
	f()
	return nil
}

// panicText returns what f panics with as text, or "".
func panicText(f func()) (text string) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case error:
			text = r.Error()
		default:
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// arrayCapacity is the capacity of the arrays that are played.
const arrayCapacity = 3000

// anyArray is what all kinds of arrays can do.
type anyArray[T any] interface {
	Append(v T) *T
	AppendN(n int) ([]T, error)
	Grow(n int) error
	At(i int) *T
	Slice() []T
	Len() int
}

// playArray applies the operations in data to an array and to a slice and fails where they differ.
func playArray[T comparable](t *testing.T, o Options, data []byte, element func(int) T) {
	o.Capacity = arrayCapacity
	a, err := NewArray[T](o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	playAnyArray(t, a, a.Truncate, data, element)
}

// playAnyArray is playArray for an empty array of any kind. truncate is nil for one that does not become shorter.
func playAnyArray[T comparable](t *testing.T, a anyArray[T], truncate func(n int), data []byte, element func(int) T) {
	const capacity = arrayCapacity
	var zero T
	var m []T
	number := 0
	first := (*T)(nil)
	for in := (stream{data}); in.more(); number++ {
		switch in.byte() % 6 {
		case 0:
			e := exhausted(func() {
				p := a.Append(element(number))
				if *p != element(number) || p != a.At(len(m)) {
					t.Fatalf("Append returned the address of another element than %d", len(m))
				}
			})
			if len(m) == capacity {
				if e == nil || !errors.Is(e, vm.ErrCapacity) {
					t.Fatalf("Append to a full array: %v", e)
				}
			} else if e != nil {
				t.Fatal(e)
			} else {
				m = append(m, element(number))
			}
		case 1:
			n := in.below(1000)
			added, err := a.AppendN(n)
			if len(m)+n > capacity {
				if added != nil || !errors.Is(err, vm.ErrCapacity) {
					t.Fatalf("AppendN(%d) to %d of %d: %v", n, len(m), capacity, err)
				}
				break
			}
			if err != nil || len(added) != n || cap(added) != n {
				t.Fatalf("AppendN(%d) returned %d elements with room for %d: %v", n, len(added), cap(added), err)
			}
			for i := range added {
				if added[i] != zero {
					t.Fatalf("AppendN(%d): element %d is not zero", n, i)
				}
				added[i] = element(number + i)
				m = append(m, element(number+i))
			}
		case 2:
			if n := in.below(len(m) + 1); truncate != nil {
				truncate(n)
				m = m[:n]
			}
		case 3:
			n := in.below(2 * capacity)
			if err := a.Grow(n); (err == nil) != (len(m)+n <= capacity) {
				t.Fatalf("Grow(%d) with %d of %d: %v", n, len(m), capacity, err)
			}
		case 4:
			if len(m) > 0 {
				i := in.below(len(m))
				*a.At(i) = element(^number)
				m[i] = element(^number)
			}
		case 5:
			i := in.below(2 * capacity)
			if text := panicText(func() { a.At(i) }); (text == "") != (i < len(m)) {
				t.Fatalf("At(%d) with %d elements: %q", i, len(m), text)
			}
		}
		if a.Len() != len(m) {
			t.Fatalf("Len() = %d, want %d", a.Len(), len(m))
		}
		if len(m) > 0 {
			if first == nil {
				first = a.At(0)
			}
			if a.At(0) != first || *a.At(len(m) - 1) != m[len(m)-1] {
				t.Fatalf("the first element moved, or the last of %d is another one", len(m))
			}
		}
	}
	if !slices.Equal(a.Slice(), m) {
		t.Fatal("Slice() has other elements")
	}
}

// poolModel is what a pool should be.
type poolModel[T comparable] struct {
	live  map[Handle[T]]T
	slots []bool      // taken slots
	known []Handle[T] // all handles that ever were, live and stale
	seen  map[Handle[T]]bool
}

// free returns the lowest free slot.
func (m *poolModel[T]) free() int { return slices.Index(m.slots, false) }

// poolCapacity is the capacity of the pools that are played.
const poolCapacity = 1500

// anyPool is what all kinds of pools can do.
type anyPool[T any] interface {
	Insert(v T) (Handle[T], *T)
	Remove(h Handle[T]) bool
	Valid(h Handle[T]) bool
	Get(h Handle[T]) *T
	Len() int
	Grow(n int) error
	Clear(f func(Handle[T], *T))
	All() iter.Seq2[Handle[T], *T]
	Runs() iter.Seq2[int, []T]
	checkInvariants()
}

// playPool applies the operations in data to a pool and to the model and fails where they differ.
func playPool[T comparable](t *testing.T, o Options, data []byte, element func(int) T) {
	o.Capacity = poolCapacity
	p, err := NewPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	other, err := NewPool[T](o)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	playAnyPool(t, p, other, true, data, element)
}

// playAnyPool is playPool for two empty pools of any kind, the other one being there for its handles. lowest says that the
// lowest free slot is taken.
func playAnyPool[T comparable](t *testing.T, p, other anyPool[T], lowest bool, data []byte, element func(int) T) {
	const capacity = poolCapacity
	m := poolModel[T]{live: map[Handle[T]]T{}, slots: make([]bool, capacity), seen: map[Handle[T]]bool{}}
	insert := func(v T) {
		var h Handle[T]
		var at *T
		e := exhausted(func() { h, at = p.Insert(v) })
		if len(m.live) == capacity {
			if e == nil || !errors.Is(e, vm.ErrCapacity) {
				t.Fatalf("Insert into a full pool: %v", e)
			}
			return
		}
		if e != nil {
			t.Fatal(e)
		}
		if want := m.free(); lowest && int(h.Slot()) != want || m.slots[h.Slot()] {
			t.Fatalf("Insert took slot %d, but %d is free", h.Slot(), want)
		}
		if *at != v || p.Get(h) != at {
			t.Fatalf("the element of %v is not where Insert said", h)
		}
		if m.seen[h] || h.IsZero() {
			t.Fatalf("handle %v was used before", h)
		}
		m.live[h], m.slots[h.Slot()] = v, true
		m.known, m.seen[h] = append(m.known, h), true
	}
	remove := func(h Handle[T]) {
		_, want := m.live[h]
		if got := p.Remove(h); got != want {
			t.Fatalf("Remove(%v) = %t, want %t", h, got, want)
		}
		if want {
			delete(m.live, h)
			m.slots[h.Slot()] = false
		}
	}
	number := 0
	for in := (stream{data}); in.more(); number++ {
		switch in.byte() % 10 {
		case 0, 1:
			insert(element(number))
		case 2:
			for i := range in.below(300) {
				insert(element(number + i))
			}
		case 3, 4:
			if len(m.known) > 0 {
				remove(m.known[in.below(len(m.known))])
			}
		case 5: // a stretch of what is live, from the oldest on
			for _, h := range m.known[:in.below(len(m.known)+1)] {
				remove(h)
			}
		case 6:
			h := Handle[T]{uint32(in.below(2 * capacity)), uint32(in.byte()) | uint32(in.byte())<<24}
			v, want := m.live[h]
			got := p.Get(h)
			if (got != nil) != want || p.Valid(h) != want || got != nil && *got != v {
				t.Fatalf("Get(%v) = %v, want %t", h, got, want)
			}
			if o, _ := other.Insert(element(number)); p.Valid(o) || p.Remove(o) {
				t.Fatalf("handle %v of another pool is valid", o)
			}
		case 7:
			n := in.below(2 * capacity)
			if err := p.Grow(n); (err == nil) != (len(m.live)+n <= capacity) {
				t.Fatalf("Grow(%d) with %d of %d: %v", n, len(m.live), capacity, err)
			}
		case 8:
			if in.byte()%4 == 0 {
				last, calls := -1, 0
				p.Clear(func(h Handle[T], e *T) {
					if v, ok := m.live[h]; !ok || v != *e || int(h.Slot()) <= last {
						t.Fatalf("Clear passes %v after slot %d", h, last)
					}
					last = int(h.Slot())
					calls++
				})
				if calls != len(m.live) {
					t.Fatalf("Clear passed %d of %d elements", calls, len(m.live))
				}
				clear(m.live)
				clear(m.slots)
			}
		case 9:
			comparePool(t, p, &m)
		}
		if p.Len() != len(m.live) {
			t.Fatalf("Len() = %d, want %d", p.Len(), len(m.live))
		}
	}
	comparePool(t, p, &m)
	p.checkInvariants()
}

// comparePool walks over the pool in both ways.
func comparePool[T comparable](t *testing.T, p anyPool[T], m *poolModel[T]) {
	n, last := 0, -1
	for h, e := range p.All() {
		if v, ok := m.live[h]; !ok || v != *e || p.Get(h) != e || int(h.Slot()) <= last {
			t.Fatalf("All yields %v after slot %d", h, last)
		}
		last = int(h.Slot())
		n++
	}
	if n != len(m.live) {
		t.Fatalf("All yields %d of %d elements", n, len(m.live))
	}
	n, last = 0, -2
	for first, run := range p.Runs() {
		if first <= last+1 || len(run) == 0 {
			t.Fatalf("a run of %d from slot %d on after one to slot %d", len(run), first, last)
		}
		for i := range run {
			if !m.slots[first+i] {
				t.Fatalf("the run from slot %d on has slot %d", first, first+i)
			}
		}
		last = first + len(run) - 1
		n += len(run)
	}
	if n != len(m.live) {
		t.Fatalf("Runs yields %d of %d elements", n, len(m.live))
	}
}
