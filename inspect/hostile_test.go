package inspect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// waiting is the longest time that a test waits for a condition or an answer.
const waiting = 90 * time.Second

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(waiting); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", waiting, what)
		}
	}
}

// serveMore serves the fixture at a second address, with additional routes.
func (f *fixture) serveMore(t *testing.T, more ...route) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	server := newServer(ctx, f.handler(append(f.routes(), more...)))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	t.Cleanup(func() {
		cancel()
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// exchange sends a request on a new connection and returns the answer and its body.
func exchange(t testing.TB, addr, request string) (*http.Response, string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(waiting)); err != nil {
		t.Fatal(err)
	}
	go io.WriteString(conn, request) // the answer may come before the whole request is sent
	method, _, _ := strings.Cut(request, " ")
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	return answer, string(body)
}

// head returns the head of a request. A header is a whole line, such as "Connection: close".
func head(method, target, host string, headers ...string) string {
	return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", method, target, host,
		strings.Join(append(headers, ""), "\r\n"))
}

func checkRefused(t *testing.T, what string, answer *http.Response, body string, status int, code string) {
	t.Helper()
	var got struct{ Error problem }
	err := json.Unmarshal([]byte(body), &got)
	if answer.StatusCode != status || err != nil || got.Error.Code != code || got.Error.Message == "" {
		t.Errorf("%s: %d %.200s, want %d with the code %s", what, answer.StatusCode, body, status, code)
	}
	checkHeaders(t, what, answer)
}

// checkHeaders checks the headers that restrict a browser.
func checkHeaders(t testing.TB, what string, answer *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src " +
			"'self' data:; connect-src 'self'; " +
			"base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q, want %q", what, name, got, want)
		}
	}
	if cache := answer.Header.Get("Cache-Control"); cache != "no-store" && cache != "no-cache" {
		t.Errorf("%s: Cache-Control is %q", what, cache)
	}
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// target returns a path that the route answers.
func (rt route) target() string { return prefix + placeholder.ReplaceAllString(rt.pattern, "1.1") }

// writes returns the writing routes of the fixture, and writeRoute.
func (f *fixture) writes(reached *int) (all []route) {
	for _, rt := range f.routes() {
		if rt.write {
			all = append(all, rt)
		}
	}
	return append(all, writeRoute(reached))
}

func writeRoute(reached *int) route {
	return route{method: "POST", pattern: "test/write", write: true,
		answer: func(r *http.Request) (any, error) {
			*reached++
			_, err := io.ReadAll(r.Body)
			return true, err
		}}
}

var targets = []string{
	"/", "/index.html", "/nothing.js", prefix, prefix + "world", prefix + "nothing", prefix + "openapi.json",
	prefix + "stream?topic=overview", "/metrics", "/debug/pprof/", "/debug/vars",
}

func TestForeignHost(t *testing.T) {
	f := newFixture(t, Options{Hosts: []string{"Proxy.example"}, Profiling: true, ReadWrite: true})
	addr := f.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	for _, host := range []string{
		"evil.example", "evil.example:" + port, "127.0.0.1.evil.example", "localhost.evil.example:" + port,
		"localhost.", "xlocalhost",
		"127.1", "2130706433", "0x7f.1", "", ":" + port, "localhost@evil.example", "evil.example#localhost",
		"a.proxy.example",
	} {
		for _, target := range targets {
			answer, body := exchange(t, addr, head("GET", target, host))
			if answer.StatusCode == http.StatusBadRequest && strings.HasPrefix(body, "400 Bad Request") {
				continue // net/http itself refuses this host
			}
			checkRefused(t, fmt.Sprintf("%s at %q", target, host), answer, body, http.StatusForbidden, "host")
		}
		answer, _ := exchange(t, addr, head("POST", prefix+"test/write", host,
			"Authorization: Bearer "+f.options.Token))
		if answer.StatusCode < 400 {
			t.Errorf("a write at %q: %d", host, answer.StatusCode)
		}
	}
	answer, body := exchange(t, addr, "GET "+prefix+"world HTTP/1.0\r\n\r\n")
	checkRefused(t, "a request without a host", answer, body, http.StatusForbidden, "host")
	answer, body = exchange(t, addr, head("GET", "http://evil.example"+prefix+"world", addr))
	checkRefused(t, "a URL as the target", answer, body, http.StatusForbidden, "host")

	for _, host := range []string{addr, "localhost:" + port, "LocalHost", "[::1]:" + port, "[::1]",
		"proxy.example", "PROXY.example:80"} {
		if answer, body := exchange(t, addr, head("GET", prefix+"world",
			host)); answer.StatusCode != http.StatusOK {
			t.Errorf("the host %q: %d %s", host, answer.StatusCode, body)
		}
	}
}

