package bulk

import (
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// listsModel is a container, and the expected elements of its lists.
type listsModel[T comparable] struct {
	lists  *Lists[T]
	other  *Lists[T] // another container, which must refuse the Lists of the owners
	owners [24]List[T]
	want   [24][]T // the expected elements of each owner's list
	stale  []List[T]
}

const listsCapacity = 12_000

// playLists applies the operations in data to a container and to its model, and compares them.
func playLists[T comparable](t *testing.T, o Options, data []byte, element func(int) T) {
	o.Capacity = listsCapacity
	m := &listsModel[T]{lists: newLists[T](t, o), other: newLists[T](t,
		Options{Capacity: 100, Pages: o.Pages})}
	number := 0
	next := func() T { number++; return element(number) }
	for in := modeltest.NewStream(data); in.More(); {
		i := in.Below(len(m.owners))
		l, want, before := &m.owners[i], m.want[i], m.owners[i]
		n := in.Below(len(want) + 1)
		op := in.Byte() % 16
		switch op {
		case 0, 1, 2, 3:
			v := next()
			m.attempt(t, i, 1, func() {
				if p := m.lists.Append(l, v); *p != v || p != m.lists.At(*l, len(want)) {
					t.Fatalf("Append did not return element %d, or the element is wrong", len(want))
				}
			}, append(want, v))
		case 4, 5:
			vs := make([]T, in.Below(400))
			for i := range vs {
				vs[i] = next()
			}
			m.appendSlice(t, i, vs)
		case 6: // append a part of a list to the list itself
			m.appendSlice(t, i, m.lists.Slice(*l)[n:])
		case 7:
			v := next()
			m.attempt(t, i, 1, func() {
				if p := m.lists.Insert(l, n, v); *p != v || p != m.lists.At(*l, n) {
					t.Fatalf("Insert did not return element %d, or the element is wrong", n)
				}
			}, slices.Insert(slices.Clone(want), n, v))
		case 8:
			if n < len(want) {
				m.lists.Remove(*l, n)
				m.want[i] = slices.Delete(want, n, n+1)
			}
		case 9:
			if n < len(want) {
				m.lists.RemoveSwap(*l, n)
				want[n] = want[len(want)-1]
				m.want[i] = want[:len(want)-1]
			}
		case 10:
			m.lists.Truncate(*l, n)
			m.want[i] = want[:n]
		case 11:
			m.free(i)
		case 12:
			m.grow(t, l, in.Below(2*listsCapacity))
		case 13:
			m.checkForged(t, List[T]{uint32(in.Byte()) | uint32(in.Byte())<<8,
				m.lists.cells.newest - uint32(in.Below(2000))})
		case 14:
			if k := in.Byte(); k%4 == 0 {
				m.compact(t, 1+k/4%3)
			}
		case 15:
			if in.Byte()%16 == 0 {
				for i := range m.owners {
					m.retire(i)
				}
				m.lists.Clear()
			} else {
				m.compare(t)
			}
		}
		if !before.IsZero() && before != *l && op != 11 && op != 15 {
			m.stale = append(m.stale, before)
		}
		if got := m.lists.Slice(m.owners[i]); !slices.Equal(got, m.want[i]) || cap(got) != len(got) {
			t.Fatalf("the slice of list %d has length %d and capacity %d, want %d for both; or its elements "+
				"are wrong", i, len(got), cap(got), len(m.want[i]))
		}
	}
	m.compare(t)
	m.lists.checkInvariants()
}

// attempt calls the function do, which should add n elements to list i, so that the list has the elements
// in want. If the function panics for lack of memory, attempt checks that the List is unchanged, and that the
// lists' room and n more elements are at least a quarter of the capacity.
func (m *listsModel[T]) attempt(t *testing.T, i, n int, do func(), want []T) {
	l, bytes := m.owners[i], m.lists.Committed()
	e := exhausted(do)
	if e == nil {
		m.want[i] = want
		return
	}
	if !errors.Is(e, vm.ErrCapacity) || m.owners[i] != l || m.lists.Committed() > bytes {
		t.Fatalf("an operation failed with %v; it changed the List %v to %v and the committed bytes from %d "+
			"to %d", e, l, m.owners[i], bytes, m.lists.Committed())
	}
	size := m.lists.cells.plan.sizeElement
	if room := m.lists.Stats().BytesRoom / size; room+n < listsCapacity/4 {
		t.Fatalf("%d more elements were refused while all lists have room for %d elements and the capacity "+
			"is %d: %v", n, room, listsCapacity, e)
	}
	m.lists.checkInvariants()
}

func (m *listsModel[T]) appendSlice(t *testing.T, i int, vs []T) {
	want := append(slices.Clone(m.want[i]), vs...)
	added := slices.Clone(vs)
	m.attempt(t, i, len(vs), func() {
		got, err := m.lists.AppendSlice(&m.owners[i], vs)
		if err != nil {
			panic(err)
		}
		if !slices.Equal(got, added) || cap(got) != len(got) {
			t.Fatalf("AppendSlice of %d elements returned %d elements, or wrong ones", len(vs), len(got))
		}
	}, want)
}

func (m *listsModel[T]) grow(t *testing.T, l *List[T], n int) {
	before := *l
	have := len(m.lists.Slice(*l))
	err := m.lists.Grow(l, n)
	if err != nil {
		if !errors.Is(err, vm.ErrCapacity) || *l != before {
			t.Fatalf("Grow(%d) failed with %v and changed the List %v to %v", n, err, before, *l)
		}
		return
	}
	if room := int(m.lists.cells.room(l.place)); room-have < n || len(m.lists.Slice(*l)) != have {
		t.Fatalf("after Grow(%d) the list has %d elements, want %d, and room for %d", n,
			len(m.lists.Slice(*l)), have, room)
	}
}

// retire makes list i of the model empty, and its List stale.
func (m *listsModel[T]) retire(i int) {
	if !m.owners[i].IsZero() {
		m.stale = append(m.stale, m.owners[i])
	}
	m.owners[i], m.want[i] = List[T]{}, nil
}

func (m *listsModel[T]) free(i int) {
	l := m.owners[i]
	m.retire(i)
	m.lists.Free(&l)
}

// compact calls Compact with every n-th owner. The Lists of the other owners must stay valid.
func (m *listsModel[T]) compact(t *testing.T, n int) {
	before := m.owners
	err := m.lists.Compact(func(yield func(*List[T]) bool) {
		for i := 0; i < len(m.owners) && yield(&m.owners[i]); i += n {
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	m.lists.checkInvariants()
	for i, l := range before {
		if l == m.owners[i] {
			continue
		}
		if i%n != 0 {
			t.Fatalf("Compact changed list %d from %v to %v, but did not get its owner", i, l, m.owners[i])
		}
		m.stale = append(m.stale, l)
	}
}

// checkForged checks that Valid and Slice refuse stale Lists, and l, which has random bits. If an owner has
// the same List as l by chance, Valid and Slice must accept l. For generation 0, Slice must return no
// elements.
func (m *listsModel[T]) checkForged(t *testing.T, l List[T]) {
	for _, l := range append([]List[T]{l}, m.stale[max(0, len(m.stale)-100):]...) {
		own := slices.Contains(m.owners[:], l) && !l.IsZero()
		if m.lists.Valid(l) != own {
			t.Fatalf("Valid(%v) = %t, want %t", l, !own, own)
		}
		text := modeltest.PanicText(func() {
			if len(m.lists.Slice(l)) != 0 && !own {
				t.Fatalf("%v, which has no owner, has elements", l)
			}
		})
		if caught := text != ""; caught == (own || l.generation == 0) {
			t.Fatalf("Slice(%v) panics with %q; an owner has this List: %t", l, text, own)
		}
	}
	for _, l := range m.owners {
		if l.IsZero() {
			continue
		}
		if m.other.Valid(l) || modeltest.PanicText(func() { m.other.Slice(l) }) == "" {
			t.Fatalf("%v is valid in another container", l)
		}
	}
}

func (m *listsModel[T]) compare(t *testing.T) {
	seen, elements := 0, 0
	for l, s := range m.lists.All() {
		i := slices.Index(m.owners[:], l)
		if i < 0 || !slices.Equal(s, m.want[i]) {
			t.Fatalf("All yields %v with %d elements, which is wrong for owner %d (-1: no owner)", l, len(s),
				i)
		}
		seen++
		elements += len(s)
	}
	made := 0
	for i, l := range m.owners {
		if !slices.Equal(m.lists.Slice(l), m.want[i]) {
			t.Fatalf("list %d differs from the model", i)
		}
		if !l.IsZero() {
			made++
		}
	}
	if s := m.lists.Stats(); seen != made || m.lists.Len() != made || s.Lists != made ||
		s.Elements != elements {
		t.Fatalf("All yields %d lists, want %d; Len is %d, and Stats %+v", seen, made, m.lists.Len(), s)
	}
}
