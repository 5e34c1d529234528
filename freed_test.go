package vast

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/modeltest"
)

// TestWritesToRemovedComponents checks that an operation that removes a component poisons the component's
// memory. If a program then writes to the memory, an operation that adds a component in the slot must panic.
func TestWritesToRemovedComponents(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("built without the tag invariants")
	}
	const poisoned = 0x0101010101010101 * uint64(invariants.PoisonByte)
	for removal, remove := range map[string]func(w *World, c Column[uint64], e Entity){
		"Remove":    func(_ *World, c Column[uint64], e Entity) { c.Remove(e) },
		"RemoveAll": func(w *World, c Column[uint64], _ Entity) { c.RemoveAll(w.Query(c)) },
		"Delete":    func(w *World, _ Column[uint64], e Entity) { w.Delete(e) },
		"DeleteAll": func(w *World, c Column[uint64], _ Entity) { w.DeleteAll(w.Query(c)) },
		"Reset":     func(w *World, _ Column[uint64], _ Entity) { w.Reset() },
	} {
		for addition, add := range map[string]func(w *World, a *Archetype, c Column[uint64]){
			"New":  func(_ *World, a *Archetype, _ Column[uint64]) { a.New() },
			"NewN": func(_ *World, a *Archetype, _ Column[uint64]) { a.NewN(3, nil) },
			"Add":  func(w *World, _ *Archetype, c Column[uint64]) { c.Add(w.Archetype().New(), 1) },
			"AddAll": func(w *World, _ *Archetype, c Column[uint64]) {
				w.Archetype().New()
				c.AddAll(w.Query().Without(c), 1)
			},
		} {
			for _, written := range []bool{false, true} {
				w := demoWorld(t)
				c := NewColumn[uint64](w).Named("mass")
				a := w.Archetype(c)
				if addition == "Add" || addition == "AddAll" {
					a = w.Archetype()
				}
				e := a.New()
				if !c.Has(e) {
					c.Add(e, 5)
				}
				p := c.Get(e)
				remove(w, c, e)
				w.DeleteAll(w.Query())
				if *p != poisoned {
					t.Errorf("%s leaves %#x, want %#x", removal, *p, poisoned)
				}
				if written {
					*p = 0x2a
				}
				says := ""
				if written { // the write leaves no byte of poison, so MustBeFree expects zeros
					says = `vast: slot 0 of column mass of world "demo" was written after it was freed: ` +
						"byte 0 of 8 is 0x2a, and 0x00 was left there"
				}
				if text := modeltest.PanicText(func() { add(w, a, c) }); !strings.Contains(text, says) ||
					text != "" && says == "" {
					t.Errorf("%s after %s, written %t: panics with %q, want %q", addition, removal, written,
						text, says)
				}
			}
		}
	}
}

func TestWritesToRemovedComponentsOfOtherStorages(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("built without the tag invariants")
	}
	w := demoWorld(t)
	s, h := NewSparseColumn[uint64](w), NewHeapColumn[boxed](w)
	a := w.Archetype(s, h)
	a.New()
	e := a.New()
	pointer := h.Get(e)
	w.Delete(e)
	pointer.N = new(uint64)
	if text := modeltest.PanicText(func() { h.Add(w.Archetype().New(), boxed{}) }); text != "" {
		t.Errorf("adding to another slot panics with %q", text)
	}
	if text := modeltest.PanicText(func() { a.New() }); !strings.Contains(text,
		"vast: slot 1 of a HeapColumn of vast.boxed was written after") {
		t.Errorf("New panics with %q", text)
	}
	w = demoWorld(t)
	s = NewSparseColumn[uint64](w)
	a = w.Archetype(s)
	a.New()
	e = a.New()
	sparse := s.Get(e)
	w.Delete(e)
	//vastvet:ignore useafter: the test uses freed memory on purpose
	if *sparse != 0x0101010101010101*uint64(invariants.PoisonByte) {
		t.Errorf("the freed component is %#x, not poisoned", *sparse)
	}
	*sparse |= 0xff //vastvet:ignore useafter: on purpose
	if text := modeltest.PanicText(func() { a.New() }); !strings.Contains(text, "bulk: slot 1 of ") {
		t.Errorf("New panics with %q", text)
	}
}

func demoWorld(t *testing.T) *World {
	w := NewWorld(Options{Name: "demo", MaxEntities: 1024})
	t.Cleanup(func() { _ = w.Close() })
	return w
}
