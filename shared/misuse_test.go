package shared_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/shared"
	"github.com/vastgo/vast/vm"
)

func TestMisuse(t *testing.T) {
	w, c, _ := newWorld(t, 100)
	other, d, _ := newWorld(t, 1)
	rel := vast.NewRelation(w, "rel", vast.RelationOptions{})
	closed := vast.NewWorld(vast.Options{})
	gone := shared.New[material](closed)
	e := closed.Archetype(gone).New()
	closed.Close()
	var zero shared.Column[material]
	for want, f := range map[string]func(){
		"is a string": func() { shared.New[string](w) },
		"has no size": func() { shared.New[struct{}](w) },
		"two columns \"material\"": func() {
			w, _, _ := newWorld(t, 1)
			shared.New[material](w)
			w.Query()
		},
		"Column.Set: the column was not made":   func() { zero.Set(e, steel) },
		"Column.Where: the column was not made": func() { zero.Where(w.Query(), steel) },
		"belongs to":                            func() { d.Where(w.Query(), steel) },
		"leaves it out":                         func() { c.Where(w.Query().Without(c), steel) },
		"query belongs to another world":        func() { c.SetAll(other.Query(), wood) },
		"GroupBy: the query belongs to another": func() { c.GroupBy(other.Query())(nil) },
		"GroupByTarget: the query belongs to":   func() { shared.GroupByTarget(other.Query(), rel)(nil) },
		"was not made with NewRelation": func() {
			shared.GroupByTarget(w.Query(), vast.Relation{})(nil)
		},
		"the zero Query belongs to no world": func() { c.GroupBy(vast.Query{})(nil) },
		"Query on the closed world":          func() { gone.Replace(steel, wood) },
		"Column.Add on the closed world":     func() { gone.Add(e, steel) },
		"structure of world \"world\" changed while shared.Column.GroupBy was running": func() {
			for range c.GroupBy(w.Query()) {
				w.Archetype().New()
			}
		},
		"changed while shared.GroupByTarget was running": func() {
			for e := range w.Query(c).All() {
				rel.Set(e, w.Archetype().New())
				break
			}
			for range shared.GroupByTarget(w.Query(), rel) {
				w.Archetype().New() //vastvet:ignore queryloop: to see the panic
			}
		},
	} {
		if got := modeltest.PanicText(f); !strings.Contains(got, want) {
			t.Errorf("got the panic %q, want %q", got, want)
		}
	}
	mustBe(t, "Set in a closed world", gone.Set(e, steel), false)
	mustBe(t, "Len of a closed world", gone.Len(), 0)
}

// large is so large that the column commits more memory after every few values.
type large struct {
	N    uint64
	Rest [1023]uint64
}

func TestNoMemory(t *testing.T) {
	limit := vm.NewLimit(1 << 20)
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12, Limit: limit})
	defer w.Close()
	c := shared.New[large](w)
	born := w.Archetype().New()
	cs := vast.NewCommands(w, vast.CommandsOptions{})
	c.AddLater(cs, born, large{N: 6000}) // now, because recording needs memory too
	var all []vast.Entity
	w.Archetype(c).NewN(1000, func(r vast.Run) {
		for _, e := range r.All() {
			all = append(all, e)
		}
	})
	if err := c.Grow(0); err != nil { // room for the component of born
		t.Fatal(err)
	}
	n := uint64(0)
	var err error
	for ; err == nil && n < 1000; n++ {
		err = refused(func() { c.Set(all[n], large{N: n + 1}) })
	}
	if !errors.Is(err, vm.ErrLimit) || n < 50 {
		t.Fatalf("value %d: %v", n, err)
	}
	before := fmt.Sprint(c.Where(w.Query(), large{}).Count(), len(values(c)))
	check := func(what string, f func()) {
		t.Helper()
		if err := refused(f); !errors.Is(err, vm.ErrLimit) {
			t.Errorf("%s: %v", what, err)
		}
		mustBe(t, what, fmt.Sprint(c.Where(w.Query(), large{}).Count(), len(values(c))), before)
	}
	check("Set", func() { c.Set(all[n], large{N: 5000}) })
	check("Add", func() { c.Add(born, large{N: 5000}) })
	check("SetAll", func() { c.SetAll(w.Query(), large{N: 5000}) })
	check("AddAll", func() { c.AddAll(w.Query(), large{N: 5000}) })
	check("Grow", func() {
		if err := c.Grow(100); err != nil {
			panic(err)
		}
	})
	if a, err := w.Apply(cs); !errors.Is(err, vm.ErrLimit) || a.Done != 0 || c.Has(born) {
		t.Fatal(a, err)
	}
	// A value without entities makes room.
	c.SetAll(w.Query(), large{})
	if a, err := w.Apply(cs); err != nil || a.Done != 1 {
		t.Fatal(a, err)
	}
	v, _ := c.Get(born)
	mustBe(t, "the value of the command", v.N, 6000)
}

// refused returns the *vm.Error with which f panics.
func refused(f func()) (err error) {
	defer func() {
		if e, ok := recover().(*vm.Error); ok {
			err = e
		}
	}()
	f()
	return nil
}

func TestGrow(t *testing.T) {
	limit := vm.NewLimit(8 << 20)
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12, Limit: limit})
	defer w.Close()
	c := shared.New[large](w)
	var all []vast.Entity
	for range 100 {
		all = append(all, w.Archetype().New())
	}
	if err := c.Grow(100); err != nil {
		t.Fatal(err)
	}
	limit.SetMax(limit.Used()) // no more memory
	for i, e := range all {
		c.Add(e, large{N: uint64(i) + 1})
	}
	mustBe(t, "values", len(values(c)), 100)
}

func TestFailingCalls(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions on the Go heap make no calls")
	}
	calls := faulttest.EachCall(t, func() (err error) {
		w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
		defer func() {
			if w.Close() != nil {
				err = errors.Join(err, w.Close())
			}
		}()
		c := shared.New[large](w)
		e, f := w.Archetype(c).New(), w.Archetype().New()
		for i := range uint64(20) {
			n := len(values(c))
			err = errors.Join(err, faulttest.Again(t, "Set",
				func() error { c.Set(e, large{N: i + 1}); return nil },
				func() { mustBe(t, "values", len(values(c)), n) }))
			err = errors.Join(err, faulttest.Again(t, "Add",
				func() error { c.Add(f, large{N: i}); return nil },
				func() { mustBe(t, "values", len(values(c)), n) }))
		}
		return errors.Join(err, w.Trim())
	})
	if calls < 5 {
		t.Errorf("%d calls", calls)
	}
}
