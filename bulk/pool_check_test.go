package bulk

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/invariants"
)

func TestPoolCheckFindsContradictions(t *testing.T) {
	for name, c := range map[string]struct {
		wrong func(*Pool[record])
		says  string
	}{
		"the length": {func(p *Pool[record]) { p.len++ }, "200 presence bits for 201 elements"},
		"a summary":  {func(p *Pool[record]) { *p.word(1) = 0 }, "the summary of block 0"},
		"a slot without room": {func(p *Pool[record]) { p.live.Set(p.room); p.len++ },
			"is live, but there are"},
		"more room than fits": {func(p *Pool[record]) { p.room = 1 << 20 },
			"room for 1048576 elements exceeds the capacity 65536"},
		// A hint of 2 claims that no slot of the words 0 and 1 can be taken.
		"the hint": {func(p *Pool[record]) { p.Remove(p.handles()[70]); p.hint = 2 },
			"slot 70 is free below the hint 2"},
		"the hint, in word 0": {func(p *Pool[record]) { p.Remove(p.handles()[3]); p.hint = 1 },
			"slot 3 is free below the hint 1"},
		"the slots to skip": {func(p *Pool[record]) { p.skip = 8 },
			"retired slots 0x0 are to be skipped, not 0x8"},
		"the retired slots": {func(p *Pool[record]) { p.retired = map[uint]uint64{1: 16} },
			"the slots 0x0 of word 1 are exhausted, but 0x10 are retired"},
		"a shared generation": {func(p *Pool[record]) { *p.generations.ofWord(1)++ },
			"word 1 shares generation"},
		"a zero generation": {func(p *Pool[record]) {
			p.generations.common(0).generation,
				*p.generations.ofWord(0) = 0, 0
		}, "has generation 0x0"},
		"the slots taken so far": {func(p *Pool[record]) { p.generations.common(3).fresh = 2 },
			"but only its slots below 2 were taken"},
	} {
		p, err := NewPool[record](Options{Capacity: 1 << 16, Name: "ships"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			p.Insert(numbered(i))
		}
		p.checkInvariants()
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, c.says) {
					t.Errorf("%s is wrong, and the check panics with %q, want %q", name, text, c.says)
				}
			}()
			c.wrong(p)
			p.checkInvariants()
		}()
		if err := p.region.Close(); err != nil { // p.Close would check the invariants
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPoolChecksItsLastWord(t *testing.T) {
	p, err := NewPool[record](Options{Capacity: 70, Name: "ships"}) // the last word has 6 slots
	if err != nil {
		t.Fatal(err)
	}
	var last Handle[record]
	for i := range 70 {
		last, _ = p.Insert(numbered(i))
	}
	p.Remove(last)
	p.hint = 2
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "slot 69 is free below the hint 2") {
			t.Errorf("the check panics with %q, but slot 69 is free below the hint", text)
		}
		if err := p.region.Close(); err != nil { // p.Close would check the invariants
			t.Error(err)
		}
	}()
	p.checkInvariants()
}

func TestPoolChecksItself(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("only with the build tag invariants")
	}
	for name, change := range map[string]func(*Pool[record]){
		"Clear": func(p *Pool[record]) { p.Clear(nil) },
		"Grow":  func(p *Pool[record]) { _ = p.Grow(10_000) },
		"Insert": func(p *Pool[record]) {
			for range 1000 {
				p.Insert(record{})
			}
		},
		"Remove": func(p *Pool[record]) {
			for _, h := range p.handles() {
				p.Remove(h)
			}
		},
	} {
		p, err := NewPool[record](Options{Capacity: 1 << 16, Name: "ships"})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Grow(2000); err != nil { // room for all insertions, because growing runs the check, too
			t.Fatal(err)
		}
		for i := range 1000 {
			p.Insert(numbered(i))
		}
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text,
					"broken invariant: the slots 0x0 of word 1 are exhausted, but 0x10 are retired") {
					t.Errorf("%s does not find the contradiction: it panics with %q", name, text)
				}
			}()
			p.retired = map[uint]uint64{1: 16}
			change(p)
		}()
		if err := p.region.Close(); err != nil { // p.Close would check the invariants
			t.Errorf("%s: %v", name, err)
		}
	}
}

func (p *Pool[T]) handles() (all []Handle[T]) {
	for h := range p.All() {
		all = append(all, h)
	}
	return all
}
