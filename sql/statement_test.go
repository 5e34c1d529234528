package vastsql

import (
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"testing"
)

// TestOpenRowsOfOneStatement reads the rows of several executions of one statement in turn.
func TestOpenRowsOfOneStatement(t *testing.T) {
	f := newFixture(t, 20, Options{})
	tx, err := f.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT x FROM position WHERE x >= ?",
		"SELECT x, (SELECT count(*) FROM traveller t WHERE t.age >= p.x) FROM position p WHERE x >= ?",
		"SELECT n + ? FROM (SELECT count(*) AS n FROM position UNION ALL SELECT 1)",
	} {
		s, err := tx.Prepare(text)
		if err != nil {
			t.Fatal(err)
		}
		var open []*sql.Rows
		var want, got [3][]string
		for i := range want {
			rows, err := s.Query(i)
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, rows)
			want[i] = read(t, f.db, text, i)
		}
		for more := true; more; {
			more = false
			for i, rows := range open {
				if rows.Next() {
					more = true
					var x, n any
					targets := []any{&x, &n}
					if names, _ := rows.Columns(); len(names) == 1 {
						targets = targets[:1]
					}
					if err := rows.Scan(targets...); err != nil {
						t.Fatal(err)
					}
					row := fmt.Sprint(x)
					if n != nil {
						row += fmt.Sprint("|", n)
					}
					got[i] = append(got[i], row)
				}
			}
		}
		for _, rows := range open {
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				t.Error(err)
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
		if rows, err := s.Query(0); err != nil {
			t.Error(err)
		} else if err := errors.Join(rows.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}
