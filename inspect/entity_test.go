package inspect

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

func (a *entityAnswer) fieldAt(t *testing.T, column, path string) *value.Field {
	t.Helper()
	for _, c := range a.Components {
		if c.Column == column {
			return c.fieldAt(t, path)
		}
	}
	t.Fatalf("entity %s has no component %s", a.ID, column)
	return nil
}

func (one *component) fieldAt(t *testing.T, path string) *value.Field {
	t.Helper()
	var find func(f *value.Field) *value.Field
	find = func(f *value.Field) *value.Field {
		if f.Path == path {
			return f
		}
		for i := range f.Parts {
			if found := find(&f.Parts[i]); found != nil {
				return found
			}
		}
		return nil
	}
	f := find(one.Value)
	if f == nil {
		t.Fatalf("component %s has no field %s", one.Column, path)
	}
	return f
}

func TestEntity(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	var e entityAnswer
	f.get(t, "entities/"+f.people[0].String(), &e)
	if e.ID != f.people[0].String() || !e.Alive || e.Name != "" || e.Slot != int(f.people[0].Slot()) ||
		e.Generation != 1 {
		t.Errorf("%+v", e)
	}
	var names []string
	for _, c := range e.Components {
		names = append(names, c.Column+" "+c.Storage)
	}
	want := []string{"Position dense", "Velocity dense", "Infected dense", "Dead tag"}
	if !slices.Equal(names, want) {
		t.Errorf("components %q, want %q", names, want)
	}
	if v := e.fieldAt(t, "Position", ""); v.Kind != value.Vector || v.Size != 8 || len(v.Parts) != 2 {
		t.Errorf("%+v", v)
	}
	if v := e.fieldAt(t, "Velocity", "Y"); v.Value != 1.0 || v.Offset != 4 || !v.Editable {
		t.Errorf("%+v", v)
	}
	if v := e.fieldAt(t, "Infected", "Stage"); v.Kind != value.Enum || v.Text != "Mild" ||
		len(e.Components[2].Choices[v.Choices]) != 2 {
		t.Errorf("%+v %v", v, e.Components[2].Choices)
	}
	if v := e.fieldAt(t, "Infected", "Source"); v.Value != e.ID || v.Entity == nil || !v.Entity.Alive ||
		v.Entity.Name != "" {
		t.Errorf("%+v %+v", v, v.Entity)
	}
	if c := e.Components[3]; c.Value != nil || c.Editable || c.Size != 0 {
		t.Errorf("the component of a tag is %+v", c)
	}
	links := []linkList{{"ChildOf", 7, "relation", "out", 1, []linkEnd{{f.paris.String(), "Paris", ""}}}}
	if !reflect.DeepEqual(e.Links, links) {
		t.Errorf("links %+v", e.Links)
	}

	f.see(t, func() {
		base := uintptr(unsafe.Pointer(f.infected.Get(f.people[0])))
		p := e.Components[2].Place
		if p == nil || p.Address != fmt.Sprintf("0x%x", base) || p.Bytes != e.Components[2].Size ||
			probe.Reservations(f.w)[p.Reservation].Address()+uintptr(p.Offset) != base {
			t.Errorf("%+v, want %#x", p, base)
		}
	})
	if a := e.Address; a.Slot != e.Slot || a.Word != e.Slot/64 || a.Bit != e.Slot%64 || a.Extent > a.Slot ||
		a.Extent+a.Slots <= a.Slot || a.Entities == 0 ||
		!slices.Equal(e.Archetype, []string{"Position", "Velocity"}) {
		t.Errorf("address %+v, archetype %q", a, e.Archetype)
	}

	var paris entityAnswer
	f.get(t, "entities/"+f.paris.String(), &paris)
	if v := paris.fieldAt(t, "Note", "Tags[1]"); v.Value != hostileName || v.Offset != -1 {
		t.Errorf("%+v", v)
	}
	if paris.Name != "Paris" || len(paris.Links) != 2 || paris.Links[0].Total != 335 ||
		paris.Links[0].Direction != "in" || len(paris.Links[0].Ends) != 0 ||
		paris.Links[1].Ends[0] != (linkEnd{f.london.String(), "London", "{Length:344}"}) {
		t.Errorf("%+v", paris.Links)
	}
	var london entityAnswer
	f.get(t, "entities/"+f.london.String(), &london)
	if v := london.fieldAt(t, "Ship", "Decks"); v.Offset != 4 || len(v.Parts)+v.More != 64 ||
		london.Links[2].Direction != "in" {
		t.Errorf("%+v %+v", v, london.Links)
	}

	f.refused(t, http.StatusBadRequest, "GET", "entities/x", "", "")
	f.refused(t, http.StatusBadRequest, "GET", "entities/99999999999999999999.1", "", "")
	for _, id := range []string{"0.2", "0.0", "16000.1", "2147483647.4294967295"} {
		p := f.refused(t, http.StatusGone, "GET", "entities/"+id, "", "")
		if p.Message != "entity "+id+" is no longer alive" {
			t.Error(p.Message)
		}
	}
}

