package earth

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
	"github.com/vastgo/vast/internal/crashtest"
	"github.com/vastgo/vast/store"
)

// TestEvery checks that the time between checkpoints is Config.Every, not the default of one second.
func TestEvery(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	e := newEarth(t, Config{Travellers: 100, Data: t.TempDir(), Every: time.Hour,
		Notify: func(store.Checkpoint) { taken.Add(1) }})
	tick(t, e, 1)
	if err := e.Store().Checkpoint(); err != nil {
		t.Fatal(err)
	}
	before := taken.Load()
	time.Sleep(1100 * time.Millisecond)
	tick(t, e, 2) // the second tick completes a checkpoint that the first tick may have begun
	if err := e.Store().Close(); err != nil {
		t.Fatal(err)
	}
	if n := taken.Load() - before; n != 1 {
		t.Errorf("%d checkpoints were taken, want only the checkpoint of Close", n)
	}
}

// TestWorldGoesOn opens a copy of a running world's folder, as after a crash, and later the folder of a
// closed world. The world must have the same states as a world without a folder.
func TestWorldGoesOn(t *testing.T) {
	c := Config{Travellers: 3000, Places: village(t, 400), Seed: 5}
	free := newEarth(t, c)
	if free.Store() != nil {
		t.Error("a world without a folder has a store")
	}
	dir := t.TempDir()
	open := func(workers int) *Earth {
		t.Helper()
		c.Data, c.Workers = dir, workers
		return newEarth(t, c)
	}
	a := open(1)
	if a.Resumed() != 0 || a.Hash() != free.Hash() {
		t.Errorf("a new world has %d ticks and hash %s, want 0 and %s", a.Resumed(), a.Hash(), free.Hash())
	}
	tick(t, free, 150)
	tick(t, a, 150)
	dir = crashtest.Copy(t, dir)
	b := open(4)
	if n := b.Resumed(); n > 150 || n != b.Counts().Ticks {
		t.Fatalf("the world goes on after tick %d, want a tick up to 150", n)
	}
	tick(t, b, 150-int(b.Resumed()))
	check(t, b)
	if b.Hash() != free.Hash() || b.Counts() != free.Counts() {
		t.Errorf("after a crash: hash %s and %+v, want %s and %+v", b.Hash(), b.Counts(), free.Hash(),
			free.Counts())
	}
	tick(t, free, 50)
	tick(t, b, 50)
	if err := b.Store().Close(); err != nil {
		t.Fatal(err)
	}
	if b.Hash() != free.Hash() {
		t.Error("the hash has changed after the store was closed")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	d := open(2)
	if d.Resumed() != 200 || d.Hash() != free.Hash() {
		t.Errorf("after Close the world goes on after tick %d with the hash %s, want 200 and %s", d.Resumed(),
			d.Hash(), free.Hash())
	}
	tick(t, free, 100)
	tick(t, d, 100)
	check(t, d)
	if d.Hash() != free.Hash() || d.Counts() != free.Counts() {
		t.Errorf("after Close: hash %s and %+v, want %s and %+v", d.Hash(), d.Counts(), free.Hash(),
			free.Counts())
	}
}

func TestTicksAreReplayed(t *testing.T) {
	c := Config{Travellers: 500, Places: village(t, 50), Seed: 6, Data: t.TempDir()}
	a := newEarth(t, c)
	tick(t, a, 100)
	for a.Store().DurableTick() < 100 { // ticks become durable once a second
		time.Sleep(time.Millisecond)
	}
	c.Data = crashtest.Copy(t, c.Data)
	b := newEarth(t, c)
	if b.Resumed() < 100 || b.Hash() != a.Hash() {
		t.Errorf("the world goes on after tick %d with the hash %s, want 100 and %s", b.Resumed(), b.Hash(),
			a.Hash())
	}
}

// TestEditsStay changes a Stay component and a site, and deletes a traveller, between ticks. The edits must
// survive a crash. The edited site must not change the tables that New computes from the list of places.
func TestEditsStay(t *testing.T) {
	c := Config{Travellers: 2000, Places: village(t, 100), Seed: 7}
	free := newEarth(t, c)
	c.Data = t.TempDir()
	kept := newEarth(t, c)
	edit := func(e *Earth) {
		tick(t, e, 60)
		for who := range e.world.Query(e.stay).All() {
			e.stay.Get(who).Until += 1000
			break
		}
		e.sites[3].Weight++
		e.sites[3].At = vector{X: 1}
		for who := range e.world.Query(e.life).All() {
			if e.life.Get(who).Number == 77 {
				e.infectious.Remove(who)
				e.world.Delete(who)
				break
			}
		}
	}
	edit(free)
	edit(kept)
	kept.Store().Changed()
	if err := kept.Store().Checkpoint(); err != nil {
		t.Fatal(err)
	}
	tick(t, free, 70)
	tick(t, kept, 20)
	c.Data = crashtest.Copy(t, c.Data)
	again := newEarth(t, c)
	if again.Resumed() < 60 {
		t.Fatalf("the world goes on after tick %d, but tick 60 was durable", again.Resumed())
	}
	tick(t, again, 130-int(again.Resumed()))
	if again.Hash() != free.Hash() {
		t.Error("after a crash the edited world has another state than without the crash")
	}
}

// submit edits the world through Store.Submit, as a client of an inspector does.
func submit(t *testing.T, e *Earth, input string) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- e.Store().Submit(t.Context(), []byte(input)) }()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
			e.World().Admit(time.Millisecond)
		}
	}
}

