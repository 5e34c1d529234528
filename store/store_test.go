package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/store"
)

type position struct{ X, Y float64 }

type age struct {
	Days  int16
	Adult bool
}

type burden struct {
	Of     vast.Entity
	Weight [3]uint32
}

type diary struct {
	Title   string
	Lines   []string
	Seen    map[vast.Entity]int
	secret  []byte
	Journey [2]position
}

type clock struct {
	Tick int
	Note string
}

// town is a world with columns of most kinds, and a tracker.
type town struct {
	w        *vast.World
	position vast.Column[position]
	age      vast.Column[age]
	burden   vast.SparseColumn[burden]
	diary    vast.HeapColumn[diary]
	awake    vast.Tag
	names    *vast.Names
	childOf  vast.Relation
	aimsAt   vast.Relation
	roads    vast.Edges[uint16]
	walkers  *vast.Archetype
	carriers *vast.Archetype
	tracker  *vast.Tracker
	order    []vast.Entity // entities from which live chooses; some are deleted
}

// equalBytes is false if equal elements may differ in the padding between their fields: the padding then
// holds poison, or bytes that Go left there when it copied the fields.
var equalBytes = !invariants.Enabled && !strings.HasPrefix(runtime.GOARCH, "arm")

func newTown(t *testing.T, reversed bool) *town {
	t.Helper()
	n := makeTown(reversed)
	t.Cleanup(func() {
		if err := n.w.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func makeTown(reversed bool) *town {
	return makeTownWith(vast.Options{Name: "town", MaxEntities: 1 << 16}, reversed)
}

func makeTownWith(o vast.Options, reversed bool) *town {
	n := &town{w: vast.NewWorld(o)}
	steps := []func(){
		func() { n.position = vast.NewColumn[position](n.w) },
		func() { n.age = vast.NewColumn[age](n.w) },
		func() { n.burden = vast.NewSparseColumn[burden](n.w) },
		func() { n.diary = vast.NewHeapColumn[diary](n.w) },
		func() { n.awake = vast.NewTag(n.w, "awake") },
		func() { n.names = n.w.Names() },
		func() { n.childOf = vast.NewRelation(n.w, "childOf", vast.RelationOptions{OnDelete: vast.Cascade}) },
		func() { n.aimsAt = vast.NewRelation(n.w, "aimsAt", vast.RelationOptions{Cyclic: true}) },
		func() { n.roads = vast.NewEdges[uint16](n.w, "roads", vast.EdgesOptions{Capacity: 1 << 16}) },
	}
	if reversed {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		step()
	}
	if reversed {
		n.carriers = n.w.Archetype(n.burden, n.awake, n.position)
	}
	n.walkers = n.w.Archetype(n.position, n.age)
	n.carriers = n.w.Archetype(n.position, n.burden, n.awake)
	n.tracker = vast.NewTracker(n.w, n.position, n.burden)
	return n
}

// live makes random changes, which depend only on the seed and the state of the town.
func (n *town) live(seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 7))
	anyEntity := func() vast.Entity {
		if len(n.order) == 0 {
			return vast.Entity{}
		}
		return n.order[r.IntN(len(n.order))]
	}
	for i := range steps {
		e, f := anyEntity(), anyEntity()
		switch r.IntN(22) {
		case 0, 1:
			n.walkers.NewN(r.IntN(90), func(run vast.Run) {
				for _, e := range run.All() {
					n.order = append(n.order, e)
				}
				for i := range n.position.Slice(run) {
					n.position.Slice(run)[i].X = r.Float64()
				}
			})
		case 2:
			c := n.carriers.New()
			n.order = append(n.order, c)
			*n.burden.Get(c) = burden{e, [3]uint32{r.Uint32(), 2, 3}}
		case 3, 4, 5, 6:
			n.w.Delete(e)
		case 7:
			n.position.Set(e, position{float64(i), -1})
		case 8:
			n.age.Add(e, age{int16(i), true})
		case 9:
			n.age.Remove(e)
		case 10:
			n.burden.Add(e, burden{Of: f})
		case 11:
			n.burden.Remove(e)
		case 12:
			n.diary.Add(e, diary{Title: fmt.Sprint(i), Lines: []string{"a", "", fmt.Sprint(seed)},
				Seen: map[vast.Entity]int{e: 1, f: -i}, secret: []byte{200, byte(i)}})
		case 13:
			n.diary.Remove(e)
		case 14:
			if _, err := n.names.Set(e, fmt.Sprintf("name %d", r.IntN(40))); err != nil {
				n.names.Remove(e)
			}
		case 15:
			n.awake.Add(e)
		case 16:
			if n.w.Alive(e) && n.w.Alive(f) && e != f &&
				!slices.Contains(slices.Collect(n.childOf.Ancestors(f)), e) {
				n.childOf.Set(e, f)
			}
		case 17:
			n.aimsAt.Set(e, f)
		case 18:
			n.roads.Add(e, f, uint16(i))
		case 19:
			n.roads.Remove(e, f)
		case 20:
			if r.IntN(8) == 0 {
				n.tracker.Next()
			}
		case 21:
			switch r.IntN(12) {
			case 0:
				n.w.DeleteAll(n.w.Query(n.age).Without(n.awake))
			case 1:
				if err := n.w.Trim(); err != nil {
					panic(err)
				}
			case 2:
				n.walkers.Pack(vast.MoveOptions{})
			}
		}
	}
}

// dump describes what a program can read from the town, in the order of iteration.
func (n *town) dump() string {
	var b bytes.Buffer
	for e := range n.w.Query().All() {
		fmt.Fprintf(&b, "%x", e.ID())
		if p := n.position.Get(e); p != nil {
			fmt.Fprint(&b, " ", *p)
		}
		if p := n.age.Get(e); p != nil {
			fmt.Fprint(&b, " ", *p)
		}
		if p := n.diary.Get(e); p != nil {
			fmt.Fprintf(&b, " %q %q %v %v", p.Title, p.Lines, p.Seen, p.secret)
		}
		name, _ := n.names.Of(e)
		fmt.Fprint(&b, " ", n.awake.Has(e), name)
		if f, ok := n.names.Find(name); ok && f != e {
			fmt.Fprint(&b, "found ", f)
		}
		fmt.Fprint(&b, slices.Collect(n.childOf.Sources(e)), slices.Collect(n.aimsAt.Sources(e)))
		for to, length := range n.roads.Targets(e) {
			fmt.Fprint(&b, " →", to, *length)
		}
		for from := range n.roads.Sources(e) {
			fmt.Fprint(&b, " ←", from)
		}
		fmt.Fprintln(&b)
	}
	for e, one := range n.burden.All() {
		fmt.Fprintln(&b, "burden", e, *one)
	}
	for run := range n.childOf.InDepthOrder(n.w.Query(n.childOf)) {
		for _, e := range run.All() {
			fmt.Fprint(&b, "depth ", e)
		}
	}
	for _, c := range []vast.AnyColumn{n.position, n.burden} {
		fmt.Fprintln(&b, "added", slices.Collect(n.tracker.Added(c)))
		fmt.Fprintln(&b, "removed", slices.Collect(n.tracker.Removed(c)))
		fmt.Fprintln(&b, "changed", slices.Collect(n.tracker.Changed(c)))
	}
	return b.String()
}

func save(t *testing.T, n *town, o store.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.Save(n.w, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(t *testing.T, n *town, file []byte, o store.Options) *store.Report {
	t.Helper()
	report, err := store.Load(n.w, bytes.NewReader(file), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestRunSaveLoadRun(t *testing.T) {
	seeds := uint64(longtest.Pick(4, 12))
	for seed := range seeds {
		a := newTown(t, false)
		a.live(seed, 3000)
		file := save(t, a, store.Options{})
		b := newTown(t, seed%2 == 1)
		if r := load(t, b, file, store.Options{}); !reflect.DeepEqual(*r, store.Report{}) {
			t.Fatalf("seed %d: %+v", seed, *r)
		}
		b.order = slices.Clone(a.order)
		for round := range uint64(3) {
			if x, y := a.dump(), b.dump(); x != y {
				t.Fatalf("seed %d, round %d: the worlds differ:\n%s", seed, round, difference(x, y))
			}
			a.live(seed*100+round, 2000)
			b.live(seed*100+round, 2000)
		}
		if seed%2 == 0 && equalBytes &&
			!bytes.Equal(save(t, a, store.Options{}), save(t, b, store.Options{})) {
			t.Fatalf("seed %d: two worlds in the same state give different bytes", seed)
		}
	}
}

func difference(x, y string) string {
	a, b := bytes.Split([]byte(x), []byte("\n")), bytes.Split([]byte(y), []byte("\n"))
	for i := range min(len(a), len(b)) {
		if !bytes.Equal(a[i], b[i]) {
			return fmt.Sprintf("line %d:\n%.600s\n%.600s", i, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(a), len(b))
}

func TestResources(t *testing.T) {
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	a, b := newTown(t, false), newTown(t, false)
	vast.SetResource(a.w, clock{17, "noon"})
	p := vast.SetResource(b.w, clock{})
	load(t, b, save(t, a, o), o)
	if *p != (clock{17, "noon"}) {
		t.Error(*p)
	}
	c := newTown(t, false)
	r := load(t, c, save(t, a, o), store.Options{})
	if !slices.Equal(r.Dropped, []string{"github.com/vastgo/vast/store_test.clock"}) {
		t.Errorf("%+v", *r)
	}
	d := newTown(t, false)
	r = load(t, d, save(t, c, store.Options{}), o)
	if !slices.Equal(r.Added, []string{"github.com/vastgo/vast/store_test.clock"}) ||
		vast.FindResource[clock](d.w) != nil {
		t.Errorf("%+v", *r)
	}
}
