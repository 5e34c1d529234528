package bulk

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
	"github.com/vastgo/vast/vm"
)

// poolUser is a pool and its expected content.
type poolUser struct {
	t       *testing.T
	p       *SharedPool[record]
	in      *Inserter[record]
	handles []Handle[record] // of the elements 0 to poolUserElements-1
	live    []bool           // by element: whether it is live
	more    int              // number of elements that insert has added
}

const poolUserElements = 100

func newPoolUser(t *testing.T) *poolUser {
	u := &poolUser{t: t, p: newSharedPool[record](t, Options{Name: "ships", Capacity: 256})}
	u.in = u.p.Inserter()
	for i := range poolUserElements {
		h, _ := u.p.Insert(numbered(i))
		u.handles, u.live = append(u.handles, h), append(u.live, true)
	}
	return u
}

func (u *poolUser) remove(i int, by func(Handle[record]) bool) {
	if by(u.handles[i]) != u.live[i] {
		u.t.Errorf("Remove of element %d returns %t, want %t", i, !u.live[i], u.live[i])
	}
	u.live[i] = false
}

func (u *poolUser) insert(by func(record) (Handle[record], *record)) {
	if h, e := by(numbered(1000 + u.more)); *e != numbered(1000+u.more) || u.p.Get(h) != e {
		u.t.Errorf("the inserted element is %v", *e)
	}
	u.more++
}

// poolCalls are the calls that a callback makes at element 50.
var poolCalls = map[string]struct {
	says string // a part of the expected panic message; empty if the call must not panic
	call func(u *poolUser)
}{
	"nothing": {"", func(*poolUser) {}},
	"look-ups": {"", func(u *poolUser) {
		for i, h := range u.handles {
			v, ok := u.p.Load(h)
			if e := u.p.Get(h); ok != u.live[i] || u.p.Valid(h) != ok || (e != nil) != ok || ok &&
				(v != numbered(i) || *e != v) {
				u.t.Errorf("element %d is %v, %t", i, v, ok)
			}
		}
	}},
	"walks": {"", func(u *poolUser) {
		n := u.p.Len()
		for range u.p.All() {
			n--
		}
		if n != 0 {
			u.t.Errorf("a walk in a walk yields %d elements too few", n)
		}
		for _, run := range u.p.Runs() {
			n += len(run)
		}
		if n != u.p.Len() {
			u.t.Errorf("runs in a walk yield %d elements of %d", n, u.p.Len())
		}
	}},
	"Remove of this element":       {"", func(u *poolUser) { u.remove(50, u.p.Remove) }},
	"Remove of a later element":    {"", func(u *poolUser) { u.remove(51, u.p.Remove) }},
	"Remove of an earlier element": {"", func(u *poolUser) { u.remove(3, u.p.Remove) }},
	"Remove of all": {"", func(u *poolUser) {
		for i := range u.handles {
			u.remove(i, u.p.Remove)
		}
	}},
	"an inserter's Remove": {"", func(u *poolUser) {
		for i := 40; i < 60; i++ {
			u.remove(i, u.in.Remove)
		}
	}},
	"Grow": {"", func(u *poolUser) {
		if err := u.p.Grow(100); err != nil {
			u.t.Error(err)
		}
	}},
	"Close":   {"ships is used after Close: keep it open", func(u *poolUser) { _ = u.p.Close() }},
	"a panic": {"stop", func(*poolUser) { panic("stop") }},
}

// check compares the pool with its expected content, and then fills all free slots.
func (u *poolUser) check(what string) {
	u.t.Helper()
	want := u.more
	for i, h := range u.handles {
		v, ok := u.p.Load(h)
		if ok != u.live[i] || ok && v != numbered(i) || u.p.Valid(h) != ok {
			u.t.Errorf("%s: element %d is %v, %t", what, i, v, ok)
		}
		if u.live[i] {
			want++
		}
	}
	n := 0
	for _, e := range u.p.All() {
		if *e != numbered(int(e[0])) {
			u.t.Errorf("%s: All yields %v", what, *e)
		}
		n++
	}
	if n != want || u.p.Len() != want {
		u.t.Errorf("%s: All yields %d elements, Len is %d, want %d", what, n, u.p.Len(), want)
	}
	u.in.Close()
	u.p.checkInvariants()
	for ; n < 256; n++ {
		u.p.Insert(numbered(n))
	}
	if e := exhausted(func() { u.p.Insert(record{}) }); !errors.Is(e, vm.ErrCapacity) || u.p.Len() != 256 {
		u.t.Errorf("%s: Insert into the full pool of %d elements: %v", what, u.p.Len(), e)
	}
	u.p.checkInvariants()
}

