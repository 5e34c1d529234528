package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	t.Setenv(tokenVariable, "")
	for _, c := range []struct{ address, token, base, shown, want string }{
		{"127.0.0.1:8080", "", "http://127.0.0.1:8080/", "127.0.0.1:8080", ""},
		{":8080", "", "http://127.0.0.1:8080/", "127.0.0.1:8080", ""},
		{"8080", "", "http://127.0.0.1:8080/", "127.0.0.1:8080", ""},
		{" example.com:80 ", "", "http://example.com:80/", "example.com:80", ""},
		{"[::1]:8080", "", "http://[::1]:8080/", "[::1]:8080", ""},
		{"http://127.0.0.1:1/", "x", "http://127.0.0.1:1/", "127.0.0.1:1", "x"},
		{"http://127.0.0.1:1/#token=secret", "", "http://127.0.0.1:1/", "127.0.0.1:1", "secret"},
		{"http://127.0.0.1:1/#token=secret", "given", "http://127.0.0.1:1/", "127.0.0.1:1", "given"},
		{"127.0.0.1:1/#token=secret", "", "http://127.0.0.1:1/", "127.0.0.1:1", "secret"},
		{"https://proxy.example/vast?x=1#token=a", "", "https://proxy.example/vast/",
			"https://proxy.example/vast/", "a"},
	} {
		p, err := New(c.address, c.token)
		if err != nil {
			t.Errorf("%q: %v", c.address, err)
			continue
		}
		if p.base.String() != c.base || p.Address() != c.shown || p.token != c.want {
			t.Errorf("%q: base %s, shown as %s, token %q; want base %s, shown as %s, token %q", c.address,
				p.base, p.Address(), p.token, c.base, c.shown, c.want)
		}
	}
	for _, address := range []string{"", " ", ":", "http://", "ftp://x:1", "a b:1", "x:port", "x:99999",
		"http://user:word@x:1", "http://[::1", "\x1b[31m:1"} {
		if p, err := New(address, ""); err == nil {
			t.Errorf("%q is accepted as %s", address, p.base)
		} else if !errors.Is(err, errAddress) || strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q: %q", address, err)
		}
	}
	if _, err := New("x:1", "a\nb"); err == nil {
		t.Error("a token with a line break is accepted")
	}
	t.Setenv(tokenVariable, "fromenvironment")
	if p, err := New("x:1", ""); err != nil || p.token != "fromenvironment" {
		t.Errorf("%+v, %v", p, err)
	}
}

func serve(t *testing.T, token string, h http.HandlerFunc) *Program {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	p, err := New(server.URL, token)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestGet(t *testing.T) {
	p := serve(t, "secret", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/v1/entities/17.3" || r.URL.Query().Get("query") != "A & B" ||
			r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		fmt.Fprint(w, `{"n": 7}`)
	})
	var got struct{ N int }
	if err := p.Get(t.Context(), "entities/17.3", url.Values{"query": {"A & B"}}, 100, &got); err != nil ||
		got.N != 7 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := p.Get(t.Context(), "entities/17.3", url.Values{"query": {"A & B"}}, 5, &got); err == nil ||
		!strings.Contains(err.Error(), "cannot be understood") {
		t.Errorf("an answer of more than 5 bytes: %v", err)
	}
}

