package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/vastgo/vast/internal/longtest"
)

// pagesListed returns the IDs of the pages in the navigation, in order.
func (p *tab) pagesListed() []string {
	p.Helper()
	p.wait("#nav a")
	var ids []string
	p.Eval("[...document.querySelectorAll('#nav a')].map((a) => a.dataset.page)", &ids)
	return ids
}

func TestPageLoads(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{Attribution: []string{"Land: somebody"}})
	p := openPage(t, f, "/")
	p.waitText("#world-name", "fixture")
	p.waitText("#foot", "Land: somebody")
	p.waitText("#state-word", "live")
	p.Until("/^[0-9.]+ ticks\\/s$/.test(document.getElementById('state-rate').textContent)")
	p.waitPage("map") // a world with views opens at the map
	if got := p.pagesListed(); !slices.Equal(got, []string{"map", "overview", "entities", "queries", "memory",
		"systems"}) {
		t.Errorf("the navigation lists the pages %v", got)
	}
}

func TestPageNavigation(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitPage("overview")
	for _, id := range p.pagesListed() {
		p.click(fmt.Sprintf("#nav a[data-page=%s]", id))
		p.waitPage(id)
		p.Until("document.querySelector('main').innerText.trim().length > 20")
		p.Until(fmt.Sprintf("document.querySelector('#nav a[aria-current]').dataset.page === %q && "+
			"document.title.endsWith('fixture')", id))
	}
	p.Do("back", chromedp.NavigateBack())
	p.waitPage("memory")
}

func TestPageWithMissingModule(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/nowhere")
	p.waitText("main", "Unknown page")
	p.Expect("console.warning")
	p.Expect("ERR_BLOCKED_BY_CLIENT")
	p.Do("block", network.SetBlockedURLs([]string{"*/systems.js"}))
	p.Press(fmt.Sprint(1 + slices.Index(p.pagesListed(), "systems")))
	p.waitText("main [role=alert]", "cannot be shown")
	p.Press(fmt.Sprint(1 + slices.Index(p.pagesListed(), "overview")))
	p.waitPage("overview")
	p.waitText("#state-word", "live")
}

func TestPageKeys(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/overview")
	p.waitPage("overview")
	ids := p.pagesListed()
	for i, id := range slices.Backward(ids) {
		p.Press(fmt.Sprint(i + 1))
		p.waitPage(id)
	}
	p.Press("?")
	p.waitText("dialog[open]", fmt.Sprintf("1 – %d", len(ids)))
	p.Press("2") // number keys do nothing while a dialog is open
	p.Press(kb.Escape)
	p.Until("!document.querySelector('dialog')")
	p.Until("document.querySelector('main > .page-" + ids[0] + "')")
	p.Press(fmt.Sprint(1 + slices.Index(ids, "overview")))
	p.waitPage("overview")
	p.Press("/") // opens the entities page, because the overview has no search box
	p.Until("document.activeElement.matches('main input')")
	p.Press("2") // in an input, a key types text
	p.Until("document.activeElement.value.endsWith('2')")
	p.Press(kb.Escape)
	p.Until("document.activeElement === document.body")

	p.Press("1")
	p.waitPage(ids[0])

	// The Tab key first reaches a link that skips the header.
	p = openPage(t, p.f, "/#/overview")
	p.waitPage("overview")
	p.Press(kb.Tab)
	p.Until("document.activeElement.id === 'skip' && document.activeElement.getBoundingClientRect().top >= 0")
	p.Press(kb.Enter)
	p.Until("document.activeElement.id === 'main' && document.querySelector('main > .page-overview')")
}

func TestPageTheme(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	p := openPage(t, newFixture(t, Options{}), "/#/overview")
	const dark = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((n) => n < 60)"
	const light = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).every((n) => n > 200)"
	p.Prefer("light")
	p.Until(light)
	p.Prefer("dark")
	p.Until(dark)
	p.waitPage("overview")
	p.Until("document.getElementById('theme').getAttribute('aria-label').includes('light')")
	p.click("#theme")
	p.Until(light)
	p.Do("reload", chromedp.Reload())
	p.waitPage("overview")
	p.Until(light)
	p.Press("t")
	p.Until(dark)
	p.Prefer("light")
	p.Until(dark)
}

func TestPageToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t, Options{ReadWrite: true, Token: "a secret & such"})
	p := openPage(t, f, "/#/overview")
	p.Do("open", chromedp.Navigate("about:blank"), chromedp.Navigate(f.URL()))
	p.waitPage("map")
	p.waitText("#foot", "read-write")
	p.Until("!location.href.includes('token') && !location.href.includes('secret')")
	var status int
	p.Eval("import('/api.js').then((api) => api.hasToken() && sessionStorage.getItem('vast-token') === 'a "+
		"secret & such' ? 1 : 0)", &status)
	if status != 1 {
		t.Error("the session storage does not hold the token")
	}
}

func TestPageAsksForToken(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{Addr: "0.0.0.0:0"})
	p := openPage(t, f, "/#/overview")
	p.Expect("401")
	p.Expect("Cross-Origin-Opener-Policy") // browsers want HTTPS for this header, except on localhost
	p.waitText("main", "Token required")
	p.fill("#token", "wrong")
	p.Press(kb.Enter)
	p.waitText("main .bad", "token")
	p.fill("#token", f.options.Token)
	p.Press(kb.Enter)
	p.waitPage("overview")
	p.waitText("#state-word", "live")
}

func TestPageShowsLostConnection(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	f := newFixture(t, Options{})
	p := openPage(t, f, "/#/overview")
	p.waitText("#state-word", "live")
	p.Expect("ERR_")
	p.Expect("Failed to fetch dynamically imported module")
	f.Close()
	p.waitText("#state-word", "lost")
	p.Press(fmt.Sprint(1 + slices.Index(p.pagesListed(), "entities")))
	p.waitText("main", "cannot be shown")
	if !strings.Contains(p.text("#state"), "trying again") {
		t.Error("the page does not say that it tries to connect again")
	}
}
