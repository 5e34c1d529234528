package vastsql

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/store"
)

// TestHeapValuesCountTowardsLimits reads small and large values of a HeapColumn as blobs and as JSON. The
// large values exceed some of the limits.
func TestHeapValuesCountTowardsLimits(t *testing.T) {
	const rows, each = 4, renderedPerCheck
	f := newFixture(t, 10, Options{})
	err := f.w.Visit(t.Context(), func() bool {
		for _, e := range f.entities[3 : 3+rows] {
			f.notes.Add(e, Note{Raw: make([]byte, each)})
		}
		f.notes.Add(f.entities[8], Note{Tags: map[string]int{string(make([]byte, each)): 1}})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	small, blob, tags := int64(f.entities[2].ID()), int64(f.entities[3].ID()), int64(f.entities[8].ID())
	const all, one = "SELECT count(raw) FROM note", "SELECT raw, tags FROM note WHERE entity = ?"
	const text, update = "SELECT text FROM note WHERE entity = ?", "UPDATE note SET text = 'x', raw = NULL"
	const both = each + len("null") // bytes of the blob and of the JSON in the same row
	for _, c := range []struct {
		bytes int
		pause time.Duration
		text  string
		args  []any
		want  string // the option in the error; empty if the statement returns no error
	}{
		{0, time.Minute, all, nil, ""},
		{rows * each, time.Minute, all, nil, "MaxCopyBytes"},
		{each, time.Minute, one, []any{small}, ""},
		{both, time.Minute, one, []any{blob}, ""},
		{both - 1, time.Minute, one, []any{blob}, "MaxCopyBytes"},
		{each - 1, time.Minute, one, []any{blob}, "MaxCopyBytes"},
		{each, time.Minute, one, []any{tags}, "MaxCopyBytes"},
		{each, time.Minute, "SELECT tags FROM note WHERE +entity = ?", []any{blob}, "MaxCopyBytes"},
		{each, time.Minute, "SELECT raw FROM note WHERE entity = ?", []any{tags}, ""},
		{each, time.Minute, text, []any{blob}, ""},
		{each, time.Minute, text, []any{tags}, ""},
		{each, time.Minute, "SELECT count(text), max(text), min(n.text) FROM note n ORDER BY text", nil, ""},
		{each, time.Minute, "DELETE FROM note WHERE text = 'absent'", nil, ""},
		{each, time.Minute, update, nil, "MaxCopyBytes"},
		{0, 1, one, []any{small}, ""},
		{0, 1, one, []any{blob}, "MaxPause"},
		{0, 1, text, []any{blob}, ""},
		{0, 1, one, []any{tags}, "MaxPause"},
	} {
		db, err := Open(f.w, Options{MaxCopyBytes: c.bytes, MaxPause: c.pause, Write: true})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		_, err = tryRead(db, c.text, c.args...)
		if limit, ok := errors.AsType[*LimitError](err); ok {
			got, err = limit.Option, nil
		}
		if got != c.want || err != nil {
			t.Errorf("%d bytes, %v, %s %v: limit %q, want %q; %v", c.bytes, c.pause, c.text, c.args, got,
				c.want, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Brittle has a JSON form only if it is not empty.
type Brittle map[string]int

func (b Brittle) MarshalJSON() ([]byte, error) {
	if len(b) == 0 {
		panic("an empty Brittle")
	}
	return fmt.Appendf(nil, "[%d]", len(b)), nil
}

// TestPanicOfMarshalJSON reads a value whose MarshalJSON panics on the goroutine of the world's owner.
func TestPanicOfMarshalJSON(t *testing.T) {
	f := newFixture(t, 5, Options{MaxPause: time.Minute})
	err := f.w.Visit(t.Context(), func() bool {
		type Box struct {
			Number int
			Inner  Brittle
		}
		boxes := vast.NewHeapColumn[Box](f.w)
		boxes.Add(f.entities[0], Box{Number: 1})
		boxes.Add(f.entities[2], Box{2, Brittle{"a": 1}})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "[1||1 2|[1]|0]"
	for range 2 { // the panic must not affect the second statement
		got := read(t, f.db, "SELECT number, inner, inner IS NULL FROM box")
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
	e := int64(f.entities[0].ID())
	if got := read(t, f.db, "SELECT number, inner FROM box WHERE entity = ?", e); fmt.Sprint(got) != "[1|]" {
		t.Errorf("%v, want a number and NULL", got)
	}
}

// TestStoredSpans reads the tables of two archetypes in a checkpoint. Both archetypes have several extents.
// The rows of one table lie in one run. The rows of the other table lie in several runs.
func TestStoredSpans(t *testing.T) {
	type Left struct{ N int64 }
	type Right struct{ N int64 }
	dir := t.TempDir()
	w := vast.NewWorld(vast.Options{})
	left, right := vast.NewColumn[Left](w), vast.NewColumn[Right](w)
	tag := vast.NewTag(w, "Tag")
	st, err := store.Open(dir, w, store.Options{Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	one, many := w.Archetype(left, right), w.Archetype(left, right, tag)
	for i := range 400 { // the extents of both archetypes alternate
		e := one.New()
		left.Set(e, Left{int64(i)})
		if i/64 != 2 {
			left.Remove(e) // only an extent in the middle keeps rows
		}
		e = many.New()
		left.Set(e, Left{int64(i)})
	}
	extents, runs := 0, 0
	for x := range probe.Extents(w, 0) {
		if x.Archetype == one {
			extents++
			for range w.Query(left).Between(x.First, x.First+x.Slots).Runs() {
				runs++
			}
		}
	}
	if extents < 3 || runs != 1 {
		t.Fatalf("%d extents with %d runs of rows, want at least 3 extents with one run", extents, runs)
	}
	if err := errors.Join(st.Recover(nil, nil), st.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	db, _, err := OpenStored(dir, 0, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, want := range map[string]string{
		"archetype_left_right": "[64|10208|128|191]", "archetype_left_right_tag": "[400|79800|0|399]",
	} {
		text := `SELECT count(*), sum("left.n"), min("left.n"), max("left.n") FROM ` + table
		if got := read(t, db, text); fmt.Sprint(got) != want {
			t.Errorf("%s: %v, want %s", table, got, want)
		}
	}
}
