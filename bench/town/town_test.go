package main

import (
	"strings"
	"testing"
)

// small returns the parameters of a town in which every rule acts often within 300 ticks.
func small() Params {
	p := defaults(2000)
	p.Width, p.Rest, p.Shift, p.Adult, p.Life, p.ChildCost = 40, 30, 20, 100, 400, 90
	p.Incubation, p.Ill, p.Immunity, p.Contagion, p.Lethality = 10, 20, 60, 0.02, 0.2
	return p
}

func TestSidesAgreeAfterEachPhase(t *testing.T) {
	p := small()
	onVast := newVastTown(p)
	defer onVast.world.Close()
	onArk := newArkTown(p)
	var most Census
	fewest := p.People
	for tick := range int64(300) {
		onArk.begin(tick)
		onVast.begin(tick)
		for i, ph := range onArk.phases() {
			ph.run()
			onVast.phases()[i].run()
			if tick%25 != 0 {
				continue
			}
			a, b := onArk.census(), onVast.census()
			if a != b {
				t.Fatalf("tick %d, after %s:\nArk  %+v\nVast %+v", tick, ph.name, a, b)
			}
			most.Native = max(most.Native, b.Native)
			most.Walking = max(most.Walking, b.Walking)
			most.Incubating = max(most.Incubating, b.Incubating)
			most.Sick = max(most.Sick, b.Sick)
			most.Immune = max(most.Immune, b.Immune)
			most.Children = max(most.Children, b.Children)
			fewest = min(fewest, b.People-b.Native)
		}
	}
	for what, n := range map[string]int{
		"births": most.Native, "people on their way": most.Walking, "infections": most.Incubating,
		"sick people": most.Sick, "immune people": most.Immune, "children": most.Children,
		"deaths": p.People - fewest,
	} {
		if n < 50 {
			t.Errorf("%s: %d, want 50 or more", what, n)
		}
	}
}

func TestRunPrintsEachPhase(t *testing.T) {
	var out strings.Builder
	if !run(&out, small(), 60, 10, 20) {
		t.Fatalf("the sides differ:\n%s", &out)
	}
	for _, want := range []string{"walk", "recover", "a tick", "lines"} {
		if !strings.Contains(out.String(), "\n"+want) {
			t.Errorf("no line %q in:\n%s", want, &out)
		}
	}
}

func TestLines(t *testing.T) {
	if n := lines("// A comment.\npackage p\n\n\tvar x int // counts\n"); n != 2 {
		t.Errorf("lines = %d, want 2", n)
	}
}
