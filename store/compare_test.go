package store_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/store"
)

func TestCompare(t *testing.T) {
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	for name, tt := range map[string]struct {
		change func(n *town, e, f vast.Entity) // e has links to f
		says   string                          // a part of the error, with % for e; empty: no error
	}{
		"nothing": {func(*town, vast.Entity, vast.Entity) {}, ""},
		"dense": {func(n *town, e, _ vast.Entity) { n.position.Get(e).Y++ },
			"position of entity %, field Y: 2 in the saved world, 3 in this world"},
		"sparse": {func(n *town, e, _ vast.Entity) { n.burden.Get(e).Weight[2] = 7 },
			"burden of entity %, field Weight[2]: 3 in the saved world, 7"},
		"heap": {func(n *town, e, _ vast.Entity) { n.diary.Get(e).Title = "B" },
			"diary of entity %: {Title:A"},
		"tag": {func(n *town, e, _ vast.Entity) { n.awake.Remove(e) },
			"awake of entity %: there in the saved world, not there"},
		"target": {func(n *town, e, _ vast.Entity) { n.childOf.Remove(e) },
			"childOf of entity %: there in the saved"},
		"edge": {func(n *town, e, f vast.Entity) { *n.roads.Get(e, f) = 9 },
			"roads of entity %: 5 in the saved world, 9"},
		"name": {func(n *town, e, _ vast.Entity) {
			if _, err := n.names.Set(e, "Berta"); err != nil {
				panic(err)
			}
		}, "Name of entity %: Anna in the saved world, Berta"},
		"death": {func(n *town, e, _ vast.Entity) { n.w.Delete(e) },
			"entity %: alive as % in the saved world, dead in this world"},
		"birth": {func(n *town, _, _ vast.Entity) { n.walkers.New() },
			"dead in the saved world, alive as"},
		"resource": {func(n *town, _, _ vast.Entity) { vast.Resource[clock](n.w).Tick++ },
			nameOfClock + ": {Tick:5 Note:} in the saved world, {Tick:6"},
		"lost resource": {func(n *town, _, _ vast.Entity) { vast.RemoveResource[clock](n.w) },
			nameOfClock + ": {Tick:5 Note:} in the saved world, not there in this world"},
	} {
		n := newTown(t, false)
		n.live(1, 500)
		vast.SetResource(n.w, clock{Tick: 5})
		e, f := n.carriers.New(), n.carriers.New()
		n.position.Set(e, position{1, 2})
		*n.burden.Get(e) = burden{f, [3]uint32{1, 2, 3}}
		n.diary.Add(e, diary{Title: "A", Seen: map[vast.Entity]int{f: 1}})
		n.childOf.Set(e, f)
		n.roads.Add(e, f, 5)
		if _, err := n.names.Set(e, "Anna"); err != nil {
			t.Fatal(err)
		}
		file := save(t, n, o)
		tt.change(n, e, f)
		err := store.Compare(n.w, bytes.NewReader(file), o)
		if tt.says == "" {
			if err != nil {
				t.Error(name, err)
			}
			continue
		}
		d, ok := errors.AsType[*store.Difference](err)
		says := strings.ReplaceAll(tt.says, "%", e.String())
		const prefix = `store: world "town" differs from the saved world: `
		if !ok || d.World != "town" || !strings.HasPrefix(err.Error(), prefix) {
			t.Errorf("%s: %v", name, err)
		}
		mustSay(t, err, says)
	}
}

func TestCompareOtherProgram(t *testing.T) {
	a, b := newTown(t, false), newTown(t, true)
	a.live(2, 300)
	file := save(t, a, store.Options{})
	load(t, b, file, store.Options{})
	if err := store.Compare(b.w, bytes.NewReader(file), store.Options{}); err != nil {
		t.Errorf("columns in another order: %v", err)
	}
	c := newTown(t, false)
	mustSay(t, store.Compare(c.w, bytes.NewReader(file), store.Options{}), "the world, field mark: ")
	extra := newTown(t, false)
	vast.NewTag(extra.w, "extra")
	mustSay(t, store.Compare(extra.w, bytes.NewReader(file), store.Options{}),
		"extra: not there in the saved world, there in this world")
	mustSay(t, store.Compare(a.w, bytes.NewReader(save(t, extra, store.Options{})), store.Options{}),
		"extra: there in the saved world, not there in this world")
	err := store.Compare(a.w, bytes.NewReader(file[:len(file)-1]), store.Options{})
	mustSay(t, err, `store: comparing world "town": `)
	if _, ok := errors.AsType[*store.Difference](err); ok {
		t.Error(err)
	}
	words := made(bulk.NewArray[uint16](bulk.Options{Capacity: 100}))
	defer words.Close()
	o := store.Options{Containers: map[string]any{"words": words}}
	file = save(t, a, o)
	words.Append(1)
	if err := store.Compare(a.w, bytes.NewReader(file), o); err != nil {
		t.Errorf("Compare does not ignore a container: %v", err)
	}
}

func TestCompareMarked(t *testing.T) {
	live := func(seed uint64) *town {
		n := makeTownWith(vast.Options{Name: "town", MaxEntities: 1 << 16, Mark: 200}, false)
		t.Cleanup(func() { n.w.Close() })
		n.live(seed, 1000)
		return n
	}
	a, b := live(5), live(5)
	file := save(t, a, store.Options{})
	if equalBytes && !bytes.Equal(file, save(t, b, store.Options{})) {
		t.Error("the two worlds are saved as different bytes")
	}
	if err := store.Compare(b.w, bytes.NewReader(file), store.Options{}); err != nil {
		t.Error(err)
	}
	if !slices.Equal(slices.Collect(a.w.Query().All()), slices.Collect(b.w.Query().All())) {
		t.Error("the two worlds have different entities")
	}
	b.w.Delete(slices.Collect(b.w.Query().All())[0])
	if err := store.Compare(b.w, bytes.NewReader(file), store.Options{}); err == nil {
		t.Error("Compare finds no difference after a deletion")
	}
	c := newTown(t, false)
	load(t, c, file, store.Options{})
	if mark := c.w.Options().Mark; mark != 200 {
		t.Errorf("after Load, the world has the mark %d, want 200", mark)
	}
	d := makeTownWith(vast.Options{Mark: 7}, false)
	defer d.w.Close()
	_, err := store.Load(d.w, bytes.NewReader(file), store.Options{})
	mustSay(t, err, `the saved world has the mark 200, and world "world" has Options.Mark 7: set it to 200, `+
		"or leave it out")
	if d.w.Len() != 0 || d.walkers.New().IsZero() {
		t.Error("after an error of Load, the world has entities, or cannot make one")
	}
}
