package vast

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

func TestNames(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	w := NewWorld(Options{MaxEntities: 1 << 12})
	defer w.Close()
	c := NewColumn[uint64](w)
	names := w.Names()
	if w.Names() != names {
		t.Fatal("a world has two indexes")
	}
	a, commands := w.Archetype(c), NewCommands(w, CommandsOptions{})
	byName, byEntity := map[string]Entity{}, map[Entity]string{}
	var es, dead []Entity
	forget := func(e Entity) {
		delete(byName, byEntity[e])
		delete(byEntity, e)
	}
	for step := range 20_000 {
		if len(es) < 20 {
			es = append(es, a.New())
		}
		k := rnd.IntN(len(es))
		e, name := es[k], fmt.Sprint(rnd.IntN(300))
		switch v := rnd.IntN(100); {
		case v < 20:
			if len(es) < 400 {
				es = append(es, a.New())
			}
		case v < 70:
			ok, err := names.Set(e, name)
			owner, taken := byName[name]
			var refused *NameTaken
			if errors.As(err, &refused) != (taken && owner != e) || !ok || err != nil &&
				(refused.Owner != owner || refused.Name != name) {
				t.Fatalf("step %d: Set(%v, %s) gave %v, %v; the name belongs to %v (taken: %v)", step, e,
					name, ok, err, owner, taken)
			}
			if err == nil {
				forget(e)
				byName[name], byEntity[e] = e, name
			}
		case v < 72:
			owner, taken := byName[name]
			names.SetLater(commands, e, name)
			done, err := w.Apply(commands)
			if skip := taken && owner != e; err != nil || skip != (done == Applied{Skipped: 1}) ||
				!skip && done != (Applied{Done: 1}) {
				t.Fatalf("step %d: SetLater(%v, %s) gave %+v, %v; the name belongs to %v (taken: %v)", step,
					e, name, done, err, owner, taken)
			}
			if done.Done == 1 {
				forget(e)
				byName[name], byEntity[e] = e, name
			}
		case v < 75:
			if had := names.Remove(e); had != (byEntity[e] != "") {
				t.Fatalf("step %d: Remove gave %v", step, had)
			}
			forget(e)
		case v < 90:
			w.Delete(e)
			forget(e)
			dead = append(dead, e)
			es[k] = es[len(es)-1]
			es = es[:len(es)-1]
		case v == 90 && step%7 == 0:
			if n := w.DeleteAll(w.Query(names)); n != len(byEntity) {
				t.Fatalf("step %d: %d entities had names, %d were deleted", step, len(byEntity), n)
			}
			kept := es[:0]
			for _, e := range es {
				if byEntity[e] == "" {
					kept = append(kept, e)
				}
			}
			es = kept
			clear(byName)
			clear(byEntity)
		case v == 91 && step%7 == 0:
			w.Reset()
			es = nil
			clear(byName)
			clear(byEntity)
			continue
		}
		found, ok := names.Find(name)
		if owner, want := byName[name]; ok != want || found != owner {
			t.Fatalf("step %d: Find(%s) gave %v, %v instead of %v", step, name, found, ok, owner)
		}
		if got, ok := names.Of(e); got != byEntity[e] || ok != (got != "") || names.Text(e) != got {
			t.Fatalf("step %d: %v is named %q instead of %q", step, e, got, byEntity[e])
		}
		if names.Len() != len(byEntity) || w.Query(names).Count() != len(byEntity) {
			t.Fatalf("step %d: %d names instead of %d", step, names.Len(), len(byEntity))
		}
		if len(names.byName) > 2*(300+64) {
			t.Fatalf("step %d: %d entries for %d names", step, len(names.byName), names.Len())
		}
	}
	gone := dead[len(dead)-1]
	if ok, err := names.Set(gone, "x"); ok || err != nil || names.Remove(gone) {
		t.Error("a stale entity was named")
	}
	if _, ok := names.Find("x"); ok {
		t.Error("a stale entity's name is found")
	}
	e := a.New()
	if ok, err := names.Set(e, ""); !ok || err != nil || names.column().has(e) {
		t.Error("an entity got the empty name")
	}
	changes := w.Changes()
	if _, err := names.Set(e, "first"); err != nil || w.Changes() == changes {
		t.Errorf("the first name did not count as a structural change: %v", err)
	}
	changes = w.Changes()
	if _, err := names.Set(e, "second"); err != nil || w.Changes() == changes {
		t.Errorf("another name did not count as a structural change: %v", err)
	}
	for range 1000 { // the index forgets the names of deleted entities
		e := a.New()
		if _, err := names.Set(e, fmt.Sprintf("passing %d", rnd.Uint64())); err != nil {
			t.Fatal(err)
		}
		w.Delete(e)
	}
	if len(names.byName) > 2000 {
		t.Errorf("%d entries for %d names", len(names.byName), names.Len())
	}
	if _, err := names.Set(e, "last"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, ok := names.Find("last"); ok || names.Len() != 0 {
		t.Error("a closed world has names")
	}
	if panicOf(func() { _, _ = names.Set(e, "x") }) == nil || panicOf(func() { w.Names() }) == nil {
		t.Error("naming in a closed world does not panic")
	}
}

func TestNamesLater(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	names, a := w.Names(), w.Archetype()
	e, dead := a.New(), a.New()
	w.Delete(dead)
	c := NewCommands(w, CommandsOptions{})
	born, second := c.New(a), c.New(a)
	names.SetLater(c, born, "born")
	names.SetLater(c, second, "born") // belongs to the first one
	names.SetLater(c, e, "a")
	names.SetLater(c, e, "b")
	names.SetLater(c, second, "a") // is free again
	names.SetLater(c, dead, "dead")
	if names.Len() != 0 {
		t.Error("recording gives names")
	}
	if done, err := w.Apply(c); done != (Applied{Done: 6, Skipped: 2}) || err != nil {
		t.Errorf("Apply gives %+v, %v", done, err)
	}
	for e, want := range map[Entity]string{e: "b", c.Resolve(born): "born", c.Resolve(second): "a",
		dead: ""} {
		if got := names.Text(e); got != want {
			t.Errorf("%v is named %q, want %q", e, got, want)
		}
	}
	names.SetLater(c, e, "")
	if done, err := w.Apply(c); done.Done != 1 || err != nil || names.Text(e) != "" || names.Len() != 2 {
		t.Errorf("%+v, %v: the empty name leaves %q", done, err, names.Text(e))
	}
	if _, ok := names.Find("b"); ok {
		t.Error("a removed name is found")
	}
	says(t, func() {
		for e := range w.Query(names).All() {
			_, _ = names.Set(e, names.Text(e)+"!")
		}
	}, "by Names.Set: record it with Names.SetLater, and apply the Commands after the loop")
}

// TestNoNameByBirth: archetypes and Exchange cannot add the column of Names.
func TestNoNameByBirth(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c, names := NewColumn[number](w), w.Names()
	e := w.Archetype(c).New()
	says(t, func() { w.Archetype(c, names) }, "Archetype: Name is the column of the world's Names",
		"use Names.Set")
	says(t, func() { w.Exchange(w.Query(), []AnyColumn{names}, nil) }, "World.Exchange: Name is the column",
		"use Names.Set")
	if names.Len() != 0 || names.Remove(e) {
		t.Errorf("%d entities have names", names.Len())
	}
	if _, err := names.Set(e, "one"); err != nil {
		t.Fatal(err)
	}
	if n := w.Exchange(w.Query(), nil, []AnyColumn{names}); n != 1 || names.Len() != 0 {
		t.Errorf("Exchange changed %d entities, %d names are left", n, names.Len())
	}
	if _, ok := names.Find("one"); ok {
		t.Error("a name that Exchange removed is found")
	}
}

// TestNamesLetGo: Reset, Trim and Close give back the memory of deleted entities' names.
func TestNamesLetGo(t *testing.T) {
	const n = 50_000
	for name, empty := range map[string]func(*World) error{
		"Reset": func(w *World) error { w.Reset(); return nil },
		"Trim":  func(w *World) error { w.DeleteAll(w.Query()); return w.Trim() },
		"Close": func(w *World) error { return w.Close() },
	} {
		w := NewWorld(Options{})
		names := w.Names()
		before := heapInUse()
		a := w.Archetype()
		for i := range n {
			if _, err := names.Set(a.New(), fmt.Sprintf("the name of entity %d", i)); err != nil {
				t.Fatal(err)
			}
		}
		full := heapInUse()
		if err := empty(w); err != nil {
			t.Fatal(err)
		}
		if after := heapInUse(); after-before > (full-before)/10 {
			t.Errorf("%s: %d of the %d bytes of names stay", name, after-before, full-before)
		}
		runtime.KeepAlive(names)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func heapInUse() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestRenamingIsWriting: a tracker of the names notes a replaced name as a write.
func TestRenamingIsWriting(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	names := w.Names()
	a := w.Archetype()
	e, other := a.New(), a.New()
	set := func(e Entity, name string) {
		t.Helper()
		if ok, err := names.Set(e, name); !ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	set(e, "Paris")
	set(other, "Nice")
	tr := NewTracker(w, names)
	set(e, "Lutetia")
	set(other, "Nice") // the entity has this name already
	if got := slices.Collect(tr.Changed(names)); !slices.Equal(got, []Entity{e}) {
		t.Errorf("the tracker yields %v, want %v", got, e)
	}
}
