package inspect

import (
	"bufio"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sqlLines runs a statement with GET and returns the lines of the answer. parameters are further parameters
// of the request, such as "&limit=1".
func (f *fixture) sqlLines(t testing.TB, statement, parameters string) []string {
	t.Helper()
	status, body := f.do(t, "GET", prefix+"sql?q="+url.QueryEscape(statement)+parameters, f.options.Token, "")
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", statement, status, body)
	}
	return strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
}

func TestSQLValues(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	values := map[string]driver.Value{
		`null`: nil, `true`: true, `-3`: int64(-3), `9007199254740991`: int64(1<<53 - 1),
		`{"integer":"9007199254740992"}`:     int64(1 << 53),
		`{"integer":"-9223372036854775808"}`: int64(math.MinInt64), `1.0`: 1.0, `-0.0`: math.Copysign(0, -1),
		`0.1`: 0.1, `1e+300`: 1e300, `1e+06`: 1e6, `123456.0`: 123456.0, `5e-324`: 5e-324,
		`{"real":"Infinity"}`: math.Inf(1), `{"real":"-Infinity"}`: math.Inf(-1),
		`{"blob":"AAH/"}`: []byte{0, 1, 255}, `{"blob":""}`: []byte{}, `""`: "", `"a b"`: "a b",
		`"\"\\\n\u0000é"`: "\"\\\n\x00é", `"\ufffd"`: "\xff",
		`"2026-01-02T03:04:05Z"`: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	for want, v := range values {
		s.answer("SELECT one", []string{"v"}, []driver.Value{v})
		got := f.sqlLines(t, "SELECT one", "")
		if len(got) != 3 || got[1] != "["+want+"]" {
			t.Errorf("%v is %q, want [%s]", v, got, want)
		}
		if !json.Valid([]byte(got[1])) {
			t.Errorf("%s is not JSON", got[1])
		}
	}
	if got := string(appendSQLValue(nil, math.NaN())); got != "null" {
		t.Errorf("NaN is %s", got)
	}
	s.answer("SELECT two", []string{"a", "weird \"name\""}, []driver.Value{int64(1), "x"})
	if got := f.sqlLines(t, "SELECT two", ""); got[1] != `[1,"x"]` ||
		got[0] != `{"columns":[{"name":"a","type":""},{"name":"weird \"name\"","type":""}]}` {
		t.Errorf("two columns: %q", got)
	}
	s.answer("SELECT none", []string{"a"})
	if got := f.sqlLines(t, "SELECT none", ""); len(got) != 2 || !strings.HasPrefix(got[1],
		`{"rows":0,"more":false,"seconds":`) {
		t.Errorf("no rows: %q", got)
	}
}

func TestSQLLimitAndNotes(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	s.count("SELECT n", 5000, io.EOF)
	type end struct {
		Rows    int
		More    bool
		Seconds float64
		Notes   []string
	}
	for limit, want := range map[string]end{
		"": {Rows: 5000}, "&limit=0": {Rows: 5000}, "&limit=5000": {Rows: 5000},
		"&limit=4999": {Rows: 4999, More: true}, "&limit=1": {Rows: 1, More: true},
	} {
		got := f.sqlLines(t, "SELECT n", limit)
		var last end
		if err := json.Unmarshal([]byte(got[len(got)-1]), &last); err != nil {
			t.Fatal(err)
		}
		if got[0] != `{"columns":[{"name":"n","type":"INTEGER"}]}` || len(got) != want.Rows+2 ||
			got[want.Rows] != fmt.Sprintf("[%d]", want.Rows) || last.Rows != want.Rows ||
			last.More != want.More || last.Seconds <= 0 || len(last.Notes) != 1 ||
			last.Notes[0] != "counted" {
			t.Errorf("limit %q: %d lines that end with %s", limit, len(got), got[len(got)-1])
		}
	}
	status, body := f.do(t, "POST", prefix+"sql", "", `{"statement":"SELECT n","limit":2}`)
	if status != http.StatusOK || !strings.Contains(string(body), "\n[1]\n[2]\n{\"rows\":2,\"more\":true,") {
		t.Errorf("POST: %d %s", status, body)
	}
	if s.open() != 0 {
		t.Errorf("%d results are still open", s.open())
	}
}

func TestSQLErrors(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	s.set("SELECT é, wrong FROM t", func(context.Context) (*scriptedRows, error) {
		return nil, fmt.Errorf("vast: %w", misplaced{"wrong FROM t"})
	})
	const query = "sql?q=SELECT+%C3%A9,+wrong+FROM+t"
	p := f.refused(t, http.StatusBadRequest, "GET", query, "", "")
	if p.Code != "sql" || p.Position == nil || *p.Position != 10 || *p.Length != 5 ||
		!strings.Contains(p.Message, "no such column") {
		t.Errorf("an error with a position: %+v", p)
	}
	s.count("SELECT fails", 0, errors.New("too many bytes"))
	if p := f.refused(t, http.StatusBadRequest, "GET", "sql?q=SELECT+fails", "", ""); p.Position != nil ||
		p.Message != "too many bytes" {
		t.Errorf("an error before the first row: %+v", p)
	}
	s.count("SELECT breaks", 2, errors.New("the rest is lost"))
	got := f.sqlLines(t, "SELECT breaks", "")
	if len(got) != 4 || got[3] != `{"error":{"code":"sql","message":"the rest is lost"}}` {
		t.Errorf("an error after two rows: %q", got)
	}
	for body, status := range map[string]int{
		`{"statement":"SELECT n","limit":-1}`: http.StatusBadRequest, `{"limit":1}`: http.StatusBadRequest,
		`{"statement":"SELECT n","rows":1}`: http.StatusBadRequest, `[]`: http.StatusBadRequest,
		`{"statement":1}`: http.StatusBadRequest, `{`: http.StatusBadRequest,
		`{"statement":"SELECT n; SELECT n"}`: http.StatusBadRequest,
		`{"statement":"-- nothing"}`:         http.StatusBadRequest,
		`{"statement":"/* x */ begin"}`:      http.StatusBadRequest,
		`{"statement":"DROP TABLE t"}`:       http.StatusForbidden,
	} {
		f.refused(t, status, "POST", "sql", "", body)
	}
	for _, query := range []string{"", "?q=", "?q=SELECT+n&limit=x", "?q=SELECT+n&limit=-1", "?q=%00"} {
		if query != "?q=%00" {
			f.refused(t, http.StatusBadRequest, "GET", "sql"+query, "", "")
		} else {
			f.refused(t, http.StatusForbidden, "GET", "sql"+query, "", "")
		}
	}
	if s.open() != 0 {
		t.Errorf("%d results are still open", s.open())
	}
	without := newFixture(t, Options{})
	for _, path := range []string{"sql?q=SELECT+1", "sql/tables"} {
		if p := without.refused(t, http.StatusNotFound, "GET", path, "", ""); !strings.Contains(p.Message,
			"Options.SQL") {
			t.Errorf("without a database: %+v", p)
		}
	}
}

func TestSQLPermissions(t *testing.T) {
	s, db := newScripted(t)
	const statement = "WITH a AS (SELECT 1) DELETE FROM t"
	row := []driver.Value{int64(1)}
	s.answer(statement, []string{"n"}, row, row, row)
	body := `{"statement":"` + statement + `"}`
	query := "sql?q=" + url.QueryEscape(statement)
	f := newFixture(t, Options{SQL: db, Token: "Secret1234"})
	for _, token := range []string{"", "Secret1234"} {
		for _, p := range []problem{f.refused(t, http.StatusForbidden, "POST", "sql", token, body),
			f.refused(t, http.StatusForbidden, "GET", query, token, "")} {
			if p.Code != "readOnly" {
				t.Errorf("read-only: %+v", p)
			}
		}
	}
	f = newFixture(t, Options{SQL: db, Token: "Secret1234", ReadWrite: true})
	f.refused(t, http.StatusUnauthorized, "POST", "sql", "", body)
	f.refused(t, http.StatusUnauthorized, "POST", "sql", "wrong", body)
	f.refused(t, http.StatusForbidden, "GET", query, "Secret1234", "")
	f.refused(t, http.StatusForbidden, "GET",
		"views/plane/points?q="+url.QueryEscape(statement), "Secret1234", "")
	answer, text := exchange(t, f.Addr().String(), head("POST", prefix+"sql", f.Addr().String(),
		"Content-Type: text/plain", fmt.Sprintf("Content-Length: %d", len(body)))+body)
	checkRefused(t, "a body of type text", answer, text, http.StatusUnsupportedMediaType, "type")
	if s.hasRun(statement) {
		t.Fatal("a refused statement ran")
	}
	if status, text := f.do(t, "POST", prefix+"sql", "Secret1234", body); status != http.StatusOK ||
		!s.hasRun(statement) || !strings.HasPrefix(string(text), "{\"columns\":[]}\n{\"rows\":0,") ||
		!strings.Contains(string(text), `"changed":3`) {
		t.Errorf("with the token: %d %s", status, text)
	}
	s.answer(statement+" RETURNING n", []string{"n"}, row, row)
	body = `{"statement":"` + statement + ` RETURNING n"}`
	if status, text := f.do(t, "POST", prefix+"sql", "Secret1234", body); status != http.StatusOK ||
		!strings.Contains(string(text), "[1]\n[1]\n{\"rows\":2,") ||
		strings.Contains(string(text), "changed") {
		t.Errorf("with RETURNING: %d %s", status, text)
	}
	s.answer("SELECT 1", []string{"1"}, []driver.Value{int64(1)})
	body = `{"statement":"SELECT 1"}`
	if status, text := f.do(t, "POST", prefix+"sql", "", body); status != http.StatusOK {
		t.Errorf("a read without the token: %d %s", status, text)
	}
}

// TestSQLArguments sends the values of parameters.
func TestSQLArguments(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db, Token: "Secret1234", ReadWrite: true})
	for _, statement := range []string{"SELECT x", "DELETE FROM x"} {
		s.answer(statement, []string{"x"})
		for text, want := range map[string][]any{
			`[]`: nil, `null`: nil,
			`[1, -2.0, 1e3, "a\u00e9", true, null]`: {int64(1), -2.0, 1e3, "aé", true, nil},
			`[9223372036854775807, {"integer": "-9223372036854775808"}]`: {int64(math.MaxInt64),
				int64(math.MinInt64)},
			`[{"real": "Infinity"}, {"real": "-Infinity"}, {"blob": "AAH/"}]`: {math.Inf(1), math.Inf(-1),
				[]byte{0, 1, 255}},
		} {
			request := `{"statement": "` + statement + `", "args": ` + text + `}`
			status, body := f.do(t, "POST", prefix+"sql", "Secret1234", request)
			if status != http.StatusOK || !reflect.DeepEqual(s.args, want) {
				t.Errorf("%s: %d %s, and the values %v, want %v", request, status, body, s.args, want)
			}
		}
	}
	for _, text := range []string{`{}`, `1`, `[[1]]`, `[{}]`, `[{"integer": 5}]`, `[{"integer": "x"}]`,
		`[{"real": "NaN"}]`, `[{"blob": "A"}]`, `[{"integer": "1", "blob": ""}]`, `[9223372036854775808]`,
		`[1e999]`} {
		p := f.refused(t, http.StatusBadRequest, "POST", "sql", "",
			`{"statement": "SELECT x", "args": `+text+`}`)
		if !strings.Contains(p.Message, `"args": [10]`) {
			t.Errorf("%s: %+v", text, p)
		}
	}
}

