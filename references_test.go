package vast

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
)

type squad struct {
	strength uint16
	leader   Entity
	members  [3]Entity
	orders   [2]struct {
		kind byte
		at   Entity
	}
}

func (s *squad) references() []Entity {
	return append(append([]Entity{s.leader}, s.members[:]...), s.orders[0].at, s.orders[1].at)
}

// web has references behind Go pointers. The pointers in next form a cycle.
type web struct {
	name    string
	friends []Entity
	squads  []squad
	debts   map[Entity]int
	by      map[string]Entity
	lists   map[int][]Entity
	next    *web
	nothing []*web
	world   *World
	unknown any
}

func (l *web) references() (all []Entity) {
	all = append(all, l.friends...)
	for i := range l.squads {
		all = append(all, l.squads[i].references()...)
	}
	for _, name := range slices.Sorted(maps.Keys(l.by)) {
		all = append(all, l.by[name])
	}
	for _, i := range slices.Sorted(maps.Keys(l.lists)) {
		all = append(all, l.lists[i]...)
	}
	for _, debt := range slices.Sorted(maps.Values(l.debts)) {
		for e, n := range l.debts {
			if n == debt {
				all = append(all, e)
			}
		}
	}
	return all
}

// renewed is a world whose entities refer to one another in every way that Pack renews.
type renewed struct {
	*World
	ships                  *Archetype
	dense                  Column[squad]
	plain                  Column[Entity]
	sparse                 SparseColumn[squad]
	heap                   HeapColumn[web]
	pointers               HeapColumn[*web]
	aims                   Relation
	roads                  Edges[squad]
	pending, applied, trim *Commands
	es                     []Entity
}

func (r *renewed) squad(i int) squad {
	e := func(k int) Entity { return r.es[k%len(r.es)] }
	s := squad{strength: 0xffff, leader: e(i), members: [3]Entity{e(i + 1), {}, e(i + 2)}}
	s.orders[1].at = e(i + 3)
	return s
}

func (r *renewed) web(i int) web {
	e := func(k int) Entity { return r.es[k%len(r.es)] }
	l := web{name: "web", friends: []Entity{e(i), e(i + 7)}, squads: []squad{r.squad(i)}, world: r.World,
		debts: map[Entity]int{e(i): 1, e(i + 1): 2, e(i + 2): 3},
		by:    map[string]Entity{"a": e(i + 3), "b": {}},
		lists: map[int][]Entity{1: {e(i + 4)}, 2: {e(i + 5), e(i + 6)}}, nothing: []*web{nil}, unknown: e(i)}
	l.next = &l
	return l
}

func newRenewed() *renewed {
	w := NewWorld(Options{MaxEntities: 1 << 12})
	r := &renewed{World: w, dense: NewColumn[squad](w), plain: NewColumn[Entity](w),
		sparse: NewSparseColumn[squad](w).Named("sparse squad"),
		heap:   NewHeapColumn[web](w), pointers: NewHeapColumn[*web](w),
		aims:  NewRelation(w, "aims", RelationOptions{Cyclic: true}),
		roads: NewEdges[squad](w, "roads", EdgesOptions{})}
	for _, cs := range []**Commands{&r.pending, &r.applied, &r.trim} {
		*cs = NewCommands(w, CommandsOptions{})
	}
	r.ships = w.Archetype(r.dense)
	var all []Entity
	for range 200 {
		all = append(all, r.ships.New())
	}
	for i, e := range all {
		if i%3 != 0 {
			r.es = append(r.es, e)
		}
	}
	for i, e := range r.es {
		*r.dense.Get(e) = r.squad(i)
		r.plain.Add(e, r.es[(i+9)%len(r.es)])
		if i%4 == 0 {
			r.sparse.Add(e, r.squad(i+1))
			r.heap.Add(e, r.web(i))
			web := r.web(i + 2)
			r.pointers.Add(e, &web)
		}
		r.aims.Set(e, r.es[(i+5)%len(r.es)])
		r.roads.Add(e, r.es[(i+6)%len(r.es)], r.squad(i+7))
	}
	for i, e := range all {
		if i%3 == 0 {
			w.Delete(e)
		}
	}
	return r
}

func (r *renewed) record(cs *Commands) (placeholder Entity) {
	placeholder = cs.New(r.ships)
	r.aims.SetLater(cs, placeholder, r.es[40])
	r.dense.SetLater(cs, r.es[50], r.squad(60))
	r.heap.AddLater(cs, r.es[51], r.web(61))
	r.sparse.AddLater(cs, r.es[52], r.squad(62))
	r.roads.AddLater(cs, r.es[53], r.es[54], r.squad(63))
	r.roads.RemoveLater(cs, r.es[55], r.es[61])
	r.aims.RemoveLater(cs, r.es[56])
	cs.Delete(r.es[57])
	return placeholder
}

// all returns every reference that the given entities hold, in an order that does not depend on slots.
func (r *renewed) all(places []Entity) (all []Entity) {
	for _, e := range places {
		if s := r.dense.Get(e); s != nil {
			all = append(all, s.references()...)
		}
		if p := r.plain.Get(e); p != nil {
			all = append(all, *p)
		}
		if s := r.sparse.Get(e); s != nil {
			all = append(all, s.references()...)
		}
		if l := r.heap.Get(e); l != nil {
			all = append(all, l.references()...)
			all = append(all, l.next.references()...)
		}
		if l := r.pointers.Get(e); l != nil {
			all = append(all, (*l).references()...)
		}
		t, _ := r.aims.Target(e)
		all = append(all, t)
		for to, v := range r.roads.Targets(e) {
			all = append(append(all, to), v.references()...)
		}
		for from := range r.roads.Sources(e) {
			all = append(all, from)
		}
	}
	return all
}

