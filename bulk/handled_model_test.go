package bulk

import (
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// handled is the common interface of Pool, Dense and sharedForTest.
type handled[T any] interface {
	Insert(T) (Handle[T], *T)
	InsertZero() (Handle[T], *T)
	Remove(Handle[T]) bool
	Valid(Handle[T]) bool
	Get(Handle[T]) *T
	Len() int
	Grow(int) error
	Clear(func(Handle[T], *T))
	Trim() error
	All() iter.Seq2[Handle[T], *T]
	Runs() iter.Seq2[int, []T]
	Reserved() int
	Committed() int
	Resident() (int, error)
	Close() error
	checkInvariants()
}

var (
	_ handled[uint64] = (*Pool[uint64])(nil)
	_ handled[uint64] = (*Dense[uint64])(nil)
)

var kinds = []string{"Pool", "Dense"}

func makeHandled[T any](kind string, o Options) (handled[T], error) {
	switch kind {
	case "Dense":
		return NewDense[T](o)
	case "SharedPool":
		return makeSharedForTest[T](o)
	}
	return NewPool[T](o)
}

func newHandled[T any](t testing.TB, kind string, o Options) handled[T] {
	t.Helper()
	c, err := makeHandled[T](kind, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func eachKind(t *testing.T, f func(t *testing.T, kind string)) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) { f(t, kind) })
	}
}

// handledModel is the expected content of a container with handles.
type handledModel[T comparable] struct {
	live  map[Handle[T]]T
	slots []bool      // by slot: whether the slot is taken
	known []Handle[T] // all handles that ever existed, live and stale
	seen  map[Handle[T]]bool
}

func (m *handledModel[T]) lowestFree() int { return slices.Index(m.slots, false) }

