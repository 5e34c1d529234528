package inspect

import (
	"fmt"
	"math"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/tests/browsertest"
)

func TestPageEdit(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true})
	p := openPage(t, f, "/#/overview")
	p.Do("open with the token", chromedp.Navigate("about:blank"), chromedp.Navigate(f.URL()))
	p.wait("#nav a")
	p.Eval(fmt.Sprintf("location.hash = '#/entity/%s'", f.london), nil)
	p.waitPage("entity")
	const (
		button = `[data-column=Position] button[aria-label="Edit value X"]`
		input  = `[data-column=Position] input[aria-label="value X"]`
		wrong  = `[data-column=Position] .field-error`
	)
	p.click(button)
	p.fill(input, "123.5")
	p.Press(kb.Enter)
	p.waitText(button, "123.5")
	var got float32
	f.see(t, func() { got = f.position.Get(f.london).X })
	if got != 123.5 {
		t.Errorf("X is %v in the world, want 123.5", got)
	}

	p.Expect("status of 4")
	p.click(button)
	p.fill(input, "far away")
	p.Press(kb.Enter)
	p.waitText(wrong, "far away")
	p.Until("document.querySelector(`" + input + "`).getAttribute('aria-invalid') === 'true'")
	p.Press(kb.Escape)
	p.waitText(button, "123.5")
	f.see(t, func() { got = f.position.Get(f.london).X })
	if got != 123.5 {
		t.Errorf("X is %v in the world after an invalid value, want 123.5", got)
	}

	// The page shows changes that the program makes.
	f.see(t, func() { f.position.Get(f.london).X = float32(math.Inf(-1)) })
	p.waitText(button, "-Inf")
}

func TestPageReadOnly(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/entity/"+f.london.String())
	p.waitPage("entity")
	p.waitText("[data-column=Position] .leaf", "50")
	p.Until("!document.querySelector('[data-column] .leaf button, button.danger')")
}

// TestPageQueryError runs a query with one invalid word. The page marks only this word.
func TestPageQueryError(t *testing.T) {
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}),
		"/#/queries?query="+url.QueryEscape("Position, Infcted, !Dead"))
	p.waitText(".querybox-error:not([hidden])", "Infcted")
	if got := p.text(".querybox-wrong"); got != "Infcted" {
		t.Errorf("%q is marked, want Infcted", got)
	}
	// The caret line begins below the first letter of the word.
	var off float64
	p.Eval(`(() => {
		const [mark, field] = ['.querybox-wrong', '.querybox-text'].map((s) =>
			document.querySelector(s).getBoundingClientRect());
		const caret = document.querySelector('.querybox-caret').getBoundingClientRect();
		return mark.left < field.left || mark.right > field.right || caret.width < 5 ? 1e6 :
			Math.abs(caret.left - mark.left);
	})()`, &off)
	if off > 4 {
		t.Errorf("the caret is %v pixels from its word", off)
	}
	p.fill(".querybox-text", "Position, Infected, !Dead")
	// A script clicks the button, because suggestions may cover the button.
	p.Eval("document.querySelector('button.primary').click()", nil)
	p.Until("document.querySelector('.querybox-error').hidden")
	p.waitText(".queries-state", "90 entities") // 100 people are infected, and 10 of these are dead
}

func TestPageListsMillion(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	browsertest.Needed(t) // skips the test before newFixtureOf reserves more than a 32-bit address space
	const people = 1_000_000
	f := newFixtureOf(t, Options{}, people)
	p := openPage(t, f, "/#/entities")
	p.waitPage("entities")
	p.waitText(".entities-count", "1,000,003")
	p.Eval("document.querySelector('.vlist-scroll').focus()", nil)
	for i := 1; i <= 9; i += longtest.Pick(4, 1) {
		p.Eval(fmt.Sprintf("(() => { const s = document.querySelector('.vlist-scroll'); s.scrollTop = "+
			"s.scrollHeight * %d / 10; })()", i), nil)
		p.Until(fmt.Sprintf(`[...document.querySelectorAll('.vlist-row')].some((row) =>
			row.querySelector('a') && Math.abs(row.getAttribute('aria-rowindex') / %d - %d / 10) < 0.02)`,
			people, i))
	}
	p.Press(kb.End)
	last := f.people[people-1].String()
	p.waitText(".vlist-row a", last)
	p.waitText(".vlist-row[aria-selected=true]", last)
	p.Press(kb.Enter)
	p.waitText(".entities-side", last)
	p.Press(kb.Home)
	p.waitText(".vlist-row", "Paris")
}

