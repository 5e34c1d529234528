package shared_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/shared"
)

type material struct {
	Color uint32
	Gloss float32
}

var (
	steel = material{0x808080, 0.5}
	wood  = material{0x8b4513, 0.1}
	glass = material{0xffffff, 0.9}
)

// newWorld returns a world with a shared column and n entities that have it.
func newWorld(t testing.TB, n int) (*vast.World, shared.Column[material], []vast.Entity) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	t.Cleanup(func() { w.Close() })
	c := shared.New[material](w)
	var all []vast.Entity
	w.Archetype(c).NewN(n, func(r vast.Run) {
		for _, e := range r.All() {
			all = append(all, e)
		}
	})
	return w, c, all
}

// values returns what Values yields.
func values[T comparable](c shared.Column[T]) map[T]int { return maps.Collect(c.Values()) }

func mustBe[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestOneEntity(t *testing.T) {
	w, c, all := newWorld(t, 3)
	mustBe(t, "Name", c.Name(), "material")
	mustBe(t, "Name after Named", c.Named("surface").Name(), "surface")
	v, ok := c.Get(all[0])
	mustBe(t, "Get after a birth", v, material{})
	mustBe(t, "Get after a birth", ok, true)
	mustBe(t, "Set", c.Set(all[0], steel), true)
	other := w.Archetype().New()
	mustBe(t, "Set without the component", c.Set(other, steel), false)
	_, ok = c.Get(other)
	mustBe(t, "Get without the component", ok, false)
	mustBe(t, "Add", c.Add(other, wood), true)
	mustBe(t, "Has", c.Has(other), true)
	mustBe(t, "Len", c.Len(), 4)
	for s := range w.Query(c).Slots() {
		v, ok := c.TryAt(s)
		mustBe(t, "TryAt", v, c.At(s))
		mustBe(t, "TryAt", ok, true)
		if s.Entity() == all[1] {
			c.SetAt(s, glass)
		}
	}
	v, _ = c.Get(all[1])
	mustBe(t, "Get after SetAt", v, glass)
	mustBe(t, "Remove", c.Remove(other), true)
	for s := range w.Query().Without(c).Slots() {
		v, ok := c.TryAt(s)
		mustBe(t, "TryAt without the component", v, material{})
		mustBe(t, "TryAt without the component", ok, false)
	}
	if got, want := values(c), (map[material]int{steel: 1, glass: 1, {}: 1}); !maps.Equal(got, want) {
		t.Errorf("Values yields %v, want %v", got, want)
	}
	w.Delete(all[0])
	mustBe(t, "Add to a stale entity", c.Add(all[0], steel), false)
	mustBe(t, "Set of a stale entity", c.Set(all[0], steel), false)
}

func TestEqualValues(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	c := shared.New[float64](w).Named("number")
	e, f := w.Archetype(c).New(), w.Archetype(c).New()
	negative := math.Copysign(0, -1)
	c.Set(e, negative)
	v, _ := c.Get(e)
	mustBe(t, "−0 and the zero value are one value", math.Signbit(v), false)
	c.Set(e, math.NaN())
	c.Set(f, math.NaN())
	v, _ = c.Get(e)
	mustBe(t, "a NaN is stored", v != v, true)
	mustBe(t, "no query finds a NaN", c.Where(w.Query(), math.NaN()).Count(), 0)
	c.Replace(math.NaN(), 1)
	v, _ = c.Get(f)
	mustBe(t, "Replace finds no NaN", v != v, true)
	c.Set(e, 2)
	c.Replace(2, math.NaN())
	v, _ = c.Get(e)
	mustBe(t, "Replace by a NaN", v != v, true)
	c.SetAll(w.Query(), 3)
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := values(c); !maps.Equal(got, map[float64]int{3: 2}) {
		t.Errorf("Values yields %v", got)
	}
}

func TestReplace(t *testing.T) {
	w, c, all := newWorld(t, 300)
	count := func() string {
		return fmt.Sprint(c.Where(w.Query(), material{}).Count(), c.Where(w.Query(), steel).Count(),
			c.Where(w.Query(), wood).Count(), c.Where(w.Query(), glass).Count())
	}
	c.SetAll(w.Query().Among(all[:100]), steel)
	c.SetAll(w.Query().Among(all[100:150]), wood)
	mustBe(t, "before", count(), "150 100 50 0")
	c.Replace(steel, glass)
	mustBe(t, "a new value", count(), "150 0 50 100")
	c.Replace(glass, wood)
	mustBe(t, "a value that the column has", count(), "150 0 150 0")
	c.Replace(steel, glass)
	mustBe(t, "no entity has the old value", count(), "150 0 150 0")
	c.Replace(material{}, steel)
	mustBe(t, "the zero value as old", count(), "0 150 150 0")
	c.Replace(wood, material{})
	mustBe(t, "the zero value as new", count(), "150 150 0 0")
	c.Replace(steel, steel)
	mustBe(t, "the same value", count(), "150 150 0 0")
}

func TestReplaceDisabled(t *testing.T) {
	w, c, all := newWorld(t, 4)
	off, mute := vast.NewDisabled(w, "off"), vast.NewDisabled(w, "mute", c)
	off.Disable(all[0])
	mute.Disable(all[1])
	tr := vast.NewTracker(w, c)
	for _, one := range []struct{ from, to material }{
		{material{}, steel}, // the zero value
		{steel, wood},       // a new value
		{wood, steel},       // a value that the column has
	} {
		tr.Next()
		c.Replace(one.from, one.to)
		n := len(slices.Collect(tr.Changed(c)))
		if v := values(c); len(v) != 1 || v[one.to] != 4 || n != 4 {
			t.Errorf("Replace of %v by %v: values %v, and %d changes for a tracker", one.from, one.to, v, n)
		}
	}
}

func TestWithWorld(t *testing.T) {
	w, c, all := newWorld(t, 100)
	tag := vast.NewTag(w, "tag")
	c.SetAll(w.Query(), steel)
	mustBe(t, "matches of Exchange", w.Exchange(w.Query().Among(all[:10]), nil, []vast.AnyColumn{c}), 10)
	mustBe(t, "matches of Exchange", w.Exchange(w.Query().Without(c), []vast.AnyColumn{c, tag}, nil), 10)
	mustBe(t, "a gained component is zero", c.Where(w.Query(tag), material{}).Count(), 10)
	required := vast.NewTag(w, "required")
	w.Require(required, c)
	e := w.Archetype().New()
	required.Add(e)
	v, ok := c.Get(e)
	mustBe(t, "a required component is zero", v, material{})
	mustBe(t, "a required component", ok, true)
	c.Set(e, glass)
	if s := w.Sprint(e); !strings.Contains(s, "Gloss:0.9") {
		t.Errorf("Sprint returns %s", s)
	}
	copied := w.Clone(e)
	v, _ = c.Get(copied)
	mustBe(t, "a clone", v, glass)
	if _, err := vast.ColumnOf[material](w); err == nil || !strings.Contains(err.Error(), "shared.Column") {
		t.Errorf("ColumnOf returns %v", err)
	}
	// A query that is exact, has a target and is limited to a list.
	rel := vast.NewRelation(w, "rel", vast.RelationOptions{})
	for _, e := range all[20:40] {
		rel.Set(e, copied)
	}
	c.Set(all[30], wood)
	q := c.Where(w.Query(rel), steel).To(rel, copied).Exactly()
	mustBe(t, "To", q.Count(), 19)
	mustBe(t, "Among", q.Among(all[25:35]).Count(), 9)
	mustBe(t, "both values", c.Where(c.Where(w.Query(), steel), wood).Count(), 0)
	n := 0
	for run := range rel.InDepthOrder(q) {
		n += run.Len()
	}
	mustBe(t, "InDepthOrder", n, 19)
	n = 0
	for b := range c.Where(w.Query(), steel).Batches(16) {
		n += b.Len()
	}
	mustBe(t, "Batches", n, c.Where(w.Query(), steel).Count())
	w.Reset()
	if got := values(c); len(got) > 0 {
		t.Errorf("after Reset, Values yields %v", got)
	}
	e = w.Archetype(c).New()
	c.Set(e, steel)
	v, _ = c.Get(e)
	mustBe(t, "after Reset", v, steel)
}

func TestHooks(t *testing.T) {
	w, c, all := newWorld(t, 2)
	var calls []string
	c.OnAdd(func(e vast.Entity, v material) { calls = append(calls, fmt.Sprint("add ", v.Color)) })
	c.OnRemove(func(e vast.Entity, v material) { calls = append(calls, fmt.Sprint("remove ", v.Color)) })
	e := w.Archetype().New()
	c.Add(e, steel)
	c.Set(e, wood)
	cs := vast.NewCommands(w, vast.CommandsOptions{})
	made := cs.New(w.Archetype())
	c.AddLater(cs, made, glass)
	c.SetLater(cs, all[0], glass)
	c.RemoveLater(cs, e)
	c.SetLater(cs, e, steel) // e lacks the component then
	if a, err := w.Apply(cs); err != nil || a.Done != 4 || a.Skipped != 1 {
		t.Fatal(a, err)
	}
	w.Archetype(c).New()
	want := []string{fmt.Sprint("add ", steel.Color), fmt.Sprint("add ", glass.Color),
		fmt.Sprint("remove ", wood.Color), "add 0"}
	if !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
}

func TestTracker(t *testing.T) {
	w, c, all := newWorld(t, 200)
	tr := vast.NewTracker(w, c)
	changed := func(what string, want ...vast.Entity) {
		t.Helper()
		if got := slices.Collect(tr.Changed(c)); !slices.Equal(got, want) {
			t.Errorf("%s: Changed yields %v, want %v", what, got, want)
		}
		tr.Next()
	}
	c.Set(all[3], steel)
	changed("Set", all[3])
	c.SetAll(w.Query().Among(all[70:72]), wood)
	changed("SetAll", all[70:72]...)
	c.Replace(wood, glass)
	changed("Replace", all[70:72]...)
	c.Replace(steel, glass)
	changed("Replace by a value that the column has", all[3])
	probe.SetValue(c, all[9], valueOf(wood))
	changed("SetValue", all[9])
}

// valueOf returns a value for the functions of package probe.
func valueOf(v any) reflect.Value { return reflect.ValueOf(v) }

func TestTools(t *testing.T) {
	w, c, all := newWorld(t, 10)
	c.SetAll(w.Query(), steel)
	if info := probe.Describe(c); info.Storage != probe.StorageShared || info.Storage.String() != "shared" ||
		info.Layout.Parts[1].Name != "Gloss" {
		t.Errorf("Describe returns %+v", info)
	}
	v, ok := probe.Value(c, all[4])
	mustBe(t, "Value", v.Interface(), any(steel))
	mustBe(t, "Value", ok, true)
	// A write of a tool changes one entity only.
	probe.SetValue(c, all[4], valueOf(wood))
	probe.AddValue(c, w.Archetype().New(), valueOf(wood))
	if got, want := values(c), (map[material]int{steel: 9, wood: 2}); !maps.Equal(got, want) {
		t.Errorf("Values yields %v, want %v", got, want)
	}
	s := w.Stats().Columns[0]
	mustBe(t, "Entities", s.Entities, 11)
	if s.Committed == 0 || s.Reserved <= s.Committed || s.Type != "shared_test.material" {
		t.Errorf("Stats returns %+v", s)
	}
	n, err := w.Resident()
	if err != nil || n <= 0 {
		t.Errorf("Resident returns %d, %v", n, err)
	}
}

// leader is a value that refers to an entity.
type leader struct {
	Of    vast.Entity
	Since int64
}

func TestReferences(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	c := shared.New[leader](w)
	a := w.Archetype(c)
	var all []vast.Entity
	for range 100 {
		all = append(all, a.New())
	}
	tr := vast.NewTracker(w, c)
	last := all[99]
	c.SetAll(w.Query().Among(all[50:]), leader{last, 7})
	tr.Next()
	w.DeleteAll(w.Query().Among(all[:40]))
	moves := a.Pack(vast.MoveOptions{})
	if moves.Len() == 0 || moves.Resolve(last) == last {
		t.Fatal("the leader was not moved")
	}
	led := leader{moves.Resolve(last), 7}
	mustBe(t, "entities with the renewed value", c.Where(w.Query(), led).Count(), 50)
	mustBe(t, "entities with the old value", c.Where(w.Query(), leader{last, 7}).Count(), 0)
	mustBe(t, "entities with the zero value", c.Where(w.Query(), leader{}).Count(), 10)
	renewed := 0
	for range w.Query(c).Changed(c, tr).All() {
		renewed++
	}
	mustBe(t, "renewed entities", renewed >= 50, true)

	// A reference of a clone to its original becomes a reference to the clone.
	copied := w.Clone(moves.Resolve(last))
	v, _ := c.Get(copied)
	mustBe(t, "the leader of a clone", v, leader{copied, 7})
	mustBe(t, "entities with the leader", c.Where(w.Query(), led).Count(), 50)
}

func TestGoroutines(t *testing.T) {
	w, c, _ := newWorld(t, 5000)
	all := []material{steel, wood, glass}
	i := 0
	for s := range w.Query(c).Slots() {
		c.SetAt(s, all[i%3])
		i++
	}
	where := c.Where(w.Query(), steel)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			n := where.Count()
			for _, run := range c.GroupBy(w.Query()) {
				n += run.Len()
			}
			for _, k := range c.Values() {
				n += k
			}
			mustBe(t, "entities counted by Count, GroupBy and Values", n, 1667+5000+5000)
		})
	}
	group.Wait()
	for b := range w.Query(c).Batches(1000) {
		group.Go(func() {
			for s := range b.Slots() {
				c.SetAt(s, all[s.Index()%2])
			}
		})
	}
	group.Wait()
	if got, want := values(c), (map[material]int{steel: 2500, wood: 2500}); !maps.Equal(got, want) {
		t.Errorf("Values yields %v, want %v", got, want)
	}
}

