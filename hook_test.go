package vast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panicked with %q, which does not contain %q", got, want)
		}
	}()
	f()
}

// heard records the calls of hooks.
type heard []string

func (h *heard) hook(what string) func(Entity, *number) {
	return func(e Entity, v *number) { *h = append(*h, fmt.Sprintf("%s %d=%d", what, e.Slot(), v.N)) }
}

func (h *heard) expect(t *testing.T, when string, want ...string) {
	t.Helper()
	if !slices.Equal(*h, want) {
		t.Errorf("%s: the calls were %q, want %q", when, *h, want)
	}
	*h = nil
}

func TestHooksTellOncePerChange(t *testing.T) {
	w := NewWorld(Options{})
	a, b := NewColumn[number](w), NewSparseColumn[number](w).Named("sparse")
	both, plain := w.Archetype(b, a), w.Archetype(a)
	var h heard
	a.OnAdd(h.hook("+a"))
	a.OnRemove(h.hook("-a"))
	b.OnAdd(h.hook("+b"))
	b.OnRemove(h.hook("-b"))

	first := both.New()
	h.expect(t, "New", "+a 0=0", "+b 0=0")
	a.Add(first, number{7})
	a.Set(first, number{8})
	h.expect(t, "overwriting")
	b.Remove(first)
	h.expect(t, "Remove", "-b 0=0")
	b.Remove(first)
	h.expect(t, "second Remove")
	b.Add(first, number{5})
	h.expect(t, "Add", "+b 0=5")

	plain.NewN(2, func(r Run) {
		for i := range a.Slice(r) {
			a.Slice(r)[i].N = uint64(i + 1)
		}
	})
	h.expect(t, "NewN", "+a 64=1", "+a 65=2")
	w.Delete(first)
	h.expect(t, "Delete", "-a 0=8", "-b 0=5")
	w.Delete(first)
	h.expect(t, "second Delete")
	both.New()
	b.Add(plain.New(), number{3})
	h = nil
	w.DeleteAll(w.Query(b))
	h.expect(t, "DeleteAll", "-a 0=0", "-a 66=0", "-b 0=0", "-b 66=3")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h.expect(t, "Close", "-a 64=1", "-a 65=2")
	w.Close()
	h.expect(t, "second Close")
}

func TestHooksRunInTheOrderOfRegistration(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	tag := NewTag(w, "tag")
	var order []int
	for i := range 3 {
		tag.OnRemove(func(Entity) { order = append(order, i) })
	}
	tag.Remove(w.Archetype(tag).New())
	if !slices.Equal(order, []int{0, 1, 2}) {
		t.Errorf("the hooks ran in the order %v", order)
	}
}

func TestHookMustNotChangeTheStructure(t *testing.T) {
	changes := map[string]func(*World, Column[number], Tag, Entity){
		"World.Delete":  func(w *World, _ Column[number], _ Tag, e Entity) { w.Delete(e) },
		"Column.Remove": func(_ *World, c Column[number], _ Tag, e Entity) { c.Remove(e) },
		"Tag.Add":       func(_ *World, _ Column[number], tag Tag, e Entity) { tag.Add(e) },
		"Archetype.New": func(w *World, _ Column[number], _ Tag, _ Entity) { w.Archetype().New() },
	}
	for name, change := range changes {
		w := NewWorld(Options{})
		c, tag := NewColumn[number](w), NewTag(w, "tag")
		e := w.Archetype(c).New()
		calls := 0
		c.OnRemove(func(e Entity, _ *number) {
			if calls++; calls == 1 {
				change(w, c, tag, e)
			}
		})
		mustPanic(t, "OnRemove of column number was running", func() { w.Delete(e) })
		if !w.Alive(e) || !c.Has(e) {
			t.Errorf("%s inside OnRemove: the panic left the entity half deleted", name)
		}
		if !w.Delete(e) {
			t.Errorf("%s inside OnRemove: the world cannot be used afterwards", name)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestResources(t *testing.T) {
	type clock struct{ Ticks int }
	w := NewWorld(Options{})
	if FindResource[clock](w) != nil {
		t.Error("a new world has a clock")
	}
	mustPanic(t, "call SetResource first", func() { Resource[clock](w) })
	SetResource(w, clock{1})
	SetResource(w, map[string]int{"a": 2})
	Resource[clock](w).Ticks++
	if got := Resource[clock](w).Ticks; got != 2 {
		t.Errorf("the clock shows %d, want 2", got)
	}
	SetResource(w, clock{9})
	if got, m := Resource[clock](w).Ticks, *Resource[map[string]int](w); got != 9 || m["a"] != 2 {
		t.Errorf("the clock shows %d, the map holds %v", got, m)
	}
	other := NewWorld(Options{})
	defer other.Close()
	if kept := Resource[clock](w); !RemoveResource[clock](w) || RemoveResource[clock](w) ||
		FindResource[clock](w) != nil || kept.Ticks != 9 {
		t.Error("RemoveResource does not remove the clock exactly once, or changes its value")
	}
	SetResource(w, clock{9})
	if FindResource[clock](other) != nil {
		t.Error("another world has the clock, too")
	}
	w.Close()
	mustPanic(t, "closed world", func() { Resource[clock](w) })
	if FindResource[clock](w) != nil {
		t.Error("a closed world has a clock")
	}
}

// The work of a deletion must not grow with the number of columns without hooks.
func TestWorldWatchesOnlyColumnsWithHooks(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 64})
	defer w.Close()
	var tags []Tag
	for i := range 70 {
		tags = append(tags, NewTag(w, fmt.Sprint(i)))
	}
	var told []int
	for _, i := range []int{69, 3, 40} {
		tags[i].OnRemove(func(Entity) { told = append(told, i) })
		tags[i].OnAdd(func(Entity) {})
	}
	if len(w.watched) != 3 {
		t.Errorf("%d columns are watched, want 3", len(w.watched))
	}
	e := w.Archetype(tags[69], tags[40], tags[3], tags[5]).New()
	w.Delete(e)
	if !slices.Equal(told, []int{3, 40, 69}) {
		t.Errorf("hooks ran in the order %v, want the order in which the columns were made", told)
	}
}

func TestSetResourceReturnsTheAddress(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	type clock struct{ Ticks int }
	p := SetResource(w, clock{1})
	p.Ticks++
	if q := Resource[clock](w); q != p || q.Ticks != 2 {
		t.Errorf("the resource is %v at %p, want 2 at %p", *q, q, p)
	}
	if q := SetResource(w, clock{9}); q != p || p.Ticks != 9 {
		t.Errorf("after a replacement the first pointer points to %d, want 9; the second pointer is %p, "+
			"want %p", p.Ticks, q, p)
	}
	mustPanic(t, "vast: SetResource[*vast.clock]: a resource is stored by value: write p := "+
		"vast.SetResource(w, vast.clock{…}) and keep p, or store a struct that holds the pointer",
		func() { SetResource(w, &clock{}) })
	mustPanic(t, "SetResource[error]: a resource is stored under the type of its value, and error is an "+
		"interface", func() { SetResource[error](w, nil) })
	mustPanic(t, "Resource[*vast.clock]: world \"world\" has none: there is one of type vast.clock: write "+
		"vast.Resource[vast.clock](w)", func() { Resource[*clock](w) })
	//vastvet:ignore offheap: the test is about this mistake
	if FindResource[*clock](w) != nil {
		t.Error("a pointer resource was found")
	}
	type holder struct{ *clock }
	if h := SetResource(w, holder{p}); h.clock != p {
		t.Error("the struct that holds a pointer lost it")
	}
}
