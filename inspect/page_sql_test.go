package inspect

import (
	"database/sql/driver"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

// newSQLFixture starts a fixture whose database answers SELECT people with all people.
func newSQLFixture(t testing.TB, o Options) (*fixture, *scripted) {
	s, db := newScripted(t)
	o.SQL = db
	f := newFixture(t, o)
	rows := make([][]driver.Value, len(f.people))
	for i, e := range f.people {
		rows[i] = []driver.Value{int64(e.ID()), fmt.Sprintf("person %d", i), float64(i) / 2, nil}
	}
	s.answer("SELECT people", []string{"entity", "name", "half", "note"}, rows...)
	return f, s
}

// sqlText replaces the text of the SQL editor.
func (p *tab) sqlText(text string) {
	p.Helper()
	p.wait(".querybox-text")
	p.Eval(fmt.Sprintf(`(() => {
		const field = document.querySelector('.querybox-text');
		field.focus();
		field.value = %q;
		field.setSelectionRange(field.value.length, field.value.length);
		field.dispatchEvent(new Event('input'));
	})()`, text), nil)
}

// toolOfRows returns a JavaScript expression for the button above the rows that has the given text.
func toolOfRows(text string) string {
	return fmt.Sprintf("[...document.querySelectorAll('.sql-rows button')].find((b) => b.textContent === %q)",
		text)
}

// runSQL runs a statement with the keyboard.
func (p *tab) runSQL(text string) {
	p.Helper()
	p.sqlText(text)
	p.Do("Control+Enter", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(2)))
}

func TestPageRunsSQL(t *testing.T) {
	t.Parallel()
	f, s := newSQLFixture(t, Options{})
	s.count("SELECT é, wrong FROM person", 0, misplaced{"wrong FROM person"})
	p := openPage(t, f, "/#/sql?q=SELECT+people") // a statement in the address runs
	p.waitPage("sql")
	p.waitText(".queries-state", "1,000 rows in")
	p.waitText(".sql-rows .vlist-row a", f.people[0].String())
	p.Until(fmt.Sprintf("document.querySelector('.sql-rows .vlist-row a').hash === '#/entity/%v'",
		f.people[0]))
	p.Until("[...document.querySelectorAll('.vlist-head span[title]')].map((e) => e.textContent).join() " +
		"=== 'entity,name,half,note'")
	p.Eval("document.querySelector('.vlist-scroll').scrollTop = 1e6", nil)
	p.waitText(".sql-rows .vlist-row", "person 999")
	p.waitText(".sql-rows .vlist-row", "499.5")

	p.waitText(".sql-tables summary", "person")
	p.Expect("400")
	p.runSQL("SELECT é, wrong FROM person")
	p.Until("document.querySelector('.querybox-wrong')?.textContent === 'wrong'")
	p.waitText(".querybox-message", "no such column: wrong")
	p.Until("document.querySelector('.querybox-text').ariaInvalid === 'true'")
	p.Until("document.querySelector('.primary').textContent === 'Run'")
	p.runSQL("SELECT people")
	p.Until("document.querySelector('.querybox-error').hidden")
	p.waitText(".queries-state", "1,000 rows in")
}

func TestPageCancelsSQL(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f, s := newSQLFixture(t, Options{})
	waits := s.wait("SELECT slow")
	p := openPage(t, f, "/#/sql")
	p.waitPage("sql")
	p.runSQL("SELECT slow")
	<-waits
	p.waitText(".sql-rows .vlist-row", "1") // the first row is shown before the statement ends
	p.Until("document.querySelector('.primary').textContent === 'Cancel'")
	p.Press(kb.Escape)
	p.waitText(".queries-state", "Cancelled after 1 row")
	p.Until("document.querySelector('.primary').textContent === 'Run'")
	eventually(t, "the end of the statement", func() bool { return s.open() == 0 })

	waits = s.wait("SELECT slow again")
	p.runSQL("SELECT slow again")
	<-waits
	p.click("#nav a[data-page=overview]") // leaving the page ends its statement
	p.waitPage("overview")
	eventually(t, "the end of the statement", func() bool { return s.open() == 0 })
}

