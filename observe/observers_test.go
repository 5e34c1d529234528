package observe_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

// log collects what callbacks are told.
type log []string

func (l *log) tell(what string) func(observe.Event) {
	return func(e observe.Event) {
		s := fmt.Sprint(what, " ", e.Entity)
		if e.At != e.Entity {
			s += fmt.Sprint(" to ", e.At)
		}
		*l = append(*l, s)
	}
}

// expect compares the log with the wanted lines, and empties it.
func (l *log) expect(t *testing.T, what, want string) {
	t.Helper()
	if got := strings.Join(*l, ", "); got != want {
		t.Errorf("%s: %q is told, want %q", what, got, want)
	}
	*l = nil
}

func mustClose(t *testing.T, o *observe.Observers) {
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func TestOrderAndForms(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	a, tag := vast.NewColumn[int](w), vast.NewTag(w, "tag")
	born := w.Archetype(a)
	x, y, z := born.New(), born.New(), born.New()
	o := observe.New(w)
	defer mustClose(t, o)
	var l log
	o.Add(observe.Observer{Query: w.Query(tag), Existing: true, Entered: l.tell("tagged")})
	remove := o.Add(observe.Observer{Query: w.Query(), Left: l.tell("died"), Entered: l.tell("born")})
	o.Add(observe.Observer{Query: w.Query(a), Existing: true, Entered: l.tell("has a"), Column: a,
		Changed: l.tell("wrote")})
	o.Add(observe.Observer{Query: w.Query(a).Among([]vast.Entity{y}), Left: l.tell("y left")})
	o.Run(nil)
	l.expect(t, "the first run", "has a 0.1, has a 1.1, has a 2.1")
	o.Run(nil)
	l.expect(t, "a run without changes", "")
	tag.Add(z)
	tag.Add(x)
	a.Set(z, 3)
	a.Edit(x)
	w.Delete(y)
	born.New()
	o.Run(nil)
	l.expect(t, "changes", "tagged 0.1, tagged 2.1, died 1.1, born 1.2, has a 1.2, wrote 0.1, wrote 1.2, "+
		"wrote 2.1, y left 1.1")
	remove()
	remove()
	a.Remove(x)
	a.Set(x, 1)
	w.Delete(z)
	o.Run(nil)
	l.expect(t, "after the removal", "")
	tag.Remove(x)
	tag.Add(x)
	a.Add(x, 1)
	o.Run(nil)
	l.expect(t, "a component that comes back", "has a 0.1, wrote 0.1")
}

// TestChangesInCallbacks checks that the next run tells what callbacks change, so that two observers that
// undo each other's work do not loop.
func TestChangesInCallbacks(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	hot, cold := vast.NewTag(w, "hot"), vast.NewTag(w, "cold")
	e := w.Archetype(hot).New()
	o := observe.New(w)
	var l log
	turn := func(name string, from, to vast.Tag) func(observe.Event) {
		return func(e observe.Event) {
			l.tell(name)(e)
			from.Remove(e.Entity)
			to.Add(e.Entity)
		}
	}
	o.Add(observe.Observer{Query: w.Query(hot), Existing: true, Entered: turn("hot", hot, cold)})
	o.Add(observe.Observer{Query: w.Query(cold), Existing: true, Entered: turn("cold", cold, hot)})
	o.Run(nil)
	l.expect(t, "the first run", "hot 0.1")
	o.Run(nil)
	l.expect(t, "the second run", "cold 0.1")
	o.Run(nil)
	l.expect(t, "the third run", "hot 0.1")
	mustClose(t, o)

	o = observe.New(w)
	defer mustClose(t, o)
	w.Delete(e)
	w.Archetype(hot).NewN(3, nil)
	var remove func()
	remove = o.Add(observe.Observer{Query: w.Query(hot), Existing: true, Entered: func(e observe.Event) {
		l.tell("one")(e)
		remove()
		w.DeleteAll(w.Query(hot))
		o.Add(observe.Observer{Query: w.Query(cold), Entered: l.tell("late")})
		w.Archetype(cold).New()
	}})
	o.Add(observe.Observer{Query: w.Query(hot), Existing: true, Entered: l.tell("two")})
	o.Run(nil)
	l.expect(t, "removal and addition in a callback", "one 0.2, two 0.2, two 1.1, two 2.1")
	o.Run(nil)
	first, _ := w.Query(cold).First()
	l.expect(t, "the run after it", fmt.Sprint("late ", first))
	o.Add(observe.Observer{Query: w.Query(), Existing: true, Entered: func(e observe.Event) {
		l.tell("last")(e)
		mustClose(t, o)
	}})
	w.Archetype().NewN(3, nil)
	o.Run(nil)
	if len(l) != 1 {
		t.Errorf("%v is told after Close in a callback", l)
	}
}

func TestUp(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	hit := vast.NewTag(w, "hit")
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{OnDelete: vast.Cascade})
	born := w.Archetype()
	root, ship, gun := born.New(), born.New(), born.New()
	childOf.Set(ship, root)
	childOf.Set(gun, ship)
	o := observe.New(w)
	defer mustClose(t, o)
	var l log
	tell := l.tell("hit")
	do := func(observe.Event) {}
	o.Add(observe.Observer{Query: w.Query(hit), Left: l.tell("left"), Up: childOf,
		Entered: func(e observe.Event) { tell(e); do(e) }})
	hits := func(what, want string) {
		t.Helper()
		hit.Add(gun)
		o.Run(nil)
		l.expect(t, what, want)
	}
	hits("all ancestors", "hit 2.1, hit 2.1 to 1.1, hit 2.1 to 0.1")
	hit.Remove(gun)
	o.Run(nil)
	l.expect(t, "left and alive", "left 2.1, left 2.1 to 1.1, left 2.1 to 0.1")
	do = func(e observe.Event) {
		if e.At == ship {
			e.Stop()
		}
	}
	hits("Stop", "hit 2.1, hit 2.1 to 1.1")
	hit.Remove(gun)
	o.Run(nil)
	l = nil
	do = func(e observe.Event) {
		childOf.Remove(ship)
		if e.At == ship {
			w.Delete(root)
		}
	}
	hits("an ancestor that is deleted", "hit 2.1, hit 2.1 to 1.1")
	w.Delete(gun)
	o.Run(nil)
	l.expect(t, "a deleted entity", "left 2.1")
	observe.Event{}.Stop()
}

