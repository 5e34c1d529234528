package earth

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// village returns a list of n places all over the Earth. One place in twenty is large.
func village(t testing.TB, n int) *places.List {
	t.Helper()
	var text strings.Builder
	text.WriteString("name,lat,lon,population\n")
	s := draws(7, 0, 0, forHome)
	for i := range n {
		people := s.below(5000)
		if i%20 == 0 {
			people *= 1000
		}
		lat, lon := float64(s.below(140_000))/1000-60, float64(s.below(360_000))/1000-180
		fmt.Fprintf(&text, "P%d,%.3f,%.3f,%d\n", i, lat, lon, people)
	}
	return listOf(t, text.String())
}

func listOf(t testing.TB, text string) *places.List {
	t.Helper()
	l, err := places.Read(strings.NewReader(text), "test", places.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func newEarth(t testing.TB, c Config) *Earth {
	t.Helper()
	if c.Places == nil {
		c.Places = village(t, 400)
	}
	e, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func tick(t testing.TB, e *Earth, n int) {
	t.Helper()
	for range n {
		if err := e.Tick(); err != nil {
			t.Fatal(err)
		}
	}
}

func check(t testing.TB, e *Earth) {
	t.Helper()
	c := e.Counts()
	if c.Travellers+c.Places != c.Entities || c.Susceptible+c.Infectious+c.Recovered != c.Travellers ||
		c.Moving+e.stay.Len() != c.Travellers {
		t.Fatalf("the counts do not add up: %+v, and %d travellers at rest", c, e.stay.Len())
	}
	if e.life.Len() != e.body.Len() || e.life.Len() != e.home.Len() || e.stay.Len() != e.at.Len() {
		t.Fatalf("%d lives, %d bodies, %d homes, %d stays, %d links to places of stay", e.life.Len(),
			e.body.Len(), e.home.Len(), e.stay.Len(), e.at.Len())
	}
	tallies := make([]presence, len(e.sites))
	seen := make(map[uint32]bool, c.Travellers)
	for who := range e.world.Query(e.life).All() {
		number := e.life.Get(who).Number
		if seen[number] {
			t.Fatalf("two travellers have the number %d", number)
		}
		seen[number] = true
		if n := e.susceptible.Len(); n > 0 {
			states := 0
			for _, has := range []bool{e.susceptible.Has(who), e.infectious.Has(who), e.recovered.Has(who)} {
				if has {
					states++
				}
			}
			if states != 1 {
				t.Fatalf("traveller %d has %d states of health, want 1", number, states)
			}
		}
		at := e.body.Get(who).At
		place, rests := e.at.Target(who)
		if l := at.wide().length(); math.Abs(l-1) > 1e-4 {
			t.Fatalf("the position of traveller %d has length %v", number, l)
		}
		trip := e.trip.Get(who)
		if (trip != nil) == e.stay.Has(who) || rests != e.stay.Has(who) {
			t.Fatalf("traveller %d must have either a trip or a stay at a place", number)
		}
		if trip == nil {
			here := e.number(place.Slot())
			if at != e.sites[here].At {
				t.Fatalf("traveller %d rests at %v, not in its place at %v", number, at, e.sites[here].At)
			}
			tallies[here].Present++
			if e.infectious.Has(who) {
				tallies[here].Infectious++
			}
			continue
		}
		if l := trip.Direction.wide().length(); math.Abs(l-1) > 1e-4 {
			t.Fatalf("the direction of traveller %d has length %v", number, l)
		}
		if cos := trip.Direction.wide().dot(at.wide()); math.Abs(cos) > 1e-3 && trip.StepsLeft > 1 {
			t.Fatalf("the direction of traveller %d is not at a right angle to the position: cosine %v",
				number, cos)
		}
		left := arc(at.wide(), e.sites[trip.ToPlace].At.wide())
		if most := float64(trip.StepsLeft)*means[trip.By].speed/60/earthRadius + 1e-4; left > most {
			t.Fatalf("traveller %d is %v radians from the destination, and its %d steps reach only %v",
				number, left, trip.StepsLeft, most)
		}
	}
	for i, p := range tallies {
		if p != e.tallies[i] {
			t.Fatalf("place %d has %+v, but its tally is %+v", i, p, e.tallies[i])
		}
		if n := e.at.CountSources(e.place(uint32(i))); n != int(p.Present) {
			t.Fatalf("place %d has %+v, but %d links lead to it", i, p, n)
		}
	}
}

func TestStateDoesNotDependOnWorkers(t *testing.T) {
	list := village(t, 400)
	travellers, ticks := 20_000, 250
	if !longtest.Enabled() {
		travellers, ticks = 10_000, 120
	}
	var want string
	for _, workers := range []int{1, 2, 3, 8} {
		e := newEarth(t, Config{Travellers: travellers, Places: list, Seed: 3, Workers: workers})
		tick(t, e, ticks)
		check(t, e)
		got := e.Hash()
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%d workers: hash %s, want the hash %s of 1 worker", workers, got, want)
		}
	}
}

// TestGoldenState fails if the models, the random numbers or the arithmetic change. Every operating system
// and every processor must compute this hash. After an intended change, write the new hash here, and note in
// the change log that each seed gives another world than before.
func TestGoldenState(t *testing.T) {
	const want = "32d7dc48acad6c987197c0e383b98768"
	for _, workers := range []int{1, 4} {
		e := newEarth(t, Config{Travellers: 3000, Seed: 1, Workers: workers})
		tick(t, e, 300)
		if got := e.Hash(); got != want {
			t.Errorf("%d workers: hash %s, want %s; counts %+v", workers, got, want, e.Counts())
		}
	}
}

func TestSeedsAndTicksGiveOtherStates(t *testing.T) {
	list := village(t, 400)
	seen := map[string]string{}
	for seed := range uint64(4) {
		e := newEarth(t, Config{Travellers: 500, Places: list, Seed: seed})
		for i := range 3 {
			name, hash := fmt.Sprintf("seed %d, tick %d", seed, i), e.Hash()
			if before, known := seen[hash]; known {
				t.Errorf("%s and %s have the same hash", before, name)
			}
			seen[hash] = name
			tick(t, e, 1)
		}
	}
}

func TestHashSeesEveryComponent(t *testing.T) {
	e := newEarth(t, Config{Travellers: 3000, Seed: 1})
	tick(t, e, 400)
	want := e.Hash()
	first := func(q vast.Query) vast.Entity {
		for who := range q.All() {
			return who
		}
		t.Fatal("the query matches no entity")
		return vast.Entity{}
	}
	traveller, moving := first(e.world.Query(e.life)), first(e.world.Query(e.trip))
	resting, ill := first(e.world.Query(e.stay)), first(e.world.Query(e.infectious))
	immune := first(e.world.Query(e.recovered))
	for name, p := range map[string]*uint32{
		"weight": &e.sites[7].Weight, "number": &e.life.Get(traveller).Number,
		"end of life": &e.life.Get(traveller).Ends,
		"stay":        &e.stay.Get(resting).Until, "destination": &e.trip.Get(moving).ToPlace,
		"illness": &e.infectious.Get(ill).Until, "immunity": &e.recovered.Get(immune).Until,
		"transit": &e.transit.Get(first(e.world.Query(e.transit))).Until,
	} {
		*p ^= 1
		if e.Hash() == want {
			t.Errorf("the hash does not see a change of %s", name)
		}
		*p ^= 1
	}
	for name, p := range map[string]*float32{
		"position": &e.body.Get(traveller).At.Z, "direction": &e.trip.Get(moving).Direction.X,
		"site": &e.sites[9].At.Y,
	} {
		before := *p
		*p = math.Nextafter32(before, 2)
		if e.Hash() == want {
			t.Errorf("the hash does not see a change of %s", name)
		}
		*p = before
	}
	e.trip.Get(moving).StepsLeft ^= 1
	if e.Hash() == want {
		t.Error("the hash does not see a change of a trip's steps")
	}
	e.trip.Get(moving).StepsLeft ^= 1
	e.tallies[3].Present++
	if e.Hash() == want {
		t.Error("the hash does not see a change of a tally")
	}
	e.tallies[3].Present--
	for name, r := range map[string]vast.Relation{"home": e.home, "place": e.at} {
		before, _ := r.Target(resting)
		r.Set(resting, e.place(e.number(before.Slot())^1))
		if e.Hash() == want {
			t.Errorf("the hash does not see a change of the %s", name)
		}
		r.Set(resting, before)
	}
	if got := e.Hash(); got != want {
		t.Errorf("after undoing the changes the hash is %s, not %s", got, want)
	}
}

func TestNothingIsLost(t *testing.T) {
	e := newEarth(t, Config{Travellers: 5000, Seed: 11})
	check(t, e)
	for range 12 {
		tick(t, e, 60)
		check(t, e)
	}
	c := e.Counts()
	if c.Ticks != 720 || c.Travellers != 5000+c.Born-c.Died || c.Born < 30 || c.Died < 30 {
		t.Errorf("after 720 ticks: %+v", c)
	}
	if c.Moving < 5000/5 || c.Moving > 5000*2/5 {
		t.Errorf("%d of %d travellers are moving, want 1000 to 2000", c.Moving, c.Travellers)
	}
	// Each departure or arrival makes two or more changes, and each birth or death makes one or more.
	if c.StructuralChanges < uint64(c.Born+c.Died)+2*1000 {
		t.Errorf("%d structural changes, want at least %d", c.StructuralChanges, c.Born+c.Died+2*1000)
	}
}

func TestSmallWorlds(t *testing.T) {
	const header = "name,lat,lon,population\n"
	nothing := newEarth(t, Config{Places: new(places.List)})
	tick(t, nothing, 50)
	if got := nothing.Counts(); got != (Counts{Ticks: 50}) {
		t.Errorf("a world without places has the counts %+v", got)
	}
	for name, c := range map[string]struct {
		list       string
		travellers int
	}{
		"no travellers": {header + "A,1,2,3\n", 0},
		"one traveller": {header + "A,1,2,3\nB,-80,170,0\n", 1},
		"one place":     {header + "A,1,2,3\n", 200},
		"one point":     {header + "A,1,2,3\nB,1,2,300\nC,1,2,30\n", 200},
		"poles and the date line": {header +
			"A,90,0,1000\nB,-90,0,1000\nC,0,180,1000\nD,0,-180,1000\nE,0,0,1000\n", 200},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEarth(t, Config{Places: listOf(t, c.list), Travellers: c.travellers})
			check(t, e)
			tick(t, e, 3000)
			check(t, e)
			if got := e.Counts(); c.travellers > 1 && len(e.sites) > 1 && got.StructuralChanges < 100 {
				t.Errorf("there are too few structural changes: %+v", got)
			}
		})
	}
}

