package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/vm"
)

func (f *fixture) change(t *testing.T, method, path, body string) (a editAnswer) {
	t.Helper()
	status, text := f.do(t, method, prefix+path, f.options.Token, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s %s: %d %s", method, path, body, status, text)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestOptionsEdit(t *testing.T) {
	var f *fixture
	var edits [][]byte
	failure := errors.New("the disk is full")
	var fails atomic.Bool
	f = newFixture(t, Options{ReadWrite: true,
		Edit: func(ctx context.Context, edit []byte) error {
			if fails.Load() {
				return failure
			}
			edits = append(edits, bytes.Clone(edit))
			applied := make(chan bool, 1)
			go func() { // the program applies the edit in a later tick
				_ = f.w.Visit(context.Background(), func() bool {
					_ = Apply(f.w, edit)
					_ = Apply(f.w, edit) // a repeated call, whose outcome no request awaits
					return true
				})
				applied <- true
			}()
			if len(edits)%2 == 0 {
				<-applied
			}
			return nil
		}})
	other := newFixture(t, Options{})
	e := f.people[1]
	base := "entities/" + e.String()
	f.get(t, base, new(entityAnswer))
	for _, edit := range [][3]string{
		{"PATCH", "/components/Position", `{"path":"X","value":-2.5}`},
		{"POST", "/components/Dead", ""},
		{"PATCH", "/components/ChildOf", `{"value":"London"}`},
		{"POST", "/components/Infected", `{"value":{"Since":7,"Source":"London"}}`},
		{"DELETE", "/components/Dead", ""},
	} {
		f.change(t, edit[0], base+edit[1], edit[2])
	}
	f.see(t, func() {
		if p, i := f.position.Get(e), f.infected.Get(e); p.X != -2.5 || i == nil || i.Source != f.london {
			t.Errorf("%+v, %+v", p, i)
		}
	})
	for _, edit := range [][3]string{ // the inspector or Apply refuses these edits
		{"PATCH", "/components/Position", `{"path":"Q","value":1}`},
		{"PATCH", "/components/ChildOf", `{"value":"Nowhere"}`},
		{"POST", "/components/Infected", `{"value":{"Since":7}}`},
		{"PATCH", "/components/Dead", `{"value":1}`},
	} {
		status, text := f.do(t, edit[0], prefix+base+edit[1], f.options.Token, edit[2])
		if status < 400 || status > 409 {
			t.Errorf("%v: %d %s", edit, status, text)
		}
	}
	if len(edits) != 6 {
		t.Errorf("%d edits were recorded, want 6", len(edits))
	}
	fails.Store(true)
	status, text := f.do(t, "DELETE", prefix+base, f.options.Token, "")
	if status != http.StatusInternalServerError || !strings.Contains(string(text), failure.Error()) {
		t.Errorf("%d %s", status, text)
	}
	fails.Store(false)
	var gone struct{ Deleted int }
	if status, text := f.do(t, "DELETE", prefix+base, f.options.Token, ""); status != http.StatusOK ||
		json.Unmarshal(text, &gone) != nil || gone.Deleted != 1 {
		t.Errorf("%d %s", status, text)
	}
	other.see(t, func() { // the world of other has the same entities
		for i, edit := range edits {
			// Edit 5 adds Infected to an entity that has it.
			if err := Apply(other.w, edit); (err != nil) != (i == 5) {
				t.Errorf("replay of edit %s: %v", edit, err)
			}
			if i == 4 {
				p, n := other.position.Get(other.people[1]), other.infected.Get(other.people[1])
				if p.X != -2.5 || n == nil || n.Source != other.london {
					t.Errorf("%+v, %+v", p, n)
				}
			}
		}
		if other.w.Alive(other.people[1]) {
			t.Error("the deleted entity is alive")
		}
		for _, edit := range []string{"", "{}", `{"do":"set","entity":"1.1","column":"No"}`,
			`{"do":"fly","entity":"` + other.people[2].String() + `","column":"Position"}`} {
			if err := Apply(other.w, []byte(edit)); err == nil {
				t.Errorf("Apply accepts %q", edit)
			}
		}
	})
}

func TestEditThatIsNeverCarriedOut(t *testing.T) {
	t.Parallel()
	for _, edit := range []func(context.Context, []byte) error{
		func(context.Context, []byte) error { return nil },
		func(ctx context.Context, _ []byte) error {
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		f := newFixture(t, Options{ReadWrite: true, Patience: 300 * time.Millisecond, Edit: edit})
		status, text := f.do(t, "DELETE", prefix+"entities/"+f.people[1].String(), f.options.Token, "")
		if status != http.StatusServiceUnavailable || !strings.Contains(string(text), "notAdmitted") {
			t.Errorf("%d %s", status, text)
		}
	}
}

func TestApplyWithoutMemory(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := vast.NewWorld(vast.Options{Limit: limit})
	defer w.Close()
	type Cargo struct{ Tons [1000]int64 }
	cargo := vast.NewColumn[Cargo](w)
	e := w.Archetype().New()
	limit.SetMax(1)
	edit := fmt.Appendf(nil, `{"do":"add","entity":%q,"column":"Cargo"}`, e)
	if err := Apply(w, edit); !errors.As(err, new(*vm.Error)) || cargo.Has(e) {
		t.Errorf("without memory: the error is %v, want a *vm.Error", err)
	}
	limit.SetMax(1 << 30)
	if err := Apply(w, edit); err != nil || !cargo.Has(e) {
		t.Errorf("with memory: %v", err)
	}
}

func TestEditComponent(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	e := f.people[0] // no system writes to a dead person
	base := "entities/" + e.String() + "/components/"
	var changed *vast.Tracker
	f.see(t, func() { changed = vast.NewTracker(f.w, f.position) })
	defer f.see(t, func() { changed.Close() })

	a := f.change(t, "PATCH", base+"Position", `{"path":"X","value":-2.5}`)
	if v := a.Component.fieldAt(t, "X"); v.Value != -2.5 || !v.Editable {
		t.Errorf("%+v", v)
	}
	f.change(t, "PATCH", base+"0", `{"path":"Y","value":"NaN"}`)
	f.change(t, "PATCH", base+"Velocity", `{"value":{"X":3}}`)
	f.change(t, "PATCH", base+"Infected", `{"path":"Stage","value":"Severe"}`)
	f.change(t, "PATCH", base+"Infected", `{"path":"Since","value":"9007199254740993"}`)
	f.change(t, "PATCH", base+"Infected", `{"path":"Strain.Rates[2]","value":0.5}`)
	a = f.change(t, "PATCH", base+"Infected", `{"path":"Source","value":"London"}`)
	if v := a.Component.fieldAt(t, "Source"); v.Entity == nil || v.Entity.Name != "London" ||
		v.Value != f.london.String() {
		t.Errorf("%+v %+v", v, v.Entity)
	}
	london := "entities/" + f.london.String() + "/components/"
	f.change(t, "PATCH", london+"Ship", `{"path":"Decks[63]","value":1}`)
	f.change(t, "PATCH", "entities/"+f.paris.String()+"/components/Note",
		`{"path":"Tags[0]","value":"<script>"}`)
	f.change(t, "PATCH", london+"Name", `{"value":"Londinium"}`)
	a = f.change(t, "PATCH", base+"ChildOf", `{"value":"Londinium"}`)
	if len(a.Links) != 1 || a.Links[0].Ends[0].Name != "Londinium" || a.Component != nil {
		t.Errorf("%+v", a)
	}
	f.see(t, func() {
		p, i := *f.position.Get(e), *f.infected.Get(e)
		if p.X != -2.5 || p.Y == p.Y || *f.velocity.Get(e) != (Velocity{3, 1}) {
			t.Errorf("%v %v", p, *f.velocity.Get(e))
		}
		if want := (Infected{Severe, 9007199254740993, Strain{3, [3]float64{0, 0, 0.5}},
			f.london}); i != want {
			t.Errorf("%v, want %v", i, want)
		}
		if f.ship.Get(f.london).Decks[63] != 1 || f.ship.Get(f.london).Hull != 7 ||
			f.note.Get(f.paris).Tags[0] != "<script>" {
			t.Error("the edit of the ship or of the note has no effect")
		}
		if got, ok := f.names.Find("Londinium"); !ok || got != f.london {
			t.Error("Names.Find does not find the new name")
		}
		if target, _ := f.childOf.Target(e); target != f.london {
			t.Errorf("the target is %v", target)
		}
		recorded := false
		for written := range changed.Changed(f.position) {
			recorded = recorded || written == e
		}
		if !recorded {
			t.Error("the tracker did not record the write")
		}
	})
	if a = f.change(t, "PATCH", base+"ChildOf", `{"value":null}`); len(a.Links) != 0 {
		t.Errorf("%+v", a)
	}
}

func TestEditRefuses(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true})
	base := "entities/" + f.people[0].String() + "/components/"
	paris := "entities/" + f.paris.String() + "/components/"
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	for _, tt := range []struct {
		status                   int
		method, path, body, says string
	}{
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":300}`,
			"Stage: uint8 holds 0 to 255, not 300"},
		{400, "PATCH", base + "Infected", `{"path":"Strain.Rates[99999999999999999999]","value":1}`,
			"an index must be a whole number"},
		{400, "PATCH", base + "Infected", `{"path":"Source","value":"Atlantis"}`,
			`Source: no entity has the name "Atlantis"`},
		{400, "PATCH", base + "Infected", `{"path":"Source","value":"0.9"}`,
			`Source: entity 0.9 is no longer alive`},
		{400, "PATCH", base + "Infected", `{"path":"Stage"}`, "the body must have a value"},
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":1} {}`,
			"the body must be one JSON object"},
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":1}}`, "the body must be one JSON object"},
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":1}]`, "the body must be one JSON object"},
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":1} }`, "the body must be one JSON object"},
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":1},`, "the body must be one JSON object"},
		{400, "PATCH", base + "Infected", `{"path":"Stage","value":1}x`, "the body must be one JSON object"},
		{400, "POST", base + "Ship", `{}}`, "the body must be one JSON object"},
		{400, "PATCH", base + "Infected", `{"Path":"Stage","to":1}`, "unknown field"},
		{400, "PATCH", base + "Infected", ``, "the body must have a value"},
		{400, "PATCH", base + "Infected", `{"value":` + deep, "the body must be like"},
		{400, "PATCH", base + "Infected", `{"value":` + deep + `}`, ""},
		{413, "PATCH", base + "Infected", `{"value":"` + strings.Repeat("x", 1<<20) + `"}`, "larger than"},
		{400, "PATCH", base + "Dead", `{"value":{}}`, "Dead is a tag, which has no value"},
		{400, "PATCH", paris + "Road", `{"value":{}}`, "Road holds edges, which cannot be edited"},
		{400, "PATCH", base + "ChildOf", `{"path":"slot","value":1}`, "has no fields"},
		{404, "PATCH", base + "Ship", `{"path":"Hull","value":1}`, "has no Ship"},
		{404, "PATCH", base + url.PathEscape(hostileName), `{"value":1}`, "the world has no component"},
		{404, "PATCH", base + "8", `{"value":1}`, "no component with the number 8"}, // a private column
		{404, "PATCH", base + "-1", `{"value":1}`, "no component with the number -1"},
		{410, "PATCH", "entities/0.9/components/Position", `{"path":"X","value":1}`,
			"entity 0.9 is no longer alive"},
		{400, "PATCH", "entities/x/components/Position", `{"path":"X","value":1}`, "such as 17.3"},
		{409, "PATCH", paris + "Name", `{"value":"London"}`, `the name "London" belongs to entity`},
		{409, "PATCH", "entities/" + f.london.String() + "/components/ChildOf", `{"value":"London"}`,
			"is a circle"},
		{409, "POST", base + "Position", `{}`, "already has Position"},
		{409, "POST", base + "ChildOf", `{"value":"Paris"}`, "already has a target in ChildOf"},
		{400, "POST", base + "Ship", `{"path":"Hull","value":1}`, "a component is added as a whole"},
		{400, "POST", base + "Ship", `{"value":{"Hull":1.5}}`, "Hull: must be a whole number"},
		{400, "POST", paris + "ChildOf", ``, "needs a target"},
		{404, "DELETE", base + "Ship", ``, "has no Ship"},
		{410, "DELETE", "entities/0.9", ``, "no longer alive"},
	} {
		p := f.refused(t, tt.status, tt.method, tt.path, f.options.Token, tt.body)
		if !strings.Contains(p.Message, tt.says) || len(p.Message) > 2000 {
			t.Errorf("%s %s %.100s: %s", tt.method, tt.path, tt.body, p.Message)
		}
	}
	f.see(t, func() {
		if i := *f.infected.Get(f.people[0]); i != (Infected{Strain: Strain{Number: 3},
			Source: f.people[0]}) {
			t.Errorf("a refused edit has changed %+v", i)
		}
	})
}

