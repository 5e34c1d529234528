package vast

import (
	"fmt"
	"math"
	"testing"

	"github.com/vastgo/vast/vm"
)

func TestCommandsMisuse(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	defer w.Close()
	abroad := NewWorld(Options{Name: "abroad", MaxEntities: 1024})
	defer abroad.Close()
	num, name, sparse, tag := NewColumn[uint64](w), NewHeapColumn[string](w),
		NewSparseColumn[uint64](w).Named("sparse"),
		NewTag(w, "tag")
	fnum, fname := NewColumn[uint64](abroad), NewHeapColumn[string](abroad)
	fsparse, ftag := NewSparseColumn[uint64](abroad).Named("sparse"), NewTag(abroad, "tag")
	e := w.Archetype(num).New()
	c, closed, foreign := NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{}),
		NewCommands(abroad, CommandsOptions{})
	num.SetLater(c, e, 7)
	num.SetLater(closed, e, 8)
	for range 2 {
		if err := closed.Close(); err != nil {
			t.Fatal(err)
		}
	}
	gone := []string{"closed Commands", `"home"`, "do not use them after Close"}
	other := []string{`belongs to world "abroad", not to "home"`, "of its own world"}
	zero := []string{"zero Commands", "make them with NewCommands"}
	tests := []struct {
		name string
		f    func()
		says []string
	}{
		{"Bytes negative", func() { NewCommands(w, CommandsOptions{Bytes: -1}) },
			[]string{"Bytes is -1", "use 1 to"}},
		{"Bytes too large", func() { NewCommands(w, CommandsOptions{Bytes: math.MaxInt}) },
			[]string{"Bytes is", "use 1 to"}},
		{"foreign column", func() { fnum.AddLater(c, e, 1) }, other},
		{"foreign column set", func() { fnum.SetLater(c, e, 1) }, other},
		{"foreign column removed", func() { fnum.RemoveLater(c, e) }, other},
		{"foreign heap column", func() { fname.AddLater(c, e, "") }, other},
		{"foreign sparse column", func() { fsparse.SetLater(c, e, 1) }, other},
		{"foreign tag", func() { ftag.AddLater(c, e) }, other},
		{"foreign archetype", func() { c.New(abroad.Archetype(fnum)) }, other},
		{"closed New", func() { closed.New(w.Archetype()) }, gone},
		{"closed Delete", func() { closed.Delete(e) }, gone},
		{"closed AddLater", func() { num.AddLater(closed, e, 1) }, gone},
		{"closed heap column", func() { name.AddLater(closed, e, "") }, gone},
		{"closed sparse column", func() { sparse.RemoveLater(closed, e) }, gone},
		{"closed tag", func() { tag.RemoveLater(closed, e) }, gone},
		{"closed Grow", func() { _ = closed.GrowBytes(1) }, gone},
		{"closed Trim", func() { _ = closed.Trim() }, gone},
		{"closed in Apply", func() { _, _ = w.Apply(c, closed) }, gone},
		{"zero Delete", func() { new(Commands).Delete(e) }, zero},
		{"zero AddLater", func() { num.AddLater(new(Commands), e, 1) }, zero},
		{"zero in Apply", func() { _, _ = w.Apply(c, new(Commands)) }, zero},
		{"zero Grow", func() { _ = new(Commands).GrowBytes(1) }, zero},
		{"nil in Apply", func() { _, _ = w.Apply(c, nil) }, []string{"Commands 2 are nil", "NewCommands"}},
		{"twice in Apply", func() { _, _ = w.Apply(c, NewCommands(w, CommandsOptions{}), c) },
			[]string{"Commands 3 are given twice"}},
		{"foreign in Apply", func() { _, _ = w.Apply(c, foreign) },
			[]string{`Commands 2 belong to world "abroad", not to "home"`}},
		{"Grow negative", func() { _ = c.GrowBytes(-1) }, []string{"GrowBytes(-1)", "cannot be negative"}},
	}
	changes := w.Changes()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { says(t, tt.f, tt.says...) })
	}
	if w.Changes() != changes || *num.Get(e) != 0 {
		t.Error("misuse changed the world")
	}
	if err := new(Commands).Close(); err != nil {
		t.Error(err)
	}
	if done, err := w.Apply(c); done != (Applied{Done: 1}) || err != nil || *num.Get(e) != 7 {
		t.Errorf("%+v, %v", done, err)
	}
}

func TestCommandsOfClosedWorld(t *testing.T) {
	w := NewWorld(Options{Name: "gone", MaxEntities: 1024})
	num := NewColumn[uint64](w)
	a := w.Archetype(num)
	e := a.New()
	used, empty := NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})
	num.SetLater(used, e, 1)
	p := used.New(a)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func(){
		"record":      func() { num.SetLater(used, e, 1) },
		"first":       func() { empty.Delete(e) },
		"New":         func() { used.New(a) },
		"Grow":        func() { _ = empty.GrowBytes(1) },
		"Trim":        func() { _ = used.Trim() },
		"Apply":       func() { _, _ = w.Apply(used) },
		"NewCommands": func() { NewCommands(w, CommandsOptions{}) },
	} {
		t.Run(name, func(t *testing.T) {
			says(t, f, `closed world "gone"`, "do not use a world after Close")
		})
	}
	if used.Resolve(p) != (Entity{}) || used.Resolve(e) != e {
		t.Error("a placeholder resolves to an entity although nothing was applied")
	}
	for _, c := range []*Commands{used, empty} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestApplyInsideQueries(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	defer w.Close()
	num, tag := NewColumn[uint64](w), NewTag(w, "tag")
	a := w.Archetype(num)
	a.NewN(100, nil)
	c := NewCommands(w, CommandsOptions{})
	says(t, func() {
		for e := range w.Query(num).All() {
			tag.AddLater(c, e)
			_, _ = w.Apply(c)
		}
	}, "changed while a query was running, by World.Apply", "writing values is not a structural change",
		"call it after the loop")
	// An Apply that skips all commands changes nothing, so the loop goes on.
	n := 0
	for range w.Query(num).All() {
		c.Delete(Entity{})
		if done, err := w.Apply(c); done.Skipped != 1 || err != nil {
			t.Fatal(done, err)
		}
		n++
	}
	if n != 100 {
		t.Errorf("the loop ran %d times, want 100", n)
	}
}

