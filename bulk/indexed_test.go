package bulk

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

type unit struct {
	team  uint32
	speed float32
	id    int
}

func teamOf(u *unit) uint32   { return u.team }
func speedOf(u *unit) float32 { return u.speed }

// indexedUnits is a pool of units with an index by team and an index by speed.
type indexedUnits struct {
	*Indexed[unit]
	byTeam  *HashIndex[uint32, Handle[unit]]
	bySpeed *OrderedIndex[float32, Handle[unit]]
}

func newIndexedUnits(t *testing.T, pool, indices Options) *indexedUnits {
	t.Helper()
	u := &indexedUnits{Indexed: NewIndexed(newPool[unit](t, pool))}
	var err error
	if u.byTeam, err = NewHashIndex[uint32, Handle[unit]](indices); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.byTeam.Close() })
	if u.bySpeed, err = NewOrderedIndex[float32, Handle[unit]](indices); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { u.bySpeed.Close() })
	return u
}

func (u *indexedUnits) attach(t *testing.T) {
	t.Helper()
	if err := errors.Join(Attach(u.Indexed, u.byTeam, teamOf),
		Attach(u.Indexed, u.bySpeed, speedOf)); err != nil {
		t.Fatal(err)
	}
}

// compare checks that the indices have exactly the pool's elements.
func (u *indexedUnits) compare(t *testing.T) {
	t.Helper()
	n := u.Pool().Len()
	if u.byTeam.Len() != n || u.bySpeed.Len() != n {
		t.Fatalf("%d units, but %d by team and %d by speed", n, u.byTeam.Len(), u.bySpeed.Len())
	}
	for h, e := range u.Pool().All() {
		if !u.byTeam.Has(e.team, h) || !u.bySpeed.Has(e.speed, h) {
			t.Fatalf("unit %v is not in the indices", *e)
		}
	}
}

func TestIndexed(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, pages := range pageKinds {
		o := Options{Pages: pages, Capacity: 3000}
		u := newIndexedUnits(t, o, o)
		var hs []Handle[unit]
		random := func(i int) unit { return unit{uint32(r.IntN(4) * r.IntN(50)), float32(r.IntN(100)), i} }
		// The pool has units before the indices are attached.
		for i := range 1000 {
			h, _ := u.Pool().Insert(random(i))
			hs = append(hs, h)
		}
		u.byTeam.Add(7, hs[0]) // Attach removes this pair
		u.attach(t)
		u.compare(t)
		for i := range 5000 {
			switch r.IntN(4) {
			case 0:
				if u.Pool().Len() < 2000 {
					h, e := u.Insert(random(i))
					if e.id != i || u.Pool().Get(h) != e {
						t.Fatalf("Insert returned unit %d, want %d", e.id, i)
					}
					hs = append(hs, h)
				}
			case 1:
				h := hs[r.IntN(len(hs))]
				if want, got := u.Pool().Valid(h), u.Remove(h); got != want {
					t.Fatalf("Remove(%v) = %t", h, got)
				}
			default:
				h := hs[r.IntN(len(hs))]
				called := false
				if got := u.Update(h, func(e *unit) {
					called, *e = true,
						random(i)
				}); got != u.Pool().Valid(h) || called != got {
					t.Fatalf("Update(%v) = %t; it called f: %t", h, got, called)
				}
			}
			if i%500 == 0 {
				u.compare(t)
			}
		}
		u.compare(t)
		var speeds []float32
		for s, h := range u.bySpeed.All() {
			if u.Pool().Get(h).speed != s {
				t.Fatalf("a unit of speed %v has the key %v in the index", u.Pool().Get(h).speed, s)
			}
			speeds = append(speeds, s)
		}
		if !slices.IsSorted(speeds) {
			t.Error("the speeds are out of order")
		}
		calls := 0
		u.Clear(func(Handle[unit], *unit) { calls++ })
		if calls != len(speeds) || u.Pool().Len() != 0 {
			t.Errorf("Clear passed %d of %d units", calls, len(speeds))
		}
		u.compare(t)
	}
}

// After an Insert or Update that fails, the pool and both indices must be unchanged. The second index,
// bySpeed, refuses NaN.
func TestIndexedFailures(t *testing.T) {
	u := newIndexedUnits(t, Options{Capacity: 100}, Options{Capacity: 100})
	u.attach(t)
	h, e := u.Insert(unit{1, 10, 1})
	nan := float32(math.NaN())
	for name, f := range map[string]func(){
		"insert NaN":    func() { u.Insert(unit{2, nan, 2}) },
		"update to NaN": func() { u.Update(h, func(e *unit) { e.team, e.speed = 3, nan }) },
		"f panics": func() {
			u.Update(h,
				func(e *unit) { e.team = 4; panic("NaN and other reasons") })
		},
		"nested updates": func() { u.Update(h, func(e *unit) { e.team = 5; u.Update(h, func(*unit) {}) }) },
	} {
		if text := modeltest.PanicText(f); !strings.Contains(text, "NaN") &&
			!strings.Contains(text, "in the callback of another Update") {
			t.Errorf("%s: panic %q", name, text)
		}
		if *e != (unit{1, 10, 1}) || u.Pool().Len() != 1 {
			t.Fatalf("%s: the unit has become %v, and the pool has %d units", name, *e, u.Pool().Len())
		}
		u.compare(t)
	}
	u.Update(h, func(e *unit) { e.team = 6 })
	u.compare(t)

	// The indices have room for 100 units, the pool for more.
	small := newIndexedUnits(t, Options{Capacity: 1000}, Options{Capacity: 100})
	small.attach(t)
	for i := range 100 {
		small.Insert(unit{uint32(i), float32(i), i})
	}
	if e := exhausted(func() { small.Insert(unit{7, 7, 7}) }); !errors.Is(e, vm.ErrCapacity) {
		t.Errorf("Insert into full indices: %v", e)
	}
	full := slices.Collect(small.byTeam.Values(7))
	small.Update(full[0], func(e *unit) { e.team, e.speed = 1007, 1007 })
	if err := small.Grow(1); !errors.Is(err, vm.ErrCapacity) {
		t.Errorf("Grow of full indices: %v", err)
	}
	small.compare(t)
}

func TestIndexedMisuse(t *testing.T) {
	x := NewIndexed(newPool[unit](t, Options{Capacity: 10, Name: "units"}))
	for want, f := range map[string]func(){
		"NewIndexed[unit] of a nil pool: make one":                func() { NewIndexed[unit](nil) },
		"Attach to units without an index or keyOf":               func() { _ = Attach(x, nil, teamOf) },
		"Grow(-1) on indexed units: a number of elements is zero": func() { _ = x.Grow(-1) },
	} {
		if got := modeltest.PanicText(f); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}
}
