package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
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

// Tab is a window of the browser. At its end, a test fails if there were messages in the console, exceptions
// of scripts, or requests to servers other than the test's server. The methods of Tab, except
// KeepPicture, fail the test if they take longer than [Time].
type Tab struct {
	testing.TB
	ctx  context.Context
	host string

	mu         sync.Mutex
	complaints []string
	expected   []string
}

// Open opens an empty window for the pages of one server, whose address is host. If the test fails, a picture
// is saved at its end: see [Tab.KeepPicture].
func Open(t testing.TB, host string) *Tab {
	t.Helper()
	Needed(t)
	id, closeWindow, err := newWindow()
	if err != nil {
		t.Fatalf("the browser opens no window: %v", err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithTargetID(id))
	p := &Tab{TB: t, ctx: ctx, host: host}
	chromedp.ListenTarget(ctx, p.hear)
	t.Cleanup(func() {
		if t.Failed() {
			p.KeepPicture("failed-" + t.Name())
		}
		cancel()
		closeWindow()
		for _, c := range p.Complaints() {
			t.Error(c)
		}
	})
	// The context of the first Run must have no deadline, because Run binds the window to this context. Each
	// window emulates the focus, because only one window of all tests can have the real focus.
	err = chromedp.Run(ctx, runtime.Enable(), log.Enable(), network.Enable(),
		emulation.SetFocusEmulationEnabled(true))
	if err != nil {
		t.Fatalf("the window of the browser cannot be used: %v", err)
	}
	p.Window(1280, 900)
	return p
}

// newWindow opens a window with storage of its own.
func newWindow() (id target.ID, closeWindow func(), err error) {
	ctx, cancel := context.WithTimeout(browser.ctx, Time)
	defer cancel()
	executor := cdp.WithExecutor(ctx, chromedp.FromContext(browser.ctx).Browser)
	profile, err := target.CreateBrowserContext().Do(executor)
	if err != nil {
		return "", nil, err
	}
	id, err = target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).
		Do(executor)
	return id, func() {
		ctx, cancel := context.WithTimeout(browser.ctx, Time)
		defer cancel()
		executor := cdp.WithExecutor(ctx, chromedp.FromContext(browser.ctx).Browser)
		_ = target.DisposeBrowserContext(profile).Do(executor) // on failure, the window ends with the browser
	}, err
}

// hear records the browser's complaints about the page. The browser's goroutine calls it.
func (p *Tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, a := range e.Args {
			words = append(words, string(a.Value)+a.Description)
		}
		p.complain("console.%s: %s", e.Type, strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		p.complain("exception: %v", e.ExceptionDetails.Error())
	case *log.EventEntryAdded:
		p.complain("console: %s %s", e.Entry.Text, e.Entry.URL)
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || (u.Scheme != "data" && u.Scheme != "blob" && u.Host != p.host) {
			p.complain("a request to another server: %s", e.Request.URL)
		}
	}
}

func (p *Tab) complain(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complaints = append(p.complaints, fmt.Sprintf(format, args...))
}

// Expect makes [Tab.Complaints] leave out the complaints that contain the text.
func (p *Tab) Expect(text string) { p.expected = append(p.expected, text) }

// Complaints returns the unexpected complaints: each fails the test at its end.
func (p *Tab) Complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.complaints), func(c string) bool {
		return slices.ContainsFunc(p.expected, func(e string) bool { return strings.Contains(c, e) })
	})
}

// Do runs actions. In the message of a failure, title names the actions.
func (p *Tab) Do(title string, actions ...chromedp.Action) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Time)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		p.Fatalf("%s: %v; %s", title, err, p.said())
	}
}

// Eval runs an expression in the page. If the value of the expression is a promise, Eval waits for the value
// of the promise. Eval stores the value in the variable to which result points, or drops it if result is nil.
func (p *Tab) Eval(expression string, result any) {
	p.Helper()
	p.Do(expression, chromedp.Evaluate(expression, result, awaiting))
}

func awaiting(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }

// Until waits until an expression is true. An error does not end the wait, because a page cannot run the
// expression while the browser opens or closes the page.
func (p *Tab) Until(expression string) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, Time)
	defer cancel()
	for yes := false; ; {
		err := chromedp.Run(ctx, chromedp.Evaluate("Boolean("+expression+")", &yes))
		if err == nil && yes {
			return
		}
		select {
		case <-ctx.Done():
			p.Fatalf("the expression did not become true: %s (%v); %s", expression, err, p.said())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Press presses keys, such as kb.Enter, at the focus.
func (p *Tab) Press(keys string) {
	p.Helper()
	p.Do("press "+keys, chromedp.KeyEvent(keys))
}

// Window sets the size of the page in CSS pixels. The initial size is 1280 by 900.
func (p *Tab) Window(width, height int) {
	p.Helper()
	p.Do("resize", chromedp.EmulateViewport(int64(width), int64(height)))
}

// Prefer sets the system's theme: "dark" or "light".
func (p *Tab) Prefer(theme string) {
	p.Helper()
	feature := &emulation.MediaFeature{Name: "prefers-color-scheme", Value: theme}
	p.Do("theme", emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{feature}))
}

// said returns the start of the page's text and the complaints, for the message of a failure.
func (p *Tab) said() string {
	ctx, cancel := context.WithTimeout(p.ctx, time.Second)
	defer cancel()
	var s string
	if err := chromedp.Run(ctx, chromedp.Evaluate("document.body.innerText.slice(0, 2000)", &s)); err != nil {
		s = err.Error()
	}
	return "the page says: " + s + "\n" + strings.Join(p.Complaints(), "\n")
}

// KeepPicture saves a picture of the page in the directory that the environment variable VAST_SCREENSHOTS
// names. It does nothing if the variable is not set.
func (p *Tab) KeepPicture(name string) {
	dir := os.Getenv("VAST_SCREENSHOTS")
	if dir == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, Time)
	defer cancel()
	var png []byte
	err := chromedp.Run(ctx, chromedp.CaptureScreenshot(&png))
	if err == nil {
		err = os.MkdirAll(dir, 0o777)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"), png, 0o666)
	}
	if err != nil {
		p.Logf("the picture %s cannot be saved: %v", name, err)
	}
}