// TestEditsAreReplayed opens a copy of an edited world's folder, as after a crash: New repeats the ticks and
// the edits since the last checkpoint.
func TestEditsAreReplayed(t *testing.T) {
	failed := 0
	apply := func(w *vast.World, input []byte) error {
		err := inspect.Apply(w, input)
		if err != nil {
			failed++
		}
		return err
	}
	c := Config{Travellers: 2000, Places: village(t, 100), Seed: 7, Apply: apply, Data: t.TempDir()}
	free := newEarth(t, c)
	c.Data = t.TempDir()
	kept := newEarth(t, c)
	edits := func(e *Earth) (edits []string) {
		n := 0
		for who := range e.world.Query(e.stay).All() {
			if n++; n > 3 {
				break
			}
			edits = append(edits, fmt.Sprintf(
				`{"do":"set","entity":%q,"column":"Stay","path":"Until","value":%d}`, who, 5000+n))
		}
		for who := range e.world.Query(e.infectious).All() {
			moving, _ := e.world.Query(e.trip).First()
			return append(edits, fmt.Sprintf(`{"do":"remove","entity":%q,"column":"Infectious"}`, who),
				fmt.Sprintf(`{"do":"delete","entity":%q}`, moving))
		}
		return edits
	}
	for round := range 3 {
		tick(t, free, 20+round)
		tick(t, kept, 20+round)
		for _, e := range []*Earth{free, kept} {
			for _, edit := range edits(e) {
				submit(t, e, edit)
			}
		}
	}
	if kept.Hash() != free.Hash() || failed > 0 {
		t.Fatalf("the hashes are %s and %s, and %d edits failed; want equal hashes and no failed edit",
			kept.Hash(), free.Hash(), failed)
	}
	c.Data, c.Workers = crashtest.Copy(t, c.Data), 3
	again := newEarth(t, c)
	if again.Resumed() != 63 || again.Hash() != free.Hash() {
		t.Errorf("the world goes on after tick %d with the hash %s, want 63 and %s", again.Resumed(),
			again.Hash(), free.Hash())
	}
	tick(t, free, 70)
	tick(t, again, 70)
	if again.Hash() != free.Hash() {
		t.Error("after a crash the edited world has another state than without the crash")
	}
}

