package docs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/tests/browsertest"
)

// ask types a query into the search box, waits for the results, and returns the addresses of the results.
func (p *tab) ask(query string) (answers []string) {
	p.Helper()
	p.Eval("query.focus(), query.select()", nil)
	p.Press(query)
	p.Until(fmt.Sprintf("!found.hidden && found.dataset.query === %q", query))
	p.Eval("[...found.querySelectorAll('[role=option]')].map((a) => a.getAttribute('href'))", &answers)
	return answers
}

func (p *tab) arrive(suffix string) {
	p.Helper()
	p.Until(fmt.Sprintf("document.readyState === 'complete' && location.href.endsWith(%q)", suffix))
}

func TestPageSearch(t *testing.T) {
	longtest.Only(t)
	p := open(t)
	p.visit("index.html")
	misspelt := questions[3]
	misspelt.query = "herarchy of parnts"
	for _, q := range append(questions[:len(questions):len(questions)], misspelt) {
		got := p.ask(q.query)
		if first := got[:min(len(got), maxRank)]; !slices.Contains(first, q.answer) {
			t.Errorf("%q finds %q first, want %s among them", q.query, first, q.answer)
		}
	}
	var marked string
	p.ask("staleness generations")
	p.Eval("found.querySelector('mark').textContent", &marked)
	if !strings.HasPrefix(strings.ToLower(marked), "stale") &&
		!strings.HasPrefix(strings.ToLower(marked), "generation") {
		t.Errorf("the excerpt marks %q, want a form of staleness or generation", marked)
	}
	if got := p.ask("qqxyzzy"); len(got) > 0 {
		t.Errorf("nonsense finds %q", got)
	}
	p.Until("found.textContent.includes('No section')")
}

func TestPageKeys(t *testing.T) {
	longtest.Only(t)
	p := open(t)
	p.visit("guide/start.html")
	p.letter("/")
	p.Until("document.activeElement === query && query.value === ''")
	p.Press("delete in a loop")
	p.Until("!found.hidden && found.dataset.query === 'delete in a loop'")
	p.Press(kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)
	p.Until("found.querySelector('[aria-selected=true]') === found.firstChild")
	p.Until("query.getAttribute('aria-activedescendant') === 'found-0'")
	p.Press(kb.Escape)
	p.Until("found.hidden && query.value === 'delete in a loop' && query.getAttribute('aria-expanded') " +
		"=== 'false'")
	p.Press(kb.Enter)
	p.arrive("/guide/cookbook-entities.html#delete-entities-in-a-loop")
	// In the search box, the key n types a letter. Outside the box, the key opens the next page.
	p.letter("/")
	p.letter("n")
	p.Until("query.value === 'n' && location.pathname.endsWith('entities.html')")
	p.Press(kb.Escape + kb.Escape)
	p.Until("document.activeElement === document.body")
	p.letter("n")
	p.arrive("/guide/cookbook-data.html")
	p.letter("p")
	p.arrive("/guide/cookbook-entities.html")
	// A result on the open page loads no page, but must close the list of results.
	p.ask("leaderboard")
	p.Press(kb.Enter)
	p.arrive("/guide/cookbook-data.html#keep-a-leaderboard")
	p.ask("near a point")
	p.Press(kb.Enter)
	p.arrive("/guide/cookbook-data.html#find-entities-near-a-point")
	p.Until("found.hidden")
}

func TestPageLooks(t *testing.T) {
	longtest.Only(t)
	p := open(t)
	for _, page := range []string{"index.html", "guide/start.html", "guide/choosing.html",
		"guide/memory.html", "measured.html",
		"search.html"} {
		p.visit(page)
		for _, width := range []int{360, 1280, 2560} {
			for _, theme := range []string{"light", "dark"} {
				p.Prefer(theme)
				p.Window(width, max(800, width*9/16))
				var faults []string
				p.Eval(`(() => {
					const faults = [];
					const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
					if (wide > 0) faults.push('the page is ' + wide + ' pixels wider than its window');
					for (const e of document.querySelectorAll('a, button, input')) {
						if (e.matches('.skip') || e.closest('.scroll, pre, .picture')) continue;
						const r = e.getBoundingClientRect();
						if (r.width > 0 && (r.left < -1 || r.right > innerWidth + 1))
							faults.push(e.outerHTML.slice(0, 80) + ' is outside the window');
					}
					for (const img of document.images)
						if (!img.complete || !img.naturalWidth) faults.push(img.src + ' does not load');
					return faults;
				})()`, &faults)
				for _, fault := range faults {
					t.Errorf("%s at %d pixels, %s: %s", page, width, theme, fault)
				}
				p.KeepPicture(fmt.Sprintf("docs-%s-%d-%s", strings.TrimSuffix(page, ".html"), width, theme))
			}
		}
	}
	var ground string
	p.visit("index.html")
	p.Eval("getComputedStyle(document.body).backgroundColor", &ground)
	p.Do("theme", chromedp.Click("#theme", chromedp.ByQuery))
	p.Until(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", ground))
	p.visit("guide/start.html") // the next page keeps the theme
	p.Until(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", ground))
	p.ask("delete")
	p.KeepPicture("docs-search")
}

func TestPageWithoutScripts(t *testing.T) {
	p := open(t)
	p.Do("no scripts", chromedp.ActionFunc(noScripts))
	p.visit("guide/start.html")
	p.Do("ask", chromedp.SendKeys("#query", "delete in a loop\r", chromedp.ByQuery),
		chromedp.WaitVisible(".results", chromedp.ByQuery))
	var links []string
	p.Eval("[...document.querySelectorAll('.results a')].map((a) => a.getAttribute('href'))", &links)
	if len(links) == 0 || links[0] != "guide/cookbook-entities.html#delete-entities-in-a-loop" {
		t.Errorf("found %q, want delete-entities-in-a-loop first", links)
	}
	p.KeepPicture("docs-without-scripts")
}

func TestPageWithoutServer(t *testing.T) {
	dir := t.TempDir()
	if err := theSite(t).write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Fatal(err)
	}
	p := &tab{browsertest.Open(t, ""), "file://" + filepath.ToSlash(dir) + "/"}
	p.visit("guide/start.html")
	if got := p.ask("delete in a loop"); len(got) == 0 ||
		got[0] != "../guide/cookbook-entities.html#delete-entities-in-a-loop" {
		t.Errorf("found %q, want delete-entities-in-a-loop first", got)
	}
}
