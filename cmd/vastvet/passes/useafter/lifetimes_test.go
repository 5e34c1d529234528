package useafter

import (
	"context"
	"io"
	"maps"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/arena"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/group"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/heap"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/ring"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

type ship struct{ fuel int }

type ended struct {
	values map[string]any                 // by name of the type
	args   map[reflect.Type]reflect.Value // arguments for the methods of values, by type of the parameter
	close  []io.Closer                    // the values that newEnded closes
}

func arg[T any](s *ended, v T) { s.args[reflect.TypeFor[T]()] = reflect.ValueOf(v) }

func add[C io.Closer](t *testing.T, s *ended, name string, c C, err error) C {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	s.values[name] = c
	s.close = append(s.close, c)
	return c
}

// newEnded returns one value of each type in needsOpen. The value, or the value that owns it, is closed.
func newEnded(t *testing.T) *ended {
	s := &ended{values: map[string]any{}, args: map[reflect.Type]reflect.Value{}}
	arg(s, "name")
	arg(s, 1)
	arg(s, int64(0))
	arg(s, []byte{1})
	arg(s, []ship{{}})
	arg(s, context.Background())
	arg(s, sched.System{Name: "system", Run: func(*sched.Context) {}})
	addWorld(t, s)
	addBulk(t, s)
	addMemory(t, s)
	for _, c := range slices.Backward(s.close) {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	return s
}

func addWorld(t *testing.T, s *ended) {
	w := add(t, s, "vast.World", vast.NewWorld(vast.Options{}), nil)
	column := vast.NewColumn[ship](w)
	onHeap := vast.NewHeapColumn[ship](w).Named("on the heap")
	sparse := vast.NewSparseColumn[ship](w).Named("sparse")
	tag := vast.NewTag(w, "tag")
	link := vast.NewRelation(w, "link", vast.RelationOptions{})
	edges := vast.NewEdges[ship](w, "edges", vast.EdgesOptions{})
	tracker := vast.NewTracker(w, column)
	archetype := w.Archetype(column, onHeap, sparse, tag)
	slot := archetype.NewSlot()
	e, other := slot.Entity(), archetype.New()
	link.Set(e, other)
	edges.Add(e, other, ship{})
	q := w.Query(column, onHeap, sparse, tag)
	for run := range q.Runs() {
		arg(s, run)
	}
	commands := add(t, s, "vast.Commands", vast.NewCommands(w, vast.CommandsOptions{}), nil)
	arg(s, e)
	arg(s, q)
	arg(s, slot)
	arg(s, link)
	arg(s, tracker)
	arg(s, commands)
	arg(s, archetype)
	s.args[reflect.TypeFor[vast.AnyColumn]()] = reflect.ValueOf(column)
	maps.Copy(s.values, map[string]any{"vast.Archetype": archetype, "vast.Column": column,
		"vast.HeapColumn": onHeap, "vast.SparseColumn": sparse, "vast.Tag": tag, "vast.Relation": link,
		"vast.Disabled": vast.NewDisabled(w, "off"),
		"vast.Edges":    edges, "vast.Names": w.Names(), "vast.Query": q, "vast.Tracker": tracker,
		"vast.Order": vast.NewOrder(q, column, func(s *ship) int { return s.fuel })})
	add(t, s, "observe.Monitor", observe.NewMonitor(q), nil)
	add(t, s, "observe.Observers", observe.New(w), nil)
	prefabs := prefab.New(w)
	maps.Copy(s.values, map[string]any{"group.Group": group.New(w.Query(column)), "prefab.Prefabs": prefabs,
		"prefab.Template": prefabs.Mark(e)})
	schedule := add(t, s, "sched.Schedule", sched.New(w, sched.Options{}), nil)
	events := event.New[ship](schedule, event.Options{})
	s.values["event.Queue"], s.values["event.Reader"] = events, events.NewReader()
}

func addBulk(t *testing.T, s *ended) {
	array, err := bulk.NewArray[ship](bulk.Options{})
	add(t, s, "bulk.Array", array, err).Append(ship{})
	dense, err := bulk.NewDense[ship](bulk.Options{})
	h, _ := add(t, s, "bulk.Dense", dense, err).Insert(ship{})
	arg(s, h)
	pool, err := bulk.NewPool[ship](bulk.Options{})
	add(t, s, "bulk.Pool", pool, err).Insert(ship{})
	s.values["bulk.Indexed"] = bulk.NewIndexed(pool)
	hash, err := bulk.NewHashIndex[int, int](bulk.Options{})
	add(t, s, "bulk.HashIndex", hash, err).Add(1, 1)
	ordered, err := bulk.NewOrderedIndex[int, int](bulk.Options{})
	add(t, s, "bulk.OrderedIndex", ordered, err).Add(1, 1)
	lists, err := bulk.NewLists[ship](bulk.Options{})
	add(t, s, "bulk.Lists", lists, err)
	list := new(bulk.List[ship])
	for range 2 {
		lists.Append(list, ship{})
	}
	arg(s, list)
	arg(s, *list)
	table := add(t, s, "bulk.Table", bulk.NewTable(bulk.TableOptions{}), nil)
	s.values["bulk.Field"] = bulk.NewField[int](table, "fuel")
	table.Append()
	table.Append()
	for block := range table.Blocks() {
		arg(s, block)
	}
	sharedArray, err := bulk.NewSharedArray[ship](bulk.Options{})
	add(t, s, "bulk.SharedArray", sharedArray, err)
	appender := sharedArray.Appender()
	appender.Append(ship{})
	s.values["bulk.Appender"] = appender
	sharedPool, err := bulk.NewSharedPool[ship](bulk.Options{})
	add(t, s, "bulk.SharedPool", sharedPool, err).Insert(ship{})
	sharedTable, err := bulk.NewSharedTable[ship](bulk.Options{})
	add(t, s, "bulk.SharedTable", sharedTable, err)
	s.values["bulk.SharedReader"], s.values["bulk.SharedWriter"] = sharedTable.Reader(), sharedTable.Writer()
}

func addMemory(t *testing.T, s *ended) {
	region, err := vm.Reserve(1<<20, vm.Options{})
	arg(s, add(t, s, "vm.Region", region, err))
	a, err := arena.New(arena.Options{})
	arg(s, add(t, s, "arena.Arena", a, err).Mark())
	h, err := heap.New(heap.Options{})
	add(t, s, "heap.Heap", h, err)
	add(t, s, "heap.Buffer", heap.NewBuffer[ship](h), nil).Append(ship{})
	e, err := ring.NewEndless(ring.EndlessOptions{})
	if _, err := add(t, s, "ring.Endless", e, err).Append([]byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	guarded, err := guard.NewAllocator(guard.Options{})
	add(t, s, "guard.Allocator", guarded, err)
	pool, err := guard.NewPool[ship](bulk.Options{})
	add(t, s, "guard.Pool", pool, err).Insert(ship{})
	sampled, err := guard.NewSampledPool[ship](guard.SampledPoolOptions{})
	add(t, s, "guard.SampledPool", sampled, err).Insert(ship{})
}

// call calls a method, runs each query and starts a loop over each iterator that the method returns. It
// returns the value of the panic, or nil.
func (s *ended) call(m reflect.Value) (panicked any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { panicked = recover() }()
	var in []reflect.Value
	for i := range m.Type().NumIn() {
		p := m.Type().In(i)
		v, ok := s.args[p]
		switch {
		case i == m.Type().NumIn()-1 && m.Type().IsVariadic():
			continue
		case ok:
		case p.Kind() == reflect.Func:
			v = reflect.MakeFunc(p, func([]reflect.Value) (out []reflect.Value) {
				for t := range p.Outs() {
					out = append(out, reflect.Zero(t))
				}
				return out
			})
		default:
			v = reflect.Zero(p)
		}
		in = append(in, v)
	}
	for _, result := range m.Call(in) {
		if q, ok := result.Interface().(vast.Query); ok {
			q.Count()
		}
		if t := result.Type(); t.Kind() == reflect.Func && (t.CanSeq() || t.CanSeq2()) {
			stop := reflect.MakeFunc(t.In(0), func([]reflect.Value) []reflect.Value {
				return []reflect.Value{reflect.ValueOf(false)}
			})
			result.Call([]reflect.Value{stop})
		}
	}
	return nil
}

func TestNeedsOpen(t *testing.T) {
	s := newEnded(t)
	for _, of := range slices.Sorted(maps.Keys(needsOpen)) {
		if s.values[of] == nil {
			t.Errorf("the test has no value of type %s", of)
			continue
		}
		v := reflect.ValueOf(s.values[of])
		for i := range v.NumMethod() {
			name := v.Type().Method(i).Name
			panicked := s.call(v.Method(i))
			if listed := in(needsOpen[of], name); listed != (panicked != nil) {
				t.Errorf("%s.%s: listed in needsOpen: %v; panic after Close: %v", of, name, listed, panicked)
			}
		}
		for _, name := range needsOpen[of] {
			if !v.MethodByName(name).IsValid() {
				t.Errorf("%s has no method %s", of, name)
			}
		}
	}
}

func TestUses(t *testing.T) {
	s := newEnded(t)
	w, column := s.values["vast.World"].(*vast.World), s.values["vast.Column"].(vast.Column[ship])
	a, g := s.values["arena.Arena"].(*arena.Arena), s.values["guard.Allocator"].(*guard.Allocator)
	h, table := s.values["heap.Heap"].(*heap.Heap), s.values["bulk.Table"].(*bulk.Table)
	schedule := s.values["sched.Schedule"].(*sched.Schedule)
	calls := map[string]func(){
		"arena.Append":     func() { arena.Append(a, nil, 1) },
		"arena.Make":       func() { arena.Make[int](a) },
		"arena.MakeSlice":  func() { arena.MakeSlice[int](a, 1, 1) },
		"bulk.NewField":    func() { bulk.NewField[int](table, "crew") },
		"event.New":        func() { event.New[int](schedule, event.Options{}) },
		"guard.Alloc":      func() { _, _ = guard.Alloc[int](g) },
		"guard.AllocSlice": func() { _, _ = guard.AllocSlice[int](g, 1, 1) },
		"guard.Make":       func() { guard.Make[int](g) },
		"guard.MakeSlice":  func() { guard.MakeSlice[int](g, 1, 1) },
		"heap.Alloc":       func() { _, _ = heap.Alloc[int](h) },
		"heap.AllocSlice":  func() { _, _ = heap.AllocSlice[int](h, 1, 1) },
		"heap.Grow":        func() { _ = heap.Grow[int](h, 1) },
		"heap.Make":        func() { heap.Make[int](h) },
		"heap.MakeSlice":   func() { heap.MakeSlice[int](h, 1, 1) },
		"heap.NewBuffer":   func() { heap.NewBuffer[int](h) },
		"heap.Resize":      func() { _, _ = heap.Resize[int](h, nil, 1) },
		"sched.NewJobs": func() {
			sched.NewJobs(schedule, func(context.Context, int) int { return 0 }, sched.JobsOptions{})
		},
		"vast.ColumnOf":        func() { _, _ = vast.ColumnOf[ship](w) },
		"vast.FindResource":    func() { vast.FindResource[ship](w) },
		"vast.NewColumn":       func() { vast.NewColumn[int](w) },
		"vast.NewCommands":     func() { vast.NewCommands(w, vast.CommandsOptions{}) },
		"vast.NewEdges":        func() { vast.NewEdges[ship](w, "a", vast.EdgesOptions{}) },
		"vast.NewHeapColumn":   func() { vast.NewHeapColumn[int](w) },
		"vast.NewRelation":     func() { vast.NewRelation(w, "b", vast.RelationOptions{}) },
		"vast.NewSparseColumn": func() { vast.NewSparseColumn[int](w) },
		"vast.NewTag":          func() { vast.NewTag(w, "c") },
		"vast.NewTracker":      func() { vast.NewTracker(w, column) },
		"vast.RemoveResource":  func() { vast.RemoveResource[ship](w) },
		"vast.Resource":        func() { vast.Resource[ship](w) },
		"vast.SetResource":     func() { vast.SetResource(w, ship{}) },
	}
	for name, f := range calls {
		panicked := s.call(reflect.ValueOf(f))
		if listed := in(uses, name); listed != (panicked != nil) {
			t.Errorf("%s: listed in uses: %v; panic after Close: %v", name, listed, panicked)
		}
	}
	for _, name := range uses {
		if calls[name] == nil {
			t.Errorf("the test does not call %s", name)
		}
	}
}
