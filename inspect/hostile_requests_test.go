package inspect

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestLargeRequests(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true, Token: "Secret1234"})
	reached := 0
	addr := f.serveMore(t, writeRoute(&reached))
	headers := []string{"Authorization: Bearer Secret1234", "Content-Type: application/json"}

	declared := fmt.Sprintf("Content-Length: %d", maxBodyBytes+1)
	for _, target := range []string{prefix + "test/write", prefix + "world", "/"} {
		answer, body := exchange(t, addr, head("POST", target, addr, append(headers, declared)...))
		checkRefused(t, "a large Content-Length for "+target, answer, body,
			http.StatusRequestEntityTooLarge, "size")
	}
	if reached != 0 {
		t.Error("a body with a large Content-Length was accepted")
	}
	chunk := fmt.Sprintf("%x\r\n%s\r\n", maxBodyBytes/8, strings.Repeat("x", maxBodyBytes/8))
	answer, body := exchange(t, addr, head("POST", prefix+"test/write", addr,
		append(headers, "Transfer-Encoding: chunked")...)+
		strings.Repeat(chunk, 8)+"1\r\nx\r\n0\r\n\r\n")
	checkRefused(t, "a large body without Content-Length", answer, body,
		http.StatusRequestEntityTooLarge, "size")
	answer, body = exchange(t, addr, head("POST", prefix+"test/write", addr,
		append(headers, "Transfer-Encoding: chunked")...)+
		strings.Repeat(chunk, 8)+"0\r\n\r\n")
	if answer.StatusCode != http.StatusOK {
		t.Errorf("a body of the largest size: %d %s", answer.StatusCode, body)
	}

	long := strings.Repeat("x", 2*maxHeaderBytes)
	for what, request := range map[string]string{
		"header":          head("GET", prefix+"world", addr, "X-Long: "+long),
		"list of headers": head("GET", prefix+"world", addr, strings.Repeat("X-A: b\r\n", 4096)+"X-B: c"),
		"target":          head("GET", prefix+"world?"+long, addr),
	} {
		if answer, body := exchange(t, addr,
			request); answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a %s that is too long: %d %s", what, answer.StatusCode, body)
		}
	}
}

func TestBodyThatNeverComes(t *testing.T) {
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	for _, method := range []string{"GET", "POST"} {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// A server that waits for the body answers only after readTime.
		if err := conn.SetDeadline(time.Now().Add(readTime - time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head(method, prefix+"world", addr,
			"Content-Length: 1000")); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil {
			t.Errorf("%s: the connection is kept open: %v", method, err)
		}
	}
}

func TestStrangePaths(t *testing.T) {
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	for _, target := range []string{
		"/../../../../../../etc/passwd", "/..%2f..%2f..%2f..%2fetc/passwd",
		"/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "/%2e%2e%5c%2e%2e%5cgo.mod",
		`/..\..\go.mod`, "/./page/../../inspect.go", "/page/", "/page/index.html", "/uplot/../../inspect.go",
		"/index.html/x", "/index.html%00",
		"/%00", "/index.html%00.js", "/.", "/..", "//", "//evil.example/", "//evil.example/%2e%2e",
		`/\evil.example`, "/con", "/C:/Windows/win.ini",
		"/api", "/api/v1", "/api/v1/../v1/nothing", "/api/v1/%2e%2e/%2e%2e/etc/passwd", "/api/v1//nothing",
		"/api/v1/world/", "/api/v1/world%2f",
		"/api/v1/WORLD", "/api/v2/world", "/" + strings.Repeat("a/", 4000), "/" +
			strings.Repeat("%2e%2e/", 1000) + "go.mod", "*", "x", "/%", "/%zz", "?", "",
	} {
		answer, body := exchange(t, addr, head("GET", target, addr))
		switch s := answer.StatusCode; {
		case s == http.StatusMovedPermanently || s == http.StatusTemporaryRedirect ||
			s == http.StatusPermanentRedirect:
			to := answer.Header.Get("Location")
			if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.HasPrefix(to, `/\`) {
				t.Errorf("%.80q redirects to %q", target, to)
			}
		case s != http.StatusBadRequest && s != http.StatusNotFound:
			t.Errorf("%.80q: %d %.80s", target, s, body)
		case s == http.StatusNotFound:
			checkRefused(t, target, answer, body, http.StatusNotFound, "notFound")
		}
		if strings.Contains(body, "root:") || strings.Contains(body, "package inspect") {
			t.Errorf("%.80q returns content from outside the page: %.80s", target, body)
		}
	}
	answer, body := exchange(t, addr, "GET /\x00 HTTP/1.1\r\nHost: "+addr+"\r\n\r\n")
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("NUL in the path: %d %s", answer.StatusCode, body)
	}
}

func TestBrokenRequests(t *testing.T) {
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	for _, request := range []string{
		"\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		head("POST", prefix+"world", addr, "Content-Length: -1"),
		head("POST", prefix+"world", addr, "Content-Length: 1", "Content-Length: 2"),
		head("POST", prefix+"world", addr, "Transfer-Encoding: chunked, gzip"),
		head("POST", prefix+"world", addr, "Transfer-Encoding: chunked") + "ffffffffffffffffff\r\n",
		head("GET", prefix+"world", addr, "X : y"), head("GET", prefix+"world", addr, "X: \x00"),
	} {
		answer, body := exchange(t, addr, request)
		if answer.StatusCode < 400 || answer.StatusCode == http.StatusInternalServerError {
			t.Errorf("%.60q: %d %.80s", request, answer.StatusCode, body)
		}
	}
	f.refused(t, http.StatusNotFound, "GET", "nothing", "", "")
}

func TestPanicIsAnswered(t *testing.T) {
	f := newFixture(t, Options{})
	var none map[string]int
	addr := f.serveMore(t,
		route{method: "GET", pattern: "test/text", answer: func(*http.Request) (any,
			error) {
			panic("on purpose")
		}},
		route{method: "GET", pattern: "test/error", answer: func(*http.Request) (any,
			error) {
			none["x"]++
			return nil, nil
		}},
		route{method: "GET", pattern: "test/look", answer: func(r *http.Request) (any, error) {
			return nil, f.look(r.Context(), func() bool { panic("on purpose") })
		}},
		route{method: "GET", pattern: "test/json", answer: func(*http.Request) (any,
			error) {
			return func() {}, nil
		}},
		route{method: "GET", pattern: "test/raw", raw: func(w http.ResponseWriter, _ *http.Request) error {
			io.WriteString(w, strings.Repeat("x", 100_000))
			panic("on purpose")
		}})
	for _, name := range []string{"text", "error", "look", "json"} {
		answer, body := exchange(t, addr, head("GET", prefix+"test/"+name, addr))
		checkRefused(t, name, answer, body, http.StatusInternalServerError, "failure")
	}
	answer, err := http.Get("http://" + addr + prefix + "test/raw")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an answer that ends with a panic looks complete: %d bytes, %v", len(body), err)
	}
	if answer, body := exchange(t, addr, head("GET", prefix+"world",
		addr)); answer.StatusCode != http.StatusOK {
		t.Errorf("after the panics: %d %s", answer.StatusCode, body)
	}
}
