package event_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/event"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// program is a program whose systems read events of the last tick and of this tick.
type program struct {
	w    *vast.World
	life vast.Column[int64]
	s    *sched.Schedule
	hits *event.Queue[hit]
	// read has what the systems read in each tick.
	read map[uint64]string
}

func newProgram(t *testing.T, workers int) *program {
	t.Helper()
	p := &program{w: vast.NewWorld(vast.Options{Mark: 1}), read: make(map[uint64]string)}
	p.life = vast.NewColumn[int64](p.w).Named("life")
	p.s = sched.New(p.w, sched.Options{Workers: workers})
	p.hits = event.New[hit](p.s, event.Options{})
	t.Cleanup(func() {
		if err := p.s.Close(); err != nil {
			t.Error(err)
		}
		if err := p.w.Close(); err != nil {
			t.Error(err)
		}
	})
	uses := sched.Resources(p.hits)
	early, late := p.hits.NewReader(), p.hits.NewReader()
	note := func(c *sched.Context, what string, r *event.Reader[hit]) {
		text := fmt.Sprintf("%s%s:", p.read[c.Tick()], what)
		for target, h := range r.Next(c) {
			text += fmt.Sprintf(" %v %v", target, h)
			if v := p.life.Get(target); v != nil {
				*v = *v*3 + int64(h.Damage)
			}
		}
		p.read[c.Tick()] = fmt.Sprint(text, " of ", p.hits.Len(c), ";")
	}
	p.s.Add(sched.System{Name: "early", ReadsResources: uses, Writes: sched.Columns(p.life),
		Run: func(c *sched.Context) { note(c, "early", early) }})
	all := p.w.Query(p.life)
	part := func(c *sched.Context, b vast.Batch) {
		for e := range b.All() {
			if r := c.Random(e); r.Below(40) == 0 {
				p.hits.SendTo(c, e, hit{Damage: float64(c.Tick()), Kind: uint32(r.Below(9))})
			}
		}
	}
	p.s.Add(sched.System{Name: "fight", WritesResources: uses, Reads: sched.Columns(p.life),
		Run: func(c *sched.Context) { c.Each(all, 64, part) }})
	p.s.Add(sched.System{Name: "late", ReadsResources: uses, Writes: sched.Columns(p.life), Phase: "late",
		If: func(c *sched.Context) bool { return c.Tick()%2 == 0 }, Run: func(c *sched.Context) {
			note(c, "late", late)
		}})
	return p
}

func (p *program) fill() { p.w.Archetype(p.life).NewN(300, nil) }

// apply applies an input: an event from outside.
func (p *program) apply(input []byte) { p.hits.Send(nil, hit{Damage: 1000, Kind: uint32(input[0])}) }

func (p *program) options() store.Options {
	return store.Options{Containers: map[string]any{"hits": p.hits}, Every: time.Hour, Build: "one"}
}

// open opens the store of the program.
func (p *program) open(t *testing.T, dir string) *store.Store {
	t.Helper()
	st, err := store.Open(dir, p.w, p.options())
	if err != nil {
		t.Fatal(err)
	}
	st.Attach(p.s)
	if st.New() {
		p.fill()
	}
	if err := st.Recover(p.apply, p.s.Tick); err != nil {
		t.Fatal(err)
	}
	return st
}

// inputAt reports whether an input comes before a tick.
func inputAt(tick int) bool { return tick%5 == 2 }

