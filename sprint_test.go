package vast

import (
	"strings"
	"testing"
)

func TestSprint(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 128})
	defer w.Close()
	pos, docked, health := NewColumn[position](w), NewTag(w, "Docked"), NewColumn[int32](w).Named("Health")
	to, big := NewColumn[Entity](w).Named("To"), NewColumn[kilobyte](w).Named("Big")
	anything := NewHeapColumn[any](w).Named("Any")
	a := w.Archetype(pos, docked)
	e := a.New()
	check := func(want string) {
		t.Helper()
		if got := w.Sprint(e); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	*pos.Get(e) = position{X: 1, Y: 2.5}
	check("0.1 {position{X:1 Y:2.5} Docked}")
	if _, err := w.Names().Set(e, "Paris"); err != nil {
		t.Fatal(err)
	}
	check(`0.1 "Paris" {position{X:1 Y:2.5} Docked}`)
	pos.Remove(e)
	docked.Remove(e)
	check(`0.1 "Paris" {}`)
	health.Add(e, -5)
	to.Add(e, e)
	check(`0.1 "Paris" {Health(-5) To(0.1)}`)
	to.Remove(e)
	for _, v := range []struct {
		value any
		want  string
	}{
		{nil, "nil"}, {"a\"b", `"a\"b"`}, {[]bool{true}, "[true]"}, {map[int]int{1: 2}, "map[int]int of 1"},
		{&e, "*vast.Entity"},
		{(*int)(nil), "nil"}, {func() {}, "func()"}, {1 + 2i, "(1+2i)"}, {struct{ V any }{uint8(7)}, "{V:7}"},
		{float32(0.1), "0.1"},
	} {
		anything.Add(e, v.value)
		check(`0.1 "Paris" {Health(-5) Any(` + v.want + `)}`)
	}
	self := []any{nil}
	self[0] = self
	for _, v := range []any{strings.Repeat("é", 5000), self, make([]string, 1000)} {
		anything.Add(e, v)
		big.Add(e, kilobyte{})
		if got := w.Sprint(e); len(got) > 800 || strings.Count(got, "…") < 2 {
			t.Errorf("%d bytes: %s", len(got), got)
		}
	}
	w.Delete(e)
	check("0.1 (stale)")
	if got := w.Sprint(Entity{}); got != "0.0 (stale)" {
		t.Error(got)
	}
}