func TestReadOnly(t *testing.T) {
	f := newFixture(t, Options{})
	e := "entities/" + f.people[0].String()
	for _, r := range f.entityRoutes() {
		if (r.method != "GET") != r.write {
			t.Errorf("%s %s: write is %t", r.method, r.pattern, r.write)
		}
	}
	for _, tt := range [][2]string{{"PATCH", e + "/components/Velocity"}, {"POST", e + "/components/Ship"},
		{"DELETE", e + "/components/Velocity"}, {"DELETE", e}} {
		if p := f.refused(t, http.StatusForbidden, tt[0], tt[1], f.options.Token,
			`{"path":"X","value":1}`); p.Code != "readOnly" {
			t.Errorf("%+v", p)
		}
	}
	f.see(t, func() {
		if !f.w.Alive(f.people[0]) || *f.velocity.Get(f.people[0]) != (Velocity{0, 1}) {
			t.Error("a read-only inspector has changed the world")
		}
	})
}

func TestAddAndRemove(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	e := f.people[1]
	base := "entities/" + e.String() + "/components/"
	a := f.change(t, "POST", base+"Ship", `{"value":{"Hull":5}}`)
	if v := a.Component.fieldAt(t, "Hull"); v.Value != 5.0 {
		t.Errorf("%+v", v)
	}
	f.change(t, "POST", base+"Dead", ``)
	f.change(t, "POST", base+"Note", ``)
	f.change(t, "POST", base+"Name", `{"value":"Ann"}`)
	f.change(t, "DELETE", base+"Velocity", ``)
	f.change(t, "DELETE", base+"ChildOf", ``)
	if a = f.change(t, "PATCH", base+"Name", `{"value":""}`); a.Component != nil {
		t.Errorf("%+v", a)
	}
	f.change(t, "POST", base+"ChildOf", `{"value":"Paris"}`)
	f.see(t, func() {
		target, _ := f.childOf.Target(e)
		if f.ship.Get(e).Hull != 5 || !f.dead.Has(e) || !f.note.Has(e) || f.velocity.Has(e) ||
			target != f.paris {
			t.Error(f.w.Sprint(e))
		}
	})
	f.change(t, "DELETE", "entities/"+e.String(), ``)
	f.see(t, func() {
		if f.w.Alive(e) {
			t.Error("the deleted entity is alive")
		}
	})
	f.refused(t, http.StatusGone, "GET", "entities/"+e.String(), "", "")
}

