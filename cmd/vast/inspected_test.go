package main

import (
	"strings"
	"testing"

	library "github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/internal/vasttest"
	"github.com/vastgo/vast/sched"
)

type body struct{ X, Y float32 }

// inspected returns the address of the inspector of a running world with 1,234 people. Persons 0, 100, 200
// and so on are ill. Persons 0 to 9 have names with control characters and markup.
func inspected(t *testing.T) string {
	t.Helper()
	w := library.NewWorld(library.Options{Name: "town"})
	bodies, ill, names := library.NewColumn[body](w).Named("Body"), library.NewTag(w, "Ill"), w.Names()
	library.NewTag(w, "Person\x1b[31m")
	n := 0
	w.Archetype(bodies).NewN(1234, func(r library.Run) {
		for i := range bodies.Slice(r) {
			bodies.Slice(r)[i] = body{float32(n), 2}
			n++
		}
	})
	n = 0
	var people []library.Entity
	for r := range w.Query(bodies).Runs() {
		for i := range r.Len() {
			people = append(people, r.Entity(i))
		}
	}
	for i, e := range people {
		if i%100 == 0 {
			ill.Add(e)
		}
		if i < 10 {
			if _, err := names.Set(e, string(rune('a'+i))+"\x1b[2J\n<b>"); err != nil {
				t.Fatal(err)
			}
		}
	}
	walk := sched.System{Name: "walk", Run: func(*sched.Context) {}}
	return vasttest.Inspect(t, w, nil, walk)
}

func TestTopOfARealProgram(t *testing.T) {
	address := inspected(t)
	var text string
	for range 20 { // on a busy machine, the world may admit the inspector too late
		output, err := vast(t, nil, "top", "-once", address).CombinedOutput()
		if text = string(output); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if strings.Contains(text, "entities 1,234") && strings.Contains(text, "Person") {
			break
		}
	}
	for _, want := range []string{"town", "live", "entities 1,234", "budget 10.0 ms", "walk", "Person␛[31m"} {
		if !strings.Contains(text, want) {
			t.Errorf("the output lacks %q:\n%s", want, text)
		}
	}
}

func TestQueryOfARealProgram(t *testing.T) {
	address := inspected(t)
	for _, c := range []struct {
		args   []string
		status int
		check  func(output string) bool
	}{
		{[]string{"Body, Ill", "-count"}, 0, func(s string) bool { return strings.HasSuffix(s, "13\n") }},
		{[]string{"Ill", "-columns", "Body"}, 0, func(s string) bool {
			return strings.HasPrefix(s, "id,name,Body.X,Body.Y\n0.1,\"a\x1b[2J\n<b>\",0,2\n100.1,,100,2\n") &&
				strings.Count(s, "\n") == 15 && strings.Contains(s, ",1200,2\n")
		}},
		{[]string{"Body, Ill", "-format", "json", "-limit", "2"}, 0, func(s string) bool {
			return strings.HasPrefix(s, `{"id":"0.1","name":"a\u001b[2J\n`) &&
				strings.Contains(s, `"Body":{"X":100,"Y":2}`) &&
				strings.Contains(s, "these are the first 2")
		}},
		{[]string{"Body, !Ill", "-sample", "5", "-format", "csv"}, 0,
			func(s string) bool { return strings.Count(s, "\n") >= 6 }},
		{[]string{"Body", "-format", "table", "-limit", "12"}, 0, func(s string) bool {
			return strings.Contains(s, "a␛[2J␊<b>") && strings.Count(s, "\n") == 14 &&
				!strings.Contains(s, "\x1b")
		}},
		{[]string{"Body, Il, Person"}, 2, func(s string) bool {
			return strings.HasSuffix(s, "    Body, Il, Person\n          ^^\n")
		}},
		{[]string{"Body,", "-count"}, 2, func(s string) bool {
			return strings.Contains(s, "    Body,\n        ^\n")
		}},
	} {
		command := vast(t, nil, append([]string{"query", address}, c.args...)...)
		output, _ := command.CombinedOutput()
		if got := command.ProcessState.ExitCode(); got != c.status || !c.check(string(output)) {
			t.Errorf("%q: exit status %d, want %d; printed\n%s", c.args, got, c.status, output)
		}
	}
}
