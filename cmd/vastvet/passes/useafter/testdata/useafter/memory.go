package useafter

import (
	"fmt"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/ring"
	"github.com/vastgo/vast/sched"
)

func rightMarks(a *arena.Arena) int {
	m := a.Mark()
	x := arena.Make[ship](a)
	for range 3 {
		m := a.Mark()
		y := arena.Make[ship](a)
		y.Fuel = 2
		a.Release(m)
		x.Fuel++
	}
	first := m
	m = a.Mark()
	arena.Make[ship](a).Crew = x.Fuel
	a.Release(m)
	n := x.Fuel
	a.Release(first)
	for range 3 {
		x = arena.Make[ship](a)
		m = a.Mark()
		a.Release(m)
		n += x.Crew
	}
	return n
}

// rightMarkAgain uses memory that is older than the last mark, but newer than an earlier mark of the same
// call.
func rightMarkAgain(a *arena.Arena, n int) (sum int) {
	x := arena.Make[ship](a)
	for {
		m := a.Mark()
		x.Fuel++
		if n--; n == 0 {
			return sum
		}
		y := arena.Make[ship](a)
		if n > 5 {
			x = y
			continue
		}
		a.Release(m)
	}
}

func wrongMarks(a *arena.Arena, n int) int {
	outer := a.Mark()
	inner := a.Mark()
	x := arena.Make[ship](a)
	for range n {
		x = arena.Make[ship](a)
	}
	if n > 3 {
		x = arena.Make[ship](a)
	}
	a.Release(outer)
	a.Release(inner) // want `the mark inner is released after a.Release\(outer\)`
	return x.Fuel    // want `x is used after a.Release\(outer\)`
}

func rightBuffer(h *heap.Heap) int {
	p := heap.Make[ship](h)
	b := heap.NewBuffer[int](h)
	b.Append(1)
	b.Truncate(0)
	return p.Fuel
}

func rightAddressesOnly(h *heap.Heap, names map[*ship]string, list []*ship, s, t *ship) (size uintptr) {
	heap.Free(h, s)
	delete(names, s)
	names[s] = "gone"
	fmt.Printf("%p\n", s)
	fmt.Println(uintptr(unsafe.Pointer(s)))
	switch s {
	case list[0]:
		return 0
	}
	switch list[0] {
	case s, t:
	}
	return unsafe.Sizeof(*s) + unsafe.Offsetof(s.Crew)
}

func wrongAddresses(h *heap.Heap, names map[int]string, s, t *ship) {
	heap.Free(h, s)
	names[s.Fuel] = "gone"                  // want `s is used after heap.Free\(h, s\)`
	fmt.Printf("%v\n", *s)                  // want `s is used after heap.Free\(h, s\)`
	fmt.Println(*(*int)(unsafe.Pointer(s))) // want `s is used after heap.Free\(h, s\)`
	switch s.Crew {                         // want `s is used after heap.Free\(h, s\)`
	case t.Crew:
	}
}

func wrongMethodsFree(h *heap.Heap, a *guard.Allocator) {
	p, _ := h.Alloc(64, 8)
	h.Free(p)
	*(*int)(p) = 1 // want `p is used after h.Free\(p\)`
	q, _ := a.Alloc(64, 8)
	a.Free(q)
	a.Free(q) // want `q is used after a.Free\(q\)`
}

func rightResize(h *heap.Heap, s []int) (int, error) {
	t, err := heap.Resize(h, s, 10)
	if err != nil {
		return s[0], err
	}
	t, err = heap.Resize(h, t, 20)
	if err != nil {
		return t[0], err
	}
	p := unsafe.Pointer(&t[0])
	p, err = h.Realloc(p, 300, 8)
	if err != nil {
		return 0, err
	}
	return *(*int)(p), nil
}

func wrongResize(h *heap.Heap, s []int, p unsafe.Pointer) int {
	t, err := heap.Resize(h, s, 10)
	if err != nil {
		return 0
	}
	q, err := h.Realloc(p, 64, 8)
	if err != nil {
		return s[0] // want `s is used after heap.Resize\(h, s, 10\)`
	}
	return t[0] + *(*int)(q) + *(*int)(p) // want `p is used after h.Realloc\(p, 64, 8\)`
}

