package shared_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/sharing"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/shared"
	"github.com/vastgo/vast/store"
)

// save returns the world as a file.
func save(t *testing.T, w *vast.World) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := store.Save(w, &file, store.Options{}); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func load(t *testing.T, w *vast.World, file []byte) *store.Report {
	t.Helper()
	r, err := store.Load(w, bytes.NewReader(file), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// colorOnly is an older or a newer form of material.
type colorOnly struct{ Color uint32 }

func TestConvertedTypes(t *testing.T) {
	w, c, all := newWorld(t, 100)
	c.SetAll(w.Query().Among(all[:40]), steel)
	c.SetAll(w.Query().Among(all[40:60]), material{steel.Color, 0.75})
	c.SetAll(w.Query().Among(all[60:80]), material{0, 0.25})
	file := save(t, w)

	// Without the gloss, the first two values become equal, and the third value becomes the zero value.
	less := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	defer less.Close()
	colors := shared.New[colorOnly](less).Named("material")
	load(t, less, file)
	if got, want := values(colors), (map[colorOnly]int{{steel.Color}: 60, {}: 40}); !maps.Equal(got, want) {
		t.Errorf("Values yields %v, want %v", got, want)
	}
	for _, e := range all[:60] {
		if v, ok := colors.Get(e); !ok || v.Color != steel.Color {
			t.Fatalf("%v has %v, %t", e, v, ok)
		}
	}
	colors.Set(all[0], colorOnly{7})
	mustBe(t, "entities with the merged value",
		colors.Where(less.Query(), colorOnly{steel.Color}).Count(), 59)

	more := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	defer more.Close()
	full := shared.New[material](more)
	load(t, more, save(t, less))
	mustBe(t, "an added field is zero", full.Where(more.Query(), material{Color: 7}).Count(), 1)
}

// TestReplay checks that a loaded world gives new values the numbers that the saved world gives them.
func TestReplay(t *testing.T) {
	step := func(w *vast.World, c shared.Column[material], all []vast.Entity, i int) {
		for k := range 7 {
			c.Set(all[(i*13+k*5)%len(all)], material{uint32(i*7 + k), 1})
		}
		if i%50 == 0 {
			c.Replace(material{uint32(i * 7), 1}, material{1, 1})
		}
	}
	w, c, all := newWorld(t, 50)
	for i := range 321 {
		step(w, c, all, i)
	}
	again := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	defer again.Close()
	other := shared.New[material](again)
	load(t, again, save(t, w))
	for i := 321; i < 1000; i++ {
		step(w, c, all, i)
		step(again, other, all, i)
		if i%97 == 0 {
			if err := store.Compare(again, bytes.NewReader(save(t, w)), store.Options{}); err != nil {
				t.Fatalf("after step %d: %v", i, err)
			}
		}
	}
	if !bytes.Equal(save(t, w), save(t, again)) {
		t.Error("the files differ")
	}
}

func TestWithoutTheProgram(t *testing.T) {
	w, c, all := newWorld(t, 20)
	c.SetAll(w.Query().Among(all[:5]), steel)
	file := save(t, w)
	any, _, err := store.LoadAny(bytes.NewReader(file), vast.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer any.Close()
	col := probe.Columns(any)[0]
	if s := probe.Describe(col).Storage; s != probe.StorageShared {
		t.Errorf("the storage is %v", s)
	}
	v, ok := probe.Value(col, all[3])
	if !ok || uint32(v.FieldByName("Color").Uint()) != steel.Color {
		t.Errorf("Value returns %+v, %t", v, ok)
	}
	// A write changes one entity.
	other, _ := probe.Value(col, all[9])
	probe.SetValue(col, all[3], other)
	if v, _ := probe.Value(col, all[2]); uint32(v.FieldByName("Color").Uint()) != steel.Color {
		t.Errorf("another entity has %v", v)
	}
	var again bytes.Buffer
	if err := store.Save(any, &again, store.Options{}); err != nil {
		t.Fatal(err)
	}
	back := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
	defer back.Close()
	typed := shared.New[material](back)
	load(t, back, again.Bytes())
	mustBe(t, "entities with the value", typed.Where(back.Query(), steel).Count(), 4)
}

func TestJSON(t *testing.T) {
	w, c, all := newWorld(t, 20)
	c.SetAll(w.Query().Among(all[:5]), steel)
	c.SetAll(w.Query().Among(all[5:7]), wood)
	var doc bytes.Buffer
	if err := store.WriteJSON(w, &doc, store.Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.String(), `"Gloss": 0.5`) {
		t.Errorf("the document has no values: %.300s", doc.String())
	}
	// The document adds its entities to a world that has other numbers for the values.
	to, other, _ := newWorld(t, 3)
	other.SetAll(to.Query(), wood)
	if _, err := store.ReadJSON(to, &doc, store.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := values(other), (map[material]int{wood: 5, steel: 5, {}: 13}); !maps.Equal(got, want) {
		t.Errorf("Values yields %v, want %v", got, want)
	}
}

func TestParcel(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	c := shared.New[leader](w)
	a := w.Archetype(c)
	first, second := a.New(), a.New()
	c.Set(first, leader{second, 1})
	c.Set(second, leader{second, 1})
	from, err := store.NewPacker(w, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	parcel, err := from.Pack(nil, []vast.Entity{first, second})
	if err != nil {
		t.Fatal(err)
	}
	to := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer to.Close()
	there := shared.New[leader](to)
	there.Add(to.Archetype().New(), leader{Since: 9})
	packer, err := store.NewPacker(to, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	es, err := packer.Unpack(parcel)
	if err != nil {
		t.Fatal(err)
	}
	want := map[leader]int{{es[1], 1}: 2, {Since: 9}: 1}
	if got := values(there); !maps.Equal(got, want) {
		t.Errorf("Values yields %v, want %v", got, want)
	}
}

// TestForgedFile checks that Load refuses a number without a value.
func TestForgedFile(t *testing.T) {
	for _, number := range []uint32{2, 3, 64, 1 << 20, 1<<32 - 1} {
		w, c, all := newWorld(t, 10)
		c.Set(all[0], steel)
		cells := sharing.Vast.(interface {
			Cells(vast.AnyColumn) sharing.Cells
		}).Cells(c)
		*(*uint32)(unsafe.Add(cells.Base, all[4].Slot()*4)) = number
		var file bytes.Buffer
		if err := store.Save(w, &file, store.Options{}); err != nil {
			t.Fatal(err)
		}
		*(*uint32)(unsafe.Add(cells.Base, all[4].Slot()*4)) = 0
		to := vast.NewWorld(vast.Options{MaxEntities: 1 << 14})
		shared.New[material](to)
		if _, err := store.Load(to, &file, store.Options{}); err == nil ||
			!strings.Contains(err.Error(), "which has no value") {
			t.Errorf("number %d: Load returns %v", number, err)
		}
		if err := to.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOtherStorage(t *testing.T) {
	w, _, _ := newWorld(t, 1)
	to := vast.NewWorld(vast.Options{})
	defer to.Close()
	vast.NewColumn[material](to)
	_, err := store.Load(to, bytes.NewReader(save(t, w)), store.Options{})
	if err == nil || !strings.Contains(err.Error(), "is a shared.Column in the file and a Column") {
		t.Errorf("Load returns %v", err)
	}
}
