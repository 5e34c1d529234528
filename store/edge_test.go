package store_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

func copied(t *testing.T, from, to *vast.World, o store.Options) *store.Report {
	t.Helper()
	var file bytes.Buffer
	if err := store.Save(from, &file, o); err != nil {
		t.Fatal(err)
	}
	report, err := store.Load(to, &file, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func world(t *testing.T) *vast.World {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 16})
	t.Cleanup(func() { w.Close() })
	return w
}

// TestColumnOfWords uses components of type uint64. The words of bit sets have this type, too, but Save and
// Load must not treat the components as bits.
func TestColumnOfWords(t *testing.T) {
	a, b := world(t), world(t)
	x, y := vast.NewColumn[uint64](a).Named("x"), vast.NewColumn[uint64](b).Named("x")
	sparse, loaded := vast.NewSparseColumn[uint64](a).Named("s"), vast.NewSparseColumn[uint64](b).Named("s")
	e := a.Archetype(x, sparse).New()
	x.Set(e, 7)
	sparse.Set(e, 8)
	copied(t, a, b, store.Options{})
	if *y.Get(e) != 7 || *loaded.Get(e) != 8 {
		t.Error(*y.Get(e), *loaded.Get(e))
	}
}

// TestRelationsOfEachSize gives the bit of the last entity another place in its 64-bit word in each round.
func TestRelationsOfEachSize(t *testing.T) {
	for n := 2; n < 1500; n += 37 {
		a, b := world(t), world(t)
		r := vast.NewRelation(a, "r", vast.RelationOptions{})
		loaded := vast.NewRelation(b, "r", vast.RelationOptions{})
		first, last := a.Archetype().New(), vast.Entity{}
		for range n - 1 {
			last = a.Archetype().New()
		}
		r.Set(last, first)
		copied(t, a, b, store.Options{})
		if target, ok := loaded.Target(last); !ok || target != first {
			t.Fatalf("%d entities: the target is %v, %t", n, target, ok)
		}
	}
}

func TestClosedWorlds(t *testing.T) {
	n := newTown(t, false)
	n.live(1, 100)
	file := save(t, n, store.Options{})
	if err := n.w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func(){
		func() { _ = store.Save(n.w, new(bytes.Buffer), store.Options{}) },
		func() { _, _ = store.Load(n.w, bytes.NewReader(file), store.Options{}) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, "do not use a world after Close") {
					t.Errorf("the panic says %q", text)
				}
			}()
			f()
		}()
	}
}

func TestRoomBeforeLoad(t *testing.T) {
	a, b := world(t), world(t)
	x, y := vast.NewSparseColumn[position](a), vast.NewSparseColumn[position](b)
	a.Archetype(x).NewN(5000, nil)
	if err := y.Grow(100); err != nil {
		t.Fatal(err)
	}
	copied(t, a, b, store.Options{})
	if y.Len() != 5000 {
		t.Error(y.Len())
	}
	b.Archetype(y).NewN(5000, nil)
}

type tile uint8

type stamped struct {
	time.Time
	Name  string
	Tiles []tile
}

// TestEmbeddedMethods: Save must not encode stamped with the promoted methods of time.Time.
func TestEmbeddedMethods(t *testing.T) {
	v := stamped{time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), "name", []tile{1, 200}}
	got, _, err := inNew[stamped](t, true, inOld(t, true, v), store.Options{})
	if err != nil || !got.Equal(v.Time) || got.Name != v.Name || len(got.Tiles) != 2 || got.Tiles[1] != 200 {
		t.Errorf("%+v %v", got, err)
	}
}

// TestEmbeddedPointers: Save and WriteJSON must refuse structs that embed a pointer to time.Time. The
// promoted methods of time.Time would leave out the note, and would panic if the pointer is nil.
func TestEmbeddedPointers(t *testing.T) {
	type remarked struct {
		*time.Time
		Note string
	}
	type timed struct{ *time.Time }
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for name, add := range map[string]func(*vast.World, vast.Entity){
		"notes": func(w *vast.World, e vast.Entity) {
			vast.NewHeapColumn[remarked](w).Named("notes").Add(e, remarked{&noon, "noon"})
		},
		"times": func(w *vast.World, e vast.Entity) {
			vast.NewHeapColumn[timed](w).Named("times").Add(e, timed{})
		},
	} {
		w := vast.NewWorld(vast.Options{MaxEntities: 1024})
		defer w.Close()
		add(w, w.Archetype().New())
		for function, err := range map[string]error{"Save": store.Save(w, io.Discard, store.Options{}),
			"WriteJSON": store.WriteJSON(w, io.Discard, store.Options{})} {
			if err == nil || !strings.Contains(err.Error(), name+".Time") {
				t.Errorf("%s returns the error %v, want one about %s.Time", function, err, name)
			}
		}
	}
}