func TestBadConfigurations(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Travellers: -1}, "earth: -1 travellers: use 0 to 1073741823"},
		{Config{Travellers: 1 << 30}, "earth: 1073741824 travellers: use 0 to 1073741823"},
		{Config{Travellers: 1, Workers: -2},
			"earth: -2 workers: use 1 or more, or 0 for one on each processor"},
		{Config{Travellers: 1, Places: new(places.List)},
			"earth: no places: travellers need at least one place"},
	} {
		if _, err := New(c.config); err == nil || err.Error() != c.want {
			t.Errorf("%+v: %v, want %s", c.config, err, c.want)
		}
	}
}

func TestUseAfterClose(t *testing.T) {
	e := newEarth(t, Config{Travellers: 10})
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	defer func() {
		if r := recover(); r != "earth: Tick after Close: do not use a world that was closed" {
			t.Errorf("panicked with %v", r)
		}
	}()
	_ = e.Tick()
}

func TestLimitTooSmallForTheWorld(t *testing.T) {
	list := village(t, 400)
	for _, bytes := range []int{0, 1 << 16, 1 << 20, 4 << 20} {
		before := runtime.NumGoroutine()
		limit := vm.NewLimit(bytes)
		e, err := New(Config{Travellers: 200_000, Places: list, Limit: limit, Workers: 4})
		if e != nil || !errors.Is(err, vm.ErrLimit) {
			t.Fatalf("limit of %d bytes: New returned %v, %v, want vm.ErrLimit", bytes, e, err)
		}
		if _, ok := err.(*vm.Error); !ok {
			t.Errorf("limit of %d bytes: the error is a %T, want a *vm.Error", bytes, err)
		}
		if limit.Used() != 0 {
			t.Errorf("limit of %d bytes: %d bytes are still in use after the failure", bytes, limit.Used())
		}
		// A goroutine that has reported its end may take a moment to exit.
		deadline := time.Now().Add(10 * time.Second)
		for ; runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("limit of %d bytes: %d goroutines after the failure, %d before", bytes,
					runtime.NumGoroutine(), before)
			}
		}
	}
}

