package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/vastgo/vast/sql/postgres"
)

// connect returns a connection of pgx.
func connect(t *testing.T, s *postgres.Server, parameters string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url(s, parameters))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// row returns the only row of a query.
func row(t *testing.T, c *pgx.Conn, query string, arguments ...any) []any {
	t.Helper()
	rows, err := c.Query(t.Context(), query, arguments...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	all, err := pgx.CollectRows(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	if len(all) != 1 {
		t.Fatalf("%s: %d rows, want 1", query, len(all))
	}
	return all[0]
}

var modes = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol"}

// TestTypes checks the values that pgx receives in each of its modes.
func TestTypes(t *testing.T) {
	s := listen(t, postgres.Options{})
	for _, test := range []struct {
		query     string
		arguments []any
		want      []any
	}{
		{"SELECT entity, x, y FROM position WHERE entity = 2", nil, []any{int64(2), 3.0, 0.5}},
		{"SELECT entity FROM position WHERE entity = $1", []any{int64(7)}, []any{int64(7)}},
		{"SELECT entity FROM position WHERE $1 = entity AND x > $2", []any{7, 1.25}, []any{int64(7)}},
		{"SELECT count(*) FROM position WHERE entity IN ($1, $2)", []any{7, 8}, []any{int64(2)}},
		{"SELECT count(*) FROM position WHERE entity BETWEEN $1 AND $2", []any{7, 9}, []any{int64(3)}},
		{"SELECT avg(x), sum(entity), max(y) FROM position WHERE entity < $1", []any{3},
			[]any{2.25, int64(3), 0.5}},
		{"SELECT name FROM name WHERE name = $1", []any{"two"}, []any{"two"}},
		{"SELECT name FROM name WHERE name LIKE $1", []any{"tw%"}, []any{"two"}},
		{"SELECT name, lower(name) || '!' FROM name WHERE entity = 3", nil, []any{nil, nil}},
		{"SELECT ok, data, label, parent FROM kind", nil, []any{true, []byte{0, 255}, `a,"b"`, nil}},
		{"SELECT id FROM kind WHERE data = $1", []any{[]byte{0, 255}}, []any{int64(1)}},
		{"SELECT id FROM kind WHERE ok = $1", []any{true}, []any{int64(1)}},
		{"SELECT $1::int8, $2::float8, $3::text, $4::bytea", []any{5, 2.5, "a'b", []byte{1}},
			[]any{int64(5), 2.5, "a'b", []byte{1}}},
		{"SELECT 1 + 2, 1.5 * 2, 'a' || 'b', x'01', NULL, 1 < 2", nil,
			[]any{int64(3), 3.0, "ab", []byte{1}, nil, true}},
		{"SELECT n FROM (SELECT count(*) AS n FROM position)", nil, []any{int64(1000)}},
		{"SELECT CASE WHEN entity > 1 THEN x ELSE 0.0 END FROM position WHERE entity = 2", nil, []any{3.0}},
		{"SELECT entity::text, '12'::int, E'a\\nb', $$it's$$ FROM position LIMIT 1", nil,
			[]any{"1", int64(12), "a\nb", "it's"}},
		{"SELECT '$1', \"entity\" /* $2 */ FROM public.position LIMIT $1 -- $3", []any{1}, []any{"$1",
			int64(1)}},
	} {
		for _, mode := range modes {
			if mode == "simple_protocol" && strings.HasPrefix(test.query, "SELECT id FROM kind") {
				continue // pgx writes Booleans and blobs as strings that differ from those of SQLite
			}
			t.Run(mode+"/"+test.query, func(t *testing.T) {
				c := connect(t, s, "default_query_exec_mode="+mode)
				if got := row(t, c, test.query, test.arguments...); !equalValues(got, test.want) {
					t.Errorf("got %#v, want %#v", got, test.want)
				}
			})
		}
	}
}

// equalValues compares rows. Integers of all sizes are equal if their values are.
func equalValues(got, want []any) bool {
	if len(got) != len(want) {
		return false
	}
	for i := range got {
		if v := reflect.ValueOf(got[i]); v.IsValid() && v.CanInt() {
			got[i] = v.Int()
		}
	}
	return reflect.DeepEqual(got, want)
}

// TestErrors checks the code of each kind of error, in both protocols.
func TestErrors(t *testing.T) {
	s := listen(t, postgres.Options{})
	for _, test := range []struct{ query, code string }{
		{"SELEC 1", "42601"},
		{"SELECT FROM WHERE", "42601"},
		{"SELECT * FROM missing", "42P01"},
		{"SELECT z FROM position", "42703"},
		{"SELECT nope(1)", "42883"},
		{"INSERT INTO name VALUES (4, 'four')", "25006"},
		{"WITH n AS (SELECT 1) INSERT INTO name SELECT 1, 'one' FROM n", "25006"},
		{"CREATE TABLE t(a)", "25006"},
		{"PRAGMA query_only = off", "25006"},
		{"BEGIN READ WRITE", "25006"},
		{"SELECT 'abc", "42601"},
		{"SHOW nothing", "42704"},
		{"COPY name FROM STDIN", "25006"},
		{"DEALLOCATE nothing", "26000"},
	} {
		for _, mode := range modes {
			t.Run(mode+"/"+test.query, func(t *testing.T) {
				c := connect(t, s, "default_query_exec_mode="+mode)
				_, err := c.Exec(t.Context(), test.query)
				if failure, ok := errors.AsType[*pgconn.PgError](err); !ok || failure.Code != test.code {
					t.Fatalf("got %v, want code %s", err, test.code)
				}
				if got := row(t, c, "SELECT 1"); !equalValues(got, []any{int64(1)}) {
					t.Errorf("after the error: got %v, want 1", got)
				}
			})
		}
	}
}

// TestPool reads through a pool of pgx, and with a prepared statement and a transaction of database/sql.
func TestPool(t *testing.T) {
	s := listen(t, postgres.Options{})
	pool, err := pgxpool.New(t.Context(), url(s, "pool_max_conns=4"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var name string
	if err := pool.QueryRow(t.Context(), "SELECT name FROM name WHERE entity = $1",
		2).Scan(&name); err != nil {
		t.Fatal(err)
	}
	if name != "two" {
		t.Errorf("got %q, want two", name)
	}

	db, err := sql.Open("pgx", url(s, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	statement, err := db.PrepareContext(t.Context(), "SELECT x FROM position WHERE entity = $1")
	if err != nil {
		t.Fatal(err)
	}
	defer statement.Close()
	for entity := range 10 {
		var x float64
		if err := statement.QueryRowContext(t.Context(), entity+1).Scan(&x); err != nil {
			t.Fatal(err)
		}
		if want := float64(entity+1) * 1.5; x != want {
			t.Errorf("entity %d: got x = %v, want %v", entity+1, x, want)
		}
	}
	tx, err := db.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := tx.QueryRow("SELECT count(*) FROM name").Scan(new(int)); err != nil {
		t.Error(err)
	}
	if err := tx.Commit(); err != nil {
		t.Error(err)
	}
}

// TestBatch sends several statements at once, first with one that fails, then without.
func TestBatch(t *testing.T) {
	c := connect(t, listen(t, postgres.Options{}), "")
	batch := &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM position")
	batch.Queue("SELECT name FROM name WHERE entity = $1", 1)
	batch.Queue("SELECT nothing FROM name")
	results := c.SendBatch(t.Context(), batch)
	if err := results.Close(); err == nil {
		t.Error("the batch succeeded, want an error of the third statement")
	}
	batch = &pgx.Batch{}
	batch.Queue("SELECT count(*) FROM position")
	batch.Queue("SELECT name FROM name WHERE entity = $1", 1)
	results = c.SendBatch(t.Context(), batch)
	var count int
	var name string
	if err := errors.Join(results.QueryRow().Scan(&count), results.QueryRow().Scan(&name),
		results.Close()); err != nil {
		t.Fatal(err)
	}
	if count != 1000 || name != "one" {
		t.Errorf("got %d and %q, want 1000 and one", count, name)
	}
}

// TestTransaction checks the command tags and the states of the transaction that the server reports.
func TestTransaction(t *testing.T) {
	c := connect(t, listen(t, postgres.Options{}), "default_query_exec_mode=simple_protocol")
	for _, step := range []struct {
		statement string
		tag       string
		fails     bool
		state     byte
	}{
		{"BEGIN", "BEGIN", false, 'T'},
		{"SELECT 1", "SELECT 1", false, 'T'},
		{"SELECT nothing", "", true, 'E'},
		{"SELECT 1", "", true, 'E'},
		{"COMMIT", "ROLLBACK", false, 'I'},
		{"START TRANSACTION READ ONLY", "START TRANSACTION", false, 'T'},
		{"SAVEPOINT a", "SAVEPOINT", false, 'T'},
		{"ROLLBACK TO SAVEPOINT a", "ROLLBACK", false, 'T'},
		{"COMMIT", "COMMIT", false, 'I'},
		{"BEGIN; SELECT 1; SELECT nothing; SELECT 2", "SELECT 1", true, 'E'},
		{"ROLLBACK", "ROLLBACK", false, 'I'},
		{"SET application_name = 'test'", "SET", false, 'I'},
		{"SHOW application_name", "SHOW", false, 'I'},
		{"DISCARD ALL", "DISCARD ALL", false, 'I'},
		{"", "", false, 'I'},
	} {
		tag, err := c.Exec(t.Context(), step.statement)
		if (err != nil) != step.fails {
			t.Errorf("%s: got error %v, want an error: %t", step.statement, err, step.fails)
		}
		if !step.fails && tag.String() != step.tag {
			t.Errorf("%s: got tag %q, want %q", step.statement, tag, step.tag)
		}
		if state := c.PgConn().TxStatus(); state != step.state {
			t.Errorf("%s: got state %c, want %c", step.statement, state, step.state)
		}
	}
}

// TestCursor declares a cursor and fetches from it.
func TestCursor(t *testing.T) {
	c := connect(t, listen(t, postgres.Options{}), "")
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback(t.Context())
	if _, err := tx.Exec(t.Context(),
		"DECLARE c NO SCROLL CURSOR FOR SELECT entity FROM position"); err != nil {
		t.Fatal(err)
	}
	total := 0
	for {
		rows, err := tx.Query(t.Context(), "FETCH FORWARD 300 FROM c")
		if err != nil {
			t.Fatal(err)
		}
		got, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			t.Fatal(err)
		}
		total += len(got)
		if len(got) < 300 {
			break
		}
	}
	if total != 1000 {
		t.Errorf("fetched %d rows, want 1000", total)
	}
	if _, err := tx.Exec(t.Context(), "CLOSE c"); err != nil {
		t.Error(err)
	}
}