// playHandled applies the operations in data to a container and to the model. It fails the test if the
// container differs from the model.
func playHandled[T comparable](t *testing.T, kind string, o Options, data []byte, element func(int) T) {
	const capacity = 1500
	o.Capacity = capacity
	p, err := makeHandled[T](kind, o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	other, err := makeHandled[T](kind, o)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	m := handledModel[T]{live: map[Handle[T]]T{}, slots: make([]bool, capacity), seen: map[Handle[T]]bool{}}
	var zero T
	insert := func(v T, zeroed bool) {
		var h Handle[T]
		var at *T
		e := exhausted(func() {
			if !zeroed {
				h, at = p.Insert(v)
				return
			}
			if h, at = p.InsertZero(); *at != zero {
				t.Fatalf("InsertZero returned the element %v", *at)
			}
			*at = v
		})
		if len(m.live) == capacity {
			if e == nil || !errors.Is(e, vm.ErrCapacity) {
				t.Fatalf("Insert into a full container: %v", e)
			}
			return
		}
		if e != nil {
			t.Fatal(e)
		}
		if m.slots[h.Slot()] {
			t.Fatalf("Insert took slot %d, which was not free", h.Slot())
		}
		if want := m.lowestFree(); int(h.Slot()) != want && kind != "SharedPool" {
			t.Fatalf("Insert took slot %d, but the lowest free slot is %d", h.Slot(), want)
		}
		if *at != v || p.Get(h) != at {
			t.Fatalf("Insert and Get return different addresses for %v, or the value is wrong", h)
		}
		if m.seen[h] || h.IsZero() {
			t.Fatalf("Insert returned handle %v, which is zero or was returned before", h)
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
	for in := modeltest.NewStream(data); in.More(); number++ {
		switch in.Byte() % 10 {
		case 0, 1:
			insert(element(number), number%2 == 0)
		case 2:
			for i := range in.Below(300) {
				insert(element(number+i), i%3 == 0)
			}
		case 3, 4:
			if len(m.known) > 0 {
				remove(m.known[in.Below(len(m.known))])
			}
		case 5: // remove the elements of the oldest handles, live or stale
			for _, h := range m.known[:in.Below(len(m.known)+1)] {
				remove(h)
			}
		case 6:
			h := Handle[T]{uint32(in.Below(2 * capacity)), uint32(in.Byte()) | uint32(in.Byte())<<24}
			v, want := m.live[h]
			got := p.Get(h)
			if (got != nil) != want || p.Valid(h) != want || got != nil && *got != v {
				t.Fatalf("Get(%v) = %v; the model has an element: %t", h, got, want)
			}
			if o, _ := other.Insert(element(number)); p.Valid(o) || p.Remove(o) {
				t.Fatalf("handle %v of another container is valid", o)
			}
		case 7:
			n := in.Below(2 * capacity)
			if err := p.Grow(n); (err == nil) != (len(m.live)+n <= capacity) {
				t.Fatalf("Grow(%d) with %d of %d elements in use: %v", n, len(m.live), capacity, err)
			}
		case 8:
			if in.Byte()%4 == 0 {
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
			compareHandled(t, p, &m)
		}
		if p.Len() != len(m.live) {
			t.Fatalf("Len() = %d, want %d", p.Len(), len(m.live))
		}
	}
	compareHandled(t, p, &m)
	p.checkInvariants()
}

func compareHandled[T comparable](t *testing.T, c handled[T], m *handledModel[T]) {
	n, last := 0, -1
	for h, e := range c.All() {
		if v, ok := m.live[h]; !ok || v != *e || c.Get(h) != e || int(h.Slot()) <= last {
			t.Fatalf("All yields %v after slot %d", h, last)
		}
		last = int(h.Slot())
		n++
	}
	if n != len(m.live) {
		t.Fatalf("All yields %d of %d elements", n, len(m.live))
	}
	switch c := c.(type) {
	case *Pool[T], *sharedForTest[T]:
		compareRuns(t, c, m)
	case *Dense[T]:
		compareSlice(t, c, m)
	}
}

func compareRuns[T comparable](t *testing.T, p handled[T], m *handledModel[T]) {
	n, last := 0, -2
	for first, run := range p.Runs() {
		if first <= last+1 || len(run) == 0 {
			t.Fatalf("a run of %d elements from slot %d follows a run that ends at slot %d", len(run),
				first, last)
		}
		for i := range run {
			if !m.slots[first+i] {
				t.Fatalf("the run from slot %d includes the free slot %d", first, first+i)
			}
		}
		last = first + len(run) - 1
		n += len(run)
	}
	if n != len(m.live) {
		t.Fatalf("Runs yields %d of %d elements", n, len(m.live))
	}
}

func compareSlice[T comparable](t *testing.T, d *Dense[T], m *handledModel[T]) {
	es := d.Slice()
	if len(es) != len(m.live) || cap(es) != len(es) {
		t.Fatalf("Slice has %d of %d elements and room for %d", len(es), len(m.live), cap(es))
	}
	seen := make(map[Handle[T]]bool)
	for i := range es {
		h := d.HandleAt(i)
		if v, ok := m.live[h]; !ok || v != es[i] || d.Get(h) != &es[i] || d.Index(h) != i {
			t.Fatalf("element %d belongs to handle %v, whose index is %d", i, h, d.Index(h))
		}
		seen[h] = true
	}
	if len(seen) != len(es) {
		t.Fatalf("%d elements have %d handles", len(es), len(seen))
	}
	yielded := false
	for first, run := range d.Runs() {
		if first != 0 || len(run) != len(es) || &run[0] != &es[0] {
			t.Fatalf("the run has %d elements from index %d on, want %d from 0 on", len(run), first, len(es))
		}
		yielded = true
	}
	if len(es) > 0 && !yielded {
		t.Fatal("Runs yields nothing")
	}
	for _, h := range m.known {
		if _, ok := m.live[h]; !ok && d.Index(h) != -1 {
			t.Fatalf("the index of the removed element of %v is %d, want -1", h, d.Index(h))
		}
	}
}

func FuzzPool(f *testing.F) {
	f.Add([]byte{2, 200, 50, 5, 100, 2, 255, 255, 9, 8, 0, 2, 200, 9, 6, 1, 1, 1, 7, 255, 255})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playHandled(t, "Pool", Options{Pages: pages}, data, numbered)
		}
	})
}

func FuzzDense(f *testing.F) {
	f.Add([]byte{2, 200, 50, 5, 100, 2, 255, 255, 9, 8, 0, 2, 200, 9, 6, 1, 1, 1, 7, 255, 255})
	f.Add([]byte{2, 10, 3, 9, 3, 0, 9, 3, 4, 9, 0, 0, 9, 8, 0, 0, 9})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, pages := range pageKinds {
			playHandled(t, "Dense", Options{Pages: pages}, data, numbered)
		}
	})
}