func TestOtherBuild(t *testing.T) {
	c := Config{Travellers: 300, Places: village(t, 50), Seed: 8, Data: t.TempDir()}
	e := newEarth(t, c)
	tick(t, e, 10)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	w := vast.NewWorld(vast.Options{Name: "earth", MaxEntities: slotsFor(50, 300)})
	defer w.Close()
	newComponents(w)
	st, err := store.Open(c.Data, w, store.Options{Resources: resources(), Build: "another",
		Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	idle := func() error { return nil }
	if err := st.Recover(func([]byte) {}, idle); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := st.Tick(idle); err != nil {
			t.Fatal(err)
		}
	}
	position, err := st.Record(nil)
	if err == nil {
		err = st.Wait(t.Context(), position)
	}
	if err != nil {
		t.Fatal(err)
	}
	c.Data = crashtest.Copy(t, c.Data)
	_, err = New(c)
	if other, ok := errors.AsType[*store.BuildError](err); !ok || other.Ticks != 3 || other.Base != 10 ||
		other.Tick != 11 || other.Recorded != "another" {
		t.Errorf("the error is %v, want a *store.BuildError for 3 ticks after tick 10", err)
	}
	c.DropTail = true
	if again := newEarth(t, c); again.Resumed() != 10 {
		t.Errorf("the world goes on after tick %d, want 10", again.Resumed())
	}
}

func TestOtherWorlds(t *testing.T) {
	c := Config{Travellers: 300, Places: village(t, 50), Seed: 8}
	c.Data = filepath.Join(t.TempDir(), "new", "data")
	if _, _, found, err := Kept(c.Data); found || err != nil {
		t.Fatalf("Kept of a folder that does not exist: found %v, %v", found, err)
	}
	e := newEarth(t, c)
	if _, _, _, err := Kept(c.Data); err == nil || !strings.Contains(err.Error(), "is in use by") {
		t.Errorf("Kept of an open folder: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if seed, travellers, found, err := Kept(c.Data); seed != 8 || travellers != 300 || !found || err != nil {
		t.Errorf("Kept returned the seed %d, %d travellers, found %v and the error %v; want 8, 300, true "+
			"and no error", seed, travellers, found, err)
	}
	for want, change := range map[string]func(c *Config){
		"seed 8, not 9":                       func(c *Config) { c.Seed = 9 },
		"number of travellers 300, not 90000": func(c *Config) { c.Travellers = 90_000 },
		"other places":                        func(c *Config) { c.Places = village(t, 51) },
	} {
		other := c
		change(&other)
		if _, err := New(other); !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), c.Data) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
	newEarth(t, c) // the failed calls of New have not changed the folder

	foreign := t.TempDir()
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 10})
	defer w.Close()
	st, err := store.Open(foreign, w, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := Kept(foreign); err == nil || !strings.Contains(err.Error(), "another program") {
		t.Errorf("Kept of the folder of another program: %v", err)
	}
}

func TestDeletedPlace(t *testing.T) {
	c := Config{Travellers: 0, Places: village(t, 50), Data: t.TempDir()}
	e := newEarth(t, c)
	e.world.Delete(e.Place(20))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(c); err == nil || !strings.Contains(err.Error(), "has 20 of 50 places") {
		t.Errorf("the error is %v, want one about 20 of 50 places", err)
	}
}

func TestHashOfPlaces(t *testing.T) {
	const text = "name,lat,lon,country,population\nA,1,2,CH,3\n"
	seen := map[string]bool{hashOf(listOf(t, text)): true}
	for _, change := range [][2]string{{"A,", "B,"}, {",1,", ",1.5,"}, {",2,", ",2.5,"}, {"CH", "IT"},
		{",3\n", ",4\n"}, {"3\n", "3\nA,1,2,CH,3\n"}, {"A,1", "AC,1"}} {
		hash := hashOf(listOf(t, strings.Replace(text, change[0], change[1], 1)))
		if seen[hash] {
			t.Errorf("the hash does not change if %q replaces %q", change[1], change[0])
		}
		seen[hash] = true
	}
	if again := hashOf(listOf(t, text)); !seen[again] || len(seen) != 8 || len(again) != 32 {
		t.Errorf("the same list again has the hash %s; %d hashes in all, want 8", again, len(seen))
	}
}