func TestAnswersAreOneValue(t *testing.T) {
	for _, answer := range []string{"", `{"n": 7`, `{"n": 7} {"n": 8}`, `{"n": 7}]`, `{"n": 7} x`} {
		p := serve(t, "", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, answer) })
		err := p.Get(t.Context(), "x", nil, 100, new(any))
		if err == nil || !strings.Contains(err.Error(), "cannot be understood") {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string // in the message
		place  [2]int
	}{
		{400, `{"error":{"code":"query","message":"no column X","position":9,"length":7}}`, "no column X",
			[2]int{9, 7}},
		{400, `{"error":{"code":"query","message":"bad","position":-9,"length":-1}}`, "bad", [2]int{0, 0}},
		{401, `{"error":{"code":"token","message":"this takes the token"}}`,
			"this takes the token; give the inspector's token with -token", [2]int{-1, 0}},
		{404, `404 page not found`, "is it the inspector of a program?", [2]int{}},
		{302, ``, "is it the inspector", [2]int{}},
		{500, strings.Repeat("x", 1<<20), "is it the inspector", [2]int{}},
	} {
		p := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
			if c.status == 302 {
				w.Header().Set("Location", "/elsewhere")
			}
			if r.URL.Path == "/elsewhere" {
				t.Error("a redirection was followed")
			}
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		err := p.Get(t.Context(), "x", nil, 100, new(any))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d %.60s: %v, want %q", c.status, c.body, err, c.want)
		}
		if refused, ok := errors.AsType[*Error](err); ok &&
			(refused.Status != c.status || [2]int{refused.Position, refused.Length} != c.place) {
			t.Errorf("%+v, want the status %d and the place %v", refused, c.status, c.place)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	p, err := New(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	err = p.Get(t.Context(), "x", nil, 100, new(any))
	if err == nil || !strings.HasPrefix(err.Error(), "no answer from 127.0.0.1:") ||
		strings.Contains(err.Error(), "/api/") {
		t.Errorf("%v", err)
	}
}

func TestStream(t *testing.T) {
	gone := make(chan struct{})
	p := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		if got := r.URL.Query()["topic"]; !slices.Equal(got, []string{"a", "b:17.3"}) {
			t.Errorf("topics %q", got)
		}
		io.WriteString(w, ": \n\nevent: a\ndata: 1\n\nevent: b:17.3\ndata: {\ndata:  }\n\nid: 4\n\ndata: "+
			"x\n\nevent: a\ndata: cut")
	})
	var got []string
	err := p.Stream(t.Context(), []string{"a", "b:17.3"}, func(topic string, data []byte) error {
		got = append(got, topic+"="+string(data))
		return nil
	})
	if want := []string{"a=1", "b:17.3={\n }", "=x"}; !slices.Equal(got, want) ||
		!errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	<-gone
}

func TestStreamEnds(t *testing.T) {
	p := serve(t, "", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "event: a\ndata: 1\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	enough := errors.New("enough")
	if err := p.Stream(t.Context(), []string{"a"}, func(string, []byte) error {
		return enough
	}); !errors.Is(err, enough) {
		t.Errorf("the error of the callback is not returned: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := p.Stream(ctx, []string{"a"}, func(string, []byte) error {
		cancel()
		return nil
	}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the context was cancelled, the error is %v", err)
	}
}

func TestEventsAreBounded(t *testing.T) {
	never := func(string, []byte) error {
		t.Error("readEvents passed on an event of more than maxEvent bytes")
		return nil
	}
	endless := strings.NewReader("data: " + strings.Repeat("x", maxEvent+10) + "\n\n")
	if err := readEvents(endless, func() {}, never); err == nil || err == io.ErrUnexpectedEOF {
		t.Errorf("a long line: %v", err)
	}
	many := strings.NewReader(strings.Repeat("data: "+strings.Repeat("x", 1<<20)+"\n", 5) + "\n")
	if err := readEvents(many, func() {}, never); err == nil ||
		!strings.Contains(err.Error(), "an event has more than") {
		t.Errorf("many lines: %v", err)
	}
}

func FuzzReadEvents(f *testing.F) {
	f.Add("event: a\ndata: 1\n\n")
	f.Add(":\ndata\ndata:\n\ndata:x\r\n\r\n")
	f.Fuzz(func(t *testing.T, text string) {
		lines := 0
		err := readEvents(strings.NewReader(text), func() { lines++ }, func(topic string, data []byte) error {
			if len(data) == 0 || strings.ContainsAny(topic, "\n") {
				t.Errorf("event %q with %q", topic, data)
			}
			return nil
		})
		if err == nil || lines > strings.Count(text, "\n")+1 {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
}
