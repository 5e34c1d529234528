package inspect

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const queryText = ".querybox-text"

// setQuery puts a text into the query box at once, as pasting does, with the caret behind it.
func (p *tab) setQuery(text string) {
	p.Helper()
	p.wait(queryText)
	p.eval(fmt.Sprintf(`(() => {
		const box = document.querySelector(%q);
		box.focus();
		box.select();
		box.setRangeText(%q, 0, box.value.length, 'end');
		box.dispatchEvent(new Event('input', { bubbles: true }));
	})()`, queryText, text), nil)
}

// checkWrong waits for an error at exactly these words, with the carets under them.
func (p *tab) checkWrong(words, message string) {
	p.Helper()
	p.until(fmt.Sprintf("document.querySelector('.querybox-wrong')?.textContent === %q", words))
	p.until("!document.querySelector('.querybox-error').hidden")
	p.waitText(".querybox-message", message)
	p.until(`(() => {
		const word = document.querySelector('.querybox-wrong').getBoundingClientRect();
		const caret = document.querySelector('.querybox-caret').getBoundingClientRect();
		const style = getComputedStyle(document.querySelector('.querybox-wrong'));
		return Math.abs(word.left - caret.left) < 2 && Math.abs(word.width - caret.width) < 2 && caret.top >= word.bottom &&
			style.textDecorationStyle === 'wavy' && document.querySelector('.querybox-text').ariaInvalid === 'true';
	})()`)
}

func TestPageFindsEntities(t *testing.T) {
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/entities")
	p.waitPage("entities")
	p.waitText(".entities-count", "1,003")
	p.waitText(".vlist-row", "Paris")
	p.waitText(".vlist-row", hostileName)
	p.until("document.querySelectorAll('main img, main script').length === 0")

	p.press("/")
	p.until("document.activeElement.matches('.querybox-text')")
	for _, part := range []string{"Inf", "Infecte", "Infected"} { // only the last is one to come back to
		p.setQuery(part)
	}
	p.press(kb.Enter)
	p.waitText(".entities-count", "100 match")
	p.until("location.hash === '#/entities?query=Infected'")
	p.waitText(".vlist-head", "Infected")

	dead := `[...document.querySelectorAll('.facet')].find((e) => e.textContent.startsWith('Dead'))`
	p.eval(dead+".click()", nil)
	p.waitText(".entities-count", "10 match")
	p.until(dead + ".dataset.state === 'with' && document.querySelector('.querybox-text').value === 'Infected, Dead'")
	p.eval(dead+".click()", nil)
	p.waitText(".entities-count", "90 match")
	p.until(dead + ".dataset.state === 'without' && document.querySelector('.querybox-text').value === 'Infected, !Dead'")
	for _, before := range []struct{ query, count string }{{"Infected, Dead", "10 match"}, {"Infected", "100 match"}, {"", "1,003"}} {
		p.do("back", chromedp.NavigateBack())
		p.waitText(".entities-count", before.count)
		p.until(fmt.Sprintf("document.querySelector('.querybox-text').value === %q", before.query))
	}
	p.do("forward", chromedp.NavigateForward())
	p.waitText(".entities-count", "100 match")
}

func TestPageShowsErrorAtItsWord(t *testing.T) {
	p := openPage(t, newFixture(t, Options{}), "/#/entities")
	p.waitPage("entities")
	p.waitText(".entities-count", "1,003")
	for _, text := range []string{"Position, Infcted, Velocity", `Name ~ "🌍🌍 naïve", Infcted, Velocity`} {
		p.setQuery(text)
		p.checkWrong("Infcted", "Infcted")
		p.waitText(".entities-count", "1,003") // what was right is still shown
	}
	p.setQuery("Infected, Velocity")
	p.waitText(".entities-count", "100 match")
	p.until("document.querySelector('.querybox-error').hidden && document.querySelector('.querybox-text').ariaInvalid === 'false'")
}

func TestPageSuggestions(t *testing.T) {
	p := openPage(t, newFixture(t, Options{}), "/#/entities")
	p.waitPage("entities")
	p.setQuery("Position, inf")
	p.until("document.querySelector('.querybox-text').ariaExpanded === 'true'")
	p.waitText(".querybox-item", "Infected")
	p.press(kb.ArrowDown)
	p.until(`document.getElementById(document.querySelector('.querybox-text').getAttribute('aria-activedescendant'))?.ariaSelected === 'true'`)
	p.press(kb.Escape)
	p.until("document.querySelector('.querybox-list').hidden && document.querySelector('.querybox-text').value === 'Position, inf'")
	p.press(kb.ArrowDown)
	p.until("!document.querySelector('.querybox-list').hidden")
	p.press(kb.ArrowDown + kb.Enter)
	p.until("document.querySelector('.querybox-text').value === 'Position, Infected'")
	p.waitText(".entities-count", "100 match")
}

func TestPageShowsEntityBesideTheList(t *testing.T) {
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/entities")
	p.waitPage("entities")
	p.setQuery("Lond")
	p.waitText(".querybox-item", "London")
	p.press(kb.ArrowDown + kb.Enter)
	p.waitText(".entities-side .panel-head", f.london.String())
	p.waitText(".entities-side", "London")
	p.until(fmt.Sprintf("location.hash.includes('entity=%s')", f.london))

	for i, text := range []string{f.people[0].String(), fmt.Sprint(f.people[1].Slot())} {
		p.setQuery(text)
		p.press(kb.Enter)
		p.waitText(".entities-side .panel-head", f.people[i].String())
	}
	p.setQuery("16000")
	p.press(kb.Enter)
	p.waitText(".querybox-message", "slot 16000")
	p.eval("[...document.querySelectorAll('.entities-side button')].find((b) => b.textContent === 'Close').click()", nil)
	p.until("document.querySelector('.entities-side').hidden && !location.hash.includes('entity=')")

	p.window(360, 780)
	p.setQuery("Infected")
	p.press(kb.Enter) // which closes the suggestions
	p.waitText(".entities-count", "100 match")
	p.until("document.querySelector('.querybox-list').hidden")
	p.click(".vlist-row a")
	p.waitPage("entity")
	p.until("location.hash.startsWith('#/entity/')")
}

func TestPageKeepsColumns(t *testing.T) {
	p := openPage(t, newFixture(t, Options{}), "/#/entities")
	p.waitPage("entities")
	p.waitText(".vlist-head", "Position")
	p.eval("[...document.querySelectorAll('.entities-list button')].find((b) => b.textContent === 'Columns').click()", nil)
	p.click("dialog input[value=Velocity]")
	p.click("dialog input[value=Note]")
	p.press(kb.Escape)
	p.until("!document.querySelector('dialog')")
	head := `[...document.querySelectorAll('.vlist-head .vlist-cell')].map((e) => e.textContent).join()`
	var before string
	p.eval(head, &before)
	p.do("reload", chromedp.Reload())
	p.waitPage("entities")
	p.until(fmt.Sprintf("%s === %q && %s.includes('Note') !== %s.includes('Velocity')", head, before, head, head))
}
