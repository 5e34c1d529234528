package shell

import (
	"slices"
	"strings"
	"testing"
)

// split returns the statements of a text that arrives in pieces of the given size.
func split(text string, size int) (all []statement) {
	var s splitter
	for piece := range slices.Chunk([]byte(text), size) {
		s.add(piece)
		for st, ok := s.next(); ok; st, ok = s.next() {
			all = append(all, st)
		}
	}
	if st, ok := s.rest(); ok {
		all = append(all, st)
	}
	return all
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []statement
	}{
		{"", nil},
		{" ; ;\n;", nil},
		{"SELECT 1", []statement{{"SELECT 1", 1}}},
		{"SELECT 1;\n\n SELECT 2 ;", []statement{{"SELECT 1;", 1}, {"SELECT 2 ;", 3}}},
		{"a;b", []statement{{"a;", 1}, {"b", 1}}},
		{"SELECT ';';x", []statement{{"SELECT ';';", 1}, {"x", 1}}},
		{"SELECT 'it''s;';x", []statement{{"SELECT 'it''s;';", 1}, {"x", 1}}},
		{"SELECT \"a;\"\";\", `b;``;`, [c;];x",
			[]statement{{"SELECT \"a;\"\";\", `b;``;`, [c;];", 1}, {"x", 1}}},
		{"a -- ; '\n;b", []statement{{"a -- ; '\n;", 1}, {"b", 2}}},
		{"a /* ; ' ** ; */;b", []statement{{"a /* ; ' ** ; */;", 1}, {"b", 1}}},
		{"/*/;*/a;b", []statement{{"/*/;*/a;", 1}, {"b", 1}}},
		{"a - - 1;b", []statement{{"a - - 1;", 1}, {"b", 1}}},
		{"1 / 2;- 'x;';", []statement{{"1 / 2;", 1}, {"- 'x;';", 1}}},
		{"-- only\n/* comments */ -- here", nil},
		{"SELECT 'open; ", []statement{{"SELECT 'open;", 1}}},
		{"a;/", []statement{{"a;", 1}, {"/", 1}}},
		{"\n\n-- c\nx;", []statement{{"-- c\nx;", 3}}},
	} {
		for _, size := range []int{1, 3, 100} {
			if got := split(c.text, size); !slices.Equal(got, c.want) {
				t.Errorf("%q in pieces of %d is %+v, want %+v", c.text, size, got, c.want)
			}
		}
	}
}

func TestUnfinished(t *testing.T) {
	for text, want := range map[string]bool{
		"":            false,
		" \n":         false,
		"SELECT 1;":   false,
		"SELECT 1":    true,
		"SELECT 1; x": true,
		"'":           true,
		"/* c":        true,
		"-- c":        false,
		"-- c\n":      false,
		"x -- c":      true,
		"/* c */ \n":  false,
	} {
		var s splitter
		s.add([]byte(text))
		for _, ok := s.next(); ok; _, ok = s.next() {
		}
		if got := s.unfinished(); got != want {
			t.Errorf("after %q, unfinished is %v, want %v", text, got, want)
		}
	}
}

// TestSplitIsLinear splits an input that would take minutes if each statement copied the rest of the input.
func TestSplitIsLinear(t *testing.T) {
	if got := len(split(strings.Repeat("a;", 1<<20), 1<<21)); got != 1<<20 {
		t.Errorf("%d statements, want %d", got, 1<<20)
	}
}
