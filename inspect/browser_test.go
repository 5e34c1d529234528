package inspect

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/vastgo/vast/internal/tests/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

type tab struct {
	*browsertest.Tab
	f *fixture
}

// openPage opens a path of the fixture, such as /#/memory, in a new window.
func openPage(t *testing.T, f *fixture, path string) *tab {
	t.Helper()
	p := &tab{browsertest.Open(t, f.Addr().String()), f}
	p.Do("open "+path, chromedp.Navigate(f.at(path)))
	return p
}

func (p *tab) wait(selector string) {
	p.Helper()
	p.Until(fmt.Sprintf("document.querySelector(%q)", selector))
}

func (p *tab) waitText(selector, text string) {
	p.Helper()
	p.Until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%q))",
		selector, text))
}

func (p *tab) waitPage(id string) {
	p.Helper()
	p.Until(fmt.Sprintf("document.querySelector('main > .page-%s:not([data-loading])')", id))
}

func (p *tab) text(selector string) string {
	p.Helper()
	p.wait(selector)
	var s string
	p.Eval(fmt.Sprintf("document.querySelector(%q).textContent", selector), &s)
	return s
}

func (p *tab) click(selector string) {
	p.Helper()
	p.wait(selector)
	p.Do("click "+selector, chromedp.Click(selector, chromedp.ByQuery, chromedp.NodeVisible))
}

func (p *tab) fill(selector, text string) {
	p.Helper()
	p.wait(selector)
	p.Eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.focus(); e.select?.(); })()",
		selector), nil)
	p.Do("type "+text, chromedp.KeyEvent(text))
}

// colorsIn is a JavaScript function that counts the colours in a canvas. It reads a copy of the canvas,
// because drawing on a canvas becomes slow after a script has read the canvas.
const colorsIn = `(canvas) => {
	const copy = document.createElement('canvas');
	[copy.width, copy.height] = [canvas.width, canvas.height];
	if (!(copy.width > 0 && copy.height > 0)) return 0;
	const g = copy.getContext('2d', { willReadFrequently: true });
	g.drawImage(canvas, 0, 0);
	return new Set(new Uint32Array(g.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
}`
