package prefab_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/prefab"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// describe returns all entities of the world, nodes and bases too.
func (f *fleet) describe() string {
	var b strings.Builder
	for e := range probe.All(f.Query()).All() {
		fmt.Fprintln(&b, f.Sprint(e), f.p.Tag().Has(e))
	}
	return b.String()
}

// TestFaults makes each memory call fail in turn, and checks that nothing has changed.
func TestFaults(t *testing.T) {
	made := faulttest.EachCall(t, func() (failed error) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
		defer w.Close()
		f := fleetIn(w)
		ship, gun, _ := f.ship()
		do := func(what string, op func() error) {
			before := f.describe()
			if err := faulttest.Again(t, what, op, func() {
				if after := f.describe(); after != before {
					t.Fatalf("%s failed, and the world is\n%swant\n%s", what, after, before)
				}
			}); err != nil {
				failed = err
			}
		}
		var one prefab.Template
		do("Mark", func() error { one = f.p.Mark(ship); return nil })
		do("InstantiateN", func() error { one.InstantiateN(200, nil); return nil })
		do("Override", func() error { one.Override("hull.Points", 7); return nil })
		crew := f.Archetype(f.hull).New()
		f.child.Set(crew, gun)
		f.team.Set(crew, crew)
		f.roads.Add(crew, ship, road{3, gun})
		f.armed.Add(gun)
		f.rare.Add(ship, 4)
		f.aim.Add(crew, aim{At: ship})
		do("Apply", func() error { _, err := one.Apply(); return err })
		last := slices.Collect(one.Instances())[199]
		if *f.rare.Get(last) != 4 || f.aim.Get(f.guns(f.guns(last)[0])[0]).At != last {
			t.Fatalf("after Apply: %s", f.Sprint(last))
		}
		return failed
	})
	if made < 50 {
		t.Errorf("the test makes only %d memory calls", made)
	}
}

func TestNoRoom(t *testing.T) {
	f := newFleet(t, vast.Options{MaxEntities: 1536})
	ship, gun, _ := f.ship()
	one := f.p.Mark(ship)
	before := f.Len()
	func() {
		defer func() {
			if err, _ := recover().(error); !errors.Is(err, vm.ErrCapacity) {
				t.Errorf("InstantiateN panics with %v", err)
			}
		}()
		one.InstantiateN(5000, nil)
	}()
	if f.Len() != before {
		t.Error("a refused InstantiateN has made entities")
	}
	one.InstantiateN(400, nil)
	crew := f.Archetype(f.rare).New()
	f.child.Set(crew, gun)
	before = f.Len()
	if _, err := one.Apply(); !errors.As(err, new(*vm.Error)) || f.Len() != before {
		t.Errorf("Apply without room: %v, %d entities, want %d", err, f.Len(), before)
	}
	f.Delete(crew)
	f.hull.Get(ship).Points = 3
	if n := mustApply(t, one); n != 400 {
		t.Errorf("%d changes, want 400", n)
	}
}
