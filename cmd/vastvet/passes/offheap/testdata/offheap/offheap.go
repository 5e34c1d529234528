// Package offheap stores Go pointers where the garbage collector does not see them.
package offheap

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/vm"
)

type crew struct {
	Age  int
	Name string
}

type ship struct {
	Hull [3]float64
	Crew [2]crew
}

type plain struct {
	Address uintptr
	At      [2]float32
	_       [0]func()
}

func wrong(w *vast.World, a *arena.Arena, h *heap.Heap, g *guard.Allocator, t *bulk.Table, o bulk.Options) {
	vast.NewColumn[ship](w)                                                                                   // want `NewColumn\[ship\] panics: ship.Crew\[\].Name is a string, and memory outside Go's heap must not hold Go pointers; keep the text in a Go slice and its index here, or use an array of bytes of a fixed size, or make it a HeapColumn`
	vast.NewColumn[[]int](w)                                                                                  // want `\[\]int is a slice`
	vast.NewSparseColumn[map[int]int](w)                                                                      // want `is a map`
	vast.NewSparseColumn[*int](w)                                                                             // want `is a pointer.*keep an index or a handle to the target instead`
	vast.NewEdges[any](w, "x", vast.EdgesOptions{})                                                           // want `is an interface`
	_, _ = bulk.NewArray[chan int](o)                                                                         // want `is a channel`
	_, _ = bulk.NewPool[func()](o)                                                                            // want `is a function`
	_, _ = bulk.NewDense[unsafe.Pointer](o)                                                                   // want `is an unsafe.Pointer`
	_, _ = bulk.NewLists[string](o)                                                                           // want `NewLists`
	_, _ = bulk.NewHashIndex[string, uint32](o)                                                               // want `NewHashIndex\[string\]`
	_, _ = bulk.NewOrderedIndex[string, uint32](o)                                                            // want `NewOrderedIndex`
	_, _ = bulk.NewSharedArray[string](o)                                                                     // want `NewSharedArray`
	_, _ = bulk.NewSharedPool[string](o)                                                                      // want `NewSharedPool`
	_, _ = bulk.NewSharedTable[string](o)                                                                     // want `NewSharedTable`
	bulk.NewField[string](t, "name")                                                                          // want `NewField`
	_ = vm.Static[string](5)                                                                                  // want `Static\[string\]`
	arena.Make[ship](a)                                                                                       // want `Make\[ship\]`
	arena.MakeSlice[string](a, 1, 1)                                                                          // want `MakeSlice`
	arena.Append(a, nil, "x")                                                                                 // want `Append\[string\] panics: string is a string`
	heap.Make[string](h)                                                                                      // want `Make\[string\]`
	heap.MakeSlice[string](h, 1, 1)                                                                           // want `MakeSlice`
	_, _ = heap.Alloc[string](h)                                                                              // want `Alloc`
	_, _ = heap.AllocSlice[string](h, 1, 1)                                                                   // want `AllocSlice`
	_, _ = heap.Resize[string](h, nil, 1)                                                                     // want `Resize`
	heap.NewBuffer[string](h)                                                                                 // want `NewBuffer`
	guard.Make[string](g)                                                                                     // want `Make\[string\]`
	_, _ = guard.NewPool[string](o)                                                                           // want `NewPool`
	_, _ = guard.NewPoolIn[string](g, o)                                                                      // want `NewPoolIn`
	_, _ = guard.NewSampledPool[string](guard.SampledPoolOptions{})                                           // want `NewSampledPool`
	bulk.ColumnOf(bulk.NewTranspose[crew](bulk.TransposeOptions{}), func(c *crew) *string { return &c.Name }) // want `ColumnOf\[string\] panics`
	named[crew](w)                                                                                            // want `named\[crew\] panics: crew.Name is a string`
	pairs[int, crew](w)                                                                                       // want `pairs\[crew\] panics: crew.Name is a string`
	both[crew](w, true)                                                                                       // want `both\[crew\] panics`
	make := vast.NewColumn[*ship]                                                                             // want `NewColumn\[\*ship\] panics`
	_ = make
}

func named[T any](w *vast.World) vast.Column[T] { // want named:`plain\[0\]`
	return vast.NewColumn[T](w).Named("x")
}

func pairs[K comparable, V any](w *vast.World) { // want pairs:`plain\[1\]`
	type pair struct {
		Key   *K
		Value V
	}
	named[struct{ Values [4]V }](w)
}

func both[T any](w *vast.World, more bool) { // want both:`plain\[0\]`
	if more {
		panic("more")
	}
	for range 3 {
		more = !more
	}
	vast.NewColumn[T](w)
}

