package inspect

import (
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/shared"
)

type surface struct {
	Color uint32
	Gloss float64
}

// TestSharedColumn checks that the inspector shows an entity's value in a shared column, and that an edit
// changes the value of this entity only.
func TestSharedColumn(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	var surfaces shared.Column[surface]
	first, second := f.people[0], f.people[1]
	f.see(t, func() {
		surfaces = shared.New[surface](f.w)
		for _, e := range []vast.Entity{first, second} {
			surfaces.Add(e, surface{7, 0.25})
		}
	})
	var e entityAnswer
	f.get(t, "entities/"+first.String(), &e)
	if v := e.fieldAt(t, "surface", "Gloss"); v.Value != 0.25 || !v.Editable {
		t.Errorf("%+v", v)
	}
	if c := e.Components[len(e.Components)-1]; c.Storage != "shared" {
		t.Errorf("the storage is %s", c.Storage)
	}
	f.change(t, "PATCH", "entities/"+first.String()+"/components/surface", `{"path":"Gloss","value":0.5}`)
	f.see(t, func() {
		a, _ := surfaces.Get(first)
		b, _ := surfaces.Get(second)
		if a != (surface{7, 0.5}) || b != (surface{7, 0.25}) {
			t.Errorf("the values are %v and %v", a, b)
		}
	})
}
