package bulk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

// tableUsers is a table with the readers and writers of a test. The tests make calls in callbacks of w and in
// loops over r.
type tableUsers struct {
	t        *testing.T
	table    *SharedTable[object]
	w, other *SharedWriter[object]
	r        *SharedReader[object]
}

func (u tableUsers) checkEntry(what string, i int, want object) {
	u.t.Helper()
	r := u.table.Reader()
	defer r.Close()
	if v, ok := r.Load(i); v != want || ok != (want != object{}) {
		u.t.Errorf("%s: entry %d is %v, %t, want %v", what, i, v, ok, want)
	}
}

// TestSharedTableCallsBack makes calls from the callback of an Update of entry 3. Calls of the updating
// writer and Close of the table must panic and change nothing. All other calls must work.
func TestSharedTableCallsBack(t *testing.T) {
	type callBack struct {
		says string // text of the panic; empty if the call works
		call func(u tableUsers)
		want object // entry 3 after the call, before the Update changes it
		four object // entry 4 after the Update
	}
	one := objectOf(1)
	cases := map[string]callBack{
		"nothing": {"", func(tableUsers) {}, one, one},
		"Close of the table": {"inside a look or an Update: wait until the readers", func(u tableUsers) {
			_ = u.table.Close()
		}, one, one},
		"another writer's Set": {"", func(u tableUsers) { u.other.Set(4, objectOf(2)) }, one, objectOf(2)},
		"another writer's Set of the same entry": {"", func(u tableUsers) {
			u.other.Set(3, objectOf(2))
		}, objectOf(2), one},
		"another writer's Remove of the same entry": {"", func(u tableUsers) {
			u.other.Remove(3)
		}, object{}, one},
		"another writer's Update of the same entry": {"", func(u tableUsers) {
			u.other.Update(3, func(o *object) { *o = objectOf(o.A + 10) })
		}, objectOf(11), one},
		"other writers that come and go": {"", func(u tableUsers) {
			for i := range 20 {
				w := u.table.Writer()
				for range 3 * batchPlaces {
					w.Set(4, objectOf(uint64(i)))
				}
				w.Close()
			}
		}, one, objectOf(19)},
		"readers": {"", func(u tableUsers) {
			u.r.Enter()
			if v := u.r.Get(3); *v != one {
				u.t.Errorf("entry 3 is %v", *v)
			}
			n := 0
			for range u.r.All() {
				n++
			}
			u.r.Leave()
			if n != 8 || u.table.Len() != 8 {
				u.t.Errorf("%d entries, Len is %d", n, u.table.Len())
			}
			u.checkEntry("in the callback", 4, one)
		}, one, one},
		"Grow of the table": {"", func(u tableUsers) {
			if err := u.table.GrowEntries(10); err != nil || u.table.Committed() == 0 {
				u.t.Error(err)
			}
		}, one, one},
	}
	for name, call := range map[string]func(u tableUsers){
		"Set":                      func(u tableUsers) { u.w.Set(4, objectOf(2)) },
		"Set of the same entry":    func(u tableUsers) { u.w.Set(3, objectOf(2)) },
		"Set out of range":         func(u tableUsers) { u.w.Set(100, objectOf(2)) },
		"Remove":                   func(u tableUsers) { u.w.Remove(4) },
		"Remove of the same entry": func(u tableUsers) { u.w.Remove(3) },
		"Update": func(u tableUsers) {
			u.w.Update(4,
				func(o *object) { *o = objectOf(2) })
		},
		"Update of nothing": func(u tableUsers) { u.w.Update(9, func(*object) {}) },
		"Grow":              func(u tableUsers) { _ = u.w.Grow(1) },
		"Close":             func(u tableUsers) { u.w.Close() },
	} {
		method, _, _ := strings.Cut(name, " ")
		says := method + " on a writer of objects in the middle of its Update: let the callback change only"
		cases[name] = callBack{says, call, one, one}
	}
	for name, c := range cases {
		for _, recovers := range []bool{true, false} {
			table := openSmallTable(t, Options{Name: "objects", Capacity: 10}, 6000)
			u := tableUsers{t, table, table.Writer(), table.Writer(), table.Reader()}
			for i := range 8 {
				u.other.Set(i, objectOf(1))
			}
			if err := u.w.Grow(5); err != nil {
				t.Fatal(err)
			}
			callPanic, calls := "", 0
			updated := false
			updatePanic := modeltest.PanicText(func() {
				updated = u.w.Update(3, func(o *object) {
					if calls++; calls == 1 {
						callPanic = modeltest.PanicText(func() { c.call(u) })
						if callPanic != "" && !recovers {
							panic(callPanic)
						}
					}
					*o = objectOf(o.A + 100)
				})
			})
			if (c.says == "") != (callPanic == "") || !strings.Contains(callPanic, c.says) ||
				updatePanic != "" && (recovers || updatePanic != callPanic) {
				t.Errorf("%s in the callback panics with %q, want %q; Update panics with %q", name, callPanic,
					c.says, updatePanic)
			}
			want, wantCalls := c.want, 1
			if want != objectOf(1) && want != (object{}) {
				wantCalls = 2
			}
			wantUpdated := updatePanic == "" && want != object{}
			if wantUpdated {
				want = objectOf(want.A + 100)
			}
			if updated != wantUpdated || calls != wantCalls {
				t.Errorf("%s in the callback: Update returned %t after %d calls of the callback, want %t "+
					"after %d", name, updated, calls, wantUpdated, wantCalls)
			}
			u.checkEntry(name, 3, want)
			u.checkEntry(name, 4, c.four)
			if table.epochs.inside() != 0 {
				t.Errorf("%s in the callback: a reader or writer is still inside", name)
			}
			checkTable(t, table)
			u.w.Set(5, objectOf(77))
			u.checkEntry(name, 5, objectOf(77))
			if !u.w.Remove(5) {
				t.Errorf("%s in the callback: afterwards Remove(5) returns false", name)
			}
			u.w.Close()
			u.other.Close()
			mustHaveFree(t, table, name, 0)
			checkTable(t, table)
		}
	}
}

