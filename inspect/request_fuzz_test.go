package inspect

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// FuzzRequest sends arbitrary requests with the token. Each request must get a complete answer. The handler
// must not panic, which would give the status 500.
func FuzzRequest(f *testing.F) {
	for _, seed := range [][4]string{
		{"GET", "/", "", ""}, {"GET", prefix + "world", "", ""}, {"HEAD", prefix + "openapi.json", "", ""},
		{"GET", prefix + "stream", "topic=overview&topic=entity:1.1", ""},
		{"GET", prefix + "stream", "topic=%0a", ""},
		{"GET", prefix + "entities", "query=Position,!Dead&limit=3&offset=1&columns=Position,Infected", ""},
		{"GET", prefix + "entities", "limit=-1&offset=99999999999999999999", ""},
		{"GET", prefix + "entities/0.1", "", ""},
		{"GET", prefix + "entities/0.1/children", "relation=ChildOf&limit=2", ""},
		{"GET", prefix + "entities/4294967295.4294967295", "", ""},
		{"GET", prefix + "names", "prefix=P&limit=9", ""},
		{"GET", prefix + "count", "query=ChildOf(Paris)", ""},
		{"GET", prefix + "rows", "query=Position&format=csv&sample=3&limit=10", ""},
		{"GET", prefix + "rows", "query=%00&format=x", ""},
		{"GET", prefix + "query/check", "text=%f0%9f%8c%8d,(!", ""},
		{"GET", prefix + "query/complete", "text=Pos&at=3", ""},
		{"GET", prefix + "query/complete", "text=Pos&at=-9223372036854775808", ""},
		{"GET", prefix + "histogram", "query=Position&field=Position.X&bins=10", ""},
		{"GET", prefix + "histogram", "field=.&bins=1000000000", ""},
		{"GET", prefix + "overview", "", ""}, {"GET", prefix + "memory", "", ""},
		{"GET", prefix + "systems", "", ""},
		{"GET", prefix + "systems/timeline", "", ""}, {"GET", prefix + "views", "", ""},
		{"GET", prefix + "views/map", "width=9999999", ""},
		{"GET", prefix + "sql", "q=SELECT+1&limit=9", ""}, {"HEAD", prefix + "sql", "q=VALUES+(1)", ""},
		{"POST", prefix + "sql", "", `{"statement":"WITH t AS (SELECT ';') DELETE FROM t","limit":1}`},
		{"GET", prefix + "views/plane/points", "q=SELECT+1", ""},
		{"POST", prefix + "control", "", `{"action":"step","ticks":3}`},
		{"POST", prefix + "control", "", `{"action":"resume"}`},
		{"POST", prefix + "control", "", `{"action":1e999}`},
		{"PATCH", prefix + "entities/0.1/components/Position", "", `{"path":"X","value":3}`},
		{"PATCH", prefix + "entities/0.1/components/Position", "", `{"path":"X","value":{"X":[[[[`},
		{"BREW", prefix + "%2e%2e/", "a=%zz;b", "\x00"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3])
	}
	_, db := newScripted(f)
	fixed := newFixture(f, Options{ReadWrite: true, SQL: db})
	handler := fixed.handler(fixed.routes())
	f.Fuzz(func(t *testing.T, method, path, query, body string) {
		target := path
		if query != "" {
			target += "?" + query
		}
		text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+
			"%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			method, target, fixed.options.Token, len(body), body)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			return // net/http refuses such a request before the handler runs
		}
		patience := 5 * time.Second
		if strings.Contains(strings.ToLower(path), "stream") {
			patience = 20 * time.Millisecond // a stream runs until its context ends
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r.WithContext(ctx))
		checkWhole(t, method, w.Result(), w.Body.Bytes())
	})
}

// checkWhole checks that the body of an answer agrees with its status and headers.
func checkWhole(t *testing.T, method string, answer *http.Response, body []byte) {
	t.Helper()
	status := answer.StatusCode
	if status < 200 || status > 599 || status == http.StatusInternalServerError {
		t.Fatalf("status %d: %s", status, body)
	}
	checkHeaders(t, "the answer", answer)
	if method == http.MethodHead || status == http.StatusNoContent || status/100 == 3 || len(body) == 0 {
		return
	}
	kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil {
		t.Fatalf("Content-Type %q of %.80s", answer.Header.Get("Content-Type"), body)
	}
	if kind == "application/json" && !json.Valid(body) {
		t.Fatalf("the answer is not JSON: %s", body)
	}
	if status < 400 {
		return
	}
	var failed struct{ Error problem }
	if err := json.Unmarshal(body, &failed); err != nil || failed.Error.Code == "" ||
		failed.Error.Message == "" {
		t.Fatalf("the answer with status %d has no error with a code and a message: %s", status, body)
	}
}
