package prefab_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/store"
)

// TestStore makes instances in one run of a program, and changes the template in the next one.
func TestStore(t *testing.T) {
	var file bytes.Buffer
	var ship, changed vast.Entity
	for run := range 2 {
		f := newFleet(t, vast.Options{MaxEntities: 1 << 12})
		if run == 0 {
			ship, _, _ = f.ship()
			one := f.p.Mark(ship)
			one.InstantiateN(10, nil)
			changed = one.Instantiate()
			f.hull.Get(changed).Armour[0] = 77
			if err := store.Save(f.World, &file, store.Options{}); err != nil {
				t.Fatal(err)
			}
		} else {
			if _, err := store.Load(f.World, &file, store.Options{}); err != nil {
				t.Fatal(err)
			}
			one, ok := f.p.Template(ship)
			if !ok || f.Query(f.hull).Count() != 11 || len(slices.Collect(one.Instances())) != 11 {
				t.Fatalf("%v, %d, %d of %d", ok, f.Query(f.hull).Count(),
					len(slices.Collect(one.Instances())), f.Len())
			}
			f.mustDiffer(t, changed, "hull.Armour[0]")
			*f.hull.Get(ship) = hull{5, [2]uint16{6, 7}}
			if n := mustApply(t, one); n != 3*11-1 || *f.hull.Get(changed) != (hull{5, [2]uint16{77, 7}}) {
				t.Errorf("%d changes, %v", n, *f.hull.Get(changed))
			}
		}
	}
}

// yard is a simulation whose systems make instances and change templates.
type yard struct {
	*fleet
	s       *sched.Schedule
	changes int // that Apply has made
}

func newYard(t *testing.T) *yard {
	y := &yard{fleet: newFleet(t, vast.Options{MaxEntities: 1 << 13, Mark: 1})}
	y.s = sched.New(y.World, sched.Options{Workers: 1, Seed: 5})
	y.s.Add(sched.System{Name: "wear", Writes: sched.Columns(y.hull), Run: func(c *sched.Context) {
		for s := range y.Query(y.hull).Slots() {
			switch r := c.Random(s.Entity()); r.Below(20) {
			case 0, 1, 2:
				y.hull.EditAt(s).Armour[r.Below(2)]++
			case 3:
				c.Commands().Delete(s.Entity())
			}
		}
	}})
	y.s.Add(sched.System{Name: "build", Exclusive: true, Run: func(c *sched.Context) {
		for _, one := range y.templates() {
			y.build(c, one)
		}
	}})
	return y
}

func (y *yard) templates() (list []prefab.Template) {
	for e := range y.Query(y.p.Tag()).All() {
		if one, ok := y.p.Template(e); ok {
			list = append(list, one)
		}
	}
	return list
}

// build makes instances, changes the template in every second tick, and makes a variant in ticks 4 and 14.
func (y *yard) build(c *sched.Context, one prefab.Template) {
	one.InstantiateN(2, nil)
	if c.Tick()%10 == 4 {
		one.Override("hull.Points", c.Tick())
	}
	if c.Tick()%2 == 1 {
		return
	}
	guns := y.guns(one.Root())
	y.hull.Edit(one.Root()).Armour[1] += 100
	*y.rare.Edit(guns[0])++
	y.team.Set(one.Root(), guns[c.Tick()%uint64(len(guns))])
	gun := y.Archetype(y.aim).New()
	y.child.Set(gun, one.Root())
	*y.aim.Get(gun) = aim{guns[0], float32(c.Tick())}
	if len(guns) > 4 {
		y.Delete(guns[2])
	}
	n, err := one.Apply()
	if err != nil {
		panic(err)
	}
	y.changes += n
}

// open opens the store in a folder and recovers the yard.
func (y *yard) open(dir string) (*store.Store, error) {
	st, err := store.Open(dir, y.World, store.Options{Every: time.Hour})
	if err != nil {
		return nil, err
	}
	if st.New() {
		ship, _, _ := y.ship()
		y.p.Mark(ship)
	}
	st.Attach(y.s)
	return st, st.Recover(func([]byte) {}, y.s.Tick)
}

// TestReplay lets a store repeat ticks that make instances and apply templates, as after a crash. The world
// is the same, and continues in the same way.
func TestReplay(t *testing.T) {
	dir := t.TempDir()
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	ticks := func(y *yard, n int) {
		t.Helper()
		for range n {
			must(y.s.Tick())
		}
	}
	y := newYard(t)
	st, err := y.open(dir)
	must(err)
	ticks(y, 8)
	must(st.Checkpoint())
	before := y.changes
	ticks(y, 8)
	position, err := st.Record(nil) // behind the records of all ticks
	must(err, st.Wait(t.Context(), position))

	again := newYard(t)
	recovered, err := again.open(crashtest.Copy(t, dir))
	must(err)
	if n := recovered.LastTick(); n != 16 || before == 0 || y.changes == before ||
		again.changes != y.changes-before || len(again.templates()) != 4 {
		t.Fatalf("the replay to tick %d makes %d changes in the instances of %d templates, want %d in 4", n,
			again.changes, len(again.templates()), y.changes-before)
	}
	ticks(y, 4)
	ticks(again, 4)
	var file bytes.Buffer
	must(store.Save(y.World, &file, store.Options{}))
	must(store.Compare(again.World, &file, store.Options{}))
	must(st.Close(), recovered.Close(), y.s.Close(), again.s.Close())
}
