package store_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

func loadAny(t *testing.T, file []byte) (*vast.World, *store.Report) {
	t.Helper()
	w, report, err := store.LoadAny(bytes.NewReader(file), vast.Options{Name: "any"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w, report
}

func saveWorld(t *testing.T, w *vast.World, o store.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.Save(w, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func resourcesOf(w *vast.World) (o store.Options) {
	for _, v := range probe.Resources(w) {
		o.Resources = append(o.Resources, v.Type())
	}
	return o
}

// TestLoadAny: WriteJSON writes the same document for the saved world and for the result of LoadAny. A
// program with the types of the world loads an equal world from the file that Save writes for the result of
// LoadAny.
func TestLoadAny(t *testing.T) {
	seeds := uint64(longtest.Pick(2, 12))
	o := store.Options{Resources: []reflect.Type{reflect.TypeFor[clock]()}}
	for seed := range seeds {
		a := newTown(t, seed%2 == 0)
		a.live(seed, 2000)
		vast.SetResource(a.w, clock{int(seed), "noon"})
		first := save(t, a, o)
		w, report := loadAny(t, first)
		if !reflect.DeepEqual(*report, store.Report{}) {
			t.Fatalf("seed %d: %+v", seed, *report)
		}
		if x, y := writeJSON(t, a.w, o), writeJSON(t, w, resourcesOf(w)); x != y {
			t.Fatalf("seed %d: %s", seed, difference(x, y))
		}
		second := saveWorld(t, w, resourcesOf(w))
		b := newTown(t, seed%3 == 0)
		if r := load(t, b, second, o); !reflect.DeepEqual(*r, store.Report{}) {
			t.Fatalf("seed %d: %+v", seed, *r)
		}
		if x, y := a.dump(), b.dump(); x != y {
			t.Fatalf("seed %d: the worlds differ:\n%s", seed, difference(x, y))
		}
		if *vast.FindResource[clock](b.w) != (clock{int(seed), "noon"}) {
			t.Error(*vast.FindResource[clock](b.w))
		}
		b.order = slices.Clone(a.order)
		a.live(seed*100, 1000)
		b.live(seed*100, 1000)
		if x, y := a.dump(), b.dump(); x != y {
			t.Fatalf("seed %d: the worlds differ after more operations:\n%s", seed, difference(x, y))
		}
	}
}

func TestLoadAnyOfOtherMachines(t *testing.T) {
	for _, name := range []string{"town-amd64", "town-386", "yard-amd64", "yard-386"} {
		file, err := os.ReadFile(filepath.Join("testdata", name+".world"))
		if err != nil {
			t.Fatal(err)
		}
		w, report := loadAny(t, file)
		if strings.HasPrefix(name, "yard") {
			if len(report.Dropped) == 0 {
				t.Errorf("%s: %+v", name, *report)
			}
			continue
		}
		n := newTown(t, false)
		load(t, n, file, store.Options{})
		if x, y := writeJSON(t, n.w, store.Options{}), writeJSON(t, w, store.Options{}); x != y {
			t.Errorf("%s: %s", name, difference(x, y))
		}
	}
}

type (
	celsius float32
	inner   struct {
		_    [3]byte
		A, b int8
		Wait time.Duration
	}
	// padded has gaps, a blank field, a field of size 0, nested types and a declared basic type.
	padded struct {
		Flag bool
		_    [3]int64
		Heat celsius
		celsius
		In  [2]inner
		To  vast.Entity
		end [0]func()
	}
	empty struct{}
	rich  struct {
		When   time.Time
		Each   map[time.Duration][]string
		Deep   map[vast.Entity]map[string]*int
		secret [2][]int16
	}
	score struct{ Points int }
	rank  struct{ Points int }
	total int
)

// TestLoadAnyKeepsLayout: the types that LoadAny makes have the layout and the field names of the saved
// types.
func TestLoadAnyKeepsLayout(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1000})
	defer w.Close()
	dense, none := vast.NewColumn[padded](w), vast.NewColumn[empty](w)
	sparse := vast.NewSparseColumn[padded](w).Named("sparse")
	number := vast.NewColumn[uint64](w).Named("number")
	roads := vast.NewEdges[padded](w, "roads", vast.EdgesOptions{OnDelete: vast.Cascade})
	links := vast.NewEdges[struct{}](w, "links", vast.EdgesOptions{})
	w.Archetype(dense, none, sparse, number).NewN(100, nil)
	var all []vast.Entity
	for e := range w.Query().All() {
		all = append(all, e)
	}
	for i, e := range all {
		v := padded{Flag: i%2 == 0, Heat: celsius(i), celsius: 2, To: all[(i*7)%len(all)]}
		v.end = [0]func(){}
		v.In[1] = inner{A: int8(i), b: -1, Wait: time.Second}
		dense.Set(e, v)
		v.Heat = -1
		sparse.Set(e, v)
		number.Set(e, uint64(i))
		roads.Add(e, all[(i*3)%len(all)], v)
		links.Add(e, all[(i*5)%len(all)], struct{}{})
	}
	file := saveWorld(t, w, store.Options{})
	any, _ := loadAny(t, file)
	for i, col := range probe.Columns(any) {
		own, made := probe.Describe(probe.Columns(w)[i]), probe.Describe(col)
		if own.Name != made.Name || own.Storage != made.Storage || own.Linked != made.Linked {
			t.Errorf("%+v\nwant\n%+v", made, own)
		}
		if own.Type.Size() != made.Type.Size() || own.Type.Align() != made.Type.Align() {
			t.Errorf("%s has %d bytes, want %d", own.Name, made.Type.Size(), own.Type.Size())
		}
		if own.Type == reflect.TypeFor[padded]() {
			for _, name := range []string{"Flag", "Heat", "celsius", "In", "To", "end"} {
				f, _ := own.Type.FieldByName(name)
				g, ok := made.Type.FieldByName(name)
				if !ok || f.Offset != g.Offset || f.Type.Size() != g.Type.Size() {
					t.Errorf("%+v, want %+v", g, f)
				}
			}
		}
	}
	var from, to []byte
	for run := range w.Query(dense).Runs() {
		from = append(from, probe.Bytes(dense, run)...)
	}
	made := probe.Columns(any)[columnNamed(t, any, "padded")]
	for run := range any.Query(made).Runs() {
		to = append(to, probe.Bytes(made, run)...)
	}
	if !bytes.Equal(from, to) {
		t.Error("the bytes of the elements differ")
	}
	if x, y := writeJSON(t, w, store.Options{}), writeJSON(t, any, store.Options{}); x != y {
		t.Error(difference(x, y))
	}
	if any.Delete(all[3]); any.Len() != 80 || any.Alive(all[1]) {
		t.Errorf("%d entities remain, want 80: the deletion cascades along the roads to 19 other entities",
			any.Len())
	}
}

func columnNamed(t *testing.T, w *vast.World, name string) int {
	t.Helper()
	i := slices.IndexFunc(probe.Columns(w), func(c vast.AnyColumn) bool { return c.Name() == name })
	if i < 0 {
		t.Fatalf("the world has no column %s", name)
	}
	return i
}

// TestLoadAnyOfHeapValues: LoadAny loads the components of a HeapColumn, and resources that are structs.
func TestLoadAnyOfHeapValues(t *testing.T) {
	number := store.CodecOf(func(b []byte, p **int) ([]byte, error) { return fmt.Append(b, **p), nil },
		func(b []byte, p **int) error {
			*p = new(int)
			_, err := fmt.Sscan(string(b), *p)
			return err
		})
	o := store.Options{Codecs: []store.Codec{number}, Resources: []reflect.Type{reflect.TypeFor[rank](),
		reflect.TypeFor[score](), reflect.TypeFor[total]()}}
	w := vast.NewWorld(vast.Options{MaxEntities: 1000})
	defer w.Close()
	heap := vast.NewHeapColumn[rich](w)
	e := w.Archetype(heap).New()
	seventeen := 17
	heap.Set(e, rich{time.Unix(9, 0).UTC(), map[time.Duration][]string{time.Hour: {"a", ""}},
		map[vast.Entity]map[string]*int{e: {"x": &seventeen}}, [2][]int16{{-5}, nil}})
	vast.SetResource(w, score{3})
	vast.SetResource(w, rank{4})
	vast.SetResource(w, total(5))
	file := saveWorld(t, w, o)
	any, report := loadAny(t, file)
	if want := []string{"github.com/vastgo/vast/store_test.total"}; !slices.Equal(report.Dropped, want) {
		t.Errorf("the report says that %v was dropped, want %v", report.Dropped, want)
	}
	o.Resources = o.Resources[:2]
	if x, y := writeJSON(t, w, o), writeJSON(t, any, resourcesOf(any)); x != y {
		t.Error(difference(x, y))
	}
	b := vast.NewWorld(vast.Options{MaxEntities: 1000})
	defer b.Close()
	again := vast.NewHeapColumn[rich](b)
	if _, err := store.Load(b, bytes.NewReader(saveWorld(t, any, resourcesOf(any))), o); err != nil {
		t.Fatal(err)
	}
	if x, y := heap.Get(e), again.Get(e); !reflect.DeepEqual(x, y) {
		t.Errorf("%v, want %v", y, x)
	}
	if s, r := vast.FindResource[score](b), vast.FindResource[rank](b); s.Points != 3 || r.Points != 4 {
		t.Error(s, r)
	}
}

// FuzzLoadAny: for a forged file, LoadAny returns an error or a world that Save can write.
func FuzzLoadAny(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{1, 2, 3, 4, 200, 3, 4, 1})
	f.Add(uint8(2), []byte{0, 2, 3, 1})
	files := make(map[uint8][]byte)
	f.Fuzz(func(t *testing.T, seed uint8, patches []byte) {
		seed %= 4
		if files[seed] == nil {
			n := newTown(t, false)
			n.live(uint64(seed), 300)
			files[seed] = save(t, n, store.Options{})
		}
		forged := bytes.NewReader(forge(files[seed], patches))
		w, _, err := store.LoadAny(forged, vast.Options{Limit: vm.NewLimit(64 << 20)})
		if err != nil {
			return
		}
		defer w.Close()
		if err := store.Save(w, new(bytes.Buffer), store.Options{}); err != nil {
			t.Error(err)
		}
	})
}
