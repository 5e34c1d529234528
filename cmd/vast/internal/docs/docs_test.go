package docs

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

func request(t *testing.T, method, target string) *http.Response {
	t.Helper()
	w := httptest.NewRecorder()
	theSite(t).ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestServe(t *testing.T) {
	for _, c := range []struct {
		method, target string
		status         int
		kind, has      string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", "<h1 id=\"guide\">"},
		{"HEAD", "/guide/start.html", 200, "text/html; charset=utf-8", ""},
		{"GET", "/guide/start.html", 200, "text/html; charset=utf-8", "Start in five minutes"},
		{"GET", "/decisions/", 200, "text/html; charset=utf-8", "<h1 id=\"decisions\">"},
		{"GET", "/style.css", 200, "text/css; charset=utf-8", "--head"},
		{"GET", "/base.css", 200, "text/css; charset=utf-8", "--accent"},
		{"GET", "/site.js", 200, "text/javascript; charset=utf-8", "MiniSearch"},
		{"GET", "/minisearch/LICENSE", 200, "text/plain; charset=utf-8", "Copyright"},
		{"GET", "/picture/choosing.svg", 200, "image/svg+xml", "<svg"},
		{"GET", "/search.html?q=delete+in+a+loop", 200, "text/html; charset=utf-8",
			"guide/cookbook-entities.html#delete-entities-in-a-loop"},
		{"GET", "/search.html?q=%3Cscript%3Ealert(1)%3C/script%3E", 200, "text/html; charset=utf-8",
			"&lt;script&gt;"},
		{"GET", "/search.html?q=", 200, "text/html; charset=utf-8", "Type a few words"},
		{"GET", "/guide/nowhere.html", 404, "text/html; charset=utf-8", `href="../index.html"`},
		{"GET", "/guide/start/", 404, "text/html; charset=utf-8", `href="../../index.html"`},
		{"GET", "/guide/start.md", 404, "text/html; charset=utf-8", "no such page"},
		{"GET", "/../../etc/passwd", 404, "text/html; charset=utf-8", "no such page"},
		{"GET", "/docs.go", 404, "text/html; charset=utf-8", "no such page"},
		{"GET", "/page.html", 404, "text/html; charset=utf-8", "no such page"},
		{"POST", "/", 405, "text/plain; charset=utf-8", "read-only"},
	} {
		r := request(t, c.method, c.target)
		text := body(t, r)
		if r.StatusCode != c.status || r.Header.Get("Content-Type") != c.kind ||
			!strings.Contains(text, c.has) ||
			c.method == "HEAD" && text != "" {
			t.Errorf("%s %s: status %d and type %s; want status %d, type %s and %q in\n%.300s", c.method,
				c.target, r.StatusCode, r.Header.Get("Content-Type"), c.status, c.kind, c.has, text)
		}
		if strings.Contains(text, "<script>") {
			t.Errorf("%s: the page has an inline script", c.target)
		}
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") &&
			c.kind != "image/svg+xml" {
			t.Errorf("%s has the policy %s", c.target, policy)
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ready := make(chan string, 1)
	ended := make(chan error, 1)
	s := theSite(t)
	go func() { ended <- s.serve(ctx, "127.0.0.1:0", func(url string) { ready <- url }) }()
	select {
	case url := <-ready:
		r, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		if r.StatusCode != 200 {
			t.Errorf("GET %s: %s", url, r.Status)
		}
	case err := <-ended:
		t.Fatal(err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestRun(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"-h"}, cli.Success, "usage: vast docs"},
		{[]string{"-nothing"}, cli.Misuse, "-nothing"},
		{[]string{"somewhere"}, cli.Misuse, `unexpected argument "somewhere"`},
		{[]string{"-addr", taken.Addr().String()}, cli.Failure, taken.Addr().String()},
		{[]string{"-out", filepath.Join(file, "under")}, cli.Failure, "file"},
		{[]string{"-out", filepath.Join(dir, "site")}, cli.Success, "begin with index.html"},
	} {
		var stdout, stderr bytes.Buffer
		if status := Run(c.args, &stdout, &stderr); status != c.status ||
			!strings.Contains(stdout.String()+stderr.String(), c.says) {
			t.Errorf("%q: status %d, want %d and %q in\n%s%s", c.args, status, c.status, c.says,
				stdout.String(), stderr.String())
		}
	}
	for name, content := range theSite(t).files {
		if got, err := os.ReadFile(filepath.Join(dir, "site", filepath.FromSlash(name))); err != nil ||
			!bytes.Equal(got, content) {
			t.Errorf("%s differs from the served file: %v", name, err)
		}
	}
}

func TestBrowsable(t *testing.T) {
	for _, c := range []struct {
		addr net.Addr
		want string
	}{
		{&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}, "127.0.0.1:80"},
		{&net.TCPAddr{IP: net.IPv4zero, Port: 80}, "localhost:80"},
		{&net.TCPAddr{IP: net.IPv6unspecified, Port: 80}, "localhost:80"},
		{&net.UnixAddr{Name: "/a"}, "/a"},
	} {
		if got := browsable(c.addr); got != c.want {
			t.Errorf("browsable(%v) = %s, want %s", c.addr, got, c.want)
		}
	}
}