// TestPanicInCallback checks that no entity is lost or told twice if a callback panics.
func TestPanicInCallback(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	o := observe.New(w)
	defer mustClose(t, o)
	var l log
	fails := 2
	o.Add(observe.Observer{Query: w.Query(), Left: l.tell("died"), Entered: func(e observe.Event) {
		l.tell("born")(e)
		if fails--; fails == 0 {
			panic("no")
		}
	}})
	o.Add(observe.Observer{Query: w.Query(), Entered: l.tell("too")})
	w.Archetype().NewN(3, nil)
	if got := modeltest.PanicText(func() { o.Run(nil) }); got != "no" {
		t.Errorf("the panic is %q", got)
	}
	l.expect(t, "the run that panics", "born 0.1, born 1.1")
	w.Archetype().New()
	o.Run(nil)
	l.expect(t, "the next run", "born 2.1, too 0.1, too 1.1, too 2.1")
	o.Run(nil)
	l.expect(t, "the run after it", "born 3.1, too 3.1")
}

func TestObserversMisuse(t *testing.T) {
	w, other := vast.NewWorld(vast.Options{MaxEntities: 1 << 12}), vast.NewWorld(vast.Options{Name: "other"})
	defer w.Close()
	defer other.Close()
	a, foreign := vast.NewColumn[int](w), vast.NewColumn[int](other)
	loops := vast.NewRelation(w, "loops", vast.RelationOptions{Cyclic: true})
	up := vast.NewRelation(other, "up", vast.RelationOptions{})
	o, closed := observe.New(w), observe.New(w)
	defer mustClose(t, o)
	mustClose(t, closed)
	mustClose(t, closed)
	f := func(observe.Event) {}
	add := func(r observe.Observer) func() { return func() { o.Add(r) } }
	s := sched.New(other, sched.Options{Workers: 1})
	defer s.Close()
	s.Add(o.System("foreign"))
	for _, tt := range []struct {
		f    func()
		want string
	}{
		{func() { observe.New(nil) }, "observe: New: there is no world: make one with vast.NewWorld"},
		{func() { new(observe.Observers).Run(nil) },
			"observe: Observers.Run: there are no observers: make them with New"},
		{func() { closed.Run(nil) },
			"observe: Observers.Run: the observers are closed: do not use them after Close"},
		{func() { closed.Add(observe.Observer{}) },
			"observe: Observers.Add: the observers are closed: do not use them after Close"},
		{add(observe.Observer{Query: w.Query()}),
			"observe: Observers.Add: the observer has no function: set Left, Entered or Changed"},
		{add(observe.Observer{Entered: f}),
			"vast: the zero Query belongs to no world: make queries with World.Query"},
		{add(observe.Observer{Query: other.Query(), Entered: f}),
			"observe: Observers.Add: the query belongs to another world"},
		{add(observe.Observer{Query: w.Query(), Changed: f}),
			"observe: Observers.Add: Changed and Column need each other: set both or none"},
		{add(observe.Observer{Query: w.Query(), Entered: f, Column: a}),
			"observe: Observers.Add: Changed and Column need each other: set both or none"},
		{add(observe.Observer{Query: w.Query(), Left: f, Existing: true}),
			"observe: Observers.Add: Existing reports matches as entered: set Entered, too"},
		{add(observe.Observer{Query: w.Query(), Changed: f, Column: foreign}),
			`vast: NewTracker: column int belongs to world "other", not to "world"`},
		{add(observe.Observer{Query: w.Query().Without(a), Changed: f, Column: a}),
			"vast: Query.Changed: the query asks for int and leaves it out, so nothing matches"},
		{add(observe.Observer{Query: w.Query(), Entered: f, Up: up}),
			"observe: Observers.Add: the relation up belongs to another world"},
		{add(observe.Observer{Query: w.Query(), Entered: f, Up: loops}), "vast: Relation.Root: loops was " +
			"made with RelationOptions.Cyclic, so following its links may never end: use Target and Sources"},
		{func() {
			remove := o.Add(observe.Observer{Query: w.Query(), Existing: true,
				Entered: func(observe.Event) { o.Run(nil) }})
			defer remove()
			w.Archetype().New()
			o.Run(nil)
		}, "observe: Observers.Run was called by a function of an observer: the next run reports what the " +
			"function changes"},
		{func() {
			var failed *sched.PanicError
			if errors.As(s.Tick(), &failed) {
				panic(failed.Value)
			}
		}, `observe: Observers.Run: the observers belong to world "world", and the schedule to world ` +
			`"other"`},
	} {
		if got := modeltest.PanicText(tt.f); got != tt.want {
			t.Errorf("the panic is %q, want %q", got, tt.want)
		}
	}
}

