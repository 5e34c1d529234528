package query

import (
	"errors"
	"testing"
	"unicode/utf8"
)

// FuzzQuery parses, compiles, runs and completes any text. It checks that the positions of errors and
// completions lie inside the text, and that the canonical form of a query parses to the same canonical form.
func FuzzQuery(f *testing.F) {
	for _, c := range conditions {
		f.Add(c.text, len(c.text))
	}
	for _, text := range []string{"Body, !Dead | x", `ChildOf("a\"b")`, "ChildOf(17.3), ?Note",
		"A[0].B[1] !~ +.5e-3", "Body#0.X > 1, !Dead#4", `"DEAD"#9#`, "ChildOf#6(*), x#", "Numbers.In[1].",
		"\xff(\"\xff"} {
		f.Add(text, 5)
	}
	w := newTestWorld(f, 200)
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		n := utf8.RuneCountInString(text)
		inside := func(err error) {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("%q: %v is not an *Error", text, err)
			}
			if e.Position < 0 || e.Length < 0 || e.Position+e.Length > n || e.Message == "" {
				t.Fatalf("%q has %d characters: the error %q is at position %d with length %d", text, n,
					e.Message, e.Position, e.Length)
			}
		}
		c := Complete(text, cursor, w.schema)
		if c.From < 0 || c.To < c.From || c.To > n || len(c.Items) > maxItems {
			t.Fatalf("%q has %d characters: the completion has %d items for the characters [%d, %d)", text, n,
				len(c.Items), c.From, c.To)
		}
		q, err := Parse(text)
		if err != nil {
			inside(err)
			return
		}
		again, err := Parse(q.String())
		if len(q.String()) <= maxText {
			if err != nil {
				t.Fatalf("%q has the canonical form %q, which is wrong: %v", text, q, err)
			}
			if again.String() != q.String() {
				t.Fatalf("%q has the canonical form %q, which has the canonical form %q", text, q, again)
			}
		}
		p, err := Compile(q, w.schema)
		if err != nil {
			inside(err)
			return
		}
		s, err := p.Bind(w.World, w, true)
		if err != nil {
			inside(err)
			return
		}
		for lo := 0; lo < w.Slots(); lo += s.Step() {
			s.Words(lo, lo+s.Step(), make([]uint64, s.Step()/64))
		}
	})
}
