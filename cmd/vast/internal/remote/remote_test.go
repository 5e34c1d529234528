package remote

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/internal/sqlnote"
)

// serve returns the database of an inspector that answers each statement with h.
func serve(t *testing.T, h func(w http.ResponseWriter, r *http.Request, statement string)) *sql.DB {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Statement string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.Method != "POST" ||
			r.URL.Path != "/api/v1/sql" || r.Header.Get("Content-Type") != "application/json" ||
			r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s %s with %v: %v", r.Method, r.URL, r.Header, err)
		}
		h(w, r, asked.Statement)
	}))
	t.Cleanup(server.Close)
	p, err := attach.New(server.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	db := Open(p)
	t.Cleanup(func() { db.Close() })
	return db
}

const answer = `{"columns":[{"name":"a","type":"INTEGER"},{"name":"b","type":""},{"name":"b","type":"TEXT"}]}
[1,2.0,"x\ty\u00e9 \"\\"]
[{"integer":"-9223372036854775808"},{"real":"-Infinity"},{"blob":"AP8="}]
[null,true,"é{}[],"]
[-9007199254740991,1.5e-300,""]
[ 7 , -0.0 , { "real" : "Infinity" } ] 
{"rows":5,"more":false,"seconds":0.01,"notes":["from tick 7","and slow"]}
`

var answerRows = [][]any{
	{int64(1), 2.0, "x\ty\u00e9 \"\\"},
	{int64(math.MinInt64), math.Inf(-1), []byte{0, 255}},
	{nil, true, "é{}[],"},
	{int64(-9007199254740991), 1.5e-300, ""},
	{int64(7), math.Copysign(0, -1), math.Inf(1)},
}

// read returns the values of all rows.
func read(rows *sql.Rows) (values [][]any, err error) {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		row, to := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			to[i] = &row[i]
		}
		if err := rows.Scan(to...); err != nil {
			return values, err
		}
		values = append(values, row)
	}
	return values, rows.Err()
}

func TestRows(t *testing.T) {
	const statement = "SELECT '\"é'\nFROM \x00"
	db := serve(t, func(w http.ResponseWriter, _ *http.Request, asked string) {
		if asked != statement {
			t.Errorf("asked %q", asked)
		}
		io.WriteString(w, answer)
	})
	var notes []string
	ctx := sqlnote.With(t.Context(), func(note string) { notes = append(notes, note) })
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		t.Fatal(err)
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var columns []string
	for _, c := range types {
		columns = append(columns, c.Name()+":"+c.DatabaseTypeName())
	}
	if want := []string{"a:INTEGER", "b:", "b:TEXT"}; !slices.Equal(columns, want) {
		t.Errorf("columns %q, want %q", columns, want)
	}
	values, err := read(rows)
	if err != nil || !reflect.DeepEqual(values, answerRows) {
		t.Errorf("%v, %v; want %v", values, err, answerRows)
	}
	if zero := values[4][1].(float64); !math.Signbit(zero) {
		t.Errorf("-0.0 is read as %v", zero)
	}
	if want := []string{"from tick 7", "and slow"}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}

// TestTruncatedAnswers reads each proper prefix of an answer.
func TestTruncatedAnswers(t *testing.T) {
	for n := range len(answer) {
		db := sql.OpenDB(canned{answer[:n]})
		rows, err := db.QueryContext(t.Context(), "")
		var values [][]any
		if err == nil {
			values, err = read(rows)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(),
			fmt.Sprintf("the answer of town ended early, after %d rows", len(values))) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
		db.Close()
	}
}

func TestMalformedAnswers(t *testing.T) {
	const head = `{"columns":[{"name":"a","type":""},{"name":"b","type":""}]}` + "\n"
	for _, c := range []struct{ text, want string }{
		{"<html>\n", "cannot be understood"},
		{"\n", "cannot be understood"},
		{"{}\n", "no columns"},
		{`{"error":{}}` + "\n", "no message"},
		{`{"columns":[{"name":"` + strings.Repeat("x", maxObject) + `"}]}` + "\n",
			"first line has more than"},
		{head + "[1]\n", "only 1 of 2 values"},
		{head + "[1,2,3]\n", "no ] follows"},
		{head + "[1,2] 3\n", "no ] follows"},
		{head + "[1,2\n", "no ] follows"},
		{head + "[1,\n", "a value is missing"},
		{head + "[1,]\n", "is not a value"},
		{head + "[1,[2]]\n", "is not a value"},
		{head + "[1,nul]\n", "is not a value"},
		{head + "[1,{}]\n", "is not a value"},
		{head + `[1,{"real":"NaN"}]` + "\n", "is not a value"},
		{head + `[1,{"blob":"A"}]` + "\n", "base64"},
		{head + `[1,{"integer":"9223372036854775808"}]` + "\n", "out of range"},
		{head + "[1,9223372036854775808]\n", "out of range"},
		{head + "[1,1e999]\n", "out of range"},
		{head + "[1,1-1]\n", "invalid syntax"},
		{head + `[1,"a` + "\n", "no closing quote"},
		{head + `[1,"\"` + "\n", "no closing quote"},
		{head + `[1,"\x"]` + "\n", "row 0: "},
		{head + "[1,\"\x01\"]\n", "row 0: "},
		{head + "{}\n", "not the number"},
		{head + "[1,2]\n" + `{"rows":2}` + "\n", "not the number"},
		{head + "[1,2]\n" + `{"rows":1` + "\n", "cannot be understood"},
		{head + "[1,2]\n\n", "cannot be understood"},
		{head + "[1,2]\n" + `{"rows":1,"more":true}` + "\n", "sends only the first 1 rows"},
		{head + `{"rows":0,"notes":["` + strings.Repeat("x", maxObject) + `"]}` + "\n", "too long"},
		{head + "[" + strings.Repeat(" ", maxLine), "more than 64 MiB"},
	} {
		db := sql.OpenDB(canned{c.text})
		rows, err := db.QueryContext(t.Context(), "")
		if err == nil {
			_, err = read(rows)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.100q: %v, want %q", c.text, err, c.want)
		}
		db.Close()
	}
}