// TestObserversMemory adds and runs observers. If memory is refused, the test tries again with one more page
// of free memory. It checks that no event is lost.
func TestObserversMemory(t *testing.T) {
	limit := vm.NewLimit(32 << 20)
	hog, err := vm.Reserve(limit.Max(), vm.Options{Name: "hog", Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer hog.Close()
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 15, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	a := vast.NewColumn[int](w)
	w.Archetype(a).NewN(20_000, nil)
	o := observe.New(w)
	defer mustClose(t, o)
	entered, changed := 0, 0
	try := func(f func()) (refusals int) {
		for left := 0; ; left += vm.PageSize() {
			if err := hog.Decommit(0, hog.Size()); err != nil {
				t.Fatal(err)
			}
			used := limit.Used()
			if n := limit.Max() - used - left; n > 0 {
				if err := hog.Commit(0, n); err != nil {
					t.Fatal(err)
				}
			}
			text := modeltest.PanicText(f)
			if text == "" {
				return refusals
			}
			if refusals++; !strings.Contains(text, "memory limit reached") {
				t.Fatal(text)
			}
		}
	}
	refusals := try(func() {
		o.Add(observe.Observer{Query: w.Query(a), Existing: true, Entered: func(observe.Event) { entered++ },
			Column: a, Changed: func(observe.Event) { changed++ }})
	})
	a.SetAll(w.Query(), 1)
	if refusals += try(func() { o.Run(nil) }); refusals < 20 {
		t.Errorf("%d refusals, want at least 20", refusals)
	}
	if entered != 20_000 || changed != 20_000 {
		t.Errorf("%d entered and %d changed, want 20000 each", entered, changed)
	}
}

// TestObserversInSchedule runs systems that record commands in parallel, and compares what observers are told
// on one worker and on four.
func TestObserversInSchedule(t *testing.T) {
	run := func(workers int) (told log) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12, Mark: 1})
		defer w.Close()
		a, tag := vast.NewColumn[uint64](w), vast.NewTag(w, "tag")
		born := w.Archetype(a)
		born.NewN(500, nil)
		o := observe.New(w)
		defer mustClose(t, o)
		s := sched.New(w, sched.Options{Workers: workers, Seed: 7})
		defer s.Close()
		q := w.Query(a)
		s.Add(sched.System{Name: "change", Writes: sched.Columns(a), Run: func(c *sched.Context) {
			c.Each(q, 64, func(c *sched.Context, b vast.Batch) {
				for slot := range b.Slots() {
					e := slot.Entity()
					switch r := c.Random(e); r.Below(30) {
					case 0:
						c.Commands().Delete(e)
						c.Commands().New(born)
					case 1:
						tag.AddLater(c.Commands(), e)
					case 2:
						tag.RemoveLater(c.Commands(), e)
					case 3:
						*a.EditAt(slot)++
					}
				}
			})
		}})
		s.Add(o.System("observers"))
		o.Add(observe.Observer{Query: q.Without(tag), Left: told.tell("left"), Column: a,
			Changed: told.tell("wrote"), Entered: func(e observe.Event) {
				told.tell(fmt.Sprint("entered in tick ", e.Context.Tick()))(e)
				if r := e.Context.Random(e.Entity); r.Chance(0.1) {
					tag.Add(e.Entity)
				}
			}})
		for range 30 {
			if err := s.Tick(); err != nil {
				t.Fatal(err)
			}
		}
		return told
	}
	one, four := run(1), run(4)
	if len(one) < 1000 || !slices.Equal(one, four) {
		t.Errorf("%d events on one worker, %d on four, or the events differ", len(one), len(four))
	}
}
