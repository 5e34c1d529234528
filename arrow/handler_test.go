package vastarrow

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/vastgo/vast/internal/nodetest"
)

// reader is a driver that runs statements only in read-only transactions.
type reader struct {
	query func(ctx context.Context, text string) (driver.Rows, error)
}

func (r reader) Connect(context.Context) (driver.Conn, error) { return r, nil }
func (r reader) Driver() driver.Driver                        { return nil }
func (r reader) Prepare(string) (driver.Stmt, error)          { return nil, errors.New("not called") }
func (r reader) Begin() (driver.Tx, error)                    { return nil, errors.New("not called") }
func (r reader) Commit() error                                { return errors.New("not called") }
func (r reader) Rollback() error                              { return nil }
func (r reader) Close() error                                 { return nil }

func (r reader) BeginTx(_ context.Context, o driver.TxOptions) (driver.Tx, error) {
	if !o.ReadOnly {
		return nil, errors.New("the transaction may write")
	}
	return r, nil
}

func (r reader) QueryContext(ctx context.Context, text string, _ []driver.NamedValue) (driver.Rows, error) {
	return r.query(ctx, text)
}

// serveTables serves a handler, and returns the URL to which the client appends a statement. A statement is
// the name of a table.
func serveTables(t *testing.T, tables map[string]*table) string {
	return serveQuery(t, func(_ context.Context, text string) (driver.Rows, error) {
		if of := tables[text]; of != nil {
			return of, nil
		}
		return nil, errors.New("no such table: " + text)
	})
}

func serveQuery(t *testing.T, query func(ctx context.Context, text string) (driver.Rows, error)) string {
	db := sql.OpenDB(reader{query})
	server := httptest.NewServer(Handler(db))
	t.Cleanup(func() {
		server.Close()
		db.Close()
	})
	return server.URL + "/?q="
}

// numbers returns a table with the numbers from 0 to n-1. After the last row, Next returns end.
func numbers(n int, end error) *table {
	of := &table{names: []string{"i"}, types: []string{"INTEGER"}, end: end}
	for i := range n {
		of.rows = append(of.rows, []driver.Value{int64(i)})
	}
	return of
}

func get(t *testing.T, address string) *http.Response {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestHandler(t *testing.T) {
	const n = sqlBatch + 10
	address := serveTables(t, map[string]*table{"numbers": numbers(n, io.EOF), "none": numbers(0, io.EOF)})
	for statement, want := range map[string]int64{"numbers": n, "none": 0} {
		answer := get(t, address+statement)
		if got := answer.Header.Get("Content-Type"); got != "application/vnd.apache.arrow.stream" {
			t.Errorf("the type is %s", got)
		}
		rows, err := ipc.NewReader(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Release()
		if got := rows.Schema().String(); got != "schema:\n  fields: 1\n    - i: type=int64, nullable" {
			t.Errorf("%s", got)
		}
		next := int64(0)
		for rows.Next() {
			for _, v := range rows.RecordBatch().Column(0).(*array.Int64).Int64Values() {
				if v != next {
					t.Fatalf("the value is %d, want %d", v, next)
				}
				next++
			}
		}
		if err := rows.Err(); err != nil || next != want {
			t.Errorf("%d rows, want %d; %v", next, want, err)
		}
	}
}

func TestHandlerErrors(t *testing.T) {
	broken := errors.New(`broken "at" row`)
	small := &table{names: []string{"b"}, types: []string{"BOOLEAN"}, end: broken,
		rows: slices.Repeat([][]driver.Value{{true}}, sqlBatch+1)} // fits the buffer of the handler
	address := serveTables(t, map[string]*table{"first": numbers(sqlBatch-1, broken), "small": small,
		"later": numbers(3*sqlBatch, broken)})
	for _, c := range []struct {
		method, statement, message string
		status                     int
	}{
		{"GET", "absent", "no such table: absent", 400},
		{"GET", "first", `broken "at" row`, 400},
		{"GET", "small", `vastarrow: reading the rows: broken "at" row`, 400},
		{"GET", "", "the parameter q is missing: add ?q=STATEMENT", 400},
		{"POST", "first", "use GET, with the statement in the parameter q", 405},
	} {
		request, err := http.NewRequest(c.method, address+c.statement, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var body struct {
			Error struct{ Code, Message string }
		}
		if err := json.NewDecoder(answer.Body).Decode(&body); err != nil || answer.StatusCode != c.status ||
			body.Error.Message != c.message || body.Error.Code == "" ||
			answer.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s: %s, %+v, %v", c.method, c.statement, answer.Status, body, err)
		}
	}
	answer := get(t, address+"later")
	if _, err := io.Copy(io.Discard, answer.Body); answer.StatusCode != 200 || err != io.ErrUnexpectedEOF {
		t.Errorf("an error after the first rows: %s, %v", answer.Status, err)
	}
}

// endless are rows that block until their context ends.
type endless struct {
	ctx  context.Context
	left int         // number of rows before Next blocks
	gone chan<- bool // receives whether the context has ended
}

func (e *endless) Columns() []string { return []string{"i"} }

func (e *endless) Close() error {
	e.gone <- e.ctx.Err() != nil
	return nil
}

func (e *endless) Next(to []driver.Value) error {
	if e.left--; e.left < 0 {
		<-e.ctx.Done()
		return e.ctx.Err()
	}
	to[0] = int64(e.left)
	return nil
}

// TestHandlerWithoutClient closes the connection before the first row, and after some batches.
func TestHandlerWithoutClient(t *testing.T) {
	for _, left := range []int{0, 4 * sqlBatch} {
		begun, gone := make(chan bool, 1), make(chan bool, 1)
		address := serveQuery(t, func(ctx context.Context, _ string) (driver.Rows, error) {
			begun <- true
			return &endless{ctx, left, gone}, nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-begun
			if left == 0 {
				cancel()
			}
		}()
		request, err := http.NewRequestWithContext(ctx, "GET", address+url.QueryEscape("SELECT 1"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer, err := http.DefaultClient.Do(request); err == nil {
			if _, err := answer.Body.Read(make([]byte, 100)); err != nil {
				t.Error(err)
			}
			answer.Body.Close()
		} else if left > 0 {
			t.Error(err)
		}
		cancel()
		if ended := <-gone; !ended {
			t.Error("the statement ended before the client left")
		}
	}
}

// TestHandlerInJavaScript reads a stream and an incomplete stream as a web page would.
func TestHandlerInJavaScript(t *testing.T) {
	address := serveTables(t, map[string]*table{"numbers": numbers(20000, io.EOF),
		"broken": numbers(20000, errors.New("broken"))})
	var figures []float64
	text := nodetest.Run(t, filepath.Join("testdata", "fetch.mjs"), address+"numbers", address+"broken")
	if err := json.Unmarshal(text, &figures); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	equalFigures(t, figures, []float64{20000, 20000 * 19999 / 2, 1})
}