// TestManyValues checks that the column forgets values, and that its memory has a bound.
func TestManyValues(t *testing.T) {
	w, c, all := newWorld(t, 1000)
	r := rand.New(rand.NewPCG(1, 2))
	most := 0
	for i := range 200_000 {
		c.Set(all[r.IntN(len(all))], material{uint32(i), 1})
		if i%1000 == 0 {
			most = max(most, w.Stats().Columns[0].Committed)
		}
	}
	n, sum := 0, 0
	for _, k := range c.Values() {
		n, sum = n+1, sum+k
	}
	mustBe(t, "entities", sum, 1000)
	if n != 1000 {
		t.Errorf("%d values, want 1000", n)
	}
	if most > 512<<10 {
		t.Errorf("the column takes %d bytes for 1000 values of 8 bytes", most)
	}
	c.SetAll(w.Query(), steel)
	if err := w.Trim(); err != nil {
		t.Fatal(err)
	}
	if got := values(c); !maps.Equal(got, map[material]int{steel: 1000}) {
		t.Errorf("Values yields %v", got)
	}
}

func TestLoopsKeepValues(t *testing.T) {
	w, c, all := newWorld(t, 500)
	for i, e := range all {
		c.Set(e, material{uint32(i/10) + 1, 0})
	}
	fresh := uint32(1000)
	for v, run := range c.GroupBy(w.Query()) {
		// The loop takes the values of all groups away, and brings many new values.
		for range 200 {
			fresh++
			c.SetAll(w.Query(), material{fresh, 0})
		}
		if want := uint32(run.Start()/10) + 1; v.Color != want {
			t.Fatalf("the group at slot %d has the value %d, want %d", run.Start(), v.Color, want)
		}
	}
	n := 0
	for range c.Values() {
		n++
		for range 200 {
			fresh++
			c.SetAll(w.Query(), material{fresh, 0})
		}
	}
	mustBe(t, "values", n, 1)
}

