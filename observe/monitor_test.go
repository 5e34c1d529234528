package observe_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/vm"
)

func expect(t *testing.T, what string, got, want []vast.Entity) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func TestMonitorMisuse(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	a := vast.NewColumn[int](w)
	e := w.Archetype(a).New()
	m := observe.NewMonitor(w.Query(a))
	w.Delete(e)
	w.Archetype(a).NewN(2, nil)
	m.Next()
	closed := observe.NewMonitor(w.Query(a))
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	tracker := vast.NewTracker(w, a)
	changed := w.Query().Changed(a, tracker)
	tracker.Close()
	b := vast.NewTag(w, "b")
	hooked := func(f func()) func() {
		ran := false
		b.OnAdd(func(vast.Entity) {
			if !ran {
				ran = true
				f()
			}
		})
		return func() { b.Add(w.Archetype().New()) }
	}
	var none *observe.Monitor
	for _, tt := range []struct {
		f    func()
		want string
	}{
		{func() { none.Next() }, "observe: Monitor.Next: there is no monitor: make one with NewMonitor"},
		{func() { new(observe.Monitor).Entered() },
			"observe: Monitor.Entered: there is no monitor: make one with NewMonitor"},
		{func() { _ = none.Close() },
			"observe: Monitor.Close: there is no monitor: make one with NewMonitor"},
		{func() { closed.Next() }, "observe: Monitor.Next: the monitor is closed: do not use it after Close"},
		{func() { closed.Left() }, "observe: Monitor.Left: the monitor is closed: do not use it after Close"},
		{func() { closed.Notes() },
			"observe: Monitor.Notes: the monitor is closed: do not use it after Close"},
		{func() { observe.NewMonitor(vast.Query{}) },
			"vast: the zero Query belongs to no world: make queries with World.Query"},
		{func() { observe.NewMonitor(changed) }, "vast: Query: the tracker is closed: do not use it, or a " +
			"query made with it, after Close"},
		{func() {
			for range m.Entered() {
				m.Next()
			}
		}, "observe: Monitor.Next was called while Monitor.Entered was running: call it after the loop"},
		{hooked(m.Next), "vast: Monitor.Next was called while OnAdd of column b was running: call it after " +
			"that operation has ended"},
		{hooked(func() { observe.NewMonitor(w.Query()) }), "vast: NewMonitor was called while OnAdd of " +
			"column b was running: call it after that operation has ended"},
		{func() {
			m := observe.NewMonitor(w.Query(a))
			w.DeleteAll(w.Query(a))
			m.Next()
			for range m.Left() {
				_ = m.Close()
			}
		}, "observe: Monitor.Left: the monitor is closed: do not use it after Close"},
		{func() { w.Close(); m.Next() }, `vast: Monitor.Next on the closed world "world": do not use a ` +
			"world after Close"},
		{func() { observe.NewMonitor(w.Query()) }, `vast: Query on the closed world "world": do not use a ` +
			"world after Close"},
	} {
		if got := modeltest.PanicText(tt.f); got != tt.want {
			t.Errorf("the panic is %q, want %q", got, tt.want)
		}
	}
	if err := m.Close(); err != nil { // after the world
		t.Error(err)
	}
}

// TestStructureInLoop changes the structure in a loop over the entities of a look.
func TestStructureInLoop(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	a := vast.NewColumn[int](w)
	born := w.Archetype(a)
	m := observe.NewMonitor(w.Query(a))
	defer m.Close()
	born.NewN(100, nil)
	before := slices.Collect(w.Query(a).All())
	m.Next()
	var told []vast.Entity
	for e := range m.Entered() {
		told = append(told, e)
		w.Delete(before[len(before)-1])
		born.New()
	}
	expect(t, "entered", told, before)
	w.DeleteAll(w.Query())
	m.Next()
	expect(t, "left", slices.Collect(m.Left()), before)
}

// TestMonitorMemory takes looks under a limit that often has no memory left.
func TestMonitorMemory(t *testing.T) {
	limit := vm.NewLimit(64 << 20)
	hog, err := vm.Reserve(limit.Max(), vm.Options{Name: "hog", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer hog.Close()
	squeeze := func(left int) {
		if err := hog.Decommit(0, hog.Size()); err != nil {
			t.Fatal(err)
		}
		if n := limit.Max() - limit.Used() - left; n > 0 {
			if err := hog.Commit(0, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	refused := func(f func()) (is bool) {
		defer func() {
			if v := recover(); v != nil {
				var e *vm.Error
				if err, ok := v.(error); !ok || !errors.As(err, &e) || !errors.Is(err, vm.ErrLimit) {
					panic(v)
				}
				is = true
			}
		}()
		f()
		return false
	}
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	a, tag := vast.NewColumn[int](w), vast.NewTag(w, "tag")
	born, q := w.Archetype(a), w.Query(a).Without(tag)
	refusals := 0
	for left, made := 0, false; !made; left += vm.PageSize() {
		squeeze(left)
		used := limit.Used()
		made = !refused(func() { _ = observe.NewMonitor(q).Close() })
		if limit.Used() != used {
			t.Fatalf("with %d bytes left, NewMonitor keeps %d bytes", left, limit.Used()-used)
		}
		if !made {
			refusals++
		}
	}
	squeeze(limit.Max())
	m := observe.NewMonitor(q)
	defer m.Close()
	known := map[vast.Entity]bool{}
	for round := range 16 {
		squeeze(limit.Max())
		switch round % 4 {
		case 0:
			born.NewN(min(3000*(1+round), 60_000-w.Len()), nil)
		case 1:
			tag.AddAll(w.Query(a).Between(500, 20_000))
		case 2:
			tag.RemoveAll(w.Query())
		case 3:
			w.DeleteAll(w.Query().Between(1000, 50_000))
			born.NewN(2000, nil)
		}
		for left := 0; ; left += 32 << 10 {
			squeeze(left)
			if !refused(m.Next) {
				break
			}
			refusals++
			for range m.Entered() {
				t.Fatal("a refused look tells entities")
			}
			for range m.Left() {
				t.Fatal("a refused look tells entities")
			}
		}
		now := map[vast.Entity]bool{}
		for e := range q.All() {
			now[e] = true
		}
		expect(t, "entered", slices.Collect(m.Entered()), without(now, known))
		expect(t, "left", slices.Collect(m.Left()), without(known, now))
		known = now
	}
	if refusals < 10 {
		t.Errorf("only %d refusals", refusals)
	}
}

func TestLooksAllocateNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks of invariants allocate")
	}
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	a, tag := vast.NewColumn[int](w), vast.NewTag(w, "tag")
	w.Archetype(a).NewN(1000, nil)
	m := observe.NewMonitor(w.Query(a).Without(tag))
	defer m.Close()
	some := w.Query(a).Between(10, 700)
	n := 0
	if allocs := testing.AllocsPerRun(20, func() {
		tag.AddAll(some)
		m.Next()
		for range m.Left() {
			n++
		}
		tag.RemoveAll(some)
		m.Next()
		for range m.Entered() {
			n++
		}
	}); allocs > 0 || n == 0 {
		t.Errorf("%g allocations for two looks that told %d entities", allocs, n)
	}
}
