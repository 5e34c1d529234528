package postgres_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/vastgo/vast"
	vastsql "github.com/vastgo/vast/sql"
	"github.com/vastgo/vast/sql/postgres"
)

type Crew struct {
	Size  int16
	Pay   float64
	Ready bool
}

type Log struct {
	Text string
	Raw  []byte
}

// listenToWorld serves a world that statements may write, until the test ends.
func listenToWorld(t *testing.T, o postgres.Options) *postgres.Server {
	t.Helper()
	w := vast.NewWorld(vast.Options{})
	crews := vast.NewColumn[Crew](w)
	vast.NewHeapColumn[Log](w)
	vast.NewRelation(w, "ChildOf", vast.RelationOptions{})
	w.Names()
	w.Archetype(crews).NewN(3, func(r vast.Run) {
		for i := range r.Len() {
			crews.Slice(r)[i] = Crew{Size: int16(i)}
		}
	})
	db, err := vastsql.Open(w, vastsql.Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := postgres.Listen("127.0.0.1:0", db, o)
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.Idle(func() { <-stop })
	}()
	t.Cleanup(func() {
		if err := errors.Join(s.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		close(stop)
		<-ended
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// isCode checks the code of an error that the server has sent.
func isCode(t *testing.T, what string, err error, code, says string) {
	t.Helper()
	if failure, ok := errors.AsType[*pgconn.PgError](err); !ok || failure.Code != code ||
		!strings.Contains(failure.Message+" "+failure.Hint, says) {
		t.Errorf("%s: the error is %v, want code %s and %q", what, err, code, says)
	}
}

// TestWrite writes in each mode of pgx, with and without parameters.
func TestWrite(t *testing.T) {
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			c := connect(t, listenToWorld(t, postgres.Options{Write: true}), "default_query_exec_mode="+mode)
			for _, step := range []struct {
				text string
				args []any
				tag  string
				then string
				want []any
			}{
				{"UPDATE crew SET size = size + $1, pay = $2", []any{10, 1.5}, "UPDATE 3",
					"SELECT min(size), max(pay) FROM crew", []any{int64(10), 1.5}},
				{"UPDATE public.crew SET ready = true WHERE size = $1", []any{11}, "UPDATE 1",
					"SELECT count(*) FROM crew WHERE ready", []any{int64(1)}},
				{"UPDATE crew SET size = 7 WHERE false", nil, "UPDATE 0", "SELECT max(size) FROM crew",
					[]any{int64(12)}},
				{"INSERT INTO crew(pay, size) VALUES ($1, $2), (3.5, $3)", []any{2.5, 20, 21}, "INSERT 0 2",
					"SELECT size, pay FROM crew WHERE size = 20", []any{int64(20), 2.5}},
				{"INSERT INTO crew VALUES (NULL, $1, $2, $3)", []any{22, "4.5", true}, "INSERT 0 1",
					"SELECT pay, ready FROM crew WHERE size = 22", []any{4.5, true}},
				{"INSERT INTO log(raw) SELECT $1 WHERE $2 = 'x'", []any{[]byte{0, 1}, "x"}, "INSERT 0 1",
					"SELECT raw FROM log", []any{[]byte{0, 1}}},
				{"UPDATE log SET raw = $1, text = 'b' WHERE text = ''", []any{[]byte{2}}, "UPDATE 1",
					"SELECT raw, text FROM log", []any{[]byte{2}, "b"}},
				{"DELETE FROM log", nil, "DELETE 1", "SELECT count(*) FROM log", []any{int64(0)}},
				{"INSERT INTO log(text) VALUES ($1)", []any{"123"}, "INSERT 0 1", "SELECT text FROM log",
					[]any{"123"}},
				{"INSERT OR REPLACE INTO log SELECT entity, $1, x'00ff' FROM log", []any{"it's"},
					"INSERT 0 1",
					"SELECT text, raw FROM log", []any{"it's", []byte{0, 255}}},
				{"WITH big AS (SELECT entity FROM crew WHERE size > 15) DELETE FROM crew WHERE entity IN " +
					"(SELECT entity FROM big)", nil, "DELETE 3", "SELECT count(*) FROM crew",
					[]any{int64(3)}},
				{"DELETE FROM log;", nil, "DELETE 1", "SELECT count(*) FROM log", []any{int64(0)}},
			} {
				tag, err := c.Exec(t.Context(), step.text, step.args...)
				if err != nil || tag.String() != step.tag {
					t.Fatalf("%s: got tag %q and error %v, want tag %q", step.text, tag, err, step.tag)
				}
				if got := row(t, c, step.then); !equalValues(got, step.want) {
					t.Errorf("after %s: got %#v, want %#v", step.text, got, step.want)
				}
			}
			rows, err := c.Query(t.Context(), "INSERT INTO name(name) VALUES ($1), ($2) RETURNING entity",
				"Ann", "Bob")
			if err != nil {
				t.Fatal(err)
			}
			ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
			if err != nil || rows.CommandTag().String() != "INSERT 0 2" {
				t.Fatalf("got %v, error %v and tag %q, want the tag INSERT 0 2", ids, err, rows.CommandTag())
			}
			rows, err = c.Query(t.Context(), "SELECT entity FROM name ORDER BY name")
			if err != nil {
				t.Fatal(err)
			}
			if want, err := pgx.CollectRows(rows, pgx.RowTo[int64]); err != nil || !slices.Equal(ids, want) {
				t.Errorf("RETURNING returns %d, want %d, error %v", ids, want, err)
			}
		})
	}
}

// TestWriteErrors checks the error codes of statements that fail.
func TestWriteErrors(t *testing.T) {
	s := listenToWorld(t, postgres.Options{Write: true})
	for _, mode := range modes {
		c := connect(t, s, "default_query_exec_mode="+mode)
		for _, step := range []struct{ text, code, says string }{
			{"UPDATE crew SET size = 40000", "22003", "size holds -32768 to 32767"},
			{"UPDATE crew SET size = 'x'", "42804", "whole number"},
			{"UPDATE crew SET pay = NULL", "23502", "must not be NULL"},
			{"UPDATE crew SET entity = 1", "428C9", "cannot be set"},
			{"UPDATE entities SET slot = 1", "25006", "cannot be set"},
			{"INSERT INTO crew SELECT * FROM crew", "23505", "already"},
			{"INSERT INTO crew(entity) VALUES (7)", "23503", "no such entity"},
			{"INSERT INTO child_of SELECT entity, entity FROM crew", "23514", "circle"},
			{"INSERT INTO crew(size) VALUES (1) RETURNING size", "0A000", "RETURNING"},
			{"UPDATE crew SET size = 1 RETURNING size", "42601", "RETURNING"},
			{"UPDATE crew SET other = 1", "42703", "other"},
			{"DELETE FROM missing", "42P01", "missing"},
			{"INSERT INTO crew(size) SELECT relnatts FROM pg_class", "25006", "catalog"},
			{"CREATE TABLE t(a)", "25006", "changes no table definitions"},
			{"COPY crew FROM STDIN", "25006", "COPY FROM"},
			{"COPY (DELETE FROM crew) TO STDOUT", "42601", "COPY"},
		} {
			_, err := c.Exec(t.Context(), step.text)
			isCode(t, mode+": "+step.text, err, step.code, step.says)
		}
		if got := row(t, c, "SELECT sum(size), count(*) FROM crew"); !equalValues(got, []any{int64(3),
			int64(3)}) {
			t.Errorf("%s: got %v, want 3 rows as before", mode, got)
		}
	}
}

// TestWriteInTransaction checks that a transaction does not write. It also checks a message with several
// statements, and a pipeline.
func TestWriteInTransaction(t *testing.T) {
	s := listenToWorld(t, postgres.Options{Write: true})
	c := connect(t, s, "")
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), "UPDATE crew SET size = 9")
	isCode(t, "BEGIN", err, "25001", "autocommit")
	_, err = tx.Exec(t.Context(), "SELECT 1")
	isCode(t, "after the refused statement", err, "25P02", "ROLLBACK")
	if err := tx.Rollback(t.Context()); err != nil {
		t.Error(err)
	}
	simple := connect(t, s, "default_query_exec_mode=simple_protocol")
	for text, code := range map[string]string{
		"BEGIN; UPDATE crew SET size = 9; COMMIT":                           "25001",
		"BEGIN; INSERT INTO crew(size) VALUES (1) RETURNING entity; COMMIT": "25001",
		"UPDATE crew SET size = 9; DELETE FROM crew":                        "0A000",
	} {
		_, err := simple.Exec(t.Context(), text)
		isCode(t, text, err, code, "")
		if _, err := simple.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Error(err)
		}
	}
	if got := row(t, c, "SELECT max(size), count(*) FROM crew"); !equalValues(got, []any{int64(2),
		int64(3)}) {
		t.Errorf("got %v, want the rows as before", got)
	}
	if _, err := simple.Exec(t.Context(), "SELECT 1; UPDATE crew SET size = size + 1; SELECT 2"); err != nil {
		t.Error(err)
	}
	batch := &pgx.Batch{}
	for i := range 10 {
		batch.Queue("INSERT INTO crew(size) VALUES ($1)", 100+i)
	}
	if err := c.SendBatch(t.Context(), batch).Close(); err != nil {
		t.Error(err)
	}
	if got := row(t, c, "SELECT min(size), max(size), count(*) FROM crew"); !equalValues(got,
		[]any{int64(1), int64(109), int64(13)}) {
		t.Errorf("got %v, want 1, 109 and 13", got)
	}
}