func TestForeignOrigin(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	reached := 0
	addr := f.serveMore(t, writeRoute(&reached))
	_, port, _ := net.SplitHostPort(addr)
	token := "Authorization: Bearer " + f.options.Token
	foreign := [][]string{
		{"Origin: http://evil.example"}, {"Origin: null"}, {"Origin: "}, {"Origin: http://127.0.0.1:1"},
		{"Origin: http://127.0.0.1"},
		{"Origin: http://localhost:" + port}, {"Origin: http://" + addr + ".evil.example"},
		{"Origin: http://evil.example@" + addr + ":1"},
		{"Origin: http://" + addr, "Origin: http://evil.example"}, {"Origin: %zz"}, {"Origin: " + addr},
		{"Sec-Fetch-Site: cross-site"}, {"Sec-Fetch-Site: same-site"}, {"Sec-Fetch-Site: x"},
		{"Sec-Fetch-Site: cross-site", "Origin: http://" + addr},
		{"Sec-Fetch-Site: same-origin", "Origin: http://evil.example"},
	}
	for _, headers := range foreign {
		for _, target := range []string{"world", "openapi.json", "stream?topic=overview"} {
			answer, body := exchange(t, addr, head("GET", prefix+target, addr, append(headers, token)...))
			checkRefused(t, fmt.Sprintf("%s %q", target, headers), answer, body, http.StatusForbidden,
				"origin")
		}
		answer, body := exchange(t, addr, head("POST", prefix+"test/write", addr, append(headers, token)...))
		checkRefused(t, fmt.Sprintf("write %q", headers), answer, body, http.StatusForbidden, "origin")
	}
	if reached != 0 {
		t.Errorf("a foreign page has written %d times", reached)
	}
	own := [][]string{{}, {"Origin: http://" + addr}, {"Sec-Fetch-Site: same-origin"},
		{"Sec-Fetch-Site: none"}}
	for _, headers := range own {
		if answer, body := exchange(t, addr, head("GET", prefix+"world", addr,
			headers...)); answer.StatusCode != http.StatusOK {
			t.Errorf("%q: %d %s", headers, answer.StatusCode, body)
		}
		answer, body := exchange(t, addr, head("POST", prefix+"test/write", addr, append(headers, token)...))
		if answer.StatusCode != http.StatusOK {
			t.Errorf("write %q: %d %s", headers, answer.StatusCode, body)
		}
	}
	if reached != len(own) {
		t.Errorf("the page itself has written %d times, want %d", reached, len(own))
	}
}

// wrongTokens lists headers of requests. An inspector with the token "Secret1234" must refuse each of these
// requests.
var wrongTokens = [][]string{
	nil, {"Authorization: "}, {"Authorization: Bearer"}, {"Authorization: Bearer "},
	{"Authorization: Secret1234"},
	{"Authorization: Bearer Secret123"}, {"Authorization: Bearer Secret12345"},
	{"Authorization: Bearer secret1234"},
	{"Authorization: Basic Secret1234"}, {"Authorization: bearer  Secret1234"},
	{"Authorization: Bearer wrong", "Authorization: Bearer Secret1234"},
	{"Cookie: token=Secret1234"},
}

func TestWritingRequiresTheToken(t *testing.T) {
	reached := 0
	f := newFixture(t, Options{ReadWrite: true, Token: "Secret1234"})
	addr := f.serveMore(t, writeRoute(&reached))
	for _, rt := range f.writes(&reached) {
		for _, headers := range wrongTokens {
			for _, target := range []string{rt.target(), rt.target() + "?token=Secret1234"} {
				answer, body := exchange(t, addr, head(rt.method, target, addr, headers...))
				checkRefused(t, fmt.Sprintf("%s %s %q", rt.method, target, headers), answer, body,
					http.StatusUnauthorized, "token")
				if answer.Header.Get("WWW-Authenticate") != "Bearer" {
					t.Errorf("WWW-Authenticate is %q", answer.Header.Get("WWW-Authenticate"))
				}
			}
		}
	}
	token := "Authorization: Bearer Secret1234"
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x", ""} {
		answer, body := exchange(t, addr, head("POST", prefix+"test/write", addr, token,
			"Content-Type: "+kind, "Content-Length: 2")+"{}")
		checkRefused(t, "a body of the type "+kind, answer, body, http.StatusUnsupportedMediaType, "type")
	}
	if reached != 0 {
		t.Fatalf("%d writes were accepted without the token or with a wrong Content-Type", reached)
	}
	answer, body := exchange(t, addr, head("POST", prefix+"test/write", addr, token,
		"Content-Type: application/json", "Content-Length: 2")+"{}")
	if answer.StatusCode != http.StatusOK || reached != 1 {
		t.Errorf("with the token: %d %s", answer.StatusCode, body)
	}
}

