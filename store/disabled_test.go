package store_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/store"
)

// dormitory is a world with entities that are switched off, and with components that are switched off.
type dormitory struct {
	w         *vast.World
	age       vast.Column[age]
	off, mute vast.Disabled
	es        []vast.Entity
}

func newDormitory(t *testing.T, name string) *dormitory {
	w := vast.NewWorld(vast.Options{Name: name, MaxEntities: 1 << 14, Mark: 7})
	t.Cleanup(func() { w.Close() })
	d := &dormitory{w: w, age: vast.NewColumn[age](w)}
	d.off, d.mute = vast.NewDisabled(w, "off"), vast.NewDisabled(w, "mute", d.age)
	return d
}

// fill makes entities, disables all of them one by one, and enables some again. So some words of the tag off
// become full, and some become empty again. fill also disables the age of every fifth entity.
func (d *dormitory) fill(n int) {
	d.w.Archetype(d.age).NewN(n, func(r vast.Run) {
		for i, e := range r.All() {
			d.age.Slice(r)[i].Days = int16(i)
			d.es = append(d.es, e)
		}
	})
	for i, e := range d.es {
		d.off.Disable(e)
		if i%5 == 0 {
			d.mute.Disable(e)
		}
	}
	for i, e := range d.es {
		if i < 128 || i > 2000 && i%3 > 0 {
			d.off.Enable(e)
		}
	}
}

// TestDisabledIsSaved: a world with disabled entities equals its saved file after Load, and the summaries of
// its tags are exact.
func TestDisabledIsSaved(t *testing.T) {
	a, b := newDormitory(t, "a"), newDormitory(t, "b")
	a.fill(6000)
	file := saveWorld(t, a.w, store.Options{})
	if _, err := store.Load(b.w, bytes.NewReader(file), store.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := store.Compare(b.w, bytes.NewReader(file), store.Options{}); err != nil {
		t.Error(err)
	}
	for _, q := range [][2]vast.Query{{a.w.Query(), b.w.Query()}, {a.w.Query(a.age), b.w.Query(b.age)},
		{a.w.Query(a.off), b.w.Query(b.off)}, {a.w.Query(a.mute), b.w.Query(b.mute)},
		{a.w.Query().Without(a.age), b.w.Query().Without(b.age)}} {
		x, y := slices.Collect(q[0].All()), slices.Collect(q[1].All())
		if !slices.Equal(x, y) || len(x) == 0 {
			t.Errorf("a query matches %d entities, and %d after Load", len(x), len(y))
		}
	}
	parts := probing.Vast.(interface {
		Parts(w *vast.World, add func(vast.AnyColumn, probing.Part))
	})
	checked := 0
	parts.Parts(b.w, func(col vast.AnyColumn, p probing.Part) {
		if col == nil || p.Kind != probing.KindPresence || p.Set == nil || !probe.Describe(col).Disabled {
			return
		}
		checked++
		for word := range uint(p.Set.Len() / 64) {
			any, full := p.Set.Block(word / 64)
			bits := p.Set.Word(word)
			if any>>(word%64)&1 != 0 != (bits != 0) || full>>(word%64)&1 != 0 != (bits == ^uint64(0)) {
				t.Fatalf("%s: the summary of word %d is not exact", col.Name(), word)
			}
		}
	})
	if checked != 2 {
		t.Errorf("%d tags were checked, want 2", checked)
	}
	b.off.Disable(b.w.Archetype(b.age).New())
	if b.w.Query(b.off).Count() != a.w.Query(a.off).Count()+1 {
		t.Error("an entity of the loaded world cannot be disabled")
	}
}

// TestLoadAnyDisabled: without the program, the tags of Disabled still switch entities and components off.
func TestLoadAnyDisabled(t *testing.T) {
	a := newDormitory(t, "a")
	a.fill(300)
	file := saveWorld(t, a.w, store.Options{})
	w, _ := loadAny(t, file)
	cols := probe.Columns(w)
	off, mute := probe.Describe(cols[1]), probe.Describe(cols[2])
	if !off.Disabled || off.Disables != nil || !mute.Disabled || !slices.Equal(mute.Disables, []int{0}) {
		t.Errorf("the tags are %+v and %+v", off, mute)
	}
	if n, want := w.Query(cols[0]).Count(), a.w.Query(a.age).Count(); n != want || want == 0 {
		t.Errorf("a query matches %d entities, want %d", n, want)
	}
	if again := saveWorld(t, w, store.Options{}); !bytes.Contains(again, []byte(`"disables":[0]`)) {
		t.Error("the tags are lost when the world is saved again")
	}
}

// TestDisabledInDocuments: documents and parcels hold disabled entities, and Take deletes them.
func TestDisabledInDocuments(t *testing.T) {
	a, b := newDormitory(t, "a"), newDormitory(t, "b")
	a.fill(200)
	text := writeJSON(t, a.w, store.Options{})
	if n := strings.Count(text, `"Days"`) + strings.Count(text, `"days"`); n < 200 {
		t.Errorf("the document has %d ages, want 200", n)
	}
	readJSON(t, b.w, text, store.Options{})
	if b.w.Len() != 200 || b.off.Len() != a.off.Len() || b.mute.Len() != a.mute.Len() {
		t.Errorf("%d entities were read, %d and %d of them disabled", b.w.Len(), b.off.Len(), b.mute.Len())
	}
	from, to := packer(t, a.w, store.Options{}), packer(t, b.w, store.Options{})
	parcel, err := from.Take(nil, a.es)
	if err != nil || a.w.Len() != 0 {
		t.Fatalf("Take leaves %d entities: %v", a.w.Len(), err)
	}
	if es := unpack(t, to, parcel); len(es) != 200 || !b.off.Has(es[150]) || !b.mute.Has(es[5]) {
		t.Errorf("%d entities were unpacked", len(es))
	}
}
