package docs

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/vastgo/vast/internal/tests/browsertest"
)

func TestMain(m *testing.M) { browsertest.Main(m) }

// tab is a browser tab that shows the site.
type tab struct {
	*browsertest.Tab
	url string
}

// open serves the site and opens a browser tab for the site.
func open(t *testing.T) *tab {
	t.Helper()
	browsertest.Needed(t)
	server := httptest.NewServer(theSite(t))
	t.Cleanup(server.Close)
	return &tab{browsertest.Open(t, server.Listener.Addr().String()), server.URL + "/"}
}

// visit opens a page of the site.
func (p *tab) visit(page string) {
	p.Helper()
	p.Do("open "+page, chromedp.Navigate(p.url+page))
}

// letter presses one key. The browser types the character only if the page does not handle the key.
func (p *tab) letter(key string) {
	p.Helper()
	p.Do("press "+key, input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithText(key),
		input.DispatchKeyEvent(input.KeyUp).WithKey(key))
}

// noScripts disables the page's scripts, but not the scripts of the test.
func noScripts(ctx context.Context) error { return emulation.SetScriptExecutionDisabled(true).Do(ctx) }