// TestSQLRowsDoNotWait reads rows while the statement computes the next row.
func TestSQLRowsDoNotWait(t *testing.T) {
	s, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	release := make(chan struct{})
	s.set("SELECT slow", func(context.Context) (*scriptedRows, error) {
		n := int64(0)
		return &scriptedRows{names: []string{"n"}, next: func() ([]driver.Value, error) {
			switch n++; n {
			case 4:
				<-release
			case 5:
				return nil, io.EOF
			}
			return []driver.Value{n}, nil
		}}, nil
	})
	response, err := http.Get("http://" + f.Addr().String() + prefix + "sql?q=SELECT+slow")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for i, want := range []string{"{\"columns\"", "[1]", "[2]", "[3]", "[4]", "{\"rows\":4"} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("line %d is %q, want %s; error %v", i, lines.Text(), want, lines.Err())
		}
		if want == "[3]" {
			close(release)
		}
	}
}

func TestClientThatLeavesEndsStatement(t *testing.T) {
	s, db := newScripted(t)
	waits := s.wait("SELECT slow")
	f := newFixture(t, Options{SQL: db})
	addr := f.Addr().String()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, head("GET", prefix+"sql?q=SELECT+slow", addr)); err != nil {
		t.Fatal(err)
	}
	<-waits
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	if s.open() != 1 {
		t.Fatalf("%d statements run, want 1", s.open())
	}
	conn.Close()
	eventually(t, "the end of the statement", func() bool { return s.open() == 0 && len(f.running) == 0 })
}

