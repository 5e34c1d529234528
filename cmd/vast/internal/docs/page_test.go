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
)

// ask types a question into the search box and waits until its answers are shown.
func (p *tab) ask(query string) (answers []string) {
	p.Helper()
	p.eval("query.focus(), query.select()", nil)
	p.press(query)
	p.until(fmt.Sprintf("!found.hidden && found.dataset.query === %q", query))
	p.eval("[...found.querySelectorAll('[role=option]')].map((a) => a.getAttribute('href'))", &answers)
	return answers
}

// arrive waits for a page to be there, and its script to have run.
func (p *tab) arrive(at string) {
	p.Helper()
	p.until(fmt.Sprintf("document.readyState === 'complete' && location.href.endsWith(%q)", at))
}

// TestPageSearch asks in the browser what TestSearch asks.
func TestPageSearch(t *testing.T) {
	p := open(t)
	p.visit("index.html")
	for _, q := range append(questions, struct{ query, answer string }{"herarchy of parnts", "guide/cookbook-entities.html#build-a-hierarchy-of-parents-and-children"}) {
		if got := p.ask(q.query); !slices.Contains(got[:min(len(got), amongFirst)], q.answer) {
			t.Errorf("%q finds %q", q.query, got[:min(len(got), amongFirst)])
		}
	}
	var marked string
	p.ask("staleness generations")
	p.eval("found.querySelector('mark').textContent", &marked)
	if !strings.HasPrefix(strings.ToLower(marked), "stale") && !strings.HasPrefix(strings.ToLower(marked), "generation") {
		t.Errorf("the excerpt marks %q", marked)
	}
	if got := p.ask("qqxyzzy"); len(got) > 0 {
		t.Errorf("nonsense finds %q", got)
	}
	p.until("found.textContent.includes('Nothing')")
}

// TestPageKeys goes about the site by keys alone.
func TestPageKeys(t *testing.T) {
	p := open(t)
	p.visit("guide/start.html")
	p.letter("/")
	p.until("document.activeElement === query && query.value === ''")
	p.press("delete in a loop")
	p.until("!found.hidden && found.dataset.query === 'delete in a loop'")
	p.press(kb.ArrowDown + kb.ArrowDown + kb.ArrowUp)
	p.until("found.querySelector('[aria-selected=true]') === found.firstChild && query.getAttribute('aria-activedescendant') === 'found-0'")
	p.press(kb.Escape)
	p.until("found.hidden && query.value === 'delete in a loop' && query.getAttribute('aria-expanded') === 'false'")
	p.press(kb.Enter)
	p.arrive("/guide/cookbook-entities.html#delete-entities-in-a-loop")
	// A letter that is typed into the box turns no page; elsewhere it does.
	p.letter("/")
	p.letter("n")
	p.until("query.value === 'n' && location.pathname.endsWith('entities.html')")
	p.press(kb.Escape + kb.Escape)
	p.until("document.activeElement === document.body")
	p.letter("n")
	p.arrive("/guide/cookbook-data.html")
	p.letter("p")
	p.arrive("/guide/cookbook-entities.html")
	// A result on the same page: the box closes, and the section is shown.
	p.ask("leaderboard")
	p.press(kb.Enter)
	p.arrive("/guide/cookbook-data.html#keep-a-leaderboard")
	p.ask("near a point")
	p.press(kb.Enter)
	p.arrive("/guide/cookbook-data.html#find-entities-near-a-point")
	p.until("found.hidden")
}

// TestPageLooks holds pages in windows of three widths and in both themes against what can be measured.
func TestPageLooks(t *testing.T) {
	p := open(t)
	for _, page := range []string{"index.html", "guide/start.html", "guide/choosing.html", "guide/memory.html", "measured.html", "search.html"} {
		p.visit(page)
		for _, width := range []int{360, 1280, 2560} {
			for _, theme := range []string{"light", "dark"} {
				p.window(width, max(800, width*9/16), theme)
				var faults []string
				p.eval(`(() => {
					const faults = [];
					const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
					if (wide > 0) faults.push('it is ' + wide + ' pixels wider than its window');
					for (const e of document.querySelectorAll('a, button, input')) {
						if (e.matches('.skip') || e.closest('.scroll, pre, .picture')) continue;
						const r = e.getBoundingClientRect();
						if (r.width > 0 && (r.left < -1 || r.right > innerWidth + 1)) faults.push(e.outerHTML.slice(0, 80) + ' is outside');
					}
					for (const img of document.images) if (!img.complete || !img.naturalWidth) faults.push(img.src + ' is not there');
					return faults;
				})()`, &faults)
				for _, fault := range faults {
					t.Errorf("%s at %d pixels, %s: %s", page, width, theme, fault)
				}
				p.keepPicture(fmt.Sprintf("docs-%s-%d-%s", strings.TrimSuffix(page, ".html"), width, theme))
			}
		}
	}
	var ground string
	p.visit("index.html")
	p.eval("getComputedStyle(document.body).backgroundColor", &ground)
	p.do("theme", chromedp.Click("#theme", chromedp.ByQuery))
	p.until(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", ground))
	p.visit("guide/start.html") // and it is kept
	p.until(fmt.Sprintf("getComputedStyle(document.body).backgroundColor !== %q", ground))
	p.ask("delete")
	p.keepPicture("docs-search")
}

// TestPageWithoutScripts asks the server where the browser runs no scripts.
func TestPageWithoutScripts(t *testing.T) {
	p := open(t)
	p.do("no scripts", chromedp.ActionFunc(noScripts))
	p.visit("guide/start.html")
	p.do("ask", chromedp.SendKeys("#query", "delete in a loop\r", chromedp.ByQuery), chromedp.WaitVisible(".results", chromedp.ByQuery))
	var links []string
	p.eval("[...document.querySelectorAll('.results a')].map((a) => a.getAttribute('href'))", &links)
	if len(links) == 0 || links[0] != "guide/cookbook-entities.html#delete-entities-in-a-loop" {
		t.Errorf("found %q", links)
	}
	p.keepPicture("docs-without-scripts")
}

// TestPageAsFile opens the site as files, without a server.
func TestPageAsFile(t *testing.T) {
	p := open(t)
	dir := t.TempDir()
	if err := theSite(t).write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		t.Fatal(err)
	}
	p.host, p.url = "", "file://"+filepath.ToSlash(dir)+"/"
	p.visit("guide/start.html")
	if got := p.ask("delete in a loop"); len(got) == 0 || got[0] != "../guide/cookbook-entities.html#delete-entities-in-a-loop" {
		t.Errorf("found %q", got)
	}
}
