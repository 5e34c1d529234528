package vast

import (
	"errors"
	"math"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/rooms"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/vm"
)

// runtimeEdges are edges whose values have a type that is known only at run time. The pool holds edges
// without values. The values lie in span, in the order of the pool's slots.
type runtimeEdges struct {
	*edges[struct{}]
	typ     reflect.Type // type of the values
	element reflect.Type // has the layout of edge[T]
	values  *vm.Region   // region of span
	span    vm.Span
	first   unsafe.Pointer // address of the first edge of the pool
	rooms   rooms.Pool
	staged  *vm.Region // elements that are being restored; nil at other times
}

// NewLinks makes a relation if typ is nil. Otherwise it makes edges with values of this type. It panics as
// NewRelation and NewEdges do.
func (states) NewLinks(w *World, name string, typ reflect.Type, capacity int, r RelationOptions) {
	if typ == nil {
		NewRelation(w, name, r)
		return
	}
	e := NewEdges[struct{}](w, name, EdgesOptions{OnDelete: r.OnDelete, Capacity: capacity}).e
	s := &runtimeEdges{edges: e, typ: typ, element: edgeOf(typ), rooms: rooms.Of(e.pool)}
	s.first, _ = s.rooms.Memory()
	bytes := max(capacity, 4*w.options.MaxEntities)
	if size := int(typ.Size()); size > 0 && bytes > math.MaxInt/8/size {
		panic(&vm.Error{Op: "reserve", Purpose: w.options.Name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: "the values of the edges are too large: set a smaller capacity, or a smaller type"})
	} else {
		bytes *= size
	}
	var err error
	s.values, err = vm.Reserve(bytes+vm.PageSize(), vm.Options{Name: w.options.Name, Limit: w.options.Limit,
		Pages: w.options.Pages})
	if err == nil {
		if s.span, err = s.values.Carve(max(bytes, 1), 0); err != nil {
			_ = s.values.Close()
		}
	}
	if err != nil {
		panic(err)
	}
	e.sources.store = runtimeEdgeStore{edgeStore[struct{}]{e: e}, s}
	w.relations[len(w.relations)-1] = s
}

// edgeOf returns a type with the layout of edge[T], where T is typ.
func edgeOf(typ reflect.Type) reflect.Type {
	t := reflect.TypeFor[edge[struct{}]]()
	fields := make([]reflect.StructField, t.NumField())
	for i := range fields {
		f := t.Field(i)
		fields[i] = reflect.StructField{Name: f.Name, PkgPath: f.PkgPath, Type: f.Type}
	}
	fields[len(fields)-1].Type = typ
	return reflect.StructOf(fields)
}

// bytesLinks is the number of bytes of an edge without its value.
const bytesLinks = int(unsafe.Offsetof(edge[struct{}]{}.value))

// links returns the bytes of an edge without its value. It is sound for slots of the pool that have memory.
func (s *runtimeEdges) links(slot int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(s.first, slot*int(unsafe.Sizeof(edge[struct{}]{})))), bytesLinks)
}

// at returns the address of the value of an edge. It is sound for slots that reachValues has reached.
func (s *runtimeEdges) at(slot int) unsafe.Pointer {
	return unsafe.Add(s.span.Base(), slot*int(s.typ.Size()))
}

func (s *runtimeEdges) valueBytes(slot int) []byte {
	return unsafe.Slice((*byte)(s.at(slot)), s.typ.Size())
}

// slotOf returns the pool's slot of the edge that has the given value field.
func (s *runtimeEdges) slotOf(value *struct{}) int {
	offset := uintptr(unsafe.Pointer(value)) - uintptr(s.first)
	return int(offset / unsafe.Sizeof(edge[struct{}]{}))
}

// reachValues commits memory for the values of all edges for which the pool has memory.
func (s *runtimeEdges) reachValues() error {
	slots := s.rooms.Committed().Elements / int(unsafe.Sizeof(edge[struct{}]{}))
	return s.span.CommitTo(min(slots*int(s.typ.Size()), s.span.Size()), 0)
}

func (s *runtimeEdges) valueType() reflect.Type { return s.typ }

func (s *runtimeEdges) walkValues(c *column, e Entity, yield func(Entity, reflect.Value) bool) {
	s.walk(c, e, func(other Entity, p *struct{}) bool {
		v := reflect.New(s.typ).Elem()
		v.Set(reflect.NewAt(s.typ, s.at(s.slotOf(p))).Elem())
		return yield(other, v)
	})
}

func (s *runtimeEdges) renew(n *renewal) {
	s.edges.renew(n)
	r := referencesIn(s.typ)
	if r == nil {
		return
	}
	for h, one := range s.pool.All() {
		if n.value(s.at(int(h.Slot())), r) {
			s.written(one.from)
		}
	}
}

// runtimeEdgeStore is the store of the column of sources.
type runtimeEdgeStore struct {
	edgeStore[struct{}]
	s *runtimeEdges
}

