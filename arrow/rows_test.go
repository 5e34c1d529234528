package vastarrow

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

// table is a driver with one statement, which returns the rows of the table.
type table struct {
	names, types []string
	scan         []reflect.Type
	rows         [][]driver.Value
	end          error // what follows the last row
}

func (t *table) Connect(context.Context) (driver.Conn, error) { return conn{t}, nil }
func (t *table) Driver() driver.Driver                        { return nil }
func (t *table) Columns() []string                            { return t.names }
func (t *table) Close() error                                 { return nil }
func (t *table) ColumnTypeDatabaseTypeName(i int) string      { return t.types[i] }

func (t *table) ColumnTypeScanType(i int) reflect.Type {
	if t.scan == nil {
		return reflect.TypeFor[any]()
	}
	return t.scan[i]
}

func (t *table) Next(to []driver.Value) error {
	if len(t.rows) == 0 {
		return t.end
	}
	copy(to, t.rows[0])
	t.rows = t.rows[1:]
	return nil
}

type conn struct{ *table }

func (c conn) Prepare(string) (driver.Stmt, error)        { return c, nil }
func (c conn) Begin() (driver.Tx, error)                  { return nil, errors.New("no transactions") }
func (c conn) NumInput() int                              { return 0 }
func (c conn) Exec([]driver.Value) (driver.Result, error) { return nil, errors.New("no changes") }
func (c conn) Query([]driver.Value) (driver.Rows, error)  { return c.table, nil }

// rowsOf runs the statement of a table.
func rowsOf(t *testing.T, of *table) *sql.Rows {
	if of.end == nil {
		of.end = io.EOF
	}
	db := sql.OpenDB(of)
	t.Cleanup(func() { db.Close() })
	rows, err := db.Query("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rows.Close() })
	return rows
}

func TestRows(t *testing.T) {
	at := time.Date(9999, 12, 31, 23, 59, 59, 1000, time.UTC)
	of := func() *table {
		return &table{
			names: []string{"i", "f", "s", "b", "t", "blob", "mixed", "numbers", "n", "n"},
			types: []string{"INTEGER", "REAL", "TEXT", "BOOLEAN", "TIMESTAMP", "BLOB", "", "", "",
				"VARCHAR(3)"},
			rows: [][]driver.Value{
				{int64(1), 0.5, "x", int64(1), at, []byte{0, 255}, int64(1), int64(1), nil, "a"},
				{nil, nil, nil, nil, nil, nil, nil, nil, nil, nil},
				{int64(-3), int64(2), []byte("ü,\""), false, at, []byte{}, "one", 1.5, nil, "b"},
			},
		}
	}
	s, err := Rows(rowsOf(t, of()))
	if err != nil {
		t.Fatal(err)
	}
	got := string(mustWrite(t, CSV, s))
	want := `i,f,s,b,t,blob,mixed,numbers,n,n#2
1,0.5,x,true,9999-12-31T23:59:59.000001Z,AP8=,1,1,,a
,,,,,,,,,
-3,2,"ü,""",false,9999-12-31T23:59:59.000001Z,"",one,1.5,,b
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for i, want := range []string{"int64", "float64", "utf8", "bool", "timestamp[us, tz=UTC]", "binary",
		"utf8", "float64",
		"utf8", "utf8"} {
		if got := s.Schema().Field(i).Type.String(); got != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
	for _, f := range allFormats {
		s, err := Rows(rowsOf(t, of()))
		if err != nil {
			t.Fatal(err)
		}
		file := mustWrite(t, f, s)
		if f == JSONLines {
			continue
		}
		w := newFixture(t)
		if r, err := Read(t.Context(), w.World, bytes.NewReader(file), f, ReadOptions{}); err != nil ||
			r.Entities != 3 ||
			len(r.Unknown) != 10 {
			t.Errorf("%s: %+v, %v", f, r, err)
		}
	}
}

func TestRowsWithEqualNames(t *testing.T) {
	s, err := Rows(rowsOf(t, &table{names: []string{"n", "n", "n#2", "n"}, types: []string{"", "", "", ""}}))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range s.Schema().Fields() {
		if seen[f.Name] {
			t.Errorf("two columns have the name %s", f.Name)
		}
		seen[f.Name] = true
	}
}

// TestNullsInOneColumn writes nulls that must not become empty lines of CSV, which readers skip.
func TestNullsInOneColumn(t *testing.T) {
	s, err := Rows(rowsOf(t, &table{names: []string{"health"}, types: []string{"INTEGER"},
		rows: [][]driver.Value{{int64(1)}, {nil}, {int64(2)}, {nil}}}))
	if err != nil {
		t.Fatal(err)
	}
	file := mustWrite(t, CSV, s)
	if got, want := string(file), "health\n1\n\"\"\n2\n\"\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f := newFixture(t)
	if r, err := Read(t.Context(), f.World, bytes.NewReader(file), CSV, ReadOptions{}); err != nil ||
		r.Entities != 4 || f.health.Len() != 2 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestRowsWithScanTypes(t *testing.T) {
	s, err := Rows(rowsOf(t, &table{
		names: []string{"a", "b", "c", "d", "e"},
		types: []string{"INT8", "NUMERIC", "BYTEA", "", "FLOAT4"},
		scan: []reflect.Type{reflect.TypeFor[sql.NullInt64](), reflect.TypeFor[[]byte](),
			reflect.TypeFor[[]byte](),
			reflect.TypeFor[uint32](), reflect.TypeFor[float32]()},
	}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"int64", "utf8", "binary", "uint64", "float64"} {
		if got := s.Schema().Field(i).Type.String(); got != want {
			t.Errorf("column %d is %s, want %s", i, got, want)
		}
	}
}

func TestRowsErrors(t *testing.T) {
	broken := errors.New("broken")
	s, err := Rows(rowsOf(t, &table{names: []string{"a"}, types: []string{""},
		rows: [][]driver.Value{{int64(1)}},
		end:  broken}))
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), io.Discard, Parquet, s); !errors.Is(err, broken) {
		t.Error(err)
	}
	rows := make([][]driver.Value, sqlBatch+1)
	for i := range rows {
		rows[i] = []driver.Value{int64(i)}
	}
	rows[sqlBatch][0] = "text"
	if s, err = Rows(rowsOf(t, &table{names: []string{"a"}, types: []string{""}, rows: rows})); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), io.Discard, CSV, s); err == nil || !strings.Contains(err.Error(),
		`column "a"`) ||
		!strings.Contains(err.Error(), "CAST") {
		t.Error(err)
	}
	closed := rowsOf(t, &table{names: []string{"a"}, types: []string{""}})
	closed.Close()
	if _, err := Rows(closed); err == nil {
		t.Error("no error for closed rows")
	}
}