func TestSharedPoolWalkCallsBack(t *testing.T) {
	onlyInAll := map[string]func(u *poolUser){ // calls that the body of a loop over Runs must not make
		"Insert":               func(u *poolUser) { u.insert(u.p.Insert) },
		"an inserter's Insert": func(u *poolUser) { u.insert(u.in.Insert) },
		"Remove and Insert": func(u *poolUser) {
			for i := 30; i < 70; i++ {
				u.remove(i, u.p.Remove)
				u.insert(u.p.Insert)
			}
		},
		"an inserter's Remove and Insert": func(u *poolUser) {
			for i := 30; i < 70; i++ {
				u.remove(i, u.in.Remove)
				u.insert(u.in.Insert)
			}
		},
		"Clear": func(u *poolUser) {
			u.p.Clear(nil)
			clear(u.live)
		},
		"Clear and Insert": func(u *poolUser) {
			u.p.Clear(nil)
			clear(u.live)
			for range 60 {
				u.insert(u.p.Insert)
			}
		},
	}
	walk := func(name, says string, call func(u *poolUser), runs bool) {
		what := fmt.Sprintf("%s, runs: %t", name, runs)
		u := newPoolUser(t)
		if runs { // make several runs
			for i := 5; i < poolUserElements; i += 10 {
				u.remove(i, u.p.Remove)
			}
		}
		lived := append([]bool(nil), u.live...)
		visits := map[int]int{}
		called := false
		text := modeltest.PanicText(func() {
			if runs {
				for first, run := range u.p.Runs() {
					for i := range run {
						visits[int(run[i][0])]++
						if first+i == int(u.handles[50].Slot()) {
							called = true
							call(u)
						}
						if called && u.p.ended != nil {
							break // the pool is closed, and the run is gone
						}
					}
				}
				return
			}
			for h, e := range u.p.All() {
				visits[int(e[0])]++
				if h == u.handles[50] {
					called = true
					call(u)
				}
			}
		})
		if !called || (says == "") != (text == "") || !strings.Contains(text, says) {
			t.Errorf("%s: the call was made: %t; the loop panics with %q, want %q", what, called, text, says)
		}
		for i := range poolUserElements {
			if n := visits[i]; n > 1 || text == "" && n == 0 && lived[i] && u.live[i] {
				t.Errorf("%s: the loop yields element %d %d times", what, i, n)
			}
		}
		if u.p.ended == nil {
			u.check(what)
		}
	}
	for name, c := range poolCalls {
		walk(name, c.says, c.call, false)
		walk(name, c.says, c.call, true)
	}
	for name, call := range onlyInAll {
		walk(name, "", call, false)
	}
}

func TestSharedClearCallsBack(t *testing.T) {
	for name, c := range poolCalls {
		u := newPoolUser(t)
		visits := map[int]int{}
		text := modeltest.PanicText(func() {
			u.p.Clear(func(h Handle[record], e *record) {
				i := int(e[0])
				if visits[i]++; h != u.handles[i] || *e != numbered(i) {
					t.Errorf("%s: Clear passes %v", name, *e)
				}
				if i == 50 {
					c.call(u)
				}
			})
		})
		if (c.says == "") != (text == "") || !strings.Contains(text, c.says) {
			t.Errorf("%s: Clear panics with %q, want %q", name, text, c.says)
		}
		for i := range poolUserElements {
			if visits[i] > 1 || text == "" && visits[i] == 0 && u.live[i] {
				t.Errorf("%s: Clear passes element %d %d times", name, i, visits[i])
			}
		}
		if u.p.ended != nil {
			continue
		}
		if text == "" {
			clear(u.live)
		}
		u.check(name)
	}
}
