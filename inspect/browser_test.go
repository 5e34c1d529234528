package inspect

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// browserTime bounds each step in the browser: the machines of a CI are slow.
const browserTime = 30 * time.Second

// browser is the one that all tests share; each page has a profile of its own in it.
var browser struct {
	start sync.Once
	ctx   context.Context
	stop  func()
	err   error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

var errNoBrowser = errors.New("no chromium or chrome found: install chromium, or put its path into VAST_BROWSER")

// findBrowser returns the path of a chromium.
func findBrowser() (string, error) {
	names := []string{"chromium", "google-chrome-stable", "google-chrome", "chromium-browser", "headless_shell"}
	if chosen := os.Getenv("VAST_BROWSER"); chosen != "" {
		names = []string{chosen}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errNoBrowser
}

func startBrowser() {
	path, err := findBrowser()
	if err != nil {
		browser.err = err
		return
	}
	profile, err := os.MkdirTemp("", "vast-browser-")
	if err != nil {
		browser.err = err
		return
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("no-proxy-server", true), chromedp.WSURLReadTimeout(browserTime))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	// A browser newer than the library tells of events that it does not know; they are no errors.
	ctx, endBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	browser.ctx = ctx
	browser.stop = func() {
		endBrowser()
		end()
		os.RemoveAll(profile)
	}
	browser.err = chromedp.Run(ctx)
}

// tab is a page in the browser. Whatever its console says or its scripts throw, and each request to another server, fails the
// test at its end.
type tab struct {
	*testing.T
	f   *fixture
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	expected   []string
}

// openPage opens a URL of the fixture's, such as /#/memory, in a window of its own.
func openPage(t *testing.T, f *fixture, path string) *tab {
	t.Helper()
	needBrowser(t)
	id, closeWindow, err := newWindow()
	if err != nil {
		t.Fatalf("the browser opens no window: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithTargetID(id))
	p := &tab{T: t, f: f, ctx: ctx}
	chromedp.ListenTarget(ctx, p.hear)
	t.Cleanup(func() {
		if t.Failed() {
			p.keepPicture("failed-" + strings.ReplaceAll(t.Name(), "/", "-"))
		}
		cancel()
		closeWindow()
		for _, c := range p.unexpected() {
			t.Error(c)
		}
	})
	// The first run ties the window to the context that it is given: so that has no deadline.
	if err := chromedp.Run(ctx, runtime.Enable(), log.Enable(), network.Enable()); err != nil {
		t.Fatalf("the browser lets nobody into its window: %v", err)
	}
	p.window(1280, 900)
	p.do("open "+path, chromedp.Navigate(f.at(path)))
	return p
}

// newWindow opens a window that has no storage in common with others.
func newWindow() (id target.ID, closeWindow func(), err error) {
	ctx, cancel := context.WithTimeout(browser.ctx, browserTime)
	defer cancel()
	executor := cdp.WithExecutor(ctx, chromedp.FromContext(browser.ctx).Browser)
	profile, err := target.CreateBrowserContext().Do(executor)
	if err != nil {
		return "", nil, err
	}
	id, err = target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(executor)
	return id, func() {
		ctx, cancel := context.WithTimeout(browser.ctx, browserTime)
		defer cancel()
		executor := cdp.WithExecutor(ctx, chromedp.FromContext(browser.ctx).Browser)
		_ = target.DisposeBrowserContext(profile).Do(executor) // if the browser is gone, so is the window
	}, err
}

// needBrowser starts the browser; without one the test is skipped, or fails where one must be.
func needBrowser(t *testing.T) {
	t.Helper()
	required := os.Getenv("VAST_BROWSER_REQUIRED") != ""
	if testing.Short() {
		t.Skip("tests in a browser are not short")
	}
	browser.start.Do(startBrowser)
	switch {
	case errors.Is(browser.err, errNoBrowser) && !required:
		t.Skip(browser.err)
	case browser.err != nil:
		t.Fatalf("the browser does not start: %v", browser.err)
	}
}

// hear notes what the browser tells of the page. It is called by the browser's goroutine.
func (p *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type != runtime.APITypeError && e.Type != runtime.APITypeWarning && e.Type != runtime.APITypeAssert {
			return
		}
		var words []string
		for _, a := range e.Args {
			words = append(words, string(a.Value)+a.Description)
		}
		p.complain("console.%s: %s", e.Type, strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		p.complain("exception: %v", e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			p.complain("console: %s %s", e.Entry.Text, e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || (u.Scheme != "data" && u.Scheme != "blob" && u.Host != p.f.Addr().String()) {
			p.complain("a request to another server: %s", e.Request.URL)
		}
	}
}

func (p *tab) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

// expect says that a complaint which contains the text is what the test is about.
func (p *tab) expect(text string) { p.expected = append(p.expected, text) }

// unexpected returns the complaints that the test is not about.
func (p *tab) unexpected() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.complaints), func(c string) bool {
		return slices.ContainsFunc(p.expected, func(e string) bool { return strings.Contains(c, e) })
	})
}

// do runs actions, in their time or the test fails.
func (p *tab) do(what string, actions ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, browserTime)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.Fatalf("%s: %v; the page says: %s\n%s", what, err, p.body(), strings.Join(p.unexpected(), "\n"))
	}
}

// eval runs an expression in the page, and puts what it gives into the value, if that is not nil. Promises are waited for.
func (p *tab) eval(expression string, into any) {
	p.Helper()
	p.do(expression, chromedp.Evaluate(expression, into, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
		return e.WithAwaitPromise(true)
	}))
}

