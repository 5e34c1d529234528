package sched

import (
	"errors"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

func TestScheduleWithEachCallFailing(t *testing.T) {
	for _, workers := range []int{1, 3} {
		refused := 0
		calls := faulttest.EachCall(t, func() (met error) {
			w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14, Pages: vm.PagesSmall})
			var c vast.Column[uint64]
			var links vast.Relation
			again := func(what string, op func() error) {
				t.Helper()
				met = errors.Join(met, faulttest.Again(t, what, op, func() {}))
			}
			again("NewColumn", func() error { c = vast.NewColumn[uint64](w); return nil })
			again("NewRelation", func() error {
				links = vast.NewRelation(w, "links", vast.RelationOptions{})
				return nil
			})
			a, root := w.Archetype(c), vast.Entity{}
			again("New", func() error { root = w.Archetype().New(); return nil })
			s := New(w, Options{Workers: workers})
			ticks, systems := 0, 5
			for i := range systems {
				s.Add(System{Name: string(rune('a' + i)), Run: func(x *Context) {
					for i := range 60 {
						e := x.Commands().New(a)
						c.SetLater(x.Commands(), e, uint64(i+1))
						links.SetLater(x.Commands(), e, root)
					}
				}})
			}
			want, sum := 0, uint64(0)
			for ticks < 8 {
				err := s.Tick()
				var e *vm.Error
				var p *PanicError
				switch {
				case err == nil:
				case met != nil || !errors.Is(err, faulttest.Err) || !errors.As(err, &e):
					t.Fatalf("tick %d: %v, after %v", ticks, err, met)
				case errors.As(err, &p):
					met = err
					if w.Len() != 1+want {
						t.Errorf("tick %d: %d entities, want %d, after %v", ticks, w.Len(), 1+want, err)
					}
					continue // the commands were dropped, and the systems record them again
				default:
					met = err
					continue // the next call of Tick applies the commands
				}
				ticks++
				want, sum = want+60*systems, sum+uint64(systems)*60*61/2
				got := uint64(0)
				for run := range w.Query(c).Runs() {
					for _, v := range c.Slice(run) {
						got += v
					}
				}
				if w.Len() != 1+want || got != sum || links.CountSources(root) != want {
					t.Fatalf("after tick %d: %d entities, sum %d, %d links; want %d, %d, %d; after %v", ticks,
						w.Len(), got, links.CountSources(root), 1+want, sum, want, met)
				}
			}
			again("GrowCommandBytes", func() error { return s.GrowCommandBytes(1 << 19) })
			again("Trim", w.Trim)
			again("Close of the schedule", s.Close)
			again("Close of the world", w.Close)
			if met != nil {
				refused++
			}
			return met
		})
		t.Logf("%d workers: %d calls, %d of them cause errors when they fail", workers, calls, refused)
		if refused < 5 && !vm.HeapStandIn() {
			t.Errorf("%d workers: only %d calls cause errors when they fail, want at least 5", workers,
				refused)
		}
	}
}