type loadV1 struct {
	Weight int32
	Parts  [2]struct{ X int32 }
}

type loadV2 struct {
	Mass  int64
	Parts [2]struct{ Y int32 }
}

func TestRenamedEverywhere(t *testing.T) {
	old := loadV1{Weight: 3}
	old.Parts[1].X = 4
	want := loadV2{Mass: 3}
	want.Parts[1].Y = 4
	o := store.Options{Renamed: map[string]string{"C.Weight": "C.Mass", "C.Parts[].X": "C.Parts[].Y",
		"R.Weight": "R.Mass", "R.Parts[].X": "R.Parts[].Y"}}
	for _, heap := range []bool{false, true} {
		if got, report, err := inNew[loadV2](t, heap, inOld(t, heap, old), o); err != nil || got != want ||
			len(report.Dropped)+len(report.Added) > 0 {
			t.Errorf("heap %t: %+v %+v %v", heap, got, report, err)
		}
	}
	a, b := world(t), world(t)
	x, y := vast.NewSparseColumn[loadV1](a).Named("C"), vast.NewSparseColumn[loadV2](b).Named("C")
	roads := vast.NewEdges[loadV1](a, "R", vast.EdgesOptions{Capacity: 1 << 12})
	loaded := vast.NewEdges[loadV2](b, "R", vast.EdgesOptions{Capacity: 1 << 12})
	e := a.Archetype(x).New()
	x.Set(e, old)
	roads.Add(e, e, old)
	report := copied(t, a, b, o)
	if *y.Get(e) != want || *loaded.Get(e, e) != want || len(report.Dropped)+len(report.Added) > 0 {
		t.Errorf("%+v %+v %+v", *y.Get(e), *loaded.Get(e, e), *report)
	}
	for _, wrong := range []map[string]string{
		{"C.Weight": "Mass"}, {"C.Weight": "C.Mass", "C.Parts": "C.Mass"},
	} {
		for _, heap := range []bool{false, true} {
			_, _, err := inNew[loadV2](t, heap, inOld(t, heap, old), store.Options{Renamed: wrong})
			if err == nil || !strings.Contains(err.Error(), "Options.Renamed") {
				t.Errorf("%v, heap %t: %v", wrong, heap, err)
			}
		}
	}
}

func TestCodecPanics(t *testing.T) {
	a, b := world(t), world(t)
	x := vast.NewHeapColumn[tree](a)
	vast.NewHeapColumn[tree](b)
	x.Add(a.Archetype().New(), tree{})
	o := store.Options{Codecs: []store.Codec{store.CodecOf(
		func(b []byte, _ *tree) ([]byte, error) { return b, nil },
		func([]byte, *tree) error { panic("no tree") })}}
	var file bytes.Buffer
	if err := store.Save(a, &file, o); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if v := recover(); v != "no tree" {
				t.Error(v)
			}
		}()
		_, _ = store.Load(b, &file, o)
	}()
	if b.Len() != 0 {
		t.Error("the world has entities after a panic")
	}
}

func TestElementsWithoutBytes(t *testing.T) {
	for n, refused := range map[int]bool{1 << 16: false, 1<<16 + 1: true} {
		a, b := world(t), world(t)
		x, y := vast.NewHeapColumn[[]struct{}](a).Named("x"), vast.NewHeapColumn[[]struct{}](b).Named("x")
		e := a.Archetype().New()
		x.Add(e, make([]struct{}, n))
		var file bytes.Buffer
		err := store.Save(a, &file, store.Options{})
		if refused {
			mustSay(t, err, "elements that take no bytes")
			continue
		}
		if err == nil {
			_, err = store.Load(b, &file, store.Options{})
		}
		if err != nil || len(*y.Get(e)) != n {
			t.Errorf("%d elements: %v", n, err)
		}
	}
}