func wrongClear(shared *bulk.SharedPool[ship], sampled *guard.SampledPool[ship], o bulk.TableOptions) int {
	_, p := shared.Insert(ship{})
	_, q := sampled.Insert(ship{})
	shared.Clear(nil)
	sampled.Clear(nil)
	t := bulk.NewTable(o)
	x := bulk.NewField[int](t, "x")
	v := x.At(0)
	t.Clear()
	n := p.Fuel + q.Fuel + *v // want `p is used after shared.Clear` `q is used after sampled.Clear` `v is used after t.Clear`
	v = x.At(0)
	t.Truncate(0)
	n += *v // want `v is used after t.Truncate\(0\)`
	v = x.At(0)
	t.Close()
	return n + *v // want `v is used after t.Close`
}

func wrongRemove(pool *bulk.Pool[ship], lists *bulk.Lists[ship], l *bulk.List[ship]) int {
	h, p := pool.Insert(ship{})
	q := pool.Get(h)
	pool.Remove(h)
	n := p.Fuel + q.Fuel // want `p is used after pool.Remove\(h\)` `q is used after pool.Remove\(h\)`
	s, _ := lists.AppendSlice(l, nil)
	lists.Free(l)
	return n + s[0].Fuel // want `s is used after lists.Free\(l\)`
}

func rightRemove(pool *bulk.Pool[ship], other bulk.Handle[ship]) int {
	h, p := pool.Insert(ship{})
	pool.Remove(other)
	old := h
	h, q := pool.Insert(ship{})
	pool.Remove(h)
	n := p.Fuel
	pool.Remove(old)
	_ = q
	return n
}

func wrongDelete(e vast.Entity) {
	w := vast.NewWorld(vast.Options{})
	hull := vast.NewColumn[ship](w)
	p := hull.Get(e)
	w.Delete(e)
	p.Fuel = 3 // want `p is used after w.Delete\(e\)`
}

// rightDelete uses entities that a relation keeps, and entities of another world.
func rightDelete(e, other vast.Entity, there *vast.World) {
	w := vast.NewWorld(vast.Options{})
	hull := vast.NewColumn[ship](w)
	p := hull.Get(e)
	there.Delete(e)
	w.Delete(other)
	if !w.Delete(e) {
		p.Fuel = 3
	}
}

func rightRing(q *ring.Ring) byte {
	b, _ := q.Peek(10)
	to, _ := q.Reserve(10)
	q.Commit(copy(to, "x"))
	q.Discard(5)
	return b[7]
}

func wrongRing(q *ring.Ring) byte {
	b, _ := q.Peek(10)
	q.Close()
	return b[0] // want `b is used after q.Close`
}

func wrongMadeOfWorld(e vast.Entity, cs *vast.Commands) {
	w := vast.NewWorld(vast.Options{})
	hull, tag := vast.NewColumn[ship](w), vast.NewTag(w, "lost")
	child := vast.NewRelation(w, "child", vast.RelationOptions{})
	near := vast.NewEdges[int](w, "near", vast.EdgesOptions{})
	names := w.Names()
	deck := vast.NewColumn[ship](w).Named("deck")
	q := w.Query(hull)
	lost := q.Among(nil)
	w.Close()
	hull.SetLater(cs, e, ship{})    // want `hull is used after w.Close: SetLater panics then`
	tag.OnAdd(func(vast.Entity) {}) // want `tag is used after w.Close: OnAdd panics then`
	child.Set(e, e)                 // want `child is used after w.Close: Set panics then`
	near.Grow(1)                    // want `near is used after w.Close: Grow panics then`
	names.Set(e, "x")               // want `names is used after w.Close: Set panics then`
	deck.Grow(1)                    // want `deck is used after w.Close: Grow panics then`
	q.Between(0, 1)                 // want `q is used after w.Close: Between panics then`
	lost.Count()                    // want `lost is used after w.Close: Count panics then`
	fmt.Println(near.Len(), names.Len(), child.Name())
	fmt.Println(sched.Columns(hull, tag))
}

func rightTypeSwitch(all []any) {
	for _, x := range all {
		switch c := x.(type) {
		case *bulk.Array[ship]:
			c.Append(ship{})
			c.Close()
		case *bulk.Pool[ship]:
			c.Insert(ship{})
			c.Close()
		}
	}
}