func (s runtimeEdgeStore) close() error {
	if err := s.edgeStore.close(); err != nil {
		return err
	}
	return s.s.values.Close()
}

func (s runtimeEdgeStore) mark() (undo func()) {
	links, values := s.edgeStore.mark(), s.s.span.Committed()
	return func() {
		links()
		_ = s.s.span.DecommitTo(values) // after a failure the memory stays committed for later edges
	}
}

func (s runtimeEdgeStore) memory() (reserved, committed, heap int) {
	reserved, committed, heap = s.edgeStore.memory()
	return reserved + s.s.values.Size(), committed + s.s.span.Committed(), heap
}

func (s runtimeEdgeStore) resident() (int, error) {
	n, err := s.edgeStore.resident()
	if err != nil {
		return 0, err
	}
	more, err := s.s.values.Resident()
	return n + more, err
}

func (s runtimeEdgeStore) grow(n int) error {
	if err := s.edgeStore.grow(n); err != nil {
		return err
	}
	return s.s.reachValues()
}

func (s runtimeEdgeStore) add(from, to Entity, v reflect.Value) bool {
	if err := s.grow(1); err != nil {
		panic(err)
	}
	p := Edges[struct{}]{s.e}.Add(from, to, struct{}{})
	if p == nil {
		return false
	}
	reflect.NewAt(s.s.typ, s.s.at(s.s.slotOf(p))).Elem().Set(v)
	return true
}

func (s runtimeEdgeStore) get(from, to Entity) (v reflect.Value, ok bool) {
	p := Edges[struct{}]{s.e}.Get(from, to)
	if p == nil {
		return v, false
	}
	v = reflect.New(s.s.typ).Elem()
	v.Set(reflect.NewAt(s.s.typ, s.s.at(s.s.slotOf(p))).Elem())
	return v, true
}

func (s runtimeEdgeStore) state() state.Container {
	return runtimeEdgesState{s.edgeStore.state(), s.s}
}

// runtimeEdgesState is the state of the pool. An element of this state is an edge with its value.
type runtimeEdgesState struct {
	state.Container
	s *runtimeEdges
}

func (r runtimeEdgesState) Arrays(c state.Contents, column int) []state.Array {
	arrays := r.Container.Arrays(c, column)
	a := &arrays[len(arrays)-1]
	a.Type, a.Base = r.s.element, nil
	if r.s.staged != nil {
		a.Base = r.s.staged.Base()
		return arrays
	}
	size, value := r.sizes()
	a.Read = func(dst []byte, lo int) {
		for i := range len(dst) / size {
			one := dst[i*size : (i+1)*size]
			copy(one, r.s.links(lo+i))
			copy(one[value:], r.s.valueBytes(lo+i))
		}
	}
	return arrays
}

// sizes returns the number of bytes of an element in the state, and the offset of its value.
func (r runtimeEdgesState) sizes() (size, value int) {
	t := r.s.element
	return int(t.Size()), int(t.Field(t.NumField() - 1).Offset)
}

// Reserve reserves staging memory for the elements. Settle or Abandon releases this memory.
func (r runtimeEdgesState) Reserve(c state.Contents) error {
	if err := r.Container.Reserve(c); err != nil {
		return err
	}
	if err := r.s.reachValues(); err != nil {
		return err
	}
	size, _ := r.sizes()
	if c.Slots > math.MaxInt/8/size {
		return &vm.Error{Op: "reserve", Purpose: r.s.world.options.Name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: "the values of the edges are too large"}
	}
	bytes := max(c.Slots*size, 1)
	staged, err := vm.Reserve(bytes, vm.Options{Name: r.s.world.options.Name, Limit: r.s.world.options.Limit})
	if err != nil {
		return err
	}
	if err := staged.Commit(0, bytes); err != nil {
		return errors.Join(err, staged.Close())
	}
	r.s.staged = staged
	return nil
}

func (r runtimeEdgesState) Settle(c state.Contents, arrays []state.Array) error {
	if err := r.Container.Settle(c, arrays); err != nil {
		return err
	}
	_, value := r.sizes()
	a := &arrays[len(arrays)-1]
	for slot := range a.Len {
		if a.Kept(slot/64)>>(slot%64)&1 != 0 {
			one := a.Bytes(slot, slot+1)
			copy(r.s.links(slot), one)
			copy(r.s.valueBytes(slot), one[value:])
		}
	}
	return r.unstage()
}

func (r runtimeEdgesState) Abandon(c state.Contents) {
	r.Container.Abandon(c)
	_ = r.unstage() // after a failure the addresses stay reserved
}

func (r runtimeEdgesState) unstage() error {
	staged := r.s.staged
	if staged == nil {
		return nil
	}
	r.s.staged = nil
	return staged.Close()
}

var (
	_ anyEdges       = (*runtimeEdges)(nil)
	_ edgesOfAnyType = runtimeEdgeStore{}
)