// until waits for an expression to be true.
func (p *tab) until(expression string) {
	p.Helper()
	for end := time.Now().Add(browserTime); ; {
		var yes bool
		p.eval("Boolean("+expression+")", &yes)
		if yes {
			return
		}
		if time.Now().After(end) {
			p.Fatalf("never true: %s; the page says: %s\n%s", expression, p.body(), strings.Join(p.unexpected(), "\n"))
		}
		p.do("a frame", chromedp.Evaluate("new Promise((r) => setTimeout(r, 30))", nil, func(e *runtime.EvaluateParams) *runtime.EvaluateParams {
			return e.WithAwaitPromise(true)
		}))
	}
}

// wait waits for an element.
func (p *tab) wait(selector string) {
	p.Helper()
	p.until(fmt.Sprintf("document.querySelector(%q)", selector))
}

// waitText waits for an element's text to contain some.
func (p *tab) waitText(selector, text string) {
	p.Helper()
	p.until(fmt.Sprintf("[...document.querySelectorAll(%q)].some((e) => e.textContent.includes(%q))", selector, text))
}

// waitPage waits for the page of the address to be shown.
func (p *tab) waitPage(id string) {
	p.Helper()
	p.until(fmt.Sprintf("document.querySelector('main > .page-%s:not([data-loading])')", id))
}

// text returns the text of the first element.
func (p *tab) text(selector string) string {
	p.Helper()
	p.wait(selector)
	var s string
	p.eval(fmt.Sprintf("document.querySelector(%q).textContent", selector), &s)
	return s
}

// click presses the mouse on an element, which must be there to be seen.
func (p *tab) click(selector string) {
	p.Helper()
	p.wait(selector)
	p.do("click "+selector, chromedp.Click(selector, chromedp.ByQuery, chromedp.NodeVisible))
}

// fill types a text in place of what an input holds.
func (p *tab) fill(selector, text string) {
	p.Helper()
	p.wait(selector)
	p.eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.focus(); e.select?.(); })()", selector), nil)
	p.do("type "+text, chromedp.KeyEvent(text))
}

// press presses keys, such as kb.Enter, where the focus is.
func (p *tab) press(keys string) {
	p.Helper()
	p.do("press "+keys, chromedp.KeyEvent(keys))
}

// window gives the page a size in CSS pixels.
func (p *tab) window(width, height int) {
	p.Helper()
	p.do("resize", chromedp.EmulateViewport(int64(width), int64(height)))
}

// prefer makes the system's theme "dark" or "light".
func (p *tab) prefer(theme string) {
	p.Helper()
	p.do("theme", emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
}

// colorsIn is a script's function that counts the colours in a canvas. It looks at a copy: to read a canvas makes it slow.
const colorsIn = `(canvas) => {
	const copy = document.createElement('canvas');
	[copy.width, copy.height] = [canvas.width, canvas.height];
	if (!(copy.width > 0 && copy.height > 0)) return 0;
	const g = copy.getContext('2d', { willReadFrequently: true });
	g.drawImage(canvas, 0, 0);
	return new Set(new Uint32Array(g.getImageData(0, 0, copy.width, copy.height).data.buffer)).size;
}`

// body is the start of what the page says, for messages.
func (p *tab) body() string {
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	var s string
	if err := chromedp.Run(ctx, chromedp.Evaluate("document.body.innerText.slice(0, 2000)", &s)); err != nil {
		return err.Error()
	}
	return s
}

// keepPicture writes a picture of the page into the directory of VAST_SCREENSHOTS, if there is one.
func (p *tab) keepPicture(name string) {
	dir := os.Getenv("VAST_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, browserTime)
	defer cancel()
	var png []byte
	err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&png))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), png, 0o666)
	}
	if err != nil {
		p.Logf("no picture %s: %v", name, err)
	}
}