func TestLimitReachedInATick(t *testing.T) {
	const ticks = 150
	travellers := longtest.Pick(10_000, 50_000)
	list := village(t, 400)
	// manyBirths increases the number of births, so that the world must grow.
	manyBirths := func(e *Earth) {
		for i := range e.cohort {
			e.cohort[i].size *= 200
		}
	}
	free := newEarth(t, Config{Travellers: travellers, Places: list, Seed: 9})
	manyBirths(free)
	tick(t, free, ticks)

	// The second run has a limit. A ballast takes so much memory that the limit leaves little more than the
	// initial size of the world.
	big := vm.NewLimit(1 << 30)
	measured := newEarth(t, Config{Travellers: travellers, Places: list, Seed: 9, Limit: big})
	used := big.Used()
	if err := measured.Close(); err != nil {
		t.Fatal(err)
	}
	const ballast = 64 << 20
	limit := vm.NewLimit(used + ballast)
	r, err := vm.Reserve(ballast, vm.Options{Limit: limit})
	if err != nil {
		t.Fatal(err)
	}
	e := newEarth(t, Config{Travellers: travellers, Places: list, Seed: 9, Limit: limit})
	if err := r.Commit(0, ballast-1<<20); err != nil {
		t.Fatal(err)
	}
	manyBirths(e)
	for err == nil && e.ticks < ticks {
		before := e.Hash()
		if err = e.Tick(); err != nil && e.Hash() != before {
			t.Fatalf("the failed tick %d changed the state", e.ticks+1)
		}
	}
	if failed, ok := err.(*vm.Error); !ok || !errors.Is(failed, vm.ErrLimit) {
		t.Fatalf("after %d ticks: the error is %v, want vm.ErrLimit", e.ticks, err)
	}
	if err := e.Tick(); !errors.Is(err, vm.ErrLimit) {
		t.Fatalf("the next tick: the error is %v, want vm.ErrLimit", err)
	}
	check(t, e)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	tick(t, e, ticks-int(e.ticks))
	check(t, e)
	if got, want := e.Hash(), free.Hash(); got != want {
		t.Errorf("after failed ticks: hash %s, without a limit %s", got, want)
	}
}