func TestReadOnlyRefusesWriting(t *testing.T) {
	reached := 0
	f := newFixture(t, Options{Token: "Secret1234"})
	addr := f.serveMore(t, writeRoute(&reached))
	for _, rt := range f.writes(&reached) {
		answer, body := exchange(t, addr, head(rt.method, rt.target(), addr,
			"Authorization: Bearer Secret1234"))
		checkRefused(t, rt.method+" "+rt.pattern, answer, body, http.StatusForbidden, "readOnly")
	}
	if reached != 0 {
		t.Errorf("a read-only inspector accepted %d writes", reached)
	}
}

func TestPublicAddressRequiresTheToken(t *testing.T) {
	f := newFixture(t, Options{Addr: "0.0.0.0:0", Token: "Secret1234", Profiling: true})
	addr := browsable(f.Addr())
	for _, rt := range f.routes() {
		if rt.write {
			continue // see TestReadOnlyRefusesWriting
		}
		for _, headers := range wrongTokens {
			answer, body := exchange(t, addr, head("GET", rt.target()+"?token=Secret1234", addr, headers...))
			checkRefused(t, fmt.Sprintf("%s %q", rt.pattern, headers), answer, body, http.StatusUnauthorized,
				"token")
		}
	}
	for _, target := range []string{"/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/cmdline",
		"/debug/vars"} {
		answer, body := exchange(t, addr, head("GET", target, addr))
		if answer.StatusCode != http.StatusUnauthorized && answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d %.80s", target, answer.StatusCode, body)
		}
	}
	if answer, body := exchange(t, addr, head("GET", prefix+"world", addr,
		"Authorization: Bearer Secret1234")); answer.StatusCode != http.StatusOK {
		t.Errorf("with the token: %d %s", answer.StatusCode, body)
	}
	answer, body := exchange(t, addr, head("GET", "/", addr))
	if answer.StatusCode != http.StatusOK || !strings.Contains(body, "<!doctype html>") {
		t.Errorf("the page: %d %s", answer.StatusCode, body)
	}
	if strings.Contains(body, "Secret1234") || !strings.HasSuffix(f.URL(), "#token=Secret1234") {
		t.Errorf("the page contains the token, or the URL %s does not end with it", f.URL())
	}
}

func TestMethods(t *testing.T) {
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	allowed := map[string][]string{"/": {"GET", "HEAD"}, "/index.html": {"GET", "HEAD"}}
	for _, rt := range f.routes() {
		methods := append(allowed[rt.target()], rt.method)
		if rt.method == "GET" {
			methods = append(methods, "HEAD")
		}
		allowed[rt.target()] = methods
	}
	for target, methods := range allowed {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE",
			"BREW", "get"} {
			if slices.Contains(methods, method) {
				continue
			}
			answer, body := exchange(t, addr, head(method, target, addr,
				"Authorization: Bearer "+f.options.Token))
			if method == "HEAD" { // the answer has no body
				if answer.StatusCode != http.StatusMethodNotAllowed {
					t.Errorf("HEAD %s: %d", target, answer.StatusCode)
				}
				continue
			}
			checkRefused(t, method+" "+target, answer, body, http.StatusMethodNotAllowed, "method")
			for _, m := range strings.Split(answer.Header.Get("Allow"), ", ") {
				if !slices.Contains(methods, m) {
					t.Errorf("%s %s: Allow is %q, want only %q", method, target, answer.Header.Get("Allow"),
						methods)
				}
			}
		}
	}
	if answer, _ := exchange(t, addr, head("HEAD", prefix+"world",
		addr)); answer.StatusCode != http.StatusOK {
		t.Errorf("HEAD of the world: %d", answer.StatusCode)
	}
}