func TestPackRenewsAllReferences(t *testing.T) {
	r := newRenewed()
	defer r.Close()
	SetResource(r.World, squad{leader: r.es[90]})
	SetResource(r.World, struct{ queue []Entity }{r.es[80:]})
	if _, err := r.Names().Set(r.es[100], "last"); err != nil {
		t.Fatal(err)
	}
	var fillers []Entity // fill the holes, so that the commands make entities behind the holes
	for r.ships.Len() < 200 {
		fillers = append(fillers, r.ships.New())
	}
	placeholder := r.applied.New(r.ships)
	placeholder2 := r.trim.New(r.ships)
	if _, err := r.Apply(r.applied, r.trim); err != nil {
		t.Fatal(err)
	}
	if err := r.trim.Trim(); err != nil {
		t.Fatal(err)
	}
	for _, e := range fillers {
		r.Delete(e)
	}
	r.record(r.pending)
	before, applied, trimmed := r.all(r.es), r.applied.Resolve(placeholder), r.trim.Resolve(placeholder2)

	m := r.ships.Pack(MoveOptions{})
	if m.Len() < 30 {
		t.Fatalf("only %d entities moved", m.Len())
	}
	now := slices.Clone(r.es)
	for i := range now {
		now[i] = m.Resolve(now[i])
	}
	for i := range before {
		before[i] = m.Resolve(before[i])
	}
	if after := r.all(now); !slices.Equal(after, before) {
		t.Errorf("the references are\n%v, want\n%v", after, before)
	}
	old := r.heap.Get(now[0]).unknown.(Entity)
	if old != r.es[0] {
		t.Errorf("an interface holds %v, want the old reference %v", old, r.es[0])
	}
	if s := Resource[squad](r.World); s.leader != now[90] {
		t.Errorf("the resource refers to %v, want %v", s.leader, now[90])
	}
	if q := Resource[struct{ queue []Entity }](r.World); !slices.Equal(q.queue, now[80:]) {
		t.Error("the slice of a resource was not renewed")
	}
	if e, ok := r.Names().Find("last"); !ok || e != now[100] {
		t.Errorf("the name finds %v, want %v", e, now[100])
	}
	if got := r.applied.Resolve(placeholder); got != m.Resolve(applied) || got == applied {
		t.Errorf("the placeholder resolves to %v, want %v", got, m.Resolve(applied))
	}
	if got := r.trim.Resolve(placeholder2); got != m.Resolve(trimmed) || got == trimmed {
		t.Errorf("the placeholder of trimmed commands resolves to %v, want %v", got, m.Resolve(trimmed))
	}
	r.checkInvariants()
}

func TestPackRenewsRecordedCommands(t *testing.T) {
	picture := func(pack bool) string {
		r := newRenewed()
		defer r.Close()
		placeholder := r.record(r.pending)
		now := func(e Entity) Entity { return e }
		if pack {
			m := r.ships.Pack(MoveOptions{})
			now = m.Resolve
		}
		a, err := r.Apply(r.pending)
		if err != nil {
			t.Fatal(err)
		}
		index := map[Entity]int{{}: -1, r.pending.Resolve(placeholder): -2}
		places := []Entity{r.pending.Resolve(placeholder)}
		for i, e := range r.es {
			index[now(e)] = i
			places = append(places, now(e))
		}
		var numbers []int
		for _, e := range r.all(places) {
			i, known := index[e]
			if !known {
				t.Errorf("the reference %v belongs to no entity of the world", e)
			}
			numbers = append(numbers, i)
		}
		r.checkInvariants()
		return fmt.Sprint(a, numbers)
	}
	if plain, packed := picture(false), picture(true); plain != packed {
		t.Errorf("after Pack, the commands give\n%s, want\n%s", packed, plain)
	}
}

func TestReferencesIn(t *testing.T) {
	type tree struct {
		Kids []tree
		At   *Entity
	}
	type none struct {
		Next *none
		F    func(Entity)
		Any  any
		C    chan Entity
		Q    Query
		W    *World
	}
	for _, tt := range []struct {
		v              any
		arrays, behind int
	}{
		{Entity{}, 1, 0}, {[4]Entity{}, 1, 0}, {[0]Entity{}, 0, 0}, {uint64(0), 0, 0},
		{none{}, 0, 0}, {tree{}, 0, 2},
		{squad{}, 3, 0}, {struct{ a, b Entity }{}, 1, 0}, {[]int{}, 0, 0}, {map[int]*Entity{}, 0, 1},
	} {
		r := referencesIn(reflect.TypeOf(tt.v))
		if r == nil {
			r = &references{}
		}
		if len(r.at) != tt.arrays || len(r.behind) != tt.behind {
			t.Errorf("%T has the references %+v, want %d arrays and %d indirections", tt.v, r, tt.arrays,
				tt.behind)
		}
	}
	if referencesIn(nil) != nil {
		t.Error("the nil type has references")
	}
}