// TestEntityIsCopied reads an entity while systems write to it. With -race, the test fails if the inspector
// reads a component outside of Inspector.look.
func TestEntityIsCopied(t *testing.T) {
	f := newFixture(t, Options{})
	for range 30 {
		var e entityAnswer
		f.get(t, "entities/"+f.people[1].String(), &e)
		if x := e.fieldAt(t, "Position", "X"); x.Value != 1.0 || x.Editable {
			t.Fatalf("%+v", x)
		}
	}
}

// TestEntityTopic checks that the stream sends new values, and an error after the entity is deleted.
func TestEntityTopic(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", f.at(prefix+"stream?topic=entity:"+f.people[1].String()),
		nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var ys []any
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			if event, ok := strings.CutPrefix(lines.Text(), "event: "); ok &&
				event != "entity:"+f.people[1].String() {
				t.Fatal(event)
			}
			continue
		}
		var e struct {
			entityAnswer
			Error *problem
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatal(err)
		}
		if e.Error != nil {
			if e.Error.Code != "stale" || len(ys) < 2 {
				t.Fatalf("%+v after %v", e.Error, ys)
			}
			if ys[0] == ys[1] {
				t.Errorf("the position stays at %v", ys)
			}
			return
		}
		ys = append(ys, e.fieldAt(t, "Position", "Y").Value)
		if len(ys) == 2 {
			f.see(t, func() { f.w.Delete(f.people[1]) })
		}
	}
	t.Fatal(lines.Err())
}