func TestHooksThatPanic(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	e := f.people[1]
	bad := true
	f.see(t, func() {
		f.velocity.OnRemove(func(vast.Entity, *Velocity) {
			if bad {
				panic(fmt.Errorf("no engine, no %s", hostileName))
			}
		})
	})
	base := "entities/" + e.String()
	for _, path := range []string{base, base + "/components/Velocity"} {
		if p := f.refused(t, http.StatusInternalServerError, "DELETE", path, f.options.Token,
			""); p.Code != "panic" ||
			p.Message != "the program panicked: no engine, no "+hostileName {
			t.Errorf("%+v", p)
		}
	}
	f.see(t, func() {
		if !f.velocity.Has(e) {
			t.Error("the velocity is gone")
		}
		bad = false
	})
	f.change(t, "DELETE", base+"/components/Velocity", "")
	f.change(t, "DELETE", base, "")
}

func TestRefusedDeletion(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	f.see(t, func() {
		docked := vast.NewRelation(f.w, "DockedAt", vast.RelationOptions{OnDelete: vast.Refuse})
		docked.Set(f.people[1], f.people[2])
	})
	p := f.refused(t, http.StatusConflict, "DELETE", "entities/"+f.people[2].String(), f.options.Token, "")
	if !strings.Contains(p.Message, "cannot be deleted while other entities link to it") {
		t.Error(p.Message)
	}
	var e entityAnswer
	f.get(t, "entities/"+f.people[2].String(), &e)
	if len(e.Links) != 2 || e.Links[1].Column != "DockedAt" || e.Links[1].Total != 1 {
		t.Errorf("%+v", e.Links)
	}
}