func TestGoHeapStaysSmall(t *testing.T) {
	if vm.ReadFacts().HeapStandIn {
		t.Skip("regions are Go heap memory in this build")
	}
	e, err := New(Config{Travellers: 300_000})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	tick(t, e, 20)
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 16<<20 || m.HeapSys > 64<<20 {
		t.Errorf("%d bytes of Go heap in use, want at most 16 MiB; %d bytes reserved, want at most 64 MiB",
			m.HeapAlloc, m.HeapSys)
	}
	if c := e.Counts(); c.Places < 100_000 {
		t.Errorf("%d places, want 100,000 or more", c.Places)
	}
}

func TestTicksDoNotAllocate(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking invariants allocates")
	}
	e := newEarth(t, Config{Travellers: 20_000, Workers: 3})
	tick(t, e, 200)
	// The world allocates a little when an archetype grows.
	if n := testing.AllocsPerRun(200, func() { tick(t, e, 1) }); n >= 1 {
		t.Errorf("a tick makes %v allocations, want none", n)
	}
}

func TestProgressIsReported(t *testing.T) {
	var stages []string
	last := map[string][2]int{}
	newEarth(t, Config{Travellers: 1000, Progress: func(stage string, done, total int) {
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages = append(stages, stage)
		}
		if before := last[stage]; done < before[0] || done > total {
			t.Errorf("%s: %d of %d after %d", stage, done, total, before[0])
		}
		last[stage] = [2]int{done, total}
	}})
	if got := strings.Join(stages, " "); got != "places distances travellers" {
		t.Errorf("the stages are %s", got)
	}
	for stage, p := range last {
		if p[0] != p[1] || p[1] == 0 {
			t.Errorf("%s ended at %d of %d", stage, p[0], p[1])
		}
	}
}
