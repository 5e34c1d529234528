package docs

import (
	"context"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserTime bounds each step in the browser: the machines of a CI are slow.
const browserTime = 30 * time.Second

// findBrowser returns the path of a chromium, or "".
func findBrowser() string {
	names := []string{"chromium", "google-chrome-stable", "google-chrome", "chromium-browser", "headless_shell"}
	if chosen := os.Getenv("VAST_BROWSER"); chosen != "" {
		names = []string{chosen}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// tab is the site in a browser. What its console says, what its scripts throw, and each request to another server fail the test.
type tab struct {
	*testing.T
	ctx  context.Context
	host string
	url  string

	mu         sync.Mutex
	complaints []string
}

// open serves the site and starts a browser.
func open(t *testing.T) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("tests in a browser are not short")
	}
	path := findBrowser()
	if path == "" {
		if os.Getenv("VAST_BROWSER_REQUIRED") != "" {
			t.Fatal("VAST_BROWSER_REQUIRED is set, and there is no browser")
		}
		t.Skip("no chromium or chrome found: install chromium, or put its path into VAST_BROWSER")
	}
	server := httptest.NewServer(theSite(t))
	t.Cleanup(server.Close)
	return openAt(t, path, server.URL+"/")
}

// openAt starts a browser for a site at a URL.
func openAt(t *testing.T, path, at string) *tab {
	t.Helper()
	profile, err := os.MkdirTemp("", "vast-docs-browser-")
	if err != nil {
		t.Fatal(err)
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.UserDataDir(profile),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("no-proxy-server", true), chromedp.WSURLReadTimeout(browserTime))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	// A browser newer than the library tells of events that it does not know; they are no errors.
	ctx, endBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	p := &tab{T: t, ctx: ctx, host: u.Host, url: at}
	chromedp.ListenTarget(ctx, p.hear)
	t.Cleanup(func() {
		endBrowser()
		end()
		os.RemoveAll(profile) // parts of the browser may still be ending
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, c := range p.complaints {
			t.Error(c)
		}
	})
	// The first run starts the browser with the context that it is given: so that has no deadline.
	if err := chromedp.Run(ctx, runtime.Enable(), log.Enable(), network.Enable()); err != nil {
		t.Fatalf("the browser does not start: %v", err)
	}
	return p
}

// hear notes what the browser tells of the page.
func (p *tab) hear(event any) {
	complain := func(format string, args ...any) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
	}
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		complain("console.%s", e.Type)
	case *runtime.EventExceptionThrown:
		complain("exception: %v", e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		complain("console: %s %s", e.Entry.Text, e.Entry.URL)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "data" && u.Host != p.host {
			complain("a request to another server: %s", e.Request.URL)
		}
	}
}

// do runs actions, in their time or the test fails.
func (p *tab) do(what string, actions ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserTime)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.Fatalf("%s: %v", what, err)
	}
}

// visit opens a page of the site.
func (p *tab) visit(page string) {
	p.Helper()
	p.do("open "+page, chromedp.Navigate(p.url+page))
}

// press presses keys, such as kb.Enter, where the focus is.
func (p *tab) press(keys string) {
	p.Helper()
	p.do("press "+keys, chromedp.KeyEvent(keys))
}

// letter presses one key as a keyboard does it: what it types comes only where the page does not take it for something else.
func (p *tab) letter(key string) {
	p.Helper()
	p.do("press "+key, input.DispatchKeyEvent(input.KeyDown).WithKey(key).WithText(key), input.DispatchKeyEvent(input.KeyUp).WithKey(key))
}

// eval runs an expression in the page, and puts what it gives into the value, if that is not nil.
func (p *tab) eval(expression string, into any) {
	p.Helper()
	p.do(expression, chromedp.Evaluate(expression, into))
}

// until waits for an expression to be true. A page that is just being left or opened cannot be asked; the next one can.
func (p *tab) until(expression string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserTime)
	defer cancel()
	for yes := false; ; {
		err := chromedp.Run(ctx, chromedp.Evaluate("Boolean("+expression+")", &yes))
		if err == nil && yes {
			return
		}
		select {
		case <-ctx.Done():
			p.Fatalf("never true: %s (%v)", expression, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// window gives the page a size in CSS pixels and a theme.
func (p *tab) window(width, height int, theme string) {
	p.Helper()
	p.do("window", chromedp.EmulateViewport(int64(width), int64(height)),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
}

// keepPicture writes a picture of the page into the directory of VAST_SCREENSHOTS, if there is one.
func (p *tab) keepPicture(name string) {
	p.Helper()
	dir := os.Getenv("VAST_SCREENSHOTS")
	if dir == "" {
		return
	}
	var png []byte
	p.do("picture", chromedp.CaptureScreenshot(&png))
	if err := os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o666); err != nil {
		p.Errorf("no picture %s: %v", name, err)
	}
}

// noScripts keeps the page's scripts from running; those of the test do.
func noScripts(ctx context.Context) error { return emulation.SetScriptExecutionDisabled(true).Do(ctx) }
