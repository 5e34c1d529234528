package inspect

import (
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

func (a *memoryAnswer) area(t *testing.T, column, kind string) area {
	t.Helper()
	for _, one := range a.Areas {
		if one.Name == column && one.Kind == kind {
			return one
		}
	}
	t.Fatalf("there is no area of the %s of %q: %+v", kind, column, a.Areas)
	return area{}
}

func TestMemoryAddsUp(t *testing.T) {
	f := newFixture(t, Options{})
	f.see(t, func() { vast.NewTracker(f.w, f.position) })
	var m memoryAnswer
	f.get(t, "memory", &m)
	committed, end := 0, 0
	for i, a := range m.Areas {
		if a.From < end || a.From+a.Bytes > m.Bytes || a.Resident > a.Committed || a.Huge > a.Resident ||
			a.Committed > 0 && a.UsedFrom < a.From {
			t.Errorf("area %d is %+v, but the area before ends at %d", i, a, end)
		}
		end = a.From + a.Bytes
		committed += a.Committed
	}
	total, at := 0, 0
	for _, r := range m.Reservations {
		if r.From != at || !strings.HasPrefix(r.Address, "0x") {
			t.Errorf("the reservation %+v is not at %d", r, at)
		}
		at += r.Bytes
		total += r.Committed
	}
	// The sums agree, because the same visit reads the areas and the reservations.
	if committed != total || committed == 0 || at != m.Bytes {
		t.Errorf("%d bytes are committed in areas, and %d in reservations, which have %d bytes",
			committed, total, at)
	}
	entities, slots := 0, 0
	for _, a := range m.Archetypes {
		entities, slots = entities+a.Entities, slots+a.Slots
	}
	if entities != 1003 || slots > m.Slots || m.Archetypes[0].Entities != 1000 ||
		!slices.Equal(m.Archetypes[0].Columns, []string{"Position", "Velocity"}) {
		t.Errorf("the archetypes have %d entities, want 1003: %+v", entities, m.Archetypes)
	}
	kinds := make(map[string]bool)
	for _, a := range append(m.Areas, m.Own...) {
		kinds[a.Kind] = true
	}
	for _, k := range []string{"elements", "presence", "summaries", "generations", "owners", "live", "links",
		"levels", "written", "marks", "mark generations", "store", "heap"} {
		if !kinds[k] {
			t.Errorf("there is no area of the kind %s", k)
		}
	}
	if i := slices.IndexFunc(m.Purposes, func(p purpose) bool { return p.Purpose == "fixture" }); i < 0 ||
		m.Purposes[i].Committed < committed {
		t.Errorf("the purposes are %+v", m.Purposes)
	}
	facts := vm.ReadFacts()
	if m.PageSize != vm.PageSize() || m.Limits.HugeMode != facts.HugeMode ||
		m.Limits.MaxMappings != facts.MaxMappings {
		t.Errorf("the page size is %d, the limits are %+v", m.PageSize, m.Limits)
	}
}

func TestPlaces(t *testing.T) {
	f := newFixture(t, Options{})
	var m memoryAnswer
	f.get(t, "memory", &m)
	who := f.people[10]
	a := m.area(t, "Infected", "elements")
	at := a.First + int(who.Slot())*a.Stride
	for field, offset := range map[string]uintptr{
		"Stage": reflect.TypeFor[Infected]().Field(0).Offset,
		"Since": reflect.TypeFor[Infected]().Field(1).Offset,
		"Strain.Rates[1]": reflect.TypeFor[Infected]().Field(2).Offset +
			reflect.TypeFor[Strain]().Field(1).Offset + 8,
		"Source": reflect.TypeFor[Infected]().Field(3).Offset,
	} {
		var got placeAnswer
		f.get(t, fmt.Sprintf("memory/at?offset=%d", at+int(offset)), &got)
		if got.Field != field || got.Entity == nil || got.Entity.ID != who.String() || !got.Component ||
			got.FirstSlot != int(who.Slot()) || got.Slots != 1 ||
			got.Name != "Infected" || got.Kind != "elements" || got.Byte != int(offset) ||
			!strings.Contains(got.State, "committed") ||
			!slices.Equal(got.Archetype, []string{"Position", "Velocity"}) {
			t.Errorf("the answer for the field %s is %+v", field, got)
		}
	}
	// In the first word of live bits, only the bits of the three towns are set.
	a = m.area(t, "", "live")
	var got placeAnswer
	f.get(t, fmt.Sprintf("memory/at?offset=%d", a.First), &got)
	if got.Kind != "live" || got.FirstSlot != 0 || got.Slots != 64 || got.InUse != 3 || got.Entity != nil {
		t.Errorf("the answer for the first word is %+v", got)
	}
	a = m.area(t, "Position", "elements")
	f.get(t, fmt.Sprintf("memory/at?offset=%d", a.First+int(f.hostile.Slot())*a.Stride), &got)
	if got.Entity == nil || got.Entity.Name != hostileName || got.Field != "X" {
		t.Errorf("the answer for the town with the hostile name is %+v", got)
	}
	for _, query := range []string{"", "offset=", "offset=-1", "offset=x", "offset=99999999999999999999"} {
		f.refused(t, http.StatusBadRequest, "GET", "memory/at?"+query, "", "")
	}
	f.refused(t, http.StatusNotFound, "GET", fmt.Sprintf("memory/at?offset=%d", m.Bytes), "", "")
}

func TestWords(t *testing.T) {
	f := newFixture(t, Options{})
	var w wordAnswer
	f.get(t, "memory/word?slot=2", &w)
	columns := make(map[string]presence)
	for _, c := range w.Columns {
		columns[c.Name] = c
	}
	if w.Word != 0 || w.First != 0 || w.Live != "0000000000000007" || len(w.Slots) != 64 || !w.Owned ||
		w.ExtentSlots != 64 || !slices.Equal(w.Archetype, []string{"Position"}) {
		t.Errorf("the word is %+v", w)
	}
	if columns["Position"].Slots != "0000000000000007" || columns["Road"].Slots != "0000000000000001" ||
		columns["Ship"].Slots != "0000000000000002" ||
		columns["Name"].Slots != "0000000000000007" || columns["ChildOf"].Slots != "0000000000000002" ||
		!columns["ChildOf targets"].Private || columns["Dead"].Name != "" {
		t.Errorf("the columns are %+v", columns)
	}
	if s := w.Slots[1]; !s.Alive || s.ID != f.london.String() || s.Name != "London" || s.Uses != 1 ||
		s.Slot != 1 {
		t.Errorf("slot 1 is %+v", s)
	}
	if s := w.Slots[5]; s.Alive || s.ID != "" || s.Uses != 0 {
		t.Errorf("slot 5 is %+v", s)
	}
	f.see(t, func() { f.w.Delete(f.hostile) })
	f.get(t, "memory/word?slot=63", &w)
	if s := w.Slots[2]; s.Alive || s.Uses != 1 || w.Live != "0000000000000003" {
		t.Errorf("slot 2 is %+v after its entity was deleted", s)
	}
	// No archetype owns the last word.
	f.get(t, fmt.Sprintf("memory/word?slot=%d", 1<<14-1), &w)
	if w.Owned || w.Live != "0000000000000000" || len(w.Columns) != 0 || w.Word != 255 {
		t.Errorf("the last word is %+v", w)
	}
	for _, query := range []string{"", "slot=-1", "slot=1.1", "slot=4294967296"} {
		f.refused(t, http.StatusBadRequest, "GET", "memory/word?"+query, "", "")
	}
	f.refused(t, http.StatusNotFound, "GET", "memory/word?slot=16384", "", "")
}

func TestBytes(t *testing.T) {
	f := newFixture(t, Options{})
	ids := make(map[string]int)
	f.see(t, func() {
		for _, c := range probe.Columns(f.w) {
			ids[c.Name()] = probe.Describe(c).ID
		}
	})
	get := func(e vast.Entity, column string) (b bytesAnswer) {
		f.get(t, fmt.Sprintf("memory/bytes?slot=%d&column=%d", e.Slot(), ids[column]), &b)
		return b
	}
	b := get(f.people[10], "Infected")
	var texts []string
	for _, p := range b.Parts {
		texts = append(texts, p.Path+"="+p.Text)
	}
	want := "Stage=Severe Since=10 Strain.Number=3 Strain.Rates[0]=0 Strain.Rates[1]=0 Strain.Rates[2]=0 " +
		"Source=" + f.people[0].String()
	size, since := int(reflect.TypeFor[Infected]().Size()), int(reflect.TypeFor[Infected]().Field(1).Offset)
	if strings.Join(texts, " ") != want || b.Size != size || b.Cut || b.Entity.ID != f.people[10].String() ||
		b.Storage != "dense" || b.Type != "inspect.Infected" {
		t.Errorf("the bytes are %+v", b)
	}
	raw, err := hex.DecodeString(b.Hex)
	if err != nil || len(raw) != size || raw[0] != byte(Severe) || raw[since] != 10 {
		t.Errorf("the bytes are %q: %v", b.Hex, err)
	}
	var at placeAnswer
	f.get(t, fmt.Sprintf("memory/at?offset=%d", b.From+since), &at)
	if at.Field != "Since" || at.Entity == nil || at.Entity.ID != f.people[10].String() {
		t.Errorf("the answer for the field Since is %+v", at)
	}
	if b = get(f.london, "Ship"); b.From != -1 || b.Size != 260 || len(b.Hex) != 520 ||
		b.Parts[0].Text != "7" || len(b.Parts) != 65 {
		t.Errorf("a sparse component is %+v", b)
	}
	if b = get(f.paris, "Note"); b.Hex != "" || len(b.Parts) != 0 || b.Storage != "heap" {
		t.Errorf("a component on the Go heap is %+v", b)
	}
	if b = get(f.people[0], "Dead"); b.Hex != "" || b.Size != 0 {
		t.Errorf("a tag is %+v", b)
	}
	if b = get(f.paris, "Road"); b.Size == 0 || len(b.Hex) != 2*b.Size || b.Cut || len(b.Parts) == 0 ||
		b.From < 0 {
		t.Errorf("a list of edges is %+v", b)
	}
	if b = get(f.london, "ChildOf"); len(b.Parts) != 1 || b.Parts[0].Text != f.paris.String() ||
		b.Parts[0].Kind != "entity" {
		t.Errorf("a link is %+v", b)
	}
	for _, query := range []string{"", "slot=1", "column=1", "slot=x&column=1", "slot=1&column=-1"} {
		f.refused(t, http.StatusBadRequest, "GET", "memory/bytes?"+query, "", "")
	}
	for _, query := range []string{"slot=1&column=99", "slot=60&column=0",
		fmt.Sprintf("slot=0&column=%d", ids["Ship"])} {
		f.refused(t, http.StatusNotFound, "GET", "memory/bytes?"+query, "", "")
	}
}

func TestTextsOfFields(t *testing.T) {
	for want, v := range map[string]any{
		"Mild": Mild, "-3": int8(-3), "250": uint8(250), "0.1": float32(0.1), "NaN": math.NaN(),
		"-Inf": math.Inf(-1), "true": true,
		"18446744073709551615": uint64(math.MaxUint64), "(1+2i)": 1 + 2i, "7.1": vast.EntityOf(1<<32 | 7),
		strings.Repeat("ä", 60) + "…": strings.Repeat("ä", 200),
	} {
		if got := textOf(reflect.ValueOf(v)); got != want {
			t.Errorf("the text of %v is %q, want %q", v, got, want)
		}
	}
}