// TestSharedTableWalkCallsBack makes calls from the body of a loop over All, at entry 2.
func TestSharedTableWalkCallsBack(t *testing.T) {
	all := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for name, c := range map[string]struct {
		says string
		call func(u tableUsers)
		want []int // the entries that All yields
	}{
		"nothing": {"", func(tableUsers) {}, all},
		"Leave":   {"outside of a look: Enter first", func(u tableUsers) { u.r.Leave() }, []int{0, 1, 2}},
		"Leave and Enter": {"", func(u tableUsers) {
			u.r.Leave()
			u.w.Remove(2)
			u.r.Enter()
		}, all},
		"Enter": {"inside a look already", func(u tableUsers) { u.r.Enter() }, []int{0, 1, 2}},
		"Close": {"inside a look: Leave first", func(u tableUsers) { u.r.Close() }, []int{0, 1,
			2}},
		"Close of the table": {"while 1 of its readers and writers are inside",
			func(u tableUsers) { _ = u.table.Close() }, []int{0, 1, 2}},
		"Get and Load": {"", func(u tableUsers) {
			if v, ok := u.r.Load(5); !ok || v != objectOf(5) || *u.r.Get(6) != objectOf(6) || !u.r.inside {
				u.t.Errorf("entry 5 is %v, %t", v, ok)
			}
		}, all},
		"Set of all entries": {"", func(u tableUsers) {
			for i := range 10 {
				u.w.Set(i, objectOf(uint64(i)))
			}
		}, []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"Remove": {"", func(u tableUsers) {
			for i := range 8 {
				if i%2 == 0 {
					u.w.Remove(i)
				}
			}
		}, []int{0, 1, 2, 3, 5, 7}},
		"Update": {"", func(u tableUsers) { u.w.Update(3, func(o *object) { *o = objectOf(3) }) }, all},
		"more Sets than maxWaiting": {"", func(u tableUsers) {
			for range 10 * maxWaiting {
				u.w.Set(2, objectOf(2))
			}
		}, all},
		"All": {"", func(u tableUsers) {
			n := 0
			for range u.r.All() {
				n++
			}
			if n != 8 {
				u.t.Errorf("the inner loop over All yields %d entries", n)
			}
		}, all},
		"a panic": {"stop", func(tableUsers) { panic("stop") }, []int{0, 1, 2}},
	} {
		table := openSmallTable(t, Options{Name: "objects", Capacity: 10}, 6000)
		u := tableUsers{t, table, table.Writer(), table.Writer(), table.Reader()}
		if err := table.GrowEntries(10); err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			u.w.Set(i, objectOf(uint64(i)))
		}
		u.r.Enter()
		var came []int
		text := modeltest.PanicText(func() {
			for i, v := range u.r.All() {
				came = append(came, i)
				if i == 2 {
					c.call(u)
				}
				if *v != objectOf(uint64(i)) && u.r.inside {
					t.Errorf("%s: entry %d is %v", name, i, *v)
				}
			}
		})
		if (c.says == "") != (text == "") || !strings.Contains(text, c.says) ||
			fmt.Sprint(came) != fmt.Sprint(c.want) {
			t.Errorf("%s: All yielded %v and panicked with %q; want %v, %q", name, came, text, c.want,
				c.says)
		}
		if u.r.inside {
			u.r.Leave()
		}
		if table.epochs.inside() != 0 {
			t.Errorf("%s: a reader or writer is still inside", name)
		}
		u.w.Close()
		u.other.Close()
		mustHaveFree(t, table, name, 0)
		checkTable(t, table)
	}
}