func TestPageCompletesSQL(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f, s := newSQLFixture(t, Options{})
	s.answer("SELECT p.name FROM person p", []string{"name"})
	p := openPage(t, f, "/#/sql")
	p.waitText(".sql-tables summary", "person")
	for text, want := range map[string]string{
		"": "SELECT", "sel": "select", "SELECT * FROM ": "person", "SELECT * FROM person, to": "town",
		"SELECT * FROM person AS OF ": "TICK", "SELECT * FROM person as o": "of tick",
		"SELECT * FROM person A": "AS OF TICK", "SELECT su": "sum()", "SELECT * FROM person WHERE na": "name",
		"SELECT * FROM person AS q, town WHERE q.": "x",
		"SELECT * FROM person JOIN town WHERE si":  "size", `SELECT * FROM person WHERE "na`: "name",
	} {
		p.sqlText(text)
		p.Until(fmt.Sprintf("[...document.querySelectorAll('.querybox-list:not([hidden]) "+
			".querybox-item-text')].some((e) => e.textContent === %q)", want))
	}
	for _, text := range []string{"SELECT 'per", "SELECT 1 -- per", "SELECT * FROM person ", "SELECT 12"} {
		var items int
		p.Eval(fmt.Sprintf("import('/sql-complete.js').then(({ complete }) => complete(%q, %d, { tables: "+
			"[{ name: 'person', columns: [] }], functions: [] }).items.length)", text, len(text)), &items)
		if items != 0 {
			t.Errorf("%q has %d suggestions", text, items)
		}
	}
	p.sqlText("SELECT p. FROM person p")
	p.Eval(`(() => {
		const field = document.querySelector('.querybox-text');
		field.setSelectionRange(9, 9);
		field.dispatchEvent(new Event('input'));
	})()`, nil)
	p.Until("[...document.querySelectorAll('.querybox-list:not([hidden]) .querybox-item-text')].map((e) => " +
		"e.textContent).join() === 'entity,x,name'")
	p.click(".querybox-item:nth-child(3)")
	p.Until("document.querySelector('.querybox-text').value === 'SELECT p.name FROM person p'")
	p.Do("Control+Enter", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(2)))
	p.waitText(".queries-state", "0 rows")
	p.waitText(".sql-rows .box", "No rows")

	p.runSQL("SELECT people")
	p.waitText(".queries-state", "1,000 rows")
	p.Press(kb.ArrowUp)
	p.Press(kb.ArrowUp)
	p.Until("document.querySelector('.querybox-text').value === 'SELECT p.name FROM person p'")
	p.Press(kb.End)
	p.Press(kb.ArrowDown)
	p.Press(kb.ArrowDown)
	p.Until("document.querySelector('.querybox-text').value === 'SELECT people'")
	p.waitText(".queries-texts", "SELECT p.name FROM person p")
	p.Press(kb.Enter) // begins a line
	p.Until(`document.querySelector('.querybox-text').value === 'SELECT people\n'`)
}

func TestPageShowsSQLCharts(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f, s := newSQLFixture(t, Options{})
	s.answer("SELECT bars", []string{"country", "n"}, []driver.Value{"FR", int64(4)},
		[]driver.Value{hostileName, int64(-1)}, []driver.Value{nil, nil})
	s.answer("SELECT line", []string{"x", "y", "z"}, []driver.Value{int64(2), 0.5, int64(9)},
		[]driver.Value{int64(1), nil, int64(8)}, []driver.Value{int64(3), 2.5, nil})
	p := openPage(t, f, "/#/sql?q=SELECT+bars")
	p.waitText(".sql-bars", hostileName)
	p.Until("document.querySelectorAll('.sql-bars .bar').length === 3 && !document.querySelector('main img')")
	if got := p.attribute(".sql-chart", "aria-label"); got != "Bar chart: n by country" {
		t.Errorf("the label of the bars is %q", got)
	}
	p.runSQL("SELECT line")
	p.Until("document.querySelector('.sql-chart canvas') && (" + colorsIn +
		")(document.querySelector('.sql-chart canvas')) > 2")
	if got := p.attribute(".sql-chart", "aria-label"); got != "Line chart: y, z by x, 3 points" {
		t.Errorf("the label of the lines is %q", got)
	}
	p.waitText(".sql-chart .legend", "z")
	p.runSQL("SELECT people") // has no chart, because the first column with numbers is the third one
	p.waitText(".queries-state", "1,000 rows")
	p.Until("document.querySelector('.sql-chart').hidden")
}

func TestPageSavesSQLRows(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	asked := make(chan string, 1)
	f, s := newSQLFixture(t, Options{Handlers: map[string]http.Handler{"arrow": http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			asked <- r.URL.Query().Get("q")
			io.WriteString(w, "ARROW1")
		})}})
	s.answer("SELECT odd", []string{"a,b", "entity"}, []driver.Value{"x\"y", int64(-1 << 62)},
		[]driver.Value{nil, int64(1)}, []driver.Value{[]byte{1, 255}, nil})
	p := openPage(t, f, "/#/sql?q=SELECT+odd")
	p.waitText(".queries-state", "3 rows")
	p.Eval("URL.createObjectURL = (blob) => { window.saved = blob; return 'data:,'; }", nil)
	p.Eval(toolOfRows("CSV")+".click()", nil)
	var text string
	p.Until("window.saved")
	p.Eval("window.saved.text()", &text)
	want := "\"a,b\",entity\r\n\"x\"\"y\",-4611686018427387904\r\n,1\r\nx'01ff',\r\n"
	if text != want {
		t.Errorf("the CSV is %q, want %q", text, want)
	}
	p.Eval("window.saved = null; "+toolOfRows("Arrow")+".click()", nil)
	p.Until("window.saved")
	p.Eval("window.saved.text()", &text)
	if got := <-asked; got != "SELECT odd" || text != "ARROW1" {
		t.Errorf("the handler was asked %q and the file is %q", got, text)
	}
}

