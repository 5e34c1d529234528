package vast

import (
	"errors"
	"fmt"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// TestCommandsResume checks that Apply keeps the remaining commands if memory runs out, and that later calls
// of Apply apply these commands in order.
func TestCommandsResume(t *testing.T) {
	for _, pages := range []vm.Pages{vm.PagesSmall, vm.PagesHeap} {
		t.Run(pages.String(), func(t *testing.T) {
			limit := vm.NewLimit(64 << 20)
			leave := hog(t, limit)
			w := NewWorld(Options{MaxEntities: 1 << 12, Limit: limit, Pages: pages})
			defer w.Close()
			pos, large, name := NewColumn[position](w), NewColumn[kilobyte](w), NewHeapColumn[string](w)
			sparse := NewSparseColumn[kilobyte](w)
			a := w.Archetype(pos)
			var es []Entity
			for range 1000 {
				es = append(es, a.New())
			}
			first, second := NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})
			var made []Entity
			want := 0
			for i, e := range es {
				c := []*Commands{first, second}[i%2]
				c.At(i)
				large.AddLater(c, e, kilobyte{1023: byte(i)})
				name.AddLater(c, e, fmt.Sprint(i))
				pos.SetLater(c, e, position{X: float64(i)})
				n := c.New(a)
				made = append(made, n)
				sparse.AddLater(c, n, kilobyte{511: byte(i)})
				pos.SetLater(c, n, position{Y: float64(i)})
				want += 6
			}
			leave(0)
			total, refusals := Applied{}, 0
			for {
				before := large.Len()
				done, err := w.Apply(second, first)
				total.Done += done.Done
				total.Skipped += done.Skipped
				w.checkInvariants()
				if err == nil {
					break
				}
				var e *vm.Error
				if refusals++; !errors.As(err, &e) || !errors.Is(err, vm.ErrLimit) {
					t.Fatal(err)
				}
				n := large.Len()
				if n < before || n < len(es) && (large.Has(es[n]) || name.Has(es[n])) || n > 0 &&
					!large.Has(es[n-1]) {
					t.Fatalf("%d components were added, but not to the first %d entities", n, n)
				}
				if refusals == 2 { // new commands follow the remaining commands
					first.At(1 << 20)
					first.Delete(made[0])
					second.At(1 << 20)
					second.Delete(es[0])
					want += 2
				}
				leave(limit.Max() - limit.Used() + 256<<10)
				leave(min(256<<10*(refusals+1), 32<<20))
			}
			if refusals < 3 || total != (Applied{Done: want}) {
				t.Errorf("%+v after %d refusals, want %d commands done", total, refusals, want)
			}
			t.Log(refusals, "refusals")
			for i, e := range es {
				n := []*Commands{first, second}[i%2].Resolve(made[i])
				if i == 0 {
					if w.Alive(e) || w.Alive(n) || n.IsZero() {
						t.Error("the commands recorded between two calls of Apply were not applied")
					}
					continue
				}
				if large.Get(e)[1023] != byte(i) || *name.Get(e) != fmt.Sprint(i) ||
					pos.Get(e).X != float64(i) ||
					sparse.Get(n)[511] != byte(i) || pos.Get(n).Y != float64(i) {
					t.Fatalf("entity %d has wrong components", i)
				}
			}
		})
	}
}

// TestCommandsMaxEntities checks that commands of New wait for free slots, and that all later commands wait
// too.
func TestCommandsMaxEntities(t *testing.T) {
	for _, between := range []bool{false, true} {
		w := NewWorld(Options{MaxEntities: 128})
		defer w.Close()
		num := NewColumn[uint64](w)
		a := w.Archetype(num)
		c := NewCommands(w, CommandsOptions{})
		var made []Entity
		for i := range 300 {
			made = append(made, c.New(a))
			if between {
				num.SetLater(c, made[i], uint64(i))
			}
		}
		var all []Entity
		for round, n := range []int{128, 128, 44} {
			_, err := w.Apply(c)
			if round < 2 && !errors.Is(err, vm.ErrCapacity) || round == 2 && err != nil || w.Len() != n {
				t.Fatalf("round %d: %d entities, want %d; %v", round, w.Len(), n, err)
			}
			for i := range n {
				e := c.Resolve(made[len(all)])
				if !w.Alive(e) || between && *num.Get(e) != uint64(len(all)) {
					t.Fatalf("round %d: entity %d is %v", round, i, e)
				}
				all = append(all, e)
			}
			if len(all) < 300 && c.Resolve(made[len(all)]) != (Entity{}) {
				t.Error("the placeholder of a waiting New resolves to an entity")
			}
			w.DeleteAll(w.Query())
		}
	}
}

