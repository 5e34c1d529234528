package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

func TestPageAnswersQuery(t *testing.T) {
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/queries?query=Infected%2C+Position&field=Position.X")
	p.waitPage("queries")
	p.waitText(".queries-state", "100 entities")
	p.waitText(".queries-state", "the first 50 rows")
	p.Until("document.querySelectorAll('.queries-table tbody tr').length === 50")
	p.Until("document.querySelectorAll('.histogram-bar').length >= 10")
	p.waitText(".histogram-facts", "100")
	var readings []string
	p.Eval("[...document.querySelectorAll('.histogram-facts dd')].map((e) => e.textContent)", &readings)
	if !slices.Contains(readings, "990") || !slices.Contains(readings, "495") {
		t.Errorf("the histogram of 0, 10, … 990 shows %v, want 990 and 495 among them", readings)
	}

	p.Eval("document.querySelector('.histogram-drawing').focus()", nil)
	p.Press(kb.End)
	p.waitText(".histogram-told", "990:")
	p.Press(kb.Home)
	p.Until("/^0 to below/.test(document.querySelector('.histogram-told').textContent)")
	p.click(".histogram-head button")
	p.Until("document.querySelector('.histogram-head button').ariaPressed === 'true'")

	p.Eval(`(() => {
		const rows = document.querySelector('select[aria-label="Which rows"]');
		rows.value = 'sample';
		rows.dispatchEvent(new Event('change'));
	})()`, nil)
	p.waitText(".queries-state", "a random sample of 50 rows")
	p.Until("location.hash.includes('rows=sample')")

	p.setQuery("Dead")
	p.Press(kb.Enter)
	p.waitText(".queries-state", "10 entities")
	p.Until("location.hash.includes('query=Dead') && document.querySelector('.queries-rows a').hash === " +
		"'#/entities?query=Dead'")
	p.Do("back", chromedp.NavigateBack())
	p.waitText(".queries-state", "100 entities")
	p.Until("document.querySelector('.querybox-text').value === 'Infected, Position'")

	p.setQuery("Infected, Nothing")
	p.Press(kb.Enter)
	p.checkWrong("Nothing", "Nothing")
}

func TestPageExamplesAreQueries(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/queries")
	p.waitPage("queries")
	p.waitText(".queries-texts", "ChildOf(")
	var texts []string
	p.Eval("[...document.querySelectorAll('.queries-texts code')].map((e) => e.textContent)", &texts)
	if len(texts) < 8 {
		t.Errorf("the page shows %d examples, want at least 8: %q", len(texts), texts)
	}
	for i, text := range texts {
		p.Eval(fmt.Sprintf("document.querySelectorAll('.queries-texts button')[%d].click()", i), nil)
		p.Until("/entit(y|ies);/.test(document.querySelector('.queries-state').textContent) || " +
			"!document.querySelector('.querybox-error').hidden")
		var wrong bool
		p.Eval("!document.querySelector('.querybox-error').hidden", &wrong)
		if wrong {
			t.Errorf("the example %q is refused: %s", text, p.text(".querybox-message"))
		}
	}
	p.Do("reload", chromedp.Reload())
	p.waitPage("queries")
	p.waitText(".queries-past", texts[len(texts)-1])
}

func TestPageSavesRows(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/queries?query=Infected")
	p.waitPage("queries")
	p.waitText(".queries-state", "100 entities")
	// The script keeps the content of the download and saves no file.
	p.Eval("URL.createObjectURL = (blob) => { window.saved = blob; return 'data:,'; }", nil)
	for kind, want := range map[string]int{"CSV": 101, "NDJSON": 100} {
		p.Eval(fmt.Sprintf("window.saved = null; [...document.querySelectorAll('.queries-saves "+
			"button')].find((b) => b.textContent === %q).click()", kind), nil)
		p.Until("window.saved")
		var text string
		p.Eval("window.saved.text()", &text)
		if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != want ||
			!strings.Contains(lines[0], "Infected") {
			t.Errorf("%s has %d lines, want %d; the first line is %q", kind, len(lines), want, lines[0])
		}
		p.waitText(".queries-state", "Saved")
	}
}