// either stores a T on the Go heap or off it.
func either[T any](w *vast.World, pointers bool) vast.AnyColumn {
	if pointers {
		return vast.NewHeapColumn[T](w)
	}
	return vast.NewColumn[T](w)
}

type store[T any] struct {
	w       *vast.World
	columns vast.Column[T]
}

func (s *store[T]) open() { // want open:`plain\[0\]`
	s.columns = vast.NewColumn[T](s.w)
}

func (s *store[T]) reopen() { // want reopen:`plain\[0\]`
	s.open()
}

func openStore[T any](w *vast.World) *store[T] { // want openStore:`plain\[0\]`
	s := &store[T]{w: w}
	s.reopen()
	return s
}

// orHeap recovers from the panic of NewColumn.
func orHeap[T any](w *vast.World) (column vast.AnyColumn) {
	defer func() {
		if recover() != nil {
			column = vast.NewHeapColumn[T](w)
		}
	}()
	return vast.NewColumn[T](w)
}

func wrongMethods(w *vast.World) {
	s := &store[string]{w: w}
	s.open()                     // want `store\[string\].open panics: string is a string`
	var x struct{ *store[crew] } // the store is embedded
	x.reopen()                   // want `store\[crew\].reopen panics: crew.Name is a string`
	openStore[*int](w)           // want `openStore\[\*int\] panics`
	(&store[plain]{w: w}).open()
	openStore[plain](w)
	orHeap[string](w)
}

func right(w *vast.World, a *arena.Arena, o bulk.Options) {
	vast.NewColumn[plain](w)
	vast.NewHeapColumn[ship](w)
	_, _ = bulk.NewPool[bulk.Handle[ship]](o)
	arena.MakeSlice[[4]vast.Entity](a, 1, 1)
	vast.NewEdges[struct{}](w, "x", vast.EdgesOptions{})
	named[plain](w)
	pairs[string, int](w)
	either[ship](w, true)
}

type seat struct {
	Crew uint64
	Next uintptr
}

func wrongUnsafe(seats vast.Column[seat], a *arena.Arena, r *vm.Region, pool *bulk.Pool[seat], e vast.Entity,
	c *crew, b []byte, text string) {
	*(**crew)(unsafe.Pointer(seats.Get(e))) = new(crew) // want `new\(crew\) is or has a Go pointer and is stored outside of Go's heap, where the collector does not see it and frees its target: keep an index or a handle to the target instead`
	p := seats.Get(e)
	at := unsafe.Pointer(p)
	*(*string)(at) = string(b)                                  // want `string\(b\) is or has a Go pointer`
	(*ship)(unsafe.Add(r.Base(), 64)).Crew[0].Name = "a" + text // want `"a" \+ text is or has a Go pointer`
	(*crew)(at).Name += text                                    // want `\(\*crew\)\(at\).Name \+ text is or has a Go pointer`
	(*crew)(at).Name = fmt.Sprint(text)                         // want `fmt.Sprint\(text\) is or has a Go pointer`
	*(*crew)(at) = crew{Name: string(b)}                        // want `crew{…} is or has a Go pointer`
	*(*[]byte)(at) = append([]byte(nil), b...)                  // want `is or has a Go pointer`
	*(*[]byte)(at) = []byte(text)                               // want `is or has a Go pointer`
	*(*string)(at) = unsafe.String(&make([]byte, 5)[0], 5)      // want `is or has a Go pointer`
	var array [5]byte
	*(*[]byte)(at) = array[1:] // want `array\[1:\] is or has a Go pointer`
	mem, _ := a.Alloc(64, 8)
	table := unsafe.Slice((**crew)(mem), 8)
	table[3] = &crew{} // want `&crew{} is or has a Go pointer`
	other := &crew{}
	table[4] = other                    // want `other is or has a Go pointer`
	p.Next = uintptr(unsafe.Pointer(c)) // the target of c is unknown
	table[5] = c
	(*crew)(at).Name = c.Name
	*(*crew)(at) = crew{Name: text}
	local := crew{}
	p.Next = uintptr(unsafe.Pointer(&local))                  // want `is the address of a Go variable as a number, and is stored in p.Next`
	seats.Set(e, seat{Next: uintptr(unsafe.Pointer(&local))}) // want `is the address of a Go variable as a number, and is stored in seats.Set`
	n := new(crew)
	pool.Insert(seat{uint64(uintptr(unsafe.Pointer(n))), 0}) // want `is the address of a Go variable as a number, and is stored in pool.Insert`
}

type node struct{ next *node }

