package query

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"":         "",
		"  ":       "",
		"Position": "Position",
		"Position, Infected, !Dead, ChildOf(Paris)": "Position, Infected, !Dead, ChildOf(Paris)",
		"Position and not Dead":                     "Position, !Dead",
		"A|B or C,?D":                               "A | B | C, ?D",
		`ChildOf("New \"York\"")`:                   `ChildOf("New \"York\"")`,
		"ChildOf( New York )":                       "ChildOf(New York)",
		"ChildOf(São Paulo)":                        "ChildOf(São Paulo)",
		"ChildOf(St. John's)":                       "ChildOf(St. John's)",
		`ChildOf("17.3")`:                           `ChildOf("17.3")`,
		"ChildOf(17.3), At(*)":                      "ChildOf(17.3), At(*)",
		"Life.ends>100":                             "Life.ends > 100",
		"Position.X >= -1.5e-3":                     "Position.X >= -1.5e-3",
		"Infected.Stage == Severe":                  "Infected.Stage == Severe",
		"Infected . Strain . Rates [ 1 ] < .5":      "Infected.Strain.Rates[1] < .5",
		`Name == "Paris", Name ~ Par`:               `Name == "Paris", Name ~ Par`,
		`"Home targets".count > 5`:                  `"Home targets".count > 5`,
		`"and", "2D"`:                               `"and", "2D"`,
		"Life > 5, Life !~ x":                       "Life > 5, Life !~ x",
		"!Life.ends == 3":                           "!Life.ends == 3",
		"Земля, ?水":                                 "Земля, ?水",
		"where ChildOf ( A and not B#3 ),up At(C)":  "where ChildOf(A, !B#3), up At(C)",
		"!where At(A) , up At(B)|where,up":          "!where At(A), up At(B) | where, up",
		`where "or"("up"), where | up`:              `where "or"(up), where | up`,
	} {
		q, err := Parse(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if got := q.String(); got != want {
			t.Errorf("%q is read as %q, want %q", text, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		text, says       string
		position, length int
	}{
		{"Position,", "a term is missing after \",\"", 8, 1},
		{"Position, , Dead", "write the name of a component", 10, 1},
		{"Position Dead", "separate terms by commas", 9, 4},
		{"A && B", "write a comma", 2, 2},
		{"A || B", "write |", 2, 2},
		{"A |", "is missing after", 2, 1},
		{"!A | B", "write !A, !B", 3, 1},
		{"?A | B", "write ?A, ?B", 3, 1},
		{"A | !B", "not allowed before an alternative", 4, 1},
		{"!!A", "write one of the two", 1, 1},
		{"?A.x == 1", "? is not allowed before a target", 0, 9},
		{"ChildOf(", "not closed", 7, 1},
		{"ChildOf(Paris", "not closed", 7, 1},
		{"ChildOf()", "target is missing", 7, 2},
		{"ChildOf(!)", "a target is a name", 8, 1},
		{"ChildOf(Paris, London)", "close the bracket", 13, 1},
		{"ChildOf(Paris) == 3", "cannot be compared", 15, 2},
		{"ChildOf(Paris).x == 3", "a target has no fields", 14, 2},
		{"Life.ends", "needs a comparison", 4, 5},
		{"Life.ends >", "a value is missing after >", 10, 1},
		{"Life.ends = 5", "write ==", 10, 1},
		{"Life.ends =< 5", "write ==", 10, 1},
		{"Life.ends => 5", "write ==", 10, 1},
		{"Life.ends === 5", "unknown operator", 10, 3},
		{"Life. > 5", "name of a field is missing", 4, 3},
		{"Life.5 > 5", "not a number", 4, 2},
		{"A[x] > 5", "index of an element", 1, 2},
		{"A[1 > 5", "add ]", 1, 2},
		{"> 5", "a field is missing before", 0, 1},
		{"*", "any target", 0, 1},
		{"5", "not with a number", 0, 1},
		{"Ä, Ö, \"ü", "closing quote is missing", 6, 2},
		{`"\q"`, "must be on one line", 0, 4},
		{"where At, B", "needs components in brackets", 6, 2},
		{"where At()", "component is missing before \")\"", 9, 1},
		{"where At(A", "add )", 8, 1},
		{"up At(A.B)", "hold names of components", 7, 1},
		{"up At(A, up B(C))", "hold names of components", 12, 1},
		{"?up At(A)", "? is not allowed before a target", 0, 9},
		{"not", "missing before the end", 3, 0},
		{"and A", "missing before \"and\"", 0, 3},
		{strings.Repeat("x", maxText+1), "longer than", 0, maxText + 1},
		{strings.Repeat("A,", maxTerms) + "BC", "at most 64 terms", 2 * maxTerms, 2},
		{strings.Repeat("A|", maxTerms) + "BC", "at most 64 terms", 0, 2*maxTerms + 2},
	} {
		_, err := Parse(c.text)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%q: the error is %v", c.text, err)
			continue
		}
		if !strings.Contains(e.Message, c.says) || e.Position != c.position || e.Length != c.length {
			t.Errorf("%.40q: %q at position %d with length %d, want %q at position %d with length %d", c.text,
				e.Message, e.Position, e.Length, c.says, c.position, c.length)
		}
	}
}
