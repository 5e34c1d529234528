package main

import (
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

const program = `package p

import "fmt"

const half = 1 / 2

func f(a, b int, s []int) int {
	if a < b {
		s[0] = a
		g()
		panic(fmt.Sprintf("%d", a+1))
	}
	c := a - b
	if invariants.Enabled {
		check()
	}
	c++
	return c
}
`

// TestMutants checks that each change appears once, that constants and messages are not changed, and that
// each mutant parses.
func TestMutants(t *testing.T) {
	mutants, err := mutantsOf("p.go", []byte(program))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range mutants {
		got = append(got, m.Change+" | "+m.Text)
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", m.source, 0); err != nil {
			t.Errorf("%s: %v", m.Change, err)
		}
		if string(m.source) == program {
			t.Errorf("%s changed nothing", m.Change)
		}
	}
	want := []string{
		"statement left out | c++",
		"condition → true | if a < b {",
		"condition → false | if a < b {",
		"< → <= | if a < b {",
		"< → >= | if a < b {",
		"statement left out | s[0] = a",
		"statement left out | g()",
		"- → + | c := a - b",
		"statement left out | check()",
		"++ → -- | c++",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
