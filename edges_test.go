package vast

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// edgeModel is Edges and a model of their content.
type edgeModel struct {
	Edges[uint64]
	rule   OnDelete
	values map[[2]Entity]uint64
	out    map[Entity][]Entity // the targets of a source, in the order in which the edges were made
	in     map[Entity][]Entity // the sources of a target, in the order in which the edges were made
}

func (m *edgeModel) remove(from, to Entity) {
	if _, ok := m.values[[2]Entity{from, to}]; !ok {
		return
	}
	delete(m.values, [2]Entity{from, to})
	m.out[from] = slices.DeleteFunc(m.out[from], func(e Entity) bool { return e == to })
	m.in[to] = slices.DeleteFunc(m.in[to], func(e Entity) bool { return e == from })
}

func (m *edgeModel) removeOut(from Entity) {
	for _, to := range slices.Clone(m.out[from]) {
		m.remove(from, to)
	}
}

// deletedWith returns the entities that a deletion of the seeds deletes, or nil if the rule Refuse forbids
// the deletion.
func deletedWith(models []*edgeModel, seeds []Entity) map[Entity]bool {
	all := map[Entity]bool{}
	queue := slices.Clone(seeds)
	for len(queue) > 0 {
		e := queue[0]
		queue = queue[1:]
		if all[e] {
			continue
		}
		all[e] = true
		for _, m := range models {
			if m.rule == Cascade {
				queue = append(queue, m.in[e]...)
			}
		}
	}
	for e := range all {
		for _, m := range models {
			survives := func(from Entity) bool { return !all[from] }
			if m.rule == Refuse && slices.ContainsFunc(m.in[e], survives) {
				return nil
			}
		}
	}
	return all
}

func TestEdgesModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	steps := longtest.Pick(3000, 20_000)
	w := NewWorld(Options{MaxEntities: 1 << 12})
	mark := NewTag(w, "mark")
	var models []*edgeModel
	for i, rule := range []OnDelete{Orphan, Cascade, Refuse} {
		edges := NewEdges[uint64](w, fmt.Sprint("e", i), EdgesOptions{OnDelete: rule})
		models = append(models, &edgeModel{edges, rule,
			map[[2]Entity]uint64{}, map[Entity][]Entity{}, map[Entity][]Entity{}})
	}
	var alive, stale []Entity
	any := func() Entity {
		if len(alive) == 0 || len(stale) > 0 && r.IntN(30) == 0 {
			return append(stale, Entity{})[0]
		}
		return alive[r.IntN(len(alive))]
	}
	gone := func(all map[Entity]bool) {
		for e := range all {
			for _, m := range models {
				m.removeOut(e)
				for _, from := range slices.Clone(m.in[e]) {
					m.remove(from, e)
				}
			}
			stale = append([]Entity{e}, stale...)
		}
		stale = stale[:min(len(stale), 50)]
		alive = slices.DeleteFunc(alive, func(e Entity) bool { return all[e] })
	}
	pointers := map[*uint64][2]Entity{}
	for step := range steps {
		m := models[r.IntN(3)]
		from, to := any(), any()
		key := [2]Entity{from, to}
		_, had := m.values[key]
		switch op := r.IntN(100); {
		case op < 10 && len(alive) < 300:
			alive = append(alive, w.Archetype().New())
		case op < 55:
			p := m.Add(from, to, uint64(step))
			if (p != nil) != (w.Alive(from) && w.Alive(to)) {
				t.Fatalf("step %d: Add(%v, %v) returns %v", step, from, to, p)
			}
			if p == nil {
				continue
			}
			if !had {
				m.out[from], m.in[to] = append(m.out[from], to), append(m.in[to], from)
				pointers[p] = key
			} else if pointers[p] != key {
				t.Fatalf("step %d: the value of an edge moved in memory", step)
			}
			m.values[key] = uint64(step)
		case op < 65:
			if m.Remove(from, to) != had {
				t.Fatalf("step %d: Remove(%v, %v) returns %v", step, from, to, !had)
			}
			m.remove(from, to)
		case op < 67:
			if m.RemoveTargets(from) != (len(m.out[from]) > 0) {
				t.Fatalf("step %d: RemoveTargets(%v) returns the wrong result for %d targets", step, from,
					len(m.out[from]))
			}
			m.removeOut(from)
		case op < 72:
			all := deletedWith(models, []Entity{from})
			if !w.Alive(from) {
				all = nil
			}
			if deleted := w.Delete(from); deleted != (len(all) > 0) {
				t.Fatalf("step %d: Delete(%v) returns %v, want %d entities deleted", step, from, deleted,
					len(all))
			}
			gone(all)
		case op < 73:
			es := alive[:min(len(alive), r.IntN(4))]
			for _, e := range es {
				mark.Add(e)
			}
			all := deletedWith(models, es)
			// The model does not cover this case, in which DeleteAll spares some of es and may delete others.
			if len(all) == 0 && len(es) > 0 {
				for _, e := range es {
					mark.Remove(e)
				}
				continue
			}
			if n := w.DeleteAll(w.Query(mark)); n != len(all) {
				t.Fatalf("step %d: DeleteAll deletes %d, want %d", step, n, len(all))
			}
			gone(all)
		case op < 74:
			es := slices.Clone(alive[:min(len(alive), r.IntN(6))])
			for _, e := range es {
				mark.Add(e)
			}
			if n := w.Exchange(w.Query(mark), nil, []AnyColumn{m, mark}); n != len(es) {
				t.Fatalf("step %d: Exchange of %d entities returns %d", step, len(es), n)
			}
			for _, e := range es {
				m.removeOut(e)
			}
		default:
			v := m.Get(from, to)
			if (v != nil) != had || m.Has(from, to) != had || had && *v != m.values[key] {
				t.Fatalf("step %d: Get(%v, %v) returns %v, want an edge: %v", step, from, to, v, had)
			}
		}
		if step%200 != 0 {
			continue
		}
		w.checkInvariants()
		for _, m := range models {
			sources, targets := 0, 0
			for _, e := range slices.Concat(alive, stale) {
				var out, in []Entity
				for to, v := range m.Targets(e) {
					out = append(out, to)
					if *v != m.values[[2]Entity{e, to}] {
						t.Fatalf("step %d: the value of %v → %v is %d, want %d",
							step, e, to, *v, m.values[[2]Entity{e, to}])
					}
				}
				for from := range m.Sources(e) {
					in = append(in, from)
				}
				if !slices.Equal(out, m.out[e]) || !slices.Equal(in, m.in[e]) ||
					m.CountTargets(e) != len(out) || m.CountSources(e) != len(in) {
					t.Fatalf("step %d: %v has the targets %v, want %v, and the sources %v, want %v",
						step, e, out, m.out[e], in, m.in[e])
				}
				sources += min(len(out), 1)
				targets += min(len(in), 1)
			}
			if m.Len() != len(m.values) || w.Query(m).Count() != sources ||
				w.Query(m.TargetColumn()).Count() != targets {
				t.Fatalf("step %d: %d edges, want %d; %d sources, want %d; %d targets, want %d", step,
					m.Len(), len(m.values), w.Query(m).Count(), sources,
					w.Query(m.TargetColumn()).Count(), targets)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if m := models[0]; m.Len() != 0 || m.Has(any(), any()) || m.RemoveTargets(any()) {
		t.Error("a closed world has edges")
	}
}

func TestEdgesMisuse(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 64})
	roads := NewEdges[uint64](w, "Road", EdgesOptions{})
	es := entitiesIn(w.Archetype(), 3)
	roads.Add(es[0], es[1], 1)
	roads.Add(es[0], es[2], 2)
	for name, tt := range map[string]struct {
		f    func()
		says []string
	}{
		"pointers": {func() { NewEdges[string](w, "x", EdgesOptions{}) },
			[]string{"NewEdges[string]", "is a string"}},
		"unknown rule": {func() { NewEdges[uint64](w, "x", EdgesOptions{OnDelete: 9}) },
			[]string{"NewEdges: OnDelete is 9"}},
		"in an archetype": {func() { w.Archetype(roads) }, []string{"Archetype: Road holds links"}},
		"exchanged in": {func() { w.Exchange(w.Query(), []AnyColumn{roads}, nil) },
			[]string{"World.Exchange: Road holds links"}},
		"targets out": {func() { w.Exchange(w.Query(), nil, []AnyColumn{roads.TargetColumn()}) },
			[]string{"Road targets is not a component"}},
		"zero edges": {func() { w.Query(Edges[uint64]{}) }, []string{"column 1 was not made"}},
		"changed": {func() {
			for to := range roads.Targets(es[0]) {
				roads.Add(to, es[0], 1)
			}
		}, []string{"changed while edges were walked over"}},
	} {
		t.Run(name, func(t *testing.T) { says(t, tt.f, tt.says...) })
	}
	w.Close()
	says(t, func() { roads.Add(es[0], es[1], 1) }, `closed world "home"`)
	says(t, func() { NewEdges[uint64](w, "x", EdgesOptions{}) }, `closed world "home"`)
}

