package inspect

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

func TestHandlers(t *testing.T) {
	reached := 0
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, r.Method+" "+r.URL.RawQuery+" "+string(body))
	})
	o := Options{Addr: "0.0.0.0:0", Token: "Secret1234", Handlers: map[string]http.Handler{"echo": echo,
		"a-2": http.NotFoundHandler()}}
	f := newFixture(t, o)
	var world worldAnswer
	if f.get(t, "world", &world); !slices.Equal(world.Handlers, []string{"a-2", "echo"}) {
		t.Errorf("the world lists %q", world.Handlers)
	}
	addr := browsable(f.Addr())
	token := "Authorization: Bearer Secret1234"
	for _, c := range []struct {
		method, host, code string
		status             int
		headers            []string
	}{
		{"GET", addr, "token", http.StatusUnauthorized, nil},
		{"GET", "evil.example", "host", http.StatusForbidden, []string{token}},
		{"GET", addr, "origin", http.StatusForbidden, []string{token, "Origin: http://evil.example"}},
		{"POST", addr, "readOnly", http.StatusForbidden, []string{token}},
		{"DELETE", addr, "method", http.StatusMethodNotAllowed, []string{token}},
	} {
		answer, body := exchange(t, addr, head(c.method, prefix+"echo?x=1", c.host, c.headers...))
		checkRefused(t, c.method+" "+c.host, answer, body, c.status, c.code)
	}
	if reached != 0 {
		t.Fatalf("the handler got %d refused requests", reached)
	}
	answer, body := exchange(t, addr, head("GET", prefix+"echo?x=1", addr, token))
	if answer.StatusCode != http.StatusOK || body != "GET x=1 " {
		t.Errorf("GET: %d %s", answer.StatusCode, body)
	}
	checkHeaders(t, "a handler", answer)

	o.ReadWrite, o.Addr = true, ""
	f = newFixture(t, o)
	f.refused(t, http.StatusUnauthorized, "POST", "echo", "", "{}")
	if status, body := f.do(t, "POST", prefix+"echo", "Secret1234", "{}"); status != http.StatusOK ||
		string(body) != "POST  {}" {
		t.Errorf("POST: %d %s", status, body)
	}
}

func TestHandlerNames(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	for _, name := range []string{"", "sql", "views", "openapi.json", "entities", "A", "a/b", "{a}",
		strings.Repeat("a", 33)} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, "Options.Handlers") {
					t.Errorf("%q: the panic is %q", name, v)
				}
			}()
			handlers := map[string]http.Handler{name: http.NotFoundHandler()}
			_, _ = Serve(t.Context(), w, Options{Handlers: handlers})
		}()
	}
}
