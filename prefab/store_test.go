package prefab_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/vastgo/vast"
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