func rightUnsafe(seats vast.Column[seat], a *arena.Arena, e vast.Entity) {
	first, _ := a.Alloc(64, 8)
	second, _ := a.Alloc(64, 8)
	(*node)(first).next = (*node)(second)
	(*node)(second).next = nil
	(*node)(first).next = (*node)(second).next
	seats.Get(e).Next = uintptr(first)
	seats.Get(e).Next = uintptr(unsafe.Pointer(seats.Get(e)))
	*(*uint64)(unsafe.Pointer(seats.Get(e))) = 5
	buffer := make([]byte, 64)
	*(*string)(unsafe.Pointer(&buffer[0])) = "on the Go heap"
	local := seat{Next: uintptr(unsafe.Pointer(&buffer[0]))}
	_ = local
}

type stack struct {
	a    *arena.Arena
	head *node
}

// rightList stores pointers to memory of the arena. The function does not show where they come from.
func (s *stack) rightList(head *node, count int) {
	mem, _ := s.a.Alloc(8, 8)
	n := (*node)(mem)
	*n = node{}
	n.next = s.head
	n.next = head
	n.next = s.pop()
	s.head = n
	for range count {
		mem, _ := s.a.Alloc(8, 8)
		next := (*node)(mem)
		next.next = head
		head = next
	}
}

func (s *stack) pop() *node {
	n := s.head
	s.head = n.next
	return n
}

func rightStrings(h *heap.Heap, b []byte) {
	mem, _ := h.Alloc(16, 8)
	text := heap.MakeSlice[byte](h, 5, 5)
	*(*string)(mem) = "a constant"
	*(*string)(mem) = unsafe.String(&text[0], 5)
	*(*string)(mem) = unsafe.String(unsafe.SliceData(text), 5)
	*(*[]byte)(mem) = append(text[:3], b...)
	*(*[]byte)(mem) = unsafe.Slice(unsafe.StringData(unsafe.String(&text[0], 5)), 5)
	*(*crew)(mem) = crew{Age: 5}
}

var (
	table [8]node
	first = new(node)
	all   []*node
	known map[*node]bool
)

type keeper struct{ nodes []*node }

// rightKept stores pointers whose targets something else keeps alive.
func (k *keeper) rightKept(seats vast.Column[seat], e vast.Entity, pin *runtime.Pinner) {
	store := func(p unsafe.Pointer) { seats.Set(e, seat{Next: uintptr(p)}) }
	p := seats.Get(e)
	p.Next = uintptr(unsafe.Pointer(&table))
	p.Next = uintptr(unsafe.Pointer(&table[3].next))
	p.Next = uintptr(unsafe.Pointer(first))
	p.Next = uintptr(unsafe.Pointer(&os.Args))
	pinned := new(node)
	pin.Pin(pinned)
	p.Next = uintptr(unsafe.Pointer(pinned))
	var local node
	pin.Pin(&local)
	p.Next = uintptr(unsafe.Pointer(&local))
	listed := &node{}
	all = append(all, listed)
	p.Next = uintptr(unsafe.Pointer(listed))
	field := &node{}
	k.nodes = append(k.nodes, field)
	*(**node)(unsafe.Pointer(p)) = field
	key := &node{}
	alias := key
	known[alias] = true
	p.Next = uintptr(unsafe.Pointer(key))
	held := &node{}
	seats.Get(e).Next = uintptr(unsafe.Pointer(held))
	runtime.KeepAlive(held)
	captured := &node{}
	defer func() { captured.next = nil }()
	p.Next = uintptr(unsafe.Pointer(captured))
	store(nil)
}

type clock struct{ Tick int }

type holder struct{ clock *clock }

func resources(w *vast.World, e error) {
	vast.SetResource(w, &clock{})       // want `SetResource\[\*clock\] panics: a resource is stored by value: write p := vast.SetResource\(w, clock{…}\) and keep p, or store a struct that holds the pointer`
	vast.SetResource(w, e)              // want `SetResource\[error\] panics: a resource is stored under the type of its value`
	vast.SetResource[any](w, clock{})   // want `SetResource\[any\] panics`
	_ = vast.Resource[*clock](w)        // want `Resource\[\*clock\] panics: a resource is stored by value`
	_ = vast.FindResource[*clock](w)    // want `FindResource\[\*clock\] finds nothing`
	_ = vast.RemoveResource[*clock](w)  // want `RemoveResource\[\*clock\] finds nothing`
	vast.SetResource(w, clock{}).Tick++ // the value
	vast.SetResource(w, holder{new(clock)})
	vast.SetResource(w, map[string]int{})
	stored[clock](w)
}

func stored[T any](w *vast.World) *T { return vast.FindResource[T](w) }