func TestPagePinsSQL(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f, s := newSQLFixture(t, Options{})
	s.answer("SELECT one", []string{"total"}, []driver.Value{int64(12345)})
	p := openPage(t, f, "/#/sql?q=SELECT+one")
	p.waitText(".queries-state", "1 row")
	const everybody = "-- Everybody\nSELECT people"
	s.set(everybody, s.answers["SELECT people"])
	for _, statement := range []string{"SELECT one", everybody} {
		p.runSQL(statement)
		p.Until("document.querySelector('.primary').textContent === 'Run' && " + toolOfRows("Pin") +
			".ariaPressed === 'false'")
		p.Eval(toolOfRows("Pin")+".click()", nil)
	}
	p.click("#nav a[data-page=overview]")
	p.waitPage("overview")
	p.waitText(".sql-pin .meter-value", "12,345")
	p.waitText(".sql-pin .meter-note", "total")
	p.waitText(".sql-pin h2", "Everybody")
	p.waitText(".sql-pin table.data", "person 7")
	p.waitText(".sql-pin", "and more rows")
	s.answer("SELECT one", []string{"total"}, []driver.Value{int64(54321)})
	p.waitText(".sql-pin .meter-value", "54,321") // the pins run their statements again
	p.Do("reload", chromedp.Reload())
	p.waitText(".sql-pin .meter-value", "54,321")
	p.click(".sql-pin button")
	p.Until("document.querySelectorAll('.sql-pin').length === 1")
	p.click(".sql-pin h2 a")
	p.waitPage("sql")
	p.waitText(".queries-state", "1,000 rows")
}

func TestPageWritesSQLOnlyWhenAsked(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f, s := newSQLFixture(t, Options{ReadWrite: true, Token: "Secret1234"})
	s.answer("DELETE FROM person", []string{"n"}, []driver.Value{int64(1)}, []driver.Value{int64(2)})
	p := openPage(t, f, "/")
	p.Do("open", chromedp.Navigate("about:blank"), chromedp.Navigate(f.URL()))
	p.waitPage("map")
	p.Expect("403")
	p.Eval("location.hash = '#/sql?q=DELETE+FROM+person'", nil)
	p.waitPage("sql")
	p.waitText(".querybox-message", "Press Run")
	if s.hasRun("DELETE FROM person") {
		t.Fatal("the page ran a statement of its address that writes")
	}
	p.click(".sql-ask .primary")
	p.waitText(".queries-state", "2 rows changed")
	if !s.hasRun("DELETE FROM person") {
		t.Error("the statement did not run")
	}
}

func TestPageWithoutSQL(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/overview")
	p.waitPage("overview")
	if got := p.pagesListed(); slices.Contains(got, "sql") {
		t.Errorf("the navigation lists %v", got)
	}
	p.click("#nav a[data-page=map]")
	p.waitPage("map")
	if text := p.text(".map-legend"); strings.Contains(text, "SQL") {
		t.Errorf("the legend of the map offers SQL: %s", text)
	}
}

func TestMapShowsEntitiesOfSQL(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f, s := newSQLFixture(t, Options{})
	s.answer("SELECT town", []string{"entity"}, []driver.Value{int64(f.hostile.ID())})
	p := openPage(t, f, "/#/map?at=2,50,150")
	p.waitPage("map")
	p.waitText(".map-legend button", "Entities from SQL")
	p.Eval("[...document.querySelectorAll('.map-legend button')].at(-1).click()", nil)
	p.wait("dialog[open] .querybox-text")
	p.sqlText("SELECT town")
	p.Do("Control+Enter", chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(2)))
	p.Until("!document.querySelector('dialog') && location.hash.includes('sql=SELECT+town')")
	p.waitText(".map-legend", "SELECT town")
	p.Until("[...document.querySelectorAll('.map-legend .num')].at(-1).textContent === '1'")
	p.Until(`(() => {
		const c = document.querySelector('.map-canvas');
		const [r, g, b] = c.getContext('2d').getImageData(c.width / 2, c.height / 2, 1, 1).data;
		return r > b + 40 && g > b;
	})()`) // the dot is amber
	p.click(".map-canvas")
	p.waitText(".map-side h2", hostileName)
	p.Do("reload", chromedp.Reload())
	p.waitPage("map")
	p.waitText(".map-legend", "SELECT town")

	p.Expect("400")
	p.Eval("location.hash = '#/map?sql=SELECT+nothing'", nil)
	p.waitText(".map-failure", "no answer")
}