func TestErrors(t *testing.T) {
	const problem = `{"error":{"code":"sql","message":"no such column: é","position":7,"length":1}}` + "\n"
	const statement = "SELECT é FROM x"
	for _, c := range []struct {
		status int
		text   string
	}{
		{400, problem},
		{200, problem},
		{200, strings.Replace(answer, `{"rows"`, problem+`{"rows"`, 1)},
	} {
		db := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.text)
		})
		rows, err := db.QueryContext(t.Context(), statement)
		if err == nil {
			var values [][]any
			if values, err = read(rows); len(values) != len(answerRows) {
				t.Errorf("%d rows, want %d", len(values), len(answerRows))
			}
		}
		var placed interface{ SQL() string }
		var refused *attach.Error
		if err == nil || err.Error() != "no such column: é" || !errors.As(err, &placed) ||
			placed.SQL() != "é FROM x" || !errors.As(err, &refused) || refused.Code != "sql" {
			t.Errorf("%d: %v", c.status, err)
		}
	}
	for position, want := range map[int]string{0: statement, 99: ""} {
		err := withStatement(&attach.Error{Position: position, Length: 1}, statement)
		if got := err.(*statementError).SQL(); got != want {
			t.Errorf("from position %d, the statement is %q, want %q", position, got, want)
		}
	}
}

// TestEndedStatements cancels a statement, and closes the rows of another one. In both cases, the inspector
// must notice that the client is gone. A statement whose context was cancelled before must fail.
func TestEndedStatements(t *testing.T) {
	gone := make(chan struct{}, 1)
	db := serve(t, func(w http.ResponseWriter, r *http.Request, statement string) {
		if statement == "rows" {
			io.WriteString(w, answer[:strings.Index(answer, "[null")])
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := db.QueryContext(ctx, "rows")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if !rows.Next() {
			t.Fatal(rows.Err())
		}
	}
	cancel()
	if rows.Next() || !errors.Is(rows.Err(), context.Canceled) {
		t.Errorf("after the context was cancelled: %v", rows.Err())
	}
	<-gone
	if rows, err = db.QueryContext(t.Context(), "rows"); err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	<-gone
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := db.QueryContext(ctx, "nothing"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a cancelled context: %v", err)
	}
}

// TestExec checks the number of changed rows, and errors before and after the first line.
func TestExec(t *testing.T) {
	const columns = `{"columns":[]}` + "\n"
	for _, c := range []struct {
		status       int
		answer, want string
	}{
		{200, columns + `{"rows":0,"more":false,"changed":3}` + "\n", "3"},
		{200, columns + `{"rows":0,"more":false,"changed":0}` + "\n", "0"},
		{200, columns, "ended early"},
		{200, columns + `{"error":{"code":"sql","message":"full"}}` + "\n", "full"},
		{403, `{"error":{"code":"write","message":"read-only"}}` + "\n", "read-only"},
	} {
		db := serve(t, func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.answer)
		})
		result, err := db.Exec("UPDATE x SET a = 1")
		got := fmt.Sprint(err)
		if err == nil {
			n, err := result.RowsAffected()
			got = fmt.Sprint(n)
			if err != nil {
				t.Error(err)
			}
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.answer, got, c.want)
		}
	}
}

func TestRefusedCalls(t *testing.T) {
	db := serve(t, func(http.ResponseWriter, *http.Request, string) { t.Error("a request was sent") })
	_, err := db.Query("SELECT ?", 1)
	if !errors.Is(err, errParameters) {
		t.Errorf("a statement with a parameter: %v", err)
	}
	if _, err := db.Exec("INSERT INTO x VALUES (?)", 1); !errors.Is(err, errParameters) {
		t.Errorf("Exec with a parameter: %v", err)
	}
	if _, err := db.Exec("ROLLBACK"); !errors.Is(err, errTransaction) {
		t.Errorf("ROLLBACK: %v", err)
	}
	if _, err := db.Prepare("SELECT 1"); !errors.Is(err, errPrepared) {
		t.Errorf("Prepare: %v", err)
	}
	if _, err := db.Begin(); !errors.Is(err, errTransaction) {
		t.Errorf("Begin: %v", err)
	}
	if _, err := db.Driver().Open(""); err == nil {
		t.Error("the driver opens a database without an inspector")
	}
}
