package vast

import (
	"slices"
	"sync"
	"testing"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

func TestDisableInLoops(t *testing.T) {
	d := newDisabledWorld(t, 300)
	changes, n := d.Changes(), 0
	for s := range d.Query(d.c).Slots() {
		if *d.c.At(s)%3 == 0 {
			d.off.DisableAt(s)
		}
		n++
	}
	for r := range d.Query(d.off).Runs() {
		d.off.EnableRun(r)
		d.mute.DisableRun(r)
		n++
	}
	if n != 400 || d.Changes() != changes || d.off.Len() != 0 || d.Query(d.c).Count() != 200 {
		t.Errorf("the loops took %d steps and made %d changes, %d are disabled, %d have the component", n,
			d.Changes()-changes, d.off.Len(), d.Query(d.c).Count())
	}
	for r := range d.Query().Optional(d.mute).Runs() {
		d.mute.EnableRun(r)
		d.off.DisableRun(r)
	}
	if n := d.Query().Count(); n != 0 || d.mute.Len() != 0 {
		t.Errorf("%d entities match, %d are muted", n, d.mute.Len())
	}
	if n := d.off.RemoveAll(d.Query(d.off)); n != 300 || d.Changes() == changes {
		t.Errorf("RemoveAll returns %d", n)
	}
}

// TestDisabledLives: births, deletions, moves, Trim and Reset keep the tag with its entity.
func TestDisabledLives(t *testing.T) {
	d := newDisabledWorld(t, 200)
	born := d.Archetype(d.c, d.off)
	disabled := born.New()
	d.mustMatch(t, "born disabled", d.Query(d.off), -1)
	d.off.Enable(disabled)
	if d.Query(d.c).Count() != 201 {
		t.Error("an entity that was born disabled cannot be enabled")
	}
	d.Delete(disabled)
	for _, e := range d.es {
		d.off.Disable(e)
	}
	for _, e := range d.es[:100] {
		d.Delete(e)
	}
	d.checkInvariants()
	if got := d.Archetype(d.c).New(); d.off.Has(got) || d.Query(d.c).Count() != 1 {
		t.Error("a new entity in the slot of a disabled entity is disabled")
	}
	d.OnMove(func(_, _ Entity) {})
	moves := d.Archetype(d.c).Pack(MoveOptions{})
	if moves.Len() == 0 || d.off.Len() != 100 {
		t.Errorf("Pack moves %d entities, %d are disabled", moves.Len(), d.off.Len())
	}
	late := NewColumn[uint16](d.World)
	late.AddAll(d.Query(d.c).Optional(d.off), 7)
	if n := d.Regroup(d.Query(late), MoveOptions{}).Len(); n != 101 || d.off.Len() != 100 ||
		d.Query(late, d.off).Count() != 100 {
		t.Errorf("Regroup moves %d entities, %d are disabled", n, d.off.Len())
	}
	if n := d.Regroup(d.Query(), MoveOptions{}).Len(); n != 0 {
		t.Errorf("Regroup moves %d entities because of the tag", n)
	}
	if err := d.Trim(); err != nil {
		t.Fatal(err)
	}
	d.checkInvariants()
	mustBeTight(t, d.off.c.set)
	d.Reset()
	if d.off.Len() != 0 || d.Len() != 0 {
		t.Errorf("after Reset %d entities live", d.Len())
	}
	d.checkInvariants()
}

// mustBeTight fails the test if a summary of the set is not exact.
func mustBeTight(t *testing.T, s *bitset.Set) {
	t.Helper()
	for b := range uint(s.Len()+bitset.BlockBits-1) / bitset.BlockBits {
		any, full := s.Block(b)
		for k := uint(0); k < 64 && b*64+k < uint(s.Len()/64); k++ {
			word := s.Word(b*64 + k)
			if any>>k&1 != 0 != (word != 0) || full>>k&1 != 0 != (word == ^uint64(0)) {
				t.Fatalf("the summary of word %d is not exact: the word is %#x", b*64+k, word)
			}
		}
	}
}

func TestDisabledTracker(t *testing.T) {
	d := newDisabledWorld(t, 130)
	d.off.Disable(d.es[2])
	tr := NewTracker(d.World, d.off)
	d.off.Disable(d.es[1])
	d.off.Disable(d.es[1])
	d.off.Enable(d.es[2])
	d.off.Disable(d.es[3])
	d.off.Enable(d.es[3])
	d.off.DisableRun(Run{64, 60, d.World})
	added, removed := slices.Collect(tr.Added(d.off)), slices.Collect(tr.Removed(d.off))
	if !slices.Equal(added, append([]Entity{d.es[1]}, d.es[64:124]...)) ||
		!slices.Equal(removed, []Entity{d.es[2]}) {
		t.Errorf("the tracker notes %v as disabled and %v as enabled", added, removed)
	}
	d.mustMatch(t, "Changed", d.Query().Changed(d.off, tr).Between(0, 60), 1)
	d.Archetype(d.c).NewN(40_000, nil)
	for e := range d.Query(d.c).All() {
		d.off.Disable(e)
	}
	d.checkInvariants()
	tr.Next()
	if n := len(slices.Collect(tr.Added(d.off))); n != 0 {
		t.Errorf("the tracker notes %d entities after Next", n)
	}
}

// TestDisableInHooks: a bulk operation changes the entities that matched at its start, although its hooks
// disable and enable entities.
func TestDisableInHooks(t *testing.T) {
	for name, f := range map[string]func(d *disabledWorld, q Query) int{
		"RemoveAll": func(d *disabledWorld, q Query) int { return d.c.RemoveAll(q) },
		"DeleteAll": func(d *disabledWorld, q Query) int { return d.DeleteAll(q) },
		"Exchange":  func(d *disabledWorld, q Query) int { return d.Exchange(q, nil, []AnyColumn{d.c}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDisabledWorld(t, 200)
			d.off.DisableRun(Run{0, 100, d.World})
			var told []Entity
			d.c.OnRemove(func(e Entity, _ *uint64) {
				told = append(told, e)
				d.off.Enable(d.es[0])
				d.off.Disable(e)
				d.off.Disable(d.es[199])
			})
			if n := f(d, d.Query(d.c)); n != 100 || !slices.Equal(told, d.es[100:]) || !d.c.Has(d.es[0]) {
				t.Errorf("%d entities are changed, the hooks see %d", n, len(told))
			}
			if n := d.Query(d.c).Count(); n != 1 {
				t.Errorf("%d entities are enabled afterwards, want 1", n)
			}
			d.checkInvariants()
		})
	}
}

// TestDisableWithoutMemory: disabling works in a world whose limit is used up, and a refused growth gives
// back the memory of the tags.
func TestDisableWithoutMemory(t *testing.T) {
	limit := vm.NewLimit(1 << 28)
	w := NewWorld(Options{MaxEntities: 1 << 20, Limit: limit, Pages: vm.PagesSmall})
	defer w.Close()
	a := w.Archetype(NewColumn[uint64](w))
	a.NewN(100_000, nil)
	leave := hog(t, limit)
	leave(0)
	if !vm.HeapStandIn() {
		exhausted(t, func() error { NewDisabled(w, "late"); return nil }, vm.ErrLimit, "")
		if len(w.columns) != 1 || len(w.disabled) != 0 {
			t.Error("a refused NewDisabled registered its tag")
		}
	}
	leave(1 << 20)
	off := NewDisabled(w, "off")
	off.Disable(a.New())
	leave(0)
	n := w.Len()
	for s := range w.Query().Slots() {
		off.DisableAt(s)
	}
	if off.Len() != n {
		t.Errorf("%d of %d entities are disabled", off.Len(), n)
	}
	for pages := range 30 {
		leave(pages * vm.PageSize())
		before := limit.Used()
		err := a.Grow(200_000)
		if vm.HeapStandIn() {
			break
		}
		if err == nil || limit.Used() != before {
			t.Fatalf("with %d pages left, Grow returns %v and keeps %d bytes", pages, err,
				limit.Used()-before)
		}
		w.checkInvariants()
	}
}

// TestDisableOnGoroutines: several goroutines disable and enable entities of the same words, while others run
// queries. Only entities that change may be in doubt.
func TestDisableOnGoroutines(t *testing.T) {
	d := newDisabledWorld(t, 5000)
	tr := NewTracker(d.World, d.off)
	var toggling, reading sync.WaitGroup
	stop := make(chan struct{})
	for k := range 3 { // entity i belongs to goroutine i%4, and entities 3, 7, ... to none
		toggling.Go(func() {
			for round := range 5 {
				for i := k; i < len(d.es); i += 4 {
					if round%2 == 0 {
						d.off.Disable(d.es[i])
						d.mute.DisableAt(Slot{d.es[i].slot, d.World})
					} else {
						d.off.Enable(d.es[i])
						d.mute.EnableAt(Slot{d.es[i].slot, d.World})
					}
				}
			}
		})
	}
	queries := []Query{d.Query(d.c), d.Query().Any(d.c, d.odd), d.Query(d.c).Optional(d.off, d.mute),
		d.Query(d.c).Exactly(), d.Query().Without(d.off)}
	for _, q := range queries {
		reading.Go(func() {
			for {
				still := 0
				for s := range q.Slots() {
					if s.n%4 == 3 {
						still++
						if d.off.HasAt(s) || d.off.Has(s.Entity()) || d.mute.HasAt(s) {
							t.Errorf("entity %d is disabled", s.n)
						}
					}
				}
				for r := range q.Runs() {
					_ = d.off.In(r)
				}
				if still != 1250 && still != 0 {
					t.Errorf("a query yields %d of the 1250 entities that no goroutine disables", still)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	toggling.Wait()
	close(stop)
	reading.Wait()
	d.checkInvariants()
	if n := d.off.Len(); n != 3750 {
		t.Errorf("%d entities are disabled, want 3750", n)
	}
	if n := len(slices.Collect(tr.Added(d.off))); n != 3750 {
		t.Errorf("the tracker notes %d disabled entities, want 3750", n)
	}
	if d.Delete(d.es[0]); d.Query(d.off).Count() != 3749 {
		t.Error("a deleted entity is still disabled")
	}
}