func TestChildren(t *testing.T) {
	f := newFixture(t, Options{})
	var want []string
	f.see(t, func() {
		for e := range f.childOf.Sources(f.paris) {
			want = append(want, e.String())
		}
	})
	base := "entities/" + f.paris.String() + "/children"
	var got []string
	for len(got) < len(want) {
		var a childrenAnswer
		f.get(t, fmt.Sprintf("%s?offset=%d&limit=100&relation=ChildOf", base, len(got)), &a)
		if a.Total != len(want) || a.Offset != len(got) || a.Relation != "ChildOf" || len(a.Rows) == 0 {
			t.Fatalf("%+v", a)
		}
		for _, row := range a.Rows {
			got = append(got, row.ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("children %v, want %v", got, want)
	}
	var a childrenAnswer
	f.get(t, base+"?limit=2", &a) // the first child is London
	if r := a.Rows[0]; r.ID != f.london.String() || r.Name != "London" || r.Children != 333 ||
		!slices.Equal(r.Has, []string{"Position", "Ship", "Name"}) {
		t.Errorf("%+v", r)
	}
	f.get(t, base+"?limit=3&after="+want[200], &a)
	if len(a.Rows) != 3 || a.Rows[0].ID != want[201] || a.Offset != -1 {
		t.Errorf("%+v", a)
	}
	f.get(t, base+"?offset=1000", &a)
	if len(a.Rows) != 0 || a.Total != len(want) {
		t.Errorf("%+v", a)
	}
	f.get(t, "entities/"+f.people[3].String()+"/children", &a)
	if len(a.Rows) != 0 || a.Total != 0 || a.Relation != "ChildOf" {
		t.Errorf("%+v", a)
	}
	for path, status := range map[string]int{
		"?limit=0": 400, "?limit=501": 400, "?offset=-1": 400, "?offset=x": 400, "?relation=Position": 400,
		"?relation=Nothing": 404, "?relation=99": 404, "?after=77": 400, "?after=0.9": 410,
		"?offset=1&after=" + want[0]: 400, "?after=" + f.paris.String(): 404,
	} {
		f.refused(t, status, "GET", base+path, "", "")
	}
}

// TestChildrenOfMany needs several calls of k.look. The deletion of k.last must restart the walk.
func TestChildrenOfMany(t *testing.T) {
	f := newFixtureOf(t, Options{}, 10_000)
	k := childrenReader{in: f.Inspector, id: f.paris.String(), limit: 5, atOnce: 1000}
	k.answer.Offset = 3000
	looks := 0
	for done := false; !done; looks++ {
		f.see(t, func() {
			if looks == 2 {
				f.w.Delete(k.last)
			}
			done = k.look()
		})
	}
	var want vast.Entity
	f.see(t, func() {
		i := 0
		for e := range f.childOf.Sources(f.paris) {
			if i++; i == 3001 {
				want = e
				break
			}
		}
	})
	if k.err != nil || k.restarts != 1 || looks < 6 || len(k.answer.Rows) != 5 ||
		k.answer.Rows[0].ID != want.String() {
		t.Errorf("the error is %v; %d calls of look, want at least 6; %d restarts, want 1; %+v, "+
			"want first %v", k.err, looks, k.restarts, k.answer, want)
	}
}

func TestNames(t *testing.T) {
	f := newFixture(t, Options{})
	for text, want := range map[string][]string{
		"": {"Paris", "London", hostileName}, "pA": {"Paris"}, "London": {"London"}, "<img": {hostileName},
		"x": {}, "Lond\x00": {},
	} {
		var a struct{ Names []nameAnswer }
		f.get(t, "names?prefix="+url.QueryEscape(text), &a)
		got := []string{}
		for _, n := range a.Names {
			got = append(got, n.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var a struct{ Names []nameAnswer }
	f.get(t, "names?limit=1", &a)
	if len(a.Names) != 1 || a.Names[0] != (nameAnswer{"Paris", "", f.paris.String()}) {
		t.Errorf("%+v", a)
	}
	f.refused(t, http.StatusBadRequest, "GET", "names?limit=51", "", "")
	f.refused(t, http.StatusBadRequest, "GET", "names?prefix="+strings.Repeat("x", 300), "", "")
}

// towns is a Namer that gives one entity the name Town. Its method Suggest ignores the limit.
type towns struct{ e vast.Entity }

func (n towns) Name(e vast.Entity) (string, bool)    { return "Town", e == n.e }
func (n towns) Find(name string) (vast.Entity, bool) { return n.e, name == "Town" }
func (n towns) Suggest(prefix string, most int) (s []Suggestion) {
	for i := range 100 {
		s = append(s, Suggestion{Name: fmt.Sprint(prefix, i), Detail: strings.Repeat("é", 500), Entity: n.e})
	}
	return s
}

func TestNamesOfAProgram(t *testing.T) {
	f := newFixture(t, Options{Names: towns{vast.EntityOf(0)}})
	var a struct{ Names []nameAnswer }
	f.get(t, "names?prefix=T", &a)
	if len(a.Names) != 10 || a.Names[9].Name != "T9" || len(a.Names[9].Detail) > maxName+3 {
		t.Errorf("%+v", a)
	}
	var e entityAnswer
	f.get(t, "entities/"+f.paris.String(), &e)
	if e.Name != "" {
		t.Errorf("the name is %q", e.Name)
	}
}

func TestNamesInSeveralLooks(t *testing.T) {
	f := newFixtureOf(t, Options{}, 9000)
	f.see(t, func() {
		for i, e := range f.people {
			if _, err := f.names.Set(e, fmt.Sprintf("person %d", i)); err != nil {
				t.Fatal(err)
			}
		}
	})
	var a struct{ Names []nameAnswer }
	f.get(t, "names?prefix=PERSON+8999", &a)
	if len(a.Names) != 1 || a.Names[0].ID != f.people[8999].String() {
		t.Errorf("%+v", a)
	}
	f.get(t, "names?prefix=person+1&limit=50", &a)
	if len(a.Names) != 50 || a.Names[0].Name != "person 1" {
		t.Errorf("%+v", a)
	}
}
