package vast

import (
	"fmt"
	"slices"
	"testing"
)

func permutations(n int, f func([]int)) {
	order := make([]int, 0, n)
	var extend func()
	extend = func() {
		if len(order) == n {
			f(order)
			return
		}
		for i := range n {
			if !slices.Contains(order, i) {
				order = append(order, i)
				extend()
				order = order[:len(order)-1]
			}
		}
	}
	extend()
}

func TestConditionsInAnyOrder(t *testing.T) {
	w := NewWorld(Options{})
	defer w.Close()
	a, b := NewColumn[uint64](w).Named("a"), NewSparseColumn[uint64](w).Named("b")
	tag, relation, other := NewTag(w, "tag"), NewRelation(w, "of", RelationOptions{}),
		NewRelation(w, "by", RelationOptions{})
	tracker := NewTracker(w, a)
	var es []Entity
	w.Archetype(a).NewN(400, func(r Run) {
		for i := range r.Len() {
			es = append(es, r.Entity(i))
		}
	})
	tracker.Next()
	for i, e := range es {
		if i%3 == 0 {
			a.Set(e, 1)
		}
		if i%4 == 0 {
			b.Add(e, 1)
		}
		if i%5 < 3 {
			tag.Add(e)
		}
		if i > 2 && i%2 == 0 {
			relation.Set(e, es[0])
		}
		if i > 2 && i%7 < 5 {
			other.Set(e, es[1+i%2])
		}
	}
	conditions := map[string]func(Query) Query{
		"Without(b)":       func(q Query) Query { return q.Without(b) },
		"Without(of)":      func(q Query) Query { return q.Without(relation) },
		"Any(b, tag)":      func(q Query) Query { return q.Any(b, tag) },
		"Any(of, by)":      func(q Query) Query { return q.Any(relation, other) },
		"Any(a, by)":       func(q Query) Query { return q.Any(a, other) },
		"Optional(tag)":    func(q Query) Query { return q.Optional(tag) },
		"Optional(a)":      func(q Query) Query { return q.Optional(a) },
		"Optional(of)":     func(q Query) Query { return q.Optional(relation) },
		"To(of, 0)":        func(q Query) Query { return q.To(relation, es[0]) },
		"To(by, 1)":        func(q Query) Query { return q.To(other, es[1]) },
		"Changed(a)":       func(q Query) Query { return q.Changed(a, tracker) },
		"Among":            func(q Query) Query { return q.Among(es[50:300]) },
		"Among others":     func(q Query) Query { return q.Among(es[20:200]) },
		"Between(10, 300)": func(q Query) Query { return q.Between(10, 300) },
		"Exactly":          func(q Query) Query { return q.Exactly() },
	}
	names := make([]string, 0, len(conditions))
	for name := range conditions {
		names = append(names, name)
	}
	slices.Sort(names)
	panics, answers := 0, 0
	// compareOrders checks that all orders of the conditions panic, or that all orders give the same result.
	compareOrders := func(q Query, chosen []string) {
		want := ""
		permutations(len(chosen), func(order []int) {
			got := ""
			func() {
				defer func() {
					if recover() != nil {
						got = "panics"
					}
				}()
				made := q
				for _, i := range order {
					made = conditions[chosen[i]](made)
				}
				var runs, slots []Entity
				for run := range made.Runs() {
					for _, e := range run.All() {
						runs = append(runs, e)
					}
					got += fmt.Sprintf("[%d %d)", run.start, run.start+run.n)
				}
				for s := range made.Slots() {
					slots = append(slots, s.Entity())
				}
				if all := slices.Collect(made.All()); !slices.Equal(runs, slots) || !slices.Equal(runs, all) {
					t.Errorf("%v: Runs yields %v, Slots %v, All %v", chosen, runs, slots, all)
				}
				for word, mask := range made.Words() {
					got += fmt.Sprintf(" %d:%x", word, mask)
				}
				got += fmt.Sprint(" ", made.Count())
			}()
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%v in the order %v: %s, in another order %s", chosen, order, got, want)
			}
		})
		if want == "panics" {
			panics++
		} else {
			answers++
		}
	}
	queries := []Query{w.Query(), w.Query(tag)}
	for i := range names {
		for j := range i {
			for _, q := range queries {
				compareOrders(q, []string{names[i], names[j]})
				for k := range j {
					compareOrders(q, []string{names[i], names[j], names[k]})
				}
			}
		}
	}
	compareOrders(w.Query(), []string{"Any(b, tag)", "Optional(tag)", "To(of, 0)", "Changed(a)",
		"Between(10, 300)", "Exactly"})
	compareOrders(w.Query(), []string{"Any(of, by)", "To(of, 0)", "To(by, 1)", "Among", "Among others",
		"Optional(of)"})
	if panics < 50 || answers < 500 {
		t.Errorf("%d sets of conditions panic and %d do not, want at least 50 and 500", panics, answers)
	}
}
