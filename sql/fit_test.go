package vastsql

import (
	"math"
	"testing"

	"github.com/vastgo/vast"
)

// TestFieldsOfSizeZero writes fields of size 0 in a value with Go pointers.
func TestFieldsOfSizeZero(t *testing.T) {
	type label struct {
		Text string
		X    [2]struct{}
	}
	w := newWritten(t, vast.Options{})
	vast.NewHeapColumn[label](w.world).Named("Label")
	w.serve(t)
	db := w.open(t, Options{})
	exec(t, db, "INSERT INTO label VALUES (NULL, 'a', '{}', '{}')")
	exec(t, db, `UPDATE label SET text = text || 'b', "x.1" = '{}'`)
	if got := read(t, db, `SELECT text, "x.0", "x.1" FROM label`); len(got) != 1 ||
		got[0] != "ab|{}|{}" {
		t.Errorf("the rows are %q, want ab|{}|{}", got)
	}
	_, err := db.Exec(`UPDATE label SET "x.1" = '[]'`)
	isRefused(t, "an array", err, codeInvalidText, "is not valid JSON")
}

// TestLargeUint64 writes large integers and REALs to a field of type uint64.
func TestLargeUint64(t *testing.T) {
	w := newWritten(t, vast.Options{})
	large := vast.NewColumn[uint64](w.world).Named("Large")
	e := w.world.Archetype(large).New()
	w.serve(t)
	db := w.open(t, Options{})
	is := func(want uint64) {
		t.Helper()
		var got uint64
		if err := w.world.Visit(t.Context(), func() bool {
			got = *large.Get(e)
			return true
		}); err != nil || got != want {
			t.Errorf("the value is %d and the error is %v, want %d", got, err, want)
		}
	}
	const largest = 1<<53 - 1 // the largest REAL that the field takes
	exec(t, db, "UPDATE large SET value = ?", float64(largest))
	is(largest)
	_, err := db.Exec("UPDATE large SET value = ?", float64(1<<53))
	isRefused(t, "2^53", err, codeRange, "value takes no REAL of 2^53 or more")
	_, err = db.Exec("UPDATE large SET value = 1e30")
	isRefused(t, "1e30", err, codeRange, "value holds 0 to 18446744073709551615, not 1e+30")
	is(largest)
	exec(t, db, "UPDATE large SET value = ?", int64(math.MaxInt64))
	is(math.MaxInt64)
	if err := w.world.Visit(t.Context(), func() bool {
		large.Set(e, 1<<63+1)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("UPDATE large SET value = value")
	isRefused(t, "a number that SQL has rounded", err, codeRange, "SQL rounds")
	is(1<<63 + 1)
}