// TestPageListKeepsScrolls scrolls a list just before the list corrects its scroll bar. The list has not yet
// received the scroll event. The correction must not undo the scroll.
func TestPageListKeepsScrolls(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	browsertest.Needed(t) // skips the test before newFixtureOf makes the people
	const people = 100_000
	f := newFixtureOf(t, Options{}, people)
	p := openPage(t, f, "/#/entities")
	p.waitPage("entities")
	p.waitText(".entities-count", "100,003")
	for i := 1; i <= 9; i += longtest.Pick(4, 1) {
		p.Eval(fmt.Sprintf(`new Promise((done) => {
			const s = document.querySelector('.vlist-scroll');
			s.addEventListener('scroll', () => setTimeout(() => { // just before the list's own timer fires
				s.scrollTop = s.scrollHeight * %d / 10;
				done();
			}, 200), { once: true, capture: true });
			s.scrollTop += 1000;
		})`, i), nil)
		p.Until(fmt.Sprintf(`[...document.querySelectorAll('.vlist-row')].some((row) =>
			row.querySelector('a') && Math.abs(row.getAttribute('aria-rowindex') / %d - %d / 10) < 0.02)`,
			people, i))
	}
}

func TestPageMemoryPicture(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixtureOf(t, Options{}, 100_000)
	p := openPage(t, f, "/#/memory")
	p.waitPage("memory")
	p.Until("[...document.querySelectorAll('main canvas')].some((c) => c.clientHeight > 200 && (" + colorsIn +
		")(c) >= 4)")
	p.Eval("document.querySelector('main canvas').focus()", nil)
	p.Press("+++")
	p.Until("[...document.querySelectorAll('main canvas')].some((c) => c.clientHeight > 200 && (" + colorsIn +
		")(c) >= 2)")
}

func TestPageHostileName(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	for _, address := range []string{
		"entity/" + f.hostile.String(), "entity/" + f.people[2].String(), "entity/" + f.paris.String(),
		"entities",
		"queries?query=Position",
	} {
		p.Eval(fmt.Sprintf("location.hash = '#/%s'", address), nil)
		p.waitText("main", hostileName)
		var images int
		p.Eval("document.querySelectorAll('img').length", &images)
		if images != 0 {
			t.Errorf("%s: the name has become an image", address)
		}
	}
}

// TestPageWalk does typical tasks of a new user.
func TestPageWalk(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true})
	p := openPage(t, f, "/#/overview")
	p.Do("open with the token", chromedp.Navigate("about:blank"), chromedp.Navigate(f.URL()))
	p.waitPage(p.pagesListed()[0])
	p.Press("3")
	p.waitPage("entities")
	p.Press("/")
	p.Until("document.activeElement.matches('.querybox-text')")
	p.fill(".querybox-text", "Infected, ChildOf(London)")
	p.waitText(".entities-count", "33 match") // the infected children of London are people 10, 40, …
	person := f.people[10].String()
	p.waitText(".vlist-row:not([hidden]) a", person)
	p.Eval(fmt.Sprintf("[...document.querySelectorAll('.vlist-row a')].find((a) => a.textContent === "+
		"%q).closest('.vlist-row').click()", person), nil)
	p.waitText(".entities-side .entity-head", person)

	// Change the stage of the illness.
	const stage = `.entities-side [data-column=Infected] [data-path=Stage] `
	p.click(stage + "button")
	p.wait(stage + "select")
	p.Eval("(() => { const s = document.querySelector('"+stage+"select'); s.value = '0'; "+
		"s.dispatchEvent(new Event('change', { bubbles: true })); })()", nil)
	p.click(stage + "button[type=submit]")
	p.wait(stage + "button")
	p.Until(fmt.Sprintf("!document.querySelector(%q)", stage+"select"))
	p.waitText(stage+"button", "Mild")
	f.see(t, func() {
		if got := f.infected.Get(f.people[10]).Stage; got != Mild {
			t.Errorf("the stage is %v in the world, want Mild", got)
		}
	})

	// See where the person's data lies.
	p.click(`.entities-side a[href^="#/memory"]`)
	p.waitPage("memory")
	p.waitText("main", fmt.Sprintf("Word %d:", f.people[10].Slot()/64))
	p.waitText("main a", "entity "+person)

	// Find the most expensive system.
	p.Press("2")
	p.waitText("table.costs tbody tr:first-child .name", "move")
}
