package inspect

import (
	"net/http"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

type (
	Crasher uint8
	Shouter struct{ N [100]int32 }
	Huge    struct{ Bytes [maxComponent + 1]byte }
	Wide    struct{ M [100][100]float64 }
	Ring    struct {
		Next *Ring
		Self any
		Fn   func()
	}
)

func (c Crasher) String() string { panic(hostileName) }
func (s Shouter) String() string { return strings.Repeat("<b>é", 3<<20) }

// addHuge adds a huge component to an entity. It returns false if memory runs out: without virtual memory,
// package vm allocates the memory of all slots of a column when the column is made.
func addHuge(w *vast.World, e vast.Entity) (ok bool) {
	defer func() {
		if inner := recover(); inner != nil {
			if _, exhausted := inner.(*vm.Error); !exhausted {
				panic(inner)
			}
		}
	}()
	return vast.NewSparseColumn[Huge](w).Add(e, Huge{}) != nil
}

func TestHostileComponents(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	ring := &Ring{Fn: func() {}}
	ring.Next, ring.Self = ring, ring
	hugeToo := false
	f.see(t, func() {
		vast.NewColumn[Crasher](f.w).Add(f.paris, 7)
		vast.NewColumn[Shouter](f.w).Add(f.paris, Shouter{})
		hugeToo = addHuge(f.w, f.paris)
		vast.NewHeapColumn[Wide](f.w).Named(hostileName).Add(f.paris, Wide{})
		vast.NewHeapColumn[Ring](f.w).Add(f.paris, *ring)
		vast.NewHeapColumn[[]string](f.w).Named("").Add(f.paris, make([]string, 1<<20))
	})
	var e entityAnswer
	f.get(t, "entities/"+f.paris.String(), &e)
	if v := e.fieldAt(t, "Crasher", ""); v.Text != "String panics: "+hostileName || v.Kind != value.Uint ||
		v.Value != 7.0 {
		t.Errorf("%+v", v)
	}
	if v := e.fieldAt(t, "Shouter", ""); len(v.Text) > 200 || len(v.Parts) == 0 {
		t.Errorf("%d bytes, %d parts", len(v.Text), len(v.Parts))
	}
	if !hugeToo {
		t.Log("there is no memory for a huge component")
	} else if v := e.fieldAt(t, "Huge", ""); v.Text != "1048577 bytes are too many to show" ||
		len(v.Parts) != 0 {
		t.Errorf("%+v", v)
	}
	if v := e.fieldAt(t, hostileName, "M"); len(v.Parts)+v.More != 100 || v.More == 0 {
		t.Errorf("%d parts, %d more", len(v.Parts), v.More)
	}
	if v := e.fieldAt(t, "Ring", "Next.Next"); v.Text != "refers to an enclosing value" || len(v.Parts) != 0 {
		t.Errorf("%+v", v)
	}
	if v := e.fieldAt(t, "", ""); len(v.Parts)+v.More != 1<<20 {
		t.Errorf("%d parts, %d more", len(v.Parts), v.More)
	}
	base := "entities/" + f.paris.String() + "/components/"
	if hugeToo {
		f.refused(t, http.StatusBadRequest, "PATCH", base+"Huge", f.options.Token,
			`{"path":"Bytes[0]","value":1}`)
	}
	f.refused(t, http.StatusBadRequest, "PATCH", base+"Ring", f.options.Token, `{"path":"Next.Fn","value":1}`)
	a := f.change(t, "PATCH", base+"%3Cimg%20src=x%20onerror=alert%281%29%3E",
		`{"path":"M[99][99]","value":5}`)
	if a.Component.Column != hostileName {
		t.Errorf("%+v", a)
	}
	f.change(t, "PATCH", base+"Crasher", `{"value":"255"}`)
	f.see(t, func() {
		cols := probe.ComponentsOf(f.w, f.paris)
		for _, col := range cols {
			if v, _ := probe.Value(col, f.paris); col.Name() == "Crasher" && v.Uint() != 255 {
				t.Errorf("the value is %d", v.Uint())
			}
		}
	})
}

func TestEntityWithMoreThanMaxShownFields(t *testing.T) {
	f := newFixture(t, Options{})
	f.see(t, func() {
		for i := range 40 {
			vast.NewHeapColumn[Ship](f.w).Named(strings.Repeat("x", i+1)).Add(f.paris, Ship{Hull: int32(i)})
			vast.NewHeapColumn[Infected](f.w).Named(strings.Repeat("y", i+1)).Add(f.paris,
				Infected{Source: f.london})
		}
	})
	var e entityAnswer
	f.get(t, "entities/"+f.paris.String(), &e)
	fields, links := 0, 0
	var count func(v *value.Field)
	count = func(v *value.Field) {
		fields++
		if v.Entity != nil {
			if links++; !v.Entity.Alive || v.Entity.Name != "London" {
				t.Errorf("%+v", v.Entity)
			}
		}
		for i := range v.Parts {
			count(&v.Parts[i])
		}
	}
	for _, c := range e.Components {
		if c.Value != nil {
			count(c.Value)
		}
	}
	if len(e.Components) < 83 || fields > maxShown+len(e.Components) || fields < maxShown/2 ||
		links == 0 {
		t.Errorf("%d components, %d fields, %d links", len(e.Components), fields, links)
	}
}