func TestCloseEndsStatements(t *testing.T) {
	s, db := newScripted(t)
	waits := s.wait("SELECT slow")
	f := newFixture(t, Options{SQL: db})
	ended := make(chan error, 1)
	go func() {
		answer, err := http.Get(f.at(prefix + "sql?q=SELECT+slow"))
		if err == nil {
			_, err = io.ReadAll(answer.Body)
			answer.Body.Close()
		}
		ended <- err
	}()
	<-waits
	f.Close()
	if s.open() != 0 {
		t.Error("a statement runs after Close")
	}
	if err := <-ended; err == nil {
		t.Error("an answer without its end looks complete")
	}
}

func TestManyStatementsAreRefused(t *testing.T) {
	s, db := newScripted(t)
	s.answer("SELECT 1", []string{"1"}, []driver.Value{int64(1)})
	f := newFixture(t, Options{SQL: db})
	for range maxStatements {
		f.running <- struct{}{}
	}
	if p := f.refused(t, http.StatusServiceUnavailable, "GET", "sql?q=SELECT+1", "", ""); p.Code != "busy" {
		t.Errorf("got %+v", p)
	}
	for range maxStatements {
		<-f.running
	}
	f.sqlLines(t, "SELECT 1", "")
}

func TestSQLTables(t *testing.T) {
	_, db := newScripted(t)
	f := newFixture(t, Options{SQL: db})
	var got struct {
		Tables    []sqlTable
		Functions []string
	}
	f.get(t, "sql/tables", &got)
	if len(got.Tables) != 2 || got.Tables[0].Name != "person" || len(got.Tables[0].Columns) != 3 ||
		got.Tables[1].Columns[1] != (sqlColumn{"size", "INTEGER"}) || len(got.Functions) != 2 {
		t.Errorf("got %+v", got)
	}
	var world worldAnswer
	if f.get(t, "world", &world); !world.SQL || len(world.Handlers) != 0 {
		t.Errorf("the world says SQL %v, handlers %q", world.SQL, world.Handlers)
	}
}
