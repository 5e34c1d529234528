package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pagesListed returns the names of the pages in the navigation, in its order.
func (p *tab) pagesListed() []string {
	p.Helper()
	p.wait("#nav a")
	var ids []string
	p.eval("[...document.querySelectorAll('#nav a')].map((a) => a.dataset.page)", &ids)
	return ids
}

func TestPageLoads(t *testing.T) {
	f := newFixture(t, Options{Attribution: []string{"Land: somebody"}})
	p := openPage(t, f, "/")
	p.waitText("#world-name", "fixture")
	p.waitText("#foot", "Land: somebody")
	p.waitText("#state-word", "live")
	p.until("/^[0-9.]+ ticks\\/s$/.test(document.getElementById('state-rate').textContent)")
	p.waitPage("map") // a world with views begins with them
	if got := p.pagesListed(); !slices.Equal(got, []string{"map", "overview", "entities", "queries", "memory", "systems"}) {
		t.Errorf("pages %v", got)
	}
}

// TestPageOfEachName opens each page by the navigation: it must say something without a complaint in the console.
func TestPageOfEachName(t *testing.T) {
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	for _, id := range p.pagesListed() {
		p.click(fmt.Sprintf("#nav a[data-page=%s]", id))
		p.waitPage(id)
		p.until("document.querySelector('main').innerText.trim().length > 20")
		p.until(fmt.Sprintf("document.querySelector('#nav a[aria-current]').dataset.page === %q && document.title.endsWith('fixture')", id))
	}
	// Those before are gone, and come back.
	p.do("back", chromedp.NavigateBack())
	p.waitPage("memory")
}

// TestPageThatFails asks for a page whose module is not there: it says so in its place, and the others live.
func TestPageThatFails(t *testing.T) {
	p := openPage(t, newFixture(t, Options{}), "/#/nowhere")
	p.waitText("main", "There is no such page")
	p.expect("console.warning")
	p.expect("ERR_BLOCKED_BY_CLIENT")
	p.do("block", network.SetBlockedURLs([]string{"*/systems.js"}))
	p.press(fmt.Sprint(1 + slices.Index(p.pagesListed(), "systems")))
	p.waitText("main [role=alert]", "cannot be shown")
	p.press(fmt.Sprint(1 + slices.Index(p.pagesListed(), "overview")))
	p.waitPage("overview")
	p.waitText("#state-word", "live")
}

func TestPageKeys(t *testing.T) {
	p := openPage(t, newFixture(t, Options{}), "/#/overview")
	p.waitPage("overview")
	ids := p.pagesListed()
	for i, id := range slices.Backward(ids) {
		p.press(fmt.Sprint(i + 1))
		p.waitPage(id)
	}
	p.press("?")
	p.waitText("dialog[open]", "switch pages")
	p.press("2") // not while a dialog is open
	p.press(kb.Escape)
	p.until("!document.querySelector('dialog')")
	p.until("document.querySelector('main > .page-" + ids[0] + "')")
	p.press(fmt.Sprint(1 + slices.Index(ids, "overview"))) // which has no search box of its own
	p.waitPage("overview")
	p.press("/")
	p.until("document.activeElement.matches('main input')")
	p.press("2") // a text, not a key, in an input
	p.until("document.activeElement.value.endsWith('2')")
	p.press(kb.Escape)
	p.until("document.activeElement === document.body")

	p.press("1")
	p.waitPage(ids[0])

	// The first thing that the tab key comes to leads past the header.
	p = openPage(t, p.f, "/#/overview")
	p.waitPage("overview")
	p.press(kb.Tab)
	p.until("document.activeElement.id === 'skip' && document.activeElement.getBoundingClientRect().top >= 0")
	p.press(kb.Enter)
	p.until("document.activeElement.id === 'main' && document.querySelector('main > .page-overview')")
}

// TestPageTheme asks for the system's theme, and for another by the button, which outlives the page.
func TestPageTheme(t *testing.T) {
	p := openPage(t, newFixture(t, Options{}), "/#/overview")
	const dark = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((n) => n < 60)"
	const light = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((n) => n > 200)"
	p.prefer("light")
	p.until(light)
	p.prefer("dark")
	p.until(dark)
	p.waitPage("overview")
	p.until("document.getElementById('theme').getAttribute('aria-label').includes('light')")
	p.click("#theme")
	p.until(light)
	p.do("reload", chromedp.Reload())
	p.waitPage("overview")
	p.until(light)
	p.press("t")
	p.until(dark)
	p.prefer("light")
	p.until(dark)
}

func TestPageToken(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true, Token: "a secret & such"})
	p := openPage(t, f, "/#/overview")
	p.do("open", chromedp.Navigate("about:blank"), chromedp.Navigate(f.URL()))
	p.waitPage("map")
	p.waitText("#foot", "read-write")
	p.until("!location.href.includes('token') && !location.href.includes('secret')")
	var status int
	p.eval("import('/api.js').then((api) => api.hasToken() && sessionStorage.getItem('vast-token') === 'a secret & such' ? 1 : 0)", &status)
	if status != 1 {
		t.Error("the token was not kept")
	}
}

// TestPageTokenAsked opens a page that shows nothing without the token.
func TestPageTokenAsked(t *testing.T) {
	f := newFixture(t, Options{Addr: "0.0.0.0:0"})
	p := openPage(t, f, "/#/overview")
	p.expect("401")
	p.expect("Cross-Origin-Opener-Policy") // which browsers take from this machine and by HTTPS only
	p.waitText("main", "A token is needed")
	p.fill("#token", "wrong")
	p.press(kb.Enter)
	p.waitText("main .bad", "token")
	p.fill("#token", f.options.Token)
	p.press(kb.Enter)
	p.waitPage("overview")
	p.waitText("#state-word", "live")
}

// TestPageProgramEnds ends serving while the page is open.
func TestPageProgramEnds(t *testing.T) {
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitText("#state-word", "live")
	p.expect("ERR_")
	p.expect("Failed to fetch dynamically imported module")
	f.Close()
	p.waitText("#state-word", "lost")
	p.press(fmt.Sprint(1 + slices.Index(p.pagesListed(), "entities")))
	p.waitText("main", "cannot be shown")
	if !strings.Contains(p.text("#state"), "trying again") {
		t.Error("it does not say that it tries again")
	}
}
