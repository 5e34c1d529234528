package probe_test

import (
	"reflect"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

type clock struct {
	Tick int
	_    int // unexported
}

func TestResources(t *testing.T) {
	w := vast.NewWorld(vast.Options{MaxEntities: 1024})
	defer w.Close()
	typ := reflect.TypeFor[clock]()
	if _, ok := probe.Resource(w, typ); ok || len(probe.Resources(w)) > 0 {
		t.Error("an empty world has resources")
	}
	p := vast.SetResource(w, clock{Tick: 1})
	text := probe.SetResource(w, reflect.ValueOf("night"))
	list := probe.Resources(w)
	if len(list) != 2 || list[0].Type() != typ || list[1].Interface() != "night" {
		t.Fatalf("resources %v, want the clock and the text", list)
	}
	if list[0].Addr().Interface() != any(p) || vast.Resource[string](w) != text.Addr().Interface() {
		t.Error("a value does not lie at the address of its resource")
	}
	v, ok := probe.Resource(w, typ)
	if !ok {
		t.Fatal("the clock was not found")
	}
	v.Field(0).SetInt(7)
	if p.Tick != 7 {
		t.Errorf("the tick is %d, want 7", p.Tick)
	}
	got := probe.SetResource(w, reflect.ValueOf(clock{Tick: 8}))
	if got.Addr().Interface() != any(p) || p.Tick != 8 {
		t.Errorf("the tick is %d, want 8 at the same address", p.Tick)
	}

	says(t, func() { probe.SetResource(w, reflect.ValueOf(p)) },
		"*probe_test.clock: a resource is stored by value")
	says(t, func() { probe.SetResource(w, reflect.New(reflect.TypeFor[error]()).Elem()) },
		"error is an interface")
	says(t, func() { probe.SetResource(w, reflect.Value{}) }, "zero reflect.Value")
	says(t, func() { probe.SetResource(w, reflect.ValueOf(clock{}).Field(1)) }, "unexported field")
	w.Close()
	if len(probe.Resources(w)) > 0 {
		t.Error("a closed world has resources")
	}
	says(t, func() { probe.SetResource(w, reflect.ValueOf(1)) }, "closed")
}