func TestNoAllocations(t *testing.T) {
	w, c, all := newWorld(t, 2000)
	for i, e := range all {
		c.Set(e, material{uint32(i*i) % 17, 0})
	}
	rel := vast.NewRelation(w, "rel", vast.RelationOptions{Cyclic: true})
	for i, e := range all {
		rel.Set(e, all[(i/100+1)%3])
	}
	q, where := w.Query(c), c.Where(w.Query(), material{4, 0})
	cs := vast.NewCommands(w, vast.CommandsOptions{})
	sum := 0
	for name, f := range map[string]func(){
		"GroupBy": func() {
			for v, run := range c.GroupBy(q) {
				sum += int(v.Color) * run.Len()
			}
		},
		"GroupByTarget": func() {
			for target, run := range shared.GroupByTarget(q, rel) {
				sum += int(target.Slot()) * run.Len()
			}
		},
		"Where": func() {
			for s := range where.Slots() {
				sum += s.Index()
			}
		},
		"Set and Get": func() {
			c.Set(all[5], material{3, 0})
			v, _ := c.Get(all[5])
			sum += int(v.Color)
		},
		"commands": func() {
			c.SetLater(cs, all[5], material{3, 0})
			c.AddLater(cs, all[6], material{4, 0})
			if _, err := w.Apply(cs); err != nil {
				t.Error(err)
			}
		},
		"Values": func() {
			for v, n := range c.Values() {
				sum += int(v.Color) * n
			}
		},
	} {
		f()
		if n := testing.AllocsPerRun(20, f); n > 0 && !longtest.Race {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}
