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

type tab struct {
	*browsertest.Tab
	url string
}

func open(t *testing.T) *tab {
	t.Helper()
	browsertest.Needed(t)
	server := httptest.NewServer(theSite(t))
	t.Cleanup(server.Close)
	return &tab{browsertest.Open(t, server.Listener.Addr().String()), server.URL + "/"}
}

func (p *tab) visit(page string) {
	p.Helper()
	p.Do("open "+page, chromedp.Navigate(p.url+page))
}

// letter presses a key. If the page does not handle the key, the browser types the character.
func (p *tab) letter(key string) {
	p.Helper()
	p.Do("press "+key, input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithText(key),
		input.DispatchKeyEvent(input.KeyUp).WithKey(key))
}

// noScripts disables the page's scripts. The scripts of the test still run.
func noScripts(ctx context.Context) error { return emulation.SetScriptExecutionDisabled(true).Do(ctx) }
