// Package browsertest opens pages in a real browser for tests. All tests of a package share one Chromium.
package browsertest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/vastgo/vast/internal/longtest"
)

// Time is the longest time that a step in the browser may take. It is long because CI machines are slow.
const Time = 30 * time.Second

var errNoBrowser = errors.New("no chromium or chrome found: install chromium, or put its path into " +
	"VAST_BROWSER")

// browser is the browser of all tests. Each [Tab] has a profile of its own.
var browser struct {
	start sync.Once
	ctx   context.Context
	stop  func()
	err   error
}

// Main is the body of TestMain: it runs the tests and stops the browser.
func Main(m *testing.M) {
	longtest.Waiting(4)
	code := m.Run()
	if browser.stop != nil {
		browser.stop()
	}
	os.Exit(code)
}

// Needed starts the browser, once for all tests. If the machine has no browser, Needed skips the test. The
// environment variable VAST_BROWSER_REQUIRED makes Needed fail the test instead. If the browser does not
// start, Needed fails the test. With the flag -short, Needed skips the test and starts no browser.
func Needed(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("tests in a browser are not short")
	}
	browser.start.Do(start)
	switch {
	case errors.Is(browser.err, errNoBrowser) && os.Getenv("VAST_BROWSER_REQUIRED") == "":
		t.Skip(browser.err)
	case browser.err != nil:
		t.Fatalf("the browser does not start: %v", browser.err)
	}
}

func findBrowser() (string, error) {
	names := []string{"chromium", "google-chrome-stable", "google-chrome", "chromium-browser",
		"headless_shell"}
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

// start starts the browser. It tries at most three times, because a browser sometimes hangs while it starts
// on a busy machine.
func start() {
	path, err := findBrowser()
	if err != nil {
		browser.err = err
		return
	}
	for range 3 {
		if browser.err = startOnce(path); browser.err == nil {
			return
		}
	}
}

func startOnce(path string) error {
	profile, err := os.MkdirTemp("", "vast-browser-")
	if err != nil {
		return err
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(profile), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("no-proxy-server", true),
		// A spare process for the next window would cost as much as the process of an open window.
		chromedp.Flag("disable-features", "site-per-process,Translate,BlinkGenPropertyTrees,"+
			"SpareRendererForSitePerProcess,IsolateOrigins"),
		chromedp.Flag("in-process-gpu", true), chromedp.Flag("renderer-process-limit", "4"),
		chromedp.WSURLReadTimeout(Time))
	allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
	// A newer browser sends events that the library does not know. These events are not errors.
	ctx, endBrowser := chromedp.NewContext(allocator, chromedp.WithErrorf(func(string, ...any) {}))
	stop := func() {
		endBrowser()
		end()
		os.RemoveAll(profile) // may fail while processes of the browser are still ending
	}
	if err := chromedp.Run(ctx); err != nil {
		stop()
		return err
	}
	browser.ctx, browser.stop = ctx, stop
	return nil
}
