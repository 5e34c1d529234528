package vastsql

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

// TestTablesWhileStatementRuns makes a column while a transaction has an open statement, reads the table of
// the column in the transaction, and rolls the transaction back. The table stays.
func TestTablesWhileStatementRuns(t *testing.T) {
	f := newFixture(t, 20, Options{})
	f.db.SetMaxOpenConns(1)
	if _, err := f.db.Exec("CREATE VIRTUAL TABLE temp.both USING vast(position, frozen)"); err != nil {
		t.Fatal(err)
	}
	tx, err := f.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query("SELECT x FROM position UNION ALL SELECT \"position.x\" FROM both")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	type Late struct{ N int32 }
	err = f.w.Visit(t.Context(), func() bool {
		late := vast.NewColumn[Late](f.w)
		late.Add(f.entities[0], Late{7})
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT sum(n) FROM late").Scan(&n); err != nil || n != 7 {
		t.Fatal(n, err)
	}
	left := 0
	for rows.Next() {
		left++
	}
	if err := rows.Err(); err != nil || left != 18+4 {
		t.Errorf("the first statement had %d more rows: %v", left, err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT sum(n), count(*) FROM late": "7|1", "SELECT n FROM late": "7",
		"SELECT count(*) FROM both": "4", "SELECT count(*) FROM position": "19",
		"SELECT count(*) FROM position p JOIN late USING (entity)": "1",
	} {
		for range 2 {
			if got := read(t, f.db, text); !reflect.DeepEqual(got, []string{want}) {
				t.Errorf("%s: %q, want %q", text, got, want)
			}
		}
		_, _ = tryRead(f.db, "SELECT * FROM nothing") // makes the connection look for new tables
	}
}

func TestReservedNames(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	for _, name := range []string{"", "Entities", "vast_memory", "VAST_systems", "sqlite_x", "a\x00b"} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "is taken or reserved") {
					t.Errorf("%q: %s", name, text)
				}
			}()
			db, err := Open(w, Options{Tables: map[string][]vast.AnyColumn{name: nil}})
			t.Error(db, err)
		}()
	}
}

// TestWideTables makes three columns. The first has a table and a table of aggregates. The second has a table
// only, because the table of aggregates would exceed maxColumns. The third has no table, because the table
// itself would exceed maxColumns.
func TestWideTables(t *testing.T) {
	f := newFixture(t, 3, Options{})
	type wide [16][16]int8 // 256 columns
	err := f.w.Visit(t.Context(), func() bool {
		vast.NewColumn[struct{ A wide }](f.w).Add(f.entities[0], struct{ A wide }{})
		vast.NewColumn[struct{ A, B, C, D wide }](f.w).Add(f.entities[0], struct{ A, B, C, D wide }{})
		vast.NewColumn[struct{ A, B, C, D, E, F, G, H wide }](f.w)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	var widths []string
	for _, row := range read(t, f.db, "SELECT s.name, (SELECT count(*) FROM pragma_table_info(s.name)) "+
		"FROM sqlite_schema s WHERE name LIKE 'column_%'") {
		name, columns, _ := strings.Cut(row, "|")
		widths = append(widths, columns)
		got := read(t, f.db, `SELECT count(*), sum("a.3.4"), max("a.15.15") FROM `+name)
		if !reflect.DeepEqual(got, []string{"1|0|0"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if !reflect.DeepEqual(widths, []string{"257", "1025"}) {
		t.Errorf("the tables have %q columns", widths)
	}
	if _, err := tryRead(f.db, "SELECT nothing FROM position"); err == nil {
		t.Error("no error")
	}
}
