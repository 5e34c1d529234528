package observe_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/observe"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// watched is a program with a system before its observers and a system behind them. The callbacks change the
// world.
type watched struct {
	w       *vast.World
	counted vast.Column[uint64]
	born    *vast.Archetype
	o       *observe.Observers
	s       *sched.Schedule
	told    log
}

func newWatched() *watched {
	w := vast.NewWorld(vast.Options{Name: "watched", MaxEntities: 1 << 12})
	p := &watched{w: w, counted: vast.NewColumn[uint64](w)}
	tag := vast.NewTag(w, "tag")
	p.born = w.Archetype(p.counted)
	p.o = observe.New(w)
	p.s = sched.New(w, sched.Options{Workers: 1, Seed: 3})
	q := w.Query(p.counted)
	stir := func(c *sched.Context) {
		for e := range q.All() {
			switch r := c.Random(e); r.Below(12) {
			case 0:
				c.Commands().Delete(e)
				c.Commands().New(p.born)
			case 1:
				tag.AddLater(c.Commands(), e)
			case 2:
				tag.RemoveLater(c.Commands(), e)
			case 3:
				*p.counted.Edit(e)++
			}
		}
	}
	count := func(what string) func(observe.Event) {
		return func(e observe.Event) {
			p.told.tell(what)(e)
			if n := p.counted.Edit(e.Entity); n != nil {
				*n = *n*31 + e.Context.Tick()
			}
			if r := e.Context.Random(e.Entity); r.Chance(0.2) {
				tag.Add(e.Entity)
			}
		}
	}
	p.o.Add(observe.Observer{Name: "all", Query: q, Entered: count("born"), Left: count("died")})
	p.o.Add(observe.Observer{Name: "tagged", Query: q.Without(tag), Entered: count("without"),
		Left: count("with"), Column: p.counted, Changed: count("wrote")})
	p.s.Add(sched.System{Name: "before", Writes: sched.Columns(p.counted), Run: stir})
	p.s.Add(p.o.System("observers"))
	p.s.Add(sched.System{Name: "behind", Writes: sched.Columns(p.counted), Run: stir})
	return p
}

func (p *watched) close() error { return errors.Join(p.s.Close(), p.o.Close(), p.w.Close()) }

func (p *watched) ticks(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := p.s.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

// open opens the store in a folder and recovers its world.
func (p *watched) open(t *testing.T, dir string, noted bool) *store.Store {
	t.Helper()
	o := store.Options{Every: time.Hour}
	if noted {
		o.Containers = p.o.Notes()
	}
	st, err := store.Open(dir, p.w, o)
	if err != nil {
		t.Fatal(err)
	}
	if st.New() {
		p.born.NewN(200, nil)
	}
	st.Attach(p.s)
	if err := st.Recover(func([]byte) {}, p.s.Tick); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestReplay lets a store repeat the ticks after a checkpoint, as after a crash. Observers report the same if
// the checkpoint holds their notes.
func TestReplay(t *testing.T) {
	for _, noted := range []bool{true, false} {
		dir := t.TempDir()
		p := newWatched()
		st := p.open(t, dir, noted)
		p.ticks(t, 10)
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		p.told = nil
		p.ticks(t, 10)
		position, err := st.Record(nil) // behind the records of all ticks
		if err == nil {
			err = st.Wait(t.Context(), position)
		}
		if err != nil {
			t.Fatal(err)
		}
		again := newWatched()
		recovered := again.open(t, crashtest.Copy(t, dir), noted)
		if same := slices.Equal(again.told, p.told); same != noted || len(p.told) < 500 {
			t.Errorf("notes %t: %d events, %d in the replay, equal is %t", noted, len(p.told),
				len(again.told), same)
		}
		if err := errors.Join(st.Close(), recovered.Close(), p.close(), again.close()); err != nil {
			t.Error(err)
		}
	}
}

// TestNotesInFile saves the notes of a monitor with its world. A monitor that loads the notes reports only
// the changes since the last call of Next before the save. A monitor without the notes reports all entities
// as entered.
func TestNotesInFile(t *testing.T) {
	program := func() (*vast.World, vast.Column[int], *observe.Monitor) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		a := vast.NewColumn[int](w)
		return w, a, observe.NewMonitor(w.Query(a))
	}
	w, a, m := program()
	born := w.Archetype(a)
	born.NewN(300, nil)
	m.Next()
	es := slices.Collect(m.Entered())
	w.Delete(es[7])
	w.Delete(es[200])
	late := born.New()
	var file bytes.Buffer
	o := store.Options{Containers: map[string]any{"seen": m.Notes()}}
	if err := store.Save(w, &file, o); err != nil {
		t.Fatal(err)
	}
	for _, noted := range []bool{true, false} {
		w, _, m := program()
		o.Containers = nil
		if noted {
			o.Containers = map[string]any{"seen": m.Notes()}
		}
		report, err := store.Load(w, bytes.NewReader(file.Bytes()), o)
		if err != nil {
			t.Fatal(err)
		}
		if dropped := fmt.Sprint(report.Dropped); strings.Contains(dropped, "seen") == noted {
			t.Errorf("Load drops %s", dropped)
		}
		m.Next()
		if noted {
			expect(t, "left", slices.Collect(m.Left()), []vast.Entity{es[7], es[200]})
			expect(t, "entered", slices.Collect(m.Entered()), []vast.Entity{late})
		} else {
			expect(t, "entered", slices.Collect(m.Entered()), slices.Collect(w.Query().All()))
		}
		if err := errors.Join(m.Close(), w.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(m.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}
