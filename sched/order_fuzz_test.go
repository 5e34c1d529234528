package sched

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/modeltest"
)

// FuzzOrder: Build returns an OrderError, or all systems run once in each tick in a correct order.
func FuzzOrder(f *testing.F) {
	f.Add([]byte{3, 1, 0, 1, 0, 0, 2, 1, 1, 0, 4, 0, 2, 1, 0, 0, 1, 2, 0, 1, 0, 8})
	f.Add([]byte{6, 0, 255, 255, 9, 9, 1, 2, 3, 4, 5, 6, 7, 1, 0, 0, 0, 1, 1, 1, 2, 2, 2})
	w, cols := newWorld(f, 4)
	f.Fuzz(func(t *testing.T, data []byte) {
		b := modeltest.NewStream(data)
		n := 1 + b.Below(12)
		s := New(w, Options{Workers: 1 + b.Below(3), Phases: []Phase{"first", "second"},
			Commands: vast.CommandsOptions{Bytes: 1 << 16}})
		defer s.Close()
		var clock atomic.Int64
		systems, began, ended := make([]System, n), make([]int64, n), make([]int64, n)
		runs := make([]int, n)
		name := func(i int) string { return fmt.Sprintf("s%d", i) }
		some := func(bits int) (chosen []vast.AnyColumn) {
			for i, c := range cols {
				if bits>>i&1 != 0 {
					chosen = append(chosen, c)
				}
			}
			return chosen
		}
		for i := range systems {
			reads := b.Byte() % 16
			sys := System{Name: name(i), Phase: []Phase{"first", "second"}[b.Byte()%2],
				Exclusive: b.Byte()%8 == 1, Run: func(*Context) {
					began[i] = clock.Add(1)
					runs[i]++
					ended[i] = clock.Add(1)
				}}
			sys.Reads, sys.Writes = some(reads), some(b.Byte()%16&^reads)
			for range b.Byte() % 3 {
				if other := b.Below(n + 1); b.Byte()%2 == 0 { // no system has the name name(n)
					sys.Before = append(sys.Before, name(other))
				} else {
					sys.After = append(sys.After, name(other))
				}
			}
			systems[i] = sys
		}
		sets := make([]SetOptions, b.Below(3))
		for i := range systems {
			for k := range sets {
				if b.Byte()%3 == 1 {
					systems[i].Sets = append(systems[i].Sets, Set(fmt.Sprint("set", k)))
				}
			}
			s.Add(systems[i])
		}
		for k := range sets {
			other := fmt.Sprint("set", b.Below(len(sets)))
			if b.Byte()%2 == 0 {
				other = name(b.Below(n))
			}
			if b.Byte()%2 == 0 {
				sets[k].Before = []string{other}
			} else {
				sets[k].After = []string{other}
			}
			s.ConfigureSet(Set(fmt.Sprint("set", k)), sets[k])
		}
		if err := s.Build(); err != nil {
			var wrong *OrderError
			if !errors.As(err, &wrong) || len(wrong.Systems) == 0 {
				t.Fatalf("%v", err)
			}
			return
		}
		const ticks = 3
		for range ticks {
			if err := s.Tick(); err != nil {
				t.Fatal(err)
			}
			checkTick(t, systems, began, ended)
			for k, o := range sets {
				checkSet(t, systems, began, ended, fmt.Sprint("set", k), o)
			}
		}
		if i := slices.IndexFunc(runs, func(n int) bool { return n != ticks }); i >= 0 {
			t.Fatalf("%s ran %d times in %d ticks", name(i), runs[i], ticks)
		}
	})
}

func checkTick(t *testing.T, systems []System, began, ended []int64) {
	t.Helper()
	touches := func(a, b []vast.AnyColumn) bool {
		return slices.ContainsFunc(a, func(c vast.AnyColumn) bool { return slices.Contains(b, c) })
	}
	for i, a := range systems {
		for k, b := range systems {
			before := ended[i] < began[k]
			if slices.Contains(a.Before, b.Name) && !before || slices.Contains(b.After, a.Name) && !before ||
				a.Phase == "first" && b.Phase == "second" && !before {
				t.Fatalf("%s is not done when %s begins", a.Name, b.Name)
			}
			if i != k && (a.Exclusive || touches(a.Writes, b.Writes) || touches(a.Writes, b.Reads)) &&
				!before && ended[k] > began[i] {
				t.Fatalf("%s runs at the same time as %s", a.Name, b.Name)
			}
		}
	}
}

// checkSet checks the order of the systems of a set and of the systems that its options name.
func checkSet(t *testing.T, systems []System, began, ended []int64, set string, o SetOptions) {
	t.Helper()
	is := func(s System, name string) bool { return s.Name == name || slices.Contains(s.Sets, Set(name)) }
	for i, a := range systems {
		for k, b := range systems {
			if i == k || !is(a, set) {
				continue
			}
			for _, name := range o.Before {
				if is(b, name) && ended[i] >= began[k] {
					t.Fatalf("%s of %s is not done when %s begins", a.Name, set, b.Name)
				}
			}
			for _, name := range o.After {
				if is(b, name) && ended[k] >= began[i] {
					t.Fatalf("%s is not done when %s of %s begins", b.Name, a.Name, set)
				}
			}
		}
	}
}
