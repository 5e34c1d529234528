//go:build invariants

package sched

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

func TestUndeclaredAccess(t *testing.T) {
	w, c := newWorld(t, 3)
	heap, sparse := vast.NewHeapColumn[string](w), vast.NewSparseColumn[[9]uint64](w).Named("big")
	tag := vast.NewTag(w, "tag")
	childOf := vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	e := w.Archetype(c[0], c[1], c[2], heap, sparse).New()
	childOf.Set(w.Archetype().New(), e)
	q := w.Query(c[0], c[1], c[2]).Without(tag)
	slice := func(col vast.Column[uint64]) {
		for run := range q.Runs() {
			_ = col.Slice(run)
		}
	}
	for name, test := range map[string]struct {
		run    func(c *Context)
		column string // empty if the access is declared
		write  bool
	}{
		"reads and writes": {run: func(*Context) { slice(c[0]); c[1].Set(e, 1); c[1].Get(e); slice(c[1]) }},
		"presence": {run: func(x *Context) {
			c[2].Has(e)
			q.Count()
			c[2].SetLater(x.Commands(), e, 5)
		}},
		"depth order": {run: func(*Context) {
			for range childOf.InDepthOrder(w.Query()) {
			}
		}},
		"targets": {func(*Context) {
			for run := range childOf.InDepthOrder(w.Query()) {
				for range childOf.Targets(run) {
				}
			}
		}, "ChildOf", false},
		"get":                   {func(*Context) { c[2].Get(e) }, "C", false},
		"slice":                 {func(*Context) { slice(c[2]) }, "C", false},
		"set a column of Reads": {func(*Context) { c[0].Set(e, 1) }, "A", true},
		"set all":               {func(*Context) { c[0].SetAll(q, 1) }, "A", true},
		"edit":                  {func(*Context) { c[0].Edit(e) }, "A", true},
		"edit run": {func(*Context) {
			for run := range q.Runs() {
				c[0].EditRun(run)
			}
		}, "A", true},
		"edit in heap column":   {func(*Context) { heap.Edit(e) }, "string", true},
		"edit in sparse column": {func(*Context) { sparse.Edit(e) }, "big", true},
		"heap column":           {func(*Context) { heap.Get(e) }, "string", false},
		"set in heap column":    {func(*Context) { heap.Set(e, "") }, "string", true},
		"sparse column":         {func(*Context) { sparse.Get(e) }, "big", false},
		"set in sparse column":  {func(*Context) { sparse.Set(e, [9]uint64{}) }, "big", true},
		"add":                   {func(*Context) { c[2].Add(e, 1) }, "C", true},
		"remove":                {func(*Context) { c[2].Remove(e) }, "C", true},
		"tag":                   {func(*Context) { tag.Add(e) }, "tag", true},
		"in a part": {func(x *Context) {
			x.Each(q, 64, func(*Context, vast.Batch) { c[2].Get(e) })
		}, "C", false},
		"get with recover": {func(*Context) {
			defer func() { _ = recover() }()
			c[2].Get(e)
		}, "C", false},
		"no access": {run: func(*Context) {}},
	} {
		for _, workers := range []int{1, 3} {
			s := newSchedule(t, w, Options{Workers: workers})
			s.Add(System{Name: "bad", Reads: Columns(c[0]), Writes: Columns(c[1]), Run: test.run})
			s.Add(System{Name: "reader", Reads: Columns(c[0], c[2]), Run: nothing})
			s.Add(System{Name: "writer", Writes: Columns(c[2]), Run: nothing})
			s.Add(System{Name: "later", Phase: "later", Exclusive: true, Run: func(*Context) { c[2].Get(e) }})
			err := s.Tick()
			if test.column == "" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			var a *AccessError
			if !errors.As(err, &a) || a.System != "bad" || a.Column != test.column || a.Write != test.write {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var others []string
			switch {
			case test.column == "C" && test.write:
				others = []string{"reader", "writer"}
			case test.column == "C":
				others = []string{"writer"}
			case test.column == "A":
				others = []string{"reader"}
			}
			if !slices.Equal(a.Others, others) {
				t.Errorf("%s: the error names the systems %v, want %v", name, a.Others, others)
			}
			for _, other := range append(others, "bad", test.column) {
				if !strings.Contains(err.Error(), other) {
					t.Errorf("%s: %v does not name %s", name, err, other)
				}
			}
		}
	}
	if c[2].Get(e) == nil || w.Query(tag).Count() != 0 {
		t.Error("an undeclared change took effect")
	}
}
