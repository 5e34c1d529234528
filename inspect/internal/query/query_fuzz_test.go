package query

import (
	"errors"
	"testing"
	"unicode/utf8"
)

func FuzzQuery(f *testing.F) {
	for _, c := range conditions {
		f.Add(c.text, len(c.text))
	}
	for _, text := range []string{"Body, !Dead | x", `ChildOf("a\"b")`, "ChildOf(17.3), ?Note",
		"A[0].B[1] !~ +.5e-3", "Body#0.X > 1, !Dead#4", `"DEAD"#9#`, "ChildOf#6(*), x#",
		"where ChildOf(Note, !Dead#4), !up x(", "Numbers.In[1].",
		"\xff(\"\xff"} {
		f.Add(text, 5)
	}
	w := newTestWorld(f, 200)
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		n := utf8.RuneCountInString(text)
		checkError := func(err error) {
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
			t.Fatalf("%q has %d characters: Complete replaces [%d, %d) by one of %d items", text, n, c.From,
				c.To, len(c.Items))
		}
		q, err := Parse(text)
		if err != nil {
			checkError(err)
			return
		}
		again, err := Parse(q.String())
		if len(q.String()) <= maxText {
			if err != nil {
				t.Fatalf("%q: Parse refuses the canonical form %q: %v", text, q, err)
			}
			if again.String() != q.String() {
				t.Fatalf("%q: Parse changes the canonical form %q to %q", text, q, again)
			}
		}
		p, err := Compile(q, w.schema)
		if err != nil {
			checkError(err)
			return
		}
		s, err := p.Bind(w.World, w, true)
		if err != nil {
			checkError(err)
			return
		}
		for lo := 0; lo < w.Slots(); lo += s.Step() {
			s.Words(lo, lo+s.Step(), make([]uint64, s.Step()/64))
		}
	})
}
