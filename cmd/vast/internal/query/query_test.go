package query

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

// program simulates a running program with an inspector.
type program struct {
	*httptest.Server
	asked  url.Values // parameters of the last request
	path   string
	status int
	body   string
	broken bool // the connection breaks in the middle of the response
}

func newProgram(t *testing.T, status int, body string) *program {
	t.Helper()
	p := &program{status: status, body: body}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.path, p.asked = r.URL.Path, r.URL.Query()
		w.WriteHeader(p.status)
		io.WriteString(w, p.body)
		w.(http.Flusher).Flush()
		if p.broken {
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func runQuery(args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "address and the query are missing"},
		{[]string{"x:1"}, "query is missing"},
		{[]string{"x:1", "A,", "B"}, `unexpected argument "B": put the query between quotes`},
		{[]string{"x:1", "A", "-format", "xml"}, "want table, json or csv"},
		{[]string{"x:1", "A", "-limit", "-1"}, "want a whole number of 0 or more"},
		{[]string{"x:1", "A", "-sample", "many"}, "want a whole number of 0 or more"},
		{[]string{"x:1", "A", "-nonsense"}, "-nonsense"},
		{[]string{"ftp://x", "A"}, "HOST:PORT"},
	} {
		status, stdout, stderr := runQuery(c.args...)
		if status != cli.Misuse || stdout != "" || !strings.Contains(stderr, c.want) ||
			!strings.Contains(stderr, "`vast query -h`") ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want %d and %q", c.args, status, stdout,
				stderr, cli.Misuse, c.want)
		}
	}
	if status, stdout, stderr := runQuery("-h"); status != cli.Success || stderr != "" ||
		!strings.Contains(stdout, "usage: vast query ADDRESS") ||
		!strings.Contains(stdout, "-sample") {
		t.Errorf("-h: exit status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestWhatIsAsked(t *testing.T) {
	for _, c := range []struct {
		args string
		path string
		want string
	}{
		{"", "rows", "format=csv&limit=1048576"},
		{"-format table", "rows", "format=csv&limit=1001"},
		{"-format json -limit 5", "rows", "format=ndjson&limit=6"},
		{"-format table -limit 0", "rows", "format=csv&limit=1048576"},
		{"-limit 9999999", "rows", "format=csv&limit=1048576"},
		{"-sample 7 -columns Position,Body", "rows",
			"columns=Position%2CBody&format=csv&limit=1048576&sample=7"},
		{"-sample 7 -limit 3", "rows", "format=csv&limit=3&sample=7"},
		{"-count", "count", ""},
	} {
		body := "id\n"
		if c.path == "count" {
			body = `{"count": 3, "exact": true}`
		}
		p := newProgram(t, 200, body)
		args := append([]string{p.URL, "A, !B & C"}, strings.Fields(c.args)...)
		if status, _, stderr := runQuery(args...); status != cli.Success {
			t.Errorf("%s: exit status %d, %s", c.args, status, stderr)
		}
		if p.asked.Get("query") != "A, !B & C" || p.path != "/api/v1/"+c.path {
			t.Errorf("%s: the request has the path %s and the parameters %v", c.args, p.path, p.asked)
		}
		p.asked.Del("query")
		if got := p.asked.Encode(); got != c.want {
			t.Errorf("%s: the request has the parameters %s, want %s", c.args, got, c.want)
		}
	}
}

func TestErrorIsShownAtItsPlace(t *testing.T) {
	for _, c := range []struct{ text, position, length, want string }{
		{"Position, Infcted, !Dead", "10", "7", "    Position, Infcted, !Dead\n              ^^^^^^^\n"},
		{"日本, X", "4", "1", "    日本, X\n          ^\n"},
		{"X, 日本", "3", "2", "    X, 日本\n       ^^^^\n"},
		{"A,", "2", "1", "    A,\n      ^\n"},
		{"not", "3", "0", "    not\n       ^\n"},
		{"A", "99", "99", "    A\n     ^\n"},
		{"A,\tB\x1b[31m", "3", "1", "    A,␉B␛[31m\n       ^\n"},
	} {
		p := newProgram(t, 400, fmt.Sprintf(`{"error":{"code":"query","message":"no \u001b[31mcolumn",`+
			`"position":%s,"length":%s}}`, c.position, c.length))
		for _, more := range []string{"-format=csv", "-count"} {
			status, stdout, stderr := runQuery(p.URL, c.text, more)
			if want := "vast query: no ␛[31mcolumn\n\n" + c.want; status != cli.Misuse || stdout != "" ||
				stderr != want {
				t.Errorf("%q: exit status %d, stdout %q, stderr\n%s\nwant\n%s", c.text, status, stdout,
					stderr, want)
			}
		}
	}
	p := newProgram(t, 503, `{"error":{"code":"busy","message":"too many\u001b[0m requests"}}`)
	if status, _, stderr := runQuery(p.URL, "A"); status != cli.Failure ||
		stderr != "vast query: too many␛[0m requests\n" {
		t.Errorf("exit status %d, stderr %q", status, stderr)
	}
}

func TestCount(t *testing.T) {
	p := newProgram(t, 200, `{"count": 1234567, "scanned": 9, "exact": true}`)
	if status, stdout, stderr := runQuery(p.URL, "A", "-count"); status != cli.Success ||
		stdout != "1234567\n" || stderr != "" {
		t.Errorf("exit status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	if _, stdout, _ := runQuery(p.URL, "A", "-count", "-format",
		"json"); stdout != `{"count":1234567,"exact":true}`+"\n" {
		t.Errorf("as JSON: %q", stdout)
	}
	p.body = `{"count": 5, "exact": false}`
	if _, stdout, stderr := runQuery(p.URL, "A", "-count"); stdout != "5\n" ||
		!strings.Contains(stderr, "not exact") {
		t.Errorf("stdout %q, stderr %q", stdout, stderr)
	}
}

const people = "id,name,Position\n17.3,Paris,\"{1, 2}\"\n18.1,\"a\nb\",\"{3, 4}\"\n19.1,日本,{}\n"

func TestFormats(t *testing.T) {
	for _, c := range []struct{ format, body, limit, want, note string }{
		{"csv", people, "0", people, ""},
		{"csv", people, "2", "id,name,Position\n17.3,Paris,\"{1, 2}\"\n18.1,\"a\nb\",\"{3, 4}\"\n",
			"the first 2"},
		{"csv", people, "3", people, ""},
		{"csv", "", "0", "", ""},
		{"csv", "id\n", "0", "id\n", ""},
		{"json", "{\"id\":\"1.1\"}\n{\"id\":\"2.1\"}\n", "0", "{\"id\":\"1.1\"}\n{\"id\":\"2.1\"}\n", ""},
		{"json", "{\"id\":\"1.1\"}\n{\"id\":\"2.1\"}\n", "1", "{\"id\":\"1.1\"}\n", "the first 1"},
		{"json", "", "0", "", ""},
		{"table", people, "0", "  id  name   Position\n17.3  Paris  {1, 2}\n18.1  a␊b    {3, 4}\n19.1  日本 " +
			"  {}\n", ""},
		{"table", people, "1", "  id  name   Position\n17.3  Paris  {1, 2}\n", "the first 1"},
		{"table", "id,n\n", "0", "id  n\n", "no entity matches"},
		{"table", "", "0", "", "no entity matches"},
		{"table", "id,name\n1.1,'=1+2\n2.1,'a\n3.1,'\n", "0", " id  name\n1.1  =1+2\n2.1  'a\n3.1  '\n", ""},
	} {
		p := newProgram(t, 200, c.body)
		status, stdout, stderr := runQuery(p.URL, "A", "-format", c.format, "-limit", c.limit)
		if status != cli.Success || stdout != c.want || !strings.Contains(stderr, c.note) ||
			(c.note == "") != (stderr == "") {
			t.Errorf("%s of %q, limit %s: exit status %d, stderr %q, stdout\n%s\nwant\n%s", c.format, c.body,
				c.limit, status, stderr, stdout, c.want)
		}
	}
}

func TestResponseEndsEarly(t *testing.T) {
	for _, format := range []string{"csv", "json", "table"} {
		p := newProgram(t, 200, "a,b\n1,2\n")
		p.broken = true
		status, stdout, stderr := runQuery(p.URL, "A", "-format", format)
		if status != cli.Failure || !strings.Contains(stderr, "ended early, after") || stdout == "" {
			t.Errorf("%s: exit status %d, stdout %q, stderr %q", format, status, stdout, stderr)
		}
	}
	p := newProgram(t, 200, "{\"id\":\"1.1\"}\n{\"error\":{\"code\":\"time\",\"message\":\"the rows are "+
		"not all\"}}\n")
	if status, stdout, stderr := runQuery(p.URL, "A", "-format", "json"); status != cli.Failure ||
		stdout != "{\"id\":\"1.1\"}\n" ||
		stderr != "vast query: the rows are not all\n" {
		t.Errorf("an error as the last line: exit status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
	p = newProgram(t, 200, "a,b\n1,\"2\n")
	for _, format := range []string{"csv", "table"} {
		if status, _, stderr := runQuery(p.URL, "A", "-format", format); status != cli.Failure ||
			stderr == "" {
			t.Errorf("%s from invalid CSV: exit status %d, stderr %q", format, status, stderr)
		}
	}
}

// failing is an output whose writes fail.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestNowhereToWrite(t *testing.T) {
	for _, format := range []string{"csv", "json", "table"} {
		p := newProgram(t, 200, "a,b\n"+strings.Repeat("1,2\n", 10_000))
		var errs strings.Builder
		if status := Run([]string{p.URL, "A", "-format", format}, failing{}, &errs); status != cli.Failure ||
			errs.String() == "" {
			t.Errorf("%s: exit status %d, stderr %q", format, status, errs.String())
		}
	}
}
