package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

type season int

// TestSwitchedSystemsAreReplayed: a store keeps the values of sched.State and which systems are disabled.
// Systems and inputs change the values and disable systems, and a replay gives the same world.
func TestSwitchedSystemsAreReplayed(t *testing.T) {
	type drop struct{ Value uint64 }
	type life struct {
		s      *sched.Schedule
		st     *store.Store
		season *sched.State[season]
		sum    func() uint64
		did    []season // values that were entered in this process
	}
	start := func(dir string, workers int) *life {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		drops := vast.NewColumn[drop](w)
		st, err := store.Open(dir, w, store.Options{Every: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if st.New() {
			w.Archetype(drops).NewN(50, nil)
		}
		s := sched.New(w, sched.Options{Seed: 3, Workers: workers})
		l := &life{s: s, st: st, season: sched.NewState(s, season(0))}
		change := func(n uint64) func(c *sched.Context) {
			return func(c *sched.Context) {
				for slot := range w.Query(drops).Slots() {
					drops.At(slot).Value = drops.At(slot).Value*n + c.Tick() + uint64(l.season.Get())
				}
			}
		}
		for v := range season(3) {
			enter := func(c *sched.Context) {
				l.did = append(l.did, v)
				change(5)(c)
			}
			l.season.OnEnter(v, sched.System{Name: "enter", Writes: sched.Columns(drops), Run: enter})
		}
		s.ConfigureSet("cold", sched.SetOptions{If: l.season.In(0, 2)})
		s.Add(sched.System{Name: "rain", Writes: sched.Columns(drops), Every: 2, Run: change(31)})
		s.Add(sched.System{Name: "snow", Sets: []sched.Set{"cold"}, Writes: sched.Columns(drops),
			Run: change(7)})
		s.Add(sched.System{Name: "turn", Writes: sched.Columns(drops), Run: func(c *sched.Context) {
			if r := c.RandomOf(0); r.Chance(0.4) {
				l.season.Set(c, (l.season.Get()+1)%3)
			}
			switch r := c.RandomOf(1); r.Below(4) {
			case 0:
				c.AfterTick(func(s *sched.Schedule) { s.Disable("rain") })
			case 1:
				c.AfterTick(func(s *sched.Schedule) { s.Enable("rain") })
			case 2:
				c.RunOnce(sched.System{Name: "hail", Writes: sched.Columns(drops), Run: change(3)})
			}
		}})
		st.Attach(s)
		apply := func(input []byte) {
			l.season.SetBetween(season(input[0]))
			s.Disable("cold")
		}
		if err := st.Recover(apply, s.Tick); err != nil {
			t.Fatal(err)
		}
		l.sum = func() (sum uint64) {
			for slot := range w.Query(drops).Slots() {
				sum = sum*31 + drops.At(slot).Value
			}
			return sum*31 + uint64(l.season.Get())
		}
		t.Cleanup(func() { w.Close() })
		t.Cleanup(func() { s.Close() })
		t.Cleanup(func() { st.Close() })
		return l
	}
	run := func(l *life, ticks int) {
		t.Helper()
		if err := l.s.RunTicks(t.Context(), ticks); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	a := start(dir, 2)
	run(a, 20)
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	entered := slices.Clone(a.did)
	run(a, 5)
	position, err := a.st.Record([]byte{2})
	if err != nil {
		t.Fatal(err)
	}
	run(a, 5)
	if err := a.st.Wait(t.Context(), position); err != nil {
		t.Fatal(err)
	}
	for a.st.DurableTick() < 30 {
		time.Sleep(time.Millisecond) // waits for the disk
	}
	b := start(crashtest.Copy(t, dir), 1)
	if b.st.LastTick() != 30 || a.sum() != b.sum() {
		t.Fatalf("tick %d, value %v, want 30, %v", b.st.LastTick(), b.season.Get(), a.season.Get())
	}
	if want := a.did[len(entered):]; !slices.Equal(b.did, want) {
		t.Errorf("the replay entered %v, want %v", b.did, want)
	}
	run(a, 20)
	run(b, 20)
	if a.sum() != b.sum() {
		t.Errorf("the worlds differ at tick %d: %v, %v", b.st.LastTick(), a.season.Get(), b.season.Get())
	}
	for i, system := range a.s.Stats().Systems {
		if other := b.s.Stats().Systems[i]; system.Disabled != other.Disabled {
			t.Errorf("system %s: disabled %v, in the other process %v", system.Name, system.Disabled,
				other.Disabled)
		}
	}
	if stats := a.s.Stats().Systems[1]; stats.Name != "snow" || !stats.Disabled {
		t.Errorf("the input has not disabled %s", stats.Name)
	}
}
