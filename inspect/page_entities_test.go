package inspect

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

const queryText = ".querybox-text"

// setQuery replaces the query box's text and moves the caret to the end.
func (p *tab) setQuery(text string) {
	p.Helper()
	p.wait(queryText)
	p.Eval(fmt.Sprintf(`(() => {
		const box = document.querySelector(%q);
		box.focus();
		box.select();
		box.setRangeText(%q, 0, box.value.length, 'end');
		box.dispatchEvent(new Event('input', { bubbles: true }));
	})()`, queryText, text), nil)
}

// checkWrong waits until the query box shows the message and marks the given part of the query with a wavy
// line and a caret.
func (p *tab) checkWrong(part, message string) {
	p.Helper()
	p.Until(fmt.Sprintf("document.querySelector('.querybox-wrong')?.textContent === %q", part))
	p.Until("!document.querySelector('.querybox-error').hidden")
	p.waitText(".querybox-message", message)
	p.Until(`(() => {
		const word = document.querySelector('.querybox-wrong').getBoundingClientRect();
		const caret = document.querySelector('.querybox-caret').getBoundingClientRect();
		const style = getComputedStyle(document.querySelector('.querybox-wrong'));
		return Math.abs(word.left - caret.left) < 2 && Math.abs(word.width - caret.width) < 2 &&
			caret.top >= word.bottom && style.textDecorationStyle === 'wavy' &&
			document.querySelector('.querybox-text').ariaInvalid === 'true';
	})()`)
}

func TestPageFindsEntities(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/entities")
	p.waitPage("entities")
	p.waitText(".entities-count", "1,003")
	p.waitText(".vlist-row", "Paris")
	p.waitText(".vlist-row", hostileName)
	p.Until("document.querySelectorAll('main img, main script').length === 0")

	p.Press("/")
	p.Until("document.activeElement.matches('.querybox-text')")
	for _, part := range []string{"Inf", "Infecte", "Infected"} { // typing makes one entry in the history
		p.setQuery(part)
	}
	p.Press(kb.Enter)
	p.waitText(".entities-count", "100 match")
	p.Until("location.hash === '#/entities?query=Infected'")
	p.waitText(".vlist-head", "Infected")

	dead := `[...document.querySelectorAll('.facet')].find((e) => e.textContent.startsWith('Dead'))`
	p.Eval(dead+".click()", nil)
	p.waitText(".entities-count", "10 match")
	p.Until(dead + ".dataset.state === 'with' && document.querySelector('.querybox-text').value === " +
		"'Infected, Dead'")
	p.Eval(dead+".click()", nil)
	p.waitText(".entities-count", "90 match")
	p.Until(dead + ".dataset.state === 'without' && document.querySelector('.querybox-text').value === " +
		"'Infected, !Dead'")
	for _, before := range []struct{ query, count string }{{"Infected, Dead", "10 match"},
		{"Infected", "100 match"}, {"", "1,003"}} {
		p.Do("back", chromedp.NavigateBack())
		p.waitText(".entities-count", before.count)
		p.Until(fmt.Sprintf("document.querySelector('.querybox-text').value === %q", before.query))
	}
	p.Do("forward", chromedp.NavigateForward())
	p.waitText(".entities-count", "100 match")
}

func TestPageShowsErrorAtItsWord(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/entities")
	p.waitPage("entities")
	p.waitText(".entities-count", "1,003")
	for _, text := range []string{"Position, Infcted, Velocity", `Name ~ "🌍🌍 naïve", Infcted, Velocity`} {
		p.setQuery(text)
		p.checkWrong("Infcted", "Infcted")
		p.waitText(".entities-count", "1,003") // the count of the last valid query stays
	}
	p.setQuery("Infected, Velocity")
	p.waitText(".entities-count", "100 match")
	p.Until("document.querySelector('.querybox-error').hidden && " +
		"document.querySelector('.querybox-text').ariaInvalid === 'false'")
}

func TestPageSuggestions(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/entities")
	p.waitPage("entities")
	p.setQuery("Position, inf")
	p.Until("document.querySelector('.querybox-text').ariaExpanded === 'true'")
	p.waitText(".querybox-item", "Infected")
	p.Press(kb.ArrowDown)
	p.Until(`document.getElementById(document.querySelector('.querybox-text').getAttribute(
		'aria-activedescendant'))?.ariaSelected === 'true'`)
	p.Press(kb.Escape)
	p.Until("document.querySelector('.querybox-list').hidden && " +
		"document.querySelector('.querybox-text').value === 'Position, inf'")
	p.Press(kb.ArrowDown)
	p.Until("!document.querySelector('.querybox-list').hidden")
	p.Press(kb.ArrowDown + kb.Enter)
	p.Until("document.querySelector('.querybox-text').value === 'Position, Infected'")
	p.waitText(".entities-count", "100 match")
}

func TestPageShowsEntityBesideTheList(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/entities")
	p.waitPage("entities")
	p.setQuery("Lond")
	p.waitText(".querybox-item", "London")
	p.Press(kb.ArrowDown + kb.Enter)
	p.waitText(".entities-side .panel-head", f.london.String())
	p.waitText(".entities-side", "London")
	p.Until(fmt.Sprintf("location.hash.includes('entity=%s')", f.london))
	p.waitText(".entities-side .entity-head", "London")
	p.Until("document.title.startsWith('Entities') && !document.querySelector('.entities-side .entity-find')")

	for i, text := range []string{f.people[0].String(), fmt.Sprint(f.people[1].Slot())} {
		p.setQuery(text)
		p.Press(kb.Enter)
		p.waitText(".entities-side .panel-head", f.people[i].String())
	}
	p.setQuery("16000")
	p.Press(kb.Enter)
	p.waitText(".querybox-message", "Slot 16000")
	p.Eval("[...document.querySelectorAll('.entities-side button')].find((b) => b.textContent === "+
		"'Close').click()", nil)
	p.Until("document.querySelector('.entities-side').hidden && !location.hash.includes('entity=')")

	p.Window(360, 780)
	p.setQuery("Infected")
	p.Press(kb.Enter)
	p.waitText(".entities-count", "100 match")
	p.Until("document.querySelector('.querybox-list').hidden")
	p.click(".vlist-row a")
	p.waitPage("entity")
	p.Until("location.hash.startsWith('#/entity/')")
}

func TestPageKeepsColumns(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/entities")
	p.waitPage("entities")
	p.waitText(".vlist-head", "Position")
	p.Eval("[...document.querySelectorAll('.entities-list button')].find((b) => b.textContent === "+
		"'Columns').click()", nil)
	p.click("dialog input[value=Velocity]")
	p.click("dialog input[value=Note]")
	p.Press(kb.Escape)
	p.Until("!document.querySelector('dialog')")
	head := `[...document.querySelectorAll('.vlist-head .vlist-cell')].map((e) => e.textContent).join()`
	var before string
	p.Eval(head, &before)
	p.Do("reload", chromedp.Reload())
	p.waitPage("entities")
	p.Until(fmt.Sprintf("%s === %q && %s.includes('Note') !== %s.includes('Velocity')", head, before, head,
		head))
}