// run makes the ticks with the numbers from, from+1 and so on up to and including to. st may be nil.
func (p *program) run(t *testing.T, from, to int, st *store.Store) {
	t.Helper()
	for i := from; i <= to; i++ {
		input := []byte{byte(i)}
		switch {
		case !inputAt(i):
		case st == nil:
			p.apply(input)
		default:
			if _, err := st.Record(input); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

// mustEqual compares what the systems of two programs read after a tick.
func (p *program) mustEqual(t *testing.T, want *program, after uint64) {
	t.Helper()
	n := 0
	for tick, text := range p.read {
		if tick > after {
			n++
			if text != want.read[tick] {
				t.Fatalf("tick %d: the systems read\n%s\nwant\n%s", tick, text, want.read[tick])
			}
		}
	}
	if n == 0 {
		t.Fatal("no tick was compared")
	}
}

// TestStore: a world that is opened after tick n continues in tick n+1 with the events of tick n, whether the
// store has closed or the process has died.
func TestStore(t *testing.T) {
	want := newProgram(t, 1)
	want.fill()
	want.run(t, 1, 40, nil)
	if !strings.Contains(want.read[40], "late: ") || !strings.Contains(want.read[12], "{1000 12 0}") {
		t.Fatalf("the program is too simple:\n%s", want.read[12])
	}

	dir := t.TempDir()
	first := newProgram(t, 2)
	st := first.open(t, dir)
	first.run(t, 1, 15, st)
	first.mustEqual(t, want, 0)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}

	second := newProgram(t, 2)
	st = second.open(t, dir)
	if n := second.s.Stats().Events[0]; n.Last == 0 {
		t.Error("the opened store has no events of the last tick")
	}
	second.run(t, 16, 31, st)
	second.mustEqual(t, want, 15)
	position, err := st.Record([]byte{32})
	if err == nil {
		err = st.Wait(t.Context(), position)
	}
	if err != nil {
		t.Fatal(err)
	}
	copied := crashtest.Copy(t, dir)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}

	third := newProgram(t, 1)
	st = third.open(t, copied)
	if n := st.LastTick(); n != 31 {
		t.Fatalf("the last tick is %d, want 31", n)
	}
	// Recover has applied the input of tick 32 from the journal, and run applies it a second time. So tick 32
	// differs from want, and is not compared.
	third.run(t, 32, 32, nil)
	delete(third.read, 32)
	third.mustEqual(t, want, 15)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReplayIsChecked: a store that repeats the ticks in a second world finds no difference.
func TestReplayIsChecked(t *testing.T) {
	p := newProgram(t, 2)
	o := p.options()
	checks := 0
	o.Check = store.Check{Every: 1, Done: func(_ uint64, err error) {
		if checks++; err != nil {
			t.Error(err)
		}
	}, Again: func(open func(*vast.World, store.Options) (*store.Store, error)) error {
		again := newProgram(t, 1)
		st, err := open(again.w, again.options())
		if err != nil {
			return err
		}
		st.Attach(again.s)
		return st.Recover(again.apply, again.s.Tick)
	}}
	st, err := store.Open(t.TempDir(), p.w, o)
	if err != nil {
		t.Fatal(err)
	}
	st.Attach(p.s)
	p.fill()
	if err := st.Recover(p.apply, p.s.Tick); err != nil {
		t.Fatal(err)
	}
	for i := range 4 {
		p.run(t, i*10+1, i*10+10, st)
		for range p.hits.NewReader().Next(nil) { // a reader outside of ticks is no part of the state
		}
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	if checks == 0 {
		t.Error("no check was made")
	}
}

// TestSentBetweenTicks: an event that no input sends is a change outside of ticks, which the next checkpoint
// holds.
func TestSentBetweenTicks(t *testing.T) {
	p := newProgram(t, 1)
	dir := t.TempDir()
	st := p.open(t, dir)
	p.run(t, 1, 3, st)
	p.hits.Send(nil, hit{Damage: 5})
	if err := st.Close(); err != nil { // takes a checkpoint
		t.Fatal(err)
	}
	again := newProgram(t, 1)
	st = again.open(t, dir)
	again.run(t, 4, 4, st)
	if !strings.Contains(again.read[4], "{5 0 0}") {
		t.Errorf("the systems read %s, want an event with the damage 5", again.read[4])
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSaveAndLoad: a new queue that loads a saved queue has the same events, even if its blocks have another
// size.
func TestSaveAndLoad(t *testing.T) {
	newWorld := func(o event.Options) (*vast.World, *sched.Schedule, *event.Queue[hit]) {
		w := vast.NewWorld(vast.Options{Mark: 1})
		s := sched.New(w, sched.Options{Workers: 1})
		t.Cleanup(func() {
			_ = s.Close()
			_ = w.Close()
		})
		return w, s, event.New[hit](s, o)
	}
	w, s, q := newWorld(event.Options{})
	s.Add(sched.System{Name: "send", WritesResources: sched.Resources(q),
		Run: func(c *sched.Context) {
			for i := range 5000 {
				q.Send(c, hit{Damage: float64(i)})
			}
		}})
	tickN(t, s, 2)
	for i := range 1000 {
		q.Send(nil, hit{Damage: float64(5000 + i)})
	}
	options := func(q *event.Queue[hit]) store.Options {
		return store.Options{Containers: map[string]any{"hits": q}}
	}
	var file bytes.Buffer
	if err := store.Save(w, &file, options(q)); err != nil {
		t.Fatal(err)
	}
	again, s2, q2 := newWorld(event.Options{Name: "other", MaxBytes: 1 << 18})
	if _, err := store.Load(again, bytes.NewReader(file.Bytes()), options(q2)); err != nil {
		t.Fatal(err)
	}
	var got []hit
	for _, h := range q2.All(nil) {
		got = append(got, h)
	}
	if len(got) != 6000 || !slices.IsSortedFunc(got, func(a, b hit) int { return int(a.Damage - b.Damage) }) {
		t.Errorf("%d events, want 6000 events in order", len(got))
	}
	tickN(t, s2, 1)
	if n := q2.Len(nil); n != 6000 {
		t.Errorf("%d events after a tick, want 6000: the 5000 of the last tick before Save, and the "+
			"1000 sent after that tick", n)
	}
	tickN(t, s2, 1)
	if n := q2.Len(nil); n != 1000 {
		t.Errorf("%d events after two ticks, want the 1000 that were sent between ticks", n)
	}
	third, _, q3 := newWorld(event.Options{MaxBytes: 1 << 10})
	if _, err := store.Load(third, bytes.NewReader(file.Bytes()), options(q3)); err == nil ||
		!strings.Contains(err.Error(), `container "hits"`) {
		t.Errorf("loading into a queue that is too small: %v", err)
	}
	if n := q3.Len(nil); n != 0 {
		t.Errorf("%d events after a failed Load", n)
	}
	fourth, _, q4 := newWorld(event.Options{})
	q4.Send(nil, hit{})
	if _, err := store.Load(fourth, bytes.NewReader(file.Bytes()), options(q4)); err == nil ||
		!strings.Contains(err.Error(), "load into a new queue") {
		t.Errorf("loading into a queue with an event: %v", err)
	}
}

func TestStoreMisuse(t *testing.T) {
	p := newProgram(t, 1)
	st, err := store.Open(t.TempDir(), p.w, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if text := modeltest.PanicText(func() { st.Attach(p.s) }); !strings.Contains(text,
		`name it in Options.Containers`) {
		t.Errorf("Attach with a queue that the store does not keep: %q", text)
	}
	other := newProgram(t, 1)
	st = other.open(t, t.TempDir())
	defer st.Close()
	if text := modeltest.PanicText(func() { event.New[mark](other.s, event.Options{}) }); !strings.Contains(
		text, "make the queue before Attach") {
		t.Errorf("New after Attach: %q", text)
	}
}
