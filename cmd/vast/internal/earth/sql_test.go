package earth

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/tests/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// lines sends a statement to the inspector at u, and returns the lines of the answer.
func lines(t *testing.T, u *url.URL, statement string) (list []string) {
	t.Helper()
	var body []byte
	status := request(t, "GET", u, "sql?q="+url.QueryEscape(statement), "", &body)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", statement, status, body)
	}
	return strings.Split(strings.TrimSpace(string(body)), "\n")
}

func TestInspectorAnswersSQL(t *testing.T) {
	b := begin(t, "-plain", "-sql", "127.0.0.1:0") // one database for the inspector and for -sql
	u := b.url()
	got := lines(t, u, "SELECT name, population, lat FROM places ORDER BY population DESC")
	if len(got) != 7 || got[0] != `{"columns":[{"name":"name","type":"TEXT"},`+
		`{"name":"population","type":"INTEGER"},{"name":"lat","type":"REAL"}]}` ||
		got[1] != `["Tokyo",9700000,35.7]` || got[5] != `["Genève",200000,46.2]` {
		t.Errorf("got %q", got)
	}
	if got := lines(t, u, "SELECT count(*) FROM life"); len(got) != 3 || len(got[1]) != len("[2000]") {
		t.Errorf("about 2000 travellers: %q", got)
	}
	got = lines(t, u, "SELECT 1.0, 1e308 * 10, -9223372036854775808, x'01', entity IS NULL FROM places "+
		"LIMIT 1")
	if got[1] != `[1.0,{"real":"Infinity"},{"integer":"-9223372036854775808"},{"blob":"AQ=="},0]` {
		t.Errorf("values: %s", got[1])
	}
	var tables struct {
		Tables []struct {
			Name    string
			Columns []struct{ Name, Type string }
		}
		Functions []string
	}
	request(t, "GET", u, "sql/tables", "", &tables)
	at := slices.IndexFunc(tables.Tables, func(table struct {
		Name    string
		Columns []struct{ Name, Type string }
	}) bool {
		return table.Name == "places"
	})
	if at < 0 || len(tables.Tables[at].Columns) != 6 || tables.Tables[at].Columns[1].Type != "TEXT" ||
		!slices.Contains(tables.Functions, "distance") {
		t.Errorf("the tables are %+v", tables)
	}

	var failed struct {
		Error struct {
			Code             string
			Message          string
			Position, Length int
		}
	}
	status := request(t, "GET", u, "sql?q="+url.QueryEscape("SELECT 'é', contry FROM places"), "", &failed)
	if e := failed.Error; status != http.StatusBadRequest || e.Position != 12 || e.Length != 6 ||
		!strings.Contains(e.Message, "no such column") {
		t.Errorf("a wrong column: %d %+v", status, e)
	}
	for _, statement := range []string{"DELETE FROM life", "DROP TABLE life", "PRAGMA user_version = 1"} {
		text, _ := json.Marshal(map[string]string{"statement": statement})
		if status := request(t, "POST", u, "sql", string(text), nil); status == http.StatusOK {
			t.Errorf("%s is allowed", statement)
		}
	}
	var points []byte
	if request(t, "GET", u, "views/earth/points?q=SELECT+entity+FROM+places", "",
		&points); len(points) != 16+5*16 || string(points[:4]) != "vpts" {
		t.Errorf("the points of five places: %q", points)
	}
}

// mustChange sends a statement, which must change one row.
func (b *background) mustChange(statement string) {
	b.t.Helper()
	text, _ := json.Marshal(map[string]string{"statement": statement})
	var body []byte
	status := request(b.t, "POST", b.url(), "sql", string(text), &body)
	if status != http.StatusOK || !strings.Contains(string(body), `"changed":1`) {
		b.t.Fatalf("%s: %d %s", statement, status, body)
	}
}

func TestInspectorWritesSQL(t *testing.T) {
	data := t.TempDir() + "/earth"
	b := begin(t, "-plain", "-inspect-write", "-sql", "127.0.0.1:0", "-data", data)
	var failed struct{ Error struct{ Message string } }
	without := *b.url()
	without.Fragment = ""
	if status := request(t, "POST", &without, "sql", `{"statement":"DELETE FROM entities"}`,
		&failed); status != http.StatusUnauthorized {
		t.Errorf("a write without the token: %d %+v", status, failed)
	}
	var row []struct{ Integer string }
	found := lines(t, b.url(), "SELECT entity FROM stay LIMIT 1")
	if err := json.Unmarshal([]byte(found[1]), &row); err != nil {
		t.Fatal(err)
	}
	b.mustChange("UPDATE stay SET until = 123456789 WHERE entity = " + row[0].Integer)
	read := "SELECT until FROM stay WHERE entity = " + row[0].Integer
	if got := lines(t, b.url(), read); len(got) != 3 || got[1] != "[123456789]" {
		t.Errorf("after the write: %q", got)
	}
	b.end()
	b = begin(t, "-plain", "-data", data) // the write is an input of the store
	if got := lines(t, b.url(), read); len(got) != 3 || got[1] != "[123456789]" {
		t.Errorf("after the next start: %q", got)
	}
}

func TestLeavingClientEndsStatement(t *testing.T) {
	u := begin(t, "-plain").url()
	const endless = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT n, NULL FROM c"
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	status := http.StatusOK
	for status == http.StatusOK { // until too many statements run
		r, err := http.NewRequestWithContext(ctx, "GET", fmt.Sprintf("http://%s/api/v1/sql?q=%s", u.Host,
			url.QueryEscape(endless)), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if status = answer.StatusCode; status == http.StatusOK {
			first := bufio.NewReader(answer.Body)
			if _, err := first.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
	}
	if status != http.StatusServiceUnavailable {
		t.Fatalf("the status is %d, want %d", status, http.StatusServiceUnavailable)
	}
	leave()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		var body []byte
		if status := request(t, "GET", u, "sql?q=SELECT+count(*)+FROM+places", "", &body); status ==
			http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the statements still run a minute after their clients have left")
		}
	}
}

// TestSQLPageOfEarth runs each example of the page SQL on the real database.
func TestSQLPageOfEarth(t *testing.T) {
	longtest.Only(t)
	browsertest.Needed(t)
	u := begin(t, "-plain").url()
	p := browsertest.Open(t, u.Host)
	p.Eval(fmt.Sprintf("location.href = 'http://%s/#/sql'", u.Host), nil)
	p.Until("document.querySelectorAll('.sql-side .queries-texts button').length >= 8")
	var n int
	p.Eval("(window.examples = [...document.querySelector('.sql-side .queries-texts').children]).length", &n)
	for i := range n {
		p.Eval(fmt.Sprintf("document.querySelector('.queries-state').textContent = ''; "+
			"window.examples[%d].click()", i), nil)
		p.Until("/rows? in /.test(document.querySelector('.queries-state').textContent) || " +
			"!document.querySelector('.querybox-error').hidden")
		var wrong string
		p.Eval("document.querySelector('.querybox-error').hidden ? '' : document.querySelector("+
			"'.querybox-text').value + document.querySelector('.querybox-message').textContent", &wrong)
		if wrong != "" {
			t.Errorf("an example is refused: %s", wrong)
		}
	}
}