// TestApplyAndHooks checks that, after a hook panics, the next Apply begins with the command after the
// command that called the hook.
func TestApplyAndHooks(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	defer w.Close()
	num, other := anotherColumn[uint64](w), anotherColumn[uint64](w)
	a, observed := w.Archetype(), w.Archetype(num)
	es := []Entity{a.New(), a.New(), a.New()}
	c, spare := NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})
	var hook func()
	told := 0
	tell := func(Entity, *uint64) {
		if told++; hook != nil {
			h := hook
			hook = nil
			h()
		}
	}
	num.OnAdd(tell)
	num.OnRemove(tell)
	failure := &vm.Error{Op: "a hook's", Err: vm.ErrLimit}
	for _, tt := range []struct {
		name string
		hook func()
		says string
	}{
		{"panic", func() { panic("oh no") }, "oh no"},
		{"panic with a vm.Error", func() { panic(failure) }, "a hook's"},
		{"structural change", func() { w.Delete(es[2]); es[2] = a.New() }, "changed while"},
		{"Apply", func() { _, _ = w.Apply(spare) }, "was running, by World.Apply"},
		{"record", func() { c.Delete(es[0]) },
			"Commands that are being applied: let hooks record into other Commands"},
		{"record for a column", func() { num.RemoveLater(c, es[0]) }, "Commands that are being applied"},
		{"Grow", func() { _ = c.GrowBytes(1) }, "Commands that are being applied"},
		{"Trim", func() { _ = c.Trim() }, "Commands that are being applied"},
		{"Close", func() { _ = c.Close() }, "Commands that are being applied"},
	} {
		for _, kind := range []string{"add", "remove", "new", "delete"} {
			t.Run(tt.name+" in "+kind, func(t *testing.T) {
				target := a.New()
				if kind != "add" {
					num.Add(target, 1)
				}
				c.At(5)
				other.AddLater(c, es[1], 5)
				c.At(3)
				other.AddLater(c, es[0], 3)
				var made Entity
				switch kind {
				case "add":
					num.AddLater(c, target, 4)
				case "remove":
					num.RemoveLater(c, target)
				case "new":
					made = c.New(observed)
				case "delete":
					c.Delete(target)
				}
				other.AddLater(c, es[1], 4)
				hook = tt.hook
				says(t, func() { _, _ = w.Apply(c) }, tt.says)
				if other.Get(es[1]) != nil || *other.Get(es[0]) != 3 {
					t.Error("Apply did not stop at the command that called the hook")
				}
				if kind == "new" && !w.Alive(c.Resolve(made)) {
					t.Error("the placeholder does not resolve to the entity for which the hook panicked")
				}
				told = 0
				if done, err := w.Apply(c); done != (Applied{Done: 2}) || err != nil ||
					*other.Get(es[1]) != 5 || told != 0 {
					t.Errorf("the second Apply: %+v, %v, want 2 done; hooks were called %d times, want 0",
						done, err, told)
				}
				if w.calling.what != "" {
					t.Fatal("the world still counts a hook as running")
				}
				w.DeleteAll(w.Query(num))
				other.RemoveAll(w.Query(other))
				w.checkInvariants()
			})
		}
	}
	hook = func() { spare.Delete(es[0]) }
	num.AddLater(c, es[0], 1)
	if done, err := w.Apply(c); done.Done != 1 || err != nil {
		t.Error(done, err)
	}
	if done, err := w.Apply(spare); done.Done != 1 || err != nil || w.Alive(es[0]) {
		t.Error(done, err)
	}
}

// TestApplyOrder checks that Apply orders commands by position, then by the order of its arguments, then by
// the order of recording.
func TestApplyOrder(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	num := NewColumn[uint64](w)
	e := w.Archetype().New()
	var told []uint64
	num.OnRemove(func(_ Entity, v *uint64) { told = append(told, *v) })
	cs := []*Commands{NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})}
	record := func(c, position int, v uint64) {
		cs[c].At(position)
		num.AddLater(cs[c], e, v)
		num.RemoveLater(cs[c], e)
	}
	for range 2 {
		num.AddLater(cs[1], e, 3) // the position is 0 at first, and again after Apply
		num.RemoveLater(cs[1], e)
		record(1, math.MaxInt, 8)
		record(1, 2, 6)
		record(1, -7, 1)
		record(0, 2, 4)
		record(0, math.MinInt, 0)
		record(0, 2, 5)
		record(1, 2, 7)
		record(0, 0, 2)
		cs[1].At(9) // no command follows
		if done, err := w.Apply(cs...); done.Done != 18 || err != nil {
			t.Fatal(done, err)
		}
		if got := fmt.Sprint(told); got != "[0 1 2 3 4 5 6 7 8]" {
			t.Errorf("the order is %s", got)
		}
		told = nil
	}
}