// TestDescribeDoesNotWrite prepares and describes an INSERT and an UPDATE, and executes the INSERT later.
func TestDescribeDoesNotWrite(t *testing.T) {
	s := listenToWorld(t, postgres.Options{Write: true})
	c := connect(t, s, "")
	const text = "INSERT INTO crew(size, ready) VALUES (5, $1) RETURNING entity"
	description, err := c.Prepare(t.Context(), "insert", text)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(description.ParamOIDs, []uint32{16}) || len(description.Fields) != 1 ||
		description.Fields[0].DataTypeOID != 20 {
		t.Errorf("got parameters %v and columns %v, want a bool and an int8", description.ParamOIDs,
			description.Fields)
	}
	if _, err := c.Prepare(t.Context(), "update", "UPDATE crew SET size = 9"); err != nil {
		t.Error(err)
	}
	count := func() int64 { return row(t, c, "SELECT count(*) FROM crew WHERE size < 9")[0].(int64) }
	if n := count(); n != 3 {
		t.Errorf("after Describe: %d rows, want 3", n)
	}
	for range 2 {
		if err := c.QueryRow(t.Context(), "insert", true).Scan(new(int64)); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(); n != 5 {
		t.Errorf("after two executions: %d rows, want 5", n)
	}
}

// TestReadOnlySettings checks the options and settings that forbid writes.
func TestReadOnlySettings(t *testing.T) {
	read := connect(t, listenToWorld(t, postgres.Options{}), "")
	_, err := read.Exec(t.Context(), "UPDATE crew SET size = 9")
	isCode(t, "a read-only server", err, "25006", "Options.Write")
	_, err = read.Exec(t.Context(), "SET default_transaction_read_only = off")
	isCode(t, "a read-only server", err, "25006", "read-only")
	if _, err := read.Exec(t.Context(), "SET default_transaction_read_only TO DEFAULT"); err != nil ||
		read.PgConn().ParameterStatus("default_transaction_read_only") != "on" {
		t.Errorf("the default of a read-only server: %v", err)
	}
	s := listenToWorld(t, postgres.Options{Write: true})
	c := connect(t, s, "")
	for _, step := range []struct {
		text    string
		setting string
	}{
		{"SET default_transaction_read_only = on", "on"},
		{"SET default_transaction_read_only TO DEFAULT", "off"},
		{"SET default_transaction_read_only = on", "on"},
		{"SET default_transaction_read_only TO false", "off"},
		{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "on"},
		{"RESET default_transaction_read_only", "off"},
		{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "on"},
		{"SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ WRITE", "off"},
		{"SET default_transaction_read_only = on", "on"},
		{"DISCARD ALL", "off"},
	} {
		if _, err := c.Exec(t.Context(), step.text); err != nil {
			t.Fatal(step.text, err)
		}
		var got string
		if err := c.QueryRow(t.Context(), "SHOW transaction_read_only",
			pgx.QueryExecModeExec).Scan(&got); err != nil {
			t.Fatal(err)
		}
		reported := c.PgConn().ParameterStatus("default_transaction_read_only")
		if got != step.setting || reported != step.setting {
			t.Errorf("%s: the setting is %v, want %s", step.text, got, step.setting)
		}
		_, err := c.Exec(t.Context(), "UPDATE crew SET size = 9 WHERE false", pgx.QueryExecModeExec)
		if step.setting == "on" {
			isCode(t, step.text, err, "25006", "cannot execute UPDATE")
		} else if err != nil {
			t.Errorf("%s: %v", step.text, err)
		}
	}
	limited, err := pgx.Connect(t.Context(), url(s, "default_transaction_read_only=on"))
	if err != nil {
		t.Fatal(err)
	}
	defer limited.Close(context.Background())
	_, err = limited.Exec(t.Context(), "DELETE FROM crew")
	isCode(t, "a client that only reads", err, "25006", "default_transaction_read_only")
	for text, want := range map[string]string{"SET default_transaction_read_only = off": "off",
		"SET SESSION default_transaction_read_only TO DEFAULT": "on"} {
		_, err := limited.Exec(t.Context(), "SET default_transaction_read_only = off")
		if err == nil {
			_, err = limited.Exec(t.Context(), text)
		}
		got := limited.PgConn().ParameterStatus("default_transaction_read_only")
		if got != want || err != nil {
			t.Errorf("%s: the setting is %s, want %s; error %v", text, got, want, err)
		}
	}
	if _, err := c.Exec(t.Context(), "SET default_transaction_read_only = perhaps"); err == nil {
		t.Error("SET accepts a value that is not Boolean")
	}
	if _, err := pgx.Connect(t.Context(), url(s, "target_session_attrs=read-write")); err != nil {
		t.Error(err)
	}
}

func TestPsqlWrites(t *testing.T) {
	needPsql(t)
	s := listenToWorld(t, postgres.Options{Write: true})
	for _, c := range []struct{ commands, want string }{
		{"INSERT INTO crew(size) VALUES (30), (31)", "INSERT 0 2\n"},
		{"UPDATE crew SET pay = 5 WHERE size > 20", "UPDATE 2\n"},
		{"SELECT count(*) FROM crew WHERE pay = 5", "2\n"},
		{"DELETE FROM entities WHERE entity IN (SELECT entity FROM crew WHERE size < 30)", "DELETE 3\n"},
		{`\d crew`, "entity|bigint|||\nsize|bigint|||\npay|double precision|||\nready|boolean|||\n"},
	} {
		if got, err := psql(t, connection(s, ""), nil, "-At", "-c", c.commands); err != nil || got != c.want {
			t.Errorf("%s: got %q and error %v, want %q", c.commands, got, err, c.want)
		}
	}
	got, err := psql(t, connection(s, ""), nil, "-At", "-1", "-c", "UPDATE crew SET pay = 6")
	if err == nil || !strings.Contains(got, "cannot run inside a transaction block") ||
		!strings.Contains(got, "autocommit") {
		t.Errorf("psql -1: got %q and error %v", got, err)
	}
	got, err = psql(t, connection(s, ""), nil, "-At", "-c", "INSERT INTO crew(size) VALUES (1) RETURNING "+
		"entity")
	if lines := strings.Split(got, "\n"); err != nil || len(lines) != 3 || lines[1] != "INSERT 0 1" {
		t.Errorf("RETURNING: got %q and error %v", got, err)
	}
	if got, err := psql(t, connection(s, ""), nil, "-At", "-c",
		"SELECT count(*), min(pay) FROM crew"); err != nil ||
		got != "3|0\n" {
		t.Errorf("got %q and error %v, want 3|0", got, err)
	}
}