func TestEdgesLimit(t *testing.T) {
	limit := vm.NewLimit(2 << 20)
	w := NewWorld(Options{MaxEntities: 1 << 12, Limit: limit})
	roads := NewEdges[[100]uint64](w, "Road", EdgesOptions{})
	es := entitiesIn(w.Archetype(), 1<<12)
	made := 0
	exhausted(t, func() error {
		for i := range es {
			roads.Add(es[i], es[len(es)-1-i], [100]uint64{uint64(i)})
			made++
		}
		return nil
	}, vm.ErrLimit, "raise")
	w.checkInvariants()
	if roads.Len() != made || w.Query(roads).Count() != made ||
		roads.Get(es[made-1], es[len(es)-made])[0] != uint64(made-1) {
		t.Errorf("%d edges, want %d", roads.Len(), made)
	}
	w.Delete(es[0])
	roads.Add(es[1], es[5], [100]uint64{})
	if roads.Len() != made {
		t.Errorf("%d edges, want %d", roads.Len(), made)
	}
	w.checkInvariants()
	if err := w.Close(); err != nil || limit.Used() != 0 {
		t.Errorf("Close: %v; %d bytes are charged to a closed world", err, limit.Used())
	}
	few := NewWorld(Options{MaxEntities: 64})
	defer few.Close()
	one := NewEdges[struct{}](few, "One", EdgesOptions{Capacity: 1})
	two := entitiesIn(few.Archetype(), 2)
	one.Add(two[0], two[1], struct{}{})
	exhausted(t, func() error { one.Add(two[1], two[0], struct{}{}); return nil }, vm.ErrCapacity,
		"Options.Capacity")
	if one.Len() != 1 || one.CountSources(two[0]) != 0 || one.CountTargets(two[1]) != 0 {
		t.Error("a refused edge left something behind")
	}
}

func TestEdgesReset(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	roads := NewEdges[uint64](w, "Road", EdgesOptions{})
	tr := NewTracker(w, roads)
	defer tr.Close()
	es := entitiesIn(w.Archetype(), 3)
	roads.Add(es[0], es[1], 1)
	roads.Add(es[2], es[1], 1)
	tr.Next()
	w.Delete(es[1])
	if got := slices.Collect(tr.Removed(roads)); !slices.Equal(got, []Entity{es[0], es[2]}) {
		t.Errorf("Removed yields %v, want %v and %v", got, es[0], es[2])
	}
	roads.Add(es[0], es[2], 1)
	w.Reset()
	if roads.Len() != 0 || w.Query(roads).Count() != 0 {
		t.Errorf("%d edges after Reset, want 0", roads.Len())
	}
	es = entitiesIn(w.Archetype(), 2)
	roads.Add(es[0], es[1], 7)
	if *roads.Get(es[0], es[1]) != 7 || roads.Len() != 1 {
		t.Error("an edge added after Reset is not found")
	}
	w.checkInvariants()
}

func TestEdgesGrow(t *testing.T) {
	limit := vm.NewLimit(64 << 20)
	w := NewWorld(Options{MaxEntities: 1 << 12, Limit: limit})
	roads := NewEdges[[100]uint64](w, "Road", EdgesOptions{})
	var all []Entity
	for range 100 {
		all = append(all, w.Archetype().New())
	}
	if err := roads.Grow(100 * 100); err != nil {
		t.Fatal(err)
	}
	// This region exhausts the limit: an addition that needs memory would fail.
	r, err := vm.Reserve(64<<20, vm.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Commit(0, (64<<20-limit.Used())&^(vm.PageSize()-1)); err != nil {
		t.Fatal(err)
	}
	for _, from := range all {
		for _, to := range all {
			roads.Add(from, to, [100]uint64{1})
		}
	}
	if roads.Len() != 100*100 {
		t.Errorf("%d edges, want %d", roads.Len(), 100*100)
	}
	exhausted(t, func() error { return roads.Grow(6000) }, vm.ErrLimit, "limit")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, func() { _ = roads.Grow(1) }, "closed world")
}