// TestCommandsRoom checks that recording panics without room and loses no earlier commands, and that
// recording after GrowBytes cannot fail.
func TestCommandsRoom(t *testing.T) {
	limit := vm.NewLimit(64 << 20)
	leave := hog(t, limit)
	w := NewWorld(Options{MaxEntities: 1 << 12, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	num, wide := NewColumn[uint64](w), NewColumn[kilobyte](w)
	a := w.Archetype(num)
	es := []Entity{a.New(), a.New()}
	page := vm.PageSize()
	c := NewCommands(w, CommandsOptions{Bytes: 1 << 20})
	leave(0)
	exhausted(t, func() error { c.Delete(es[0]); return nil }, vm.ErrLimit, "raise the limit")
	exhausted(t, func() error { return c.GrowBytes(1) }, vm.ErrLimit, "raise the limit")
	leave(page)
	n := 0
	exhausted(t, func() error {
		for {
			num.SetLater(c, es[1], uint64(n))
			n++
		}
	}, vm.ErrLimit, "raise the limit")
	if n != page/24 {
		t.Errorf("a page holds %d commands, want %d", n, page/24)
	}
	exhausted(t, func() error { return c.GrowBytes(page) }, vm.ErrLimit, "raise the limit")
	if done, err := w.Apply(c); done.Done != n || err != nil || *num.Get(es[1]) != uint64(n-1) {
		t.Errorf("%+v, %v: the component is %d, want %d", done, err, *num.Get(es[1]), n-1)
	}
	leave(64 << 20)
	if err := c.GrowBytes(1 << 20); err != nil {
		t.Fatal(err)
	}
	leave(0)
	for range 1 << 16 {
		c.Delete(Entity{})
	}
	full := []string{"1 MiB of 1 MiB", "apply them more often, or set a larger CommandsOptions.Bytes"}
	for _, text := range full {
		exhausted(t, func() error { c.Delete(es[0]); return nil }, vm.ErrCapacity, text)
		exhausted(t, func() error { c.New(a); return nil }, vm.ErrCapacity, text)
		exhausted(t, func() error { wide.AddLater(c, es[0], kilobyte{}); return nil }, vm.ErrCapacity,
			text)
		exhausted(t, func() error { return c.GrowBytes(1) }, vm.ErrCapacity, text)
	}
	if done, err := w.Apply(c); done != (Applied{Skipped: 1 << 16}) || err != nil {
		t.Errorf("%+v, %v; want %d skipped", done, err, 1<<16)
	}
	used := limit.Used()
	if err := c.Trim(); err != nil || limit.Used() != used-1<<20 {
		t.Errorf("Trim gave %d bytes back, want %d; %v", used-limit.Used(), 1<<20, err)
	}
	leave(2 * page)
	c.Delete(es[0])
	if err := c.Trim(); err != nil {
		t.Fatal(err)
	}
	if done, err := w.Apply(c); done.Done != 1 || err != nil || w.Alive(es[0]) {
		t.Errorf("%+v, %v", done, err)
	}
	if err := c.Close(); err != nil || len(w.commands.all) != 0 {
		t.Errorf("Close: %v; the world still lists %d Commands", err, len(w.commands.all))
	}
}

// TestCommandsMemory checks that Apply keeps the memory for the next batch, and that World.Close releases the
// memory.
func TestCommandsMemory(t *testing.T) {
	limit := vm.NewLimit(1 << 30)
	w := NewWorld(Options{MaxEntities: 1 << 12, Limit: limit})
	pos, name, tag := NewColumn[position](w), NewHeapColumn[string](w), NewTag(w, "tag")
	a := w.Archetype(pos)
	a.NewN(100, nil)
	es := entitiesOf(w.Query())
	cs := []*Commands{NewCommands(w, CommandsOptions{}), NewCommands(w, CommandsOptions{})}
	before := limit.Used()
	tick := func() {
		for i, e := range es {
			c := cs[i%2]
			c.At(i / 4)
			pos.AddLater(c, e, position{})
			name.AddLater(c, e, "name")
			tag.AddLater(c, e)
			tag.RemoveLater(c, e)
			c.Delete(c.New(a))
		}
		if done, err := w.Apply(cs...); done.Done != 600 || err != nil {
			t.Fatal(done, err)
		}
	}
	if limit.Used() != before {
		t.Error("Commands take memory before the first recording")
	}
	tick()
	used := limit.Used()
	if n := testing.AllocsPerRun(100, tick); n != 0 && !longtest.Race && !invariants.Enabled {
		t.Errorf("%v allocations in each round", n)
	}
	if limit.Used() != used || used == before {
		t.Errorf("the commands take %d bytes after one round, %d after many rounds", used-before,
			limit.Used()-before)
	}
	for _, c := range cs {
		for _, l := range c.lists {
			if l != nil && (len(l.(*listOf[string]).values) != 0 || l.(*listOf[string]).values[:1][0] != "") {
				t.Error("Apply keeps pointers to applied values")
			}
		}
	}
	if err := w.Close(); err != nil || limit.Used() != 0 {
		t.Errorf("%v, %d bytes are charged to a closed world", err, limit.Used())
	}
}
