package inspect

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

func TestWorld(t *testing.T) {
	f := newFixture(t, Options{Attribution: []string{"Map: somebody"}})
	var got worldAnswer
	f.get(t, "world", &got)
	if got.Name != "fixture" || got.MaxEntities != 1<<14 || !got.ReadOnly || got.TokenNeeded ||
		got.API != 1 ||
		!slices.Equal(got.Attribution, []string{"Map: somebody"}) {
		t.Errorf("got %+v", got)
	}
	names := make(map[string]column)
	for _, c := range got.Columns {
		names[c.Name] = c
	}
	if len(names) != 9 {
		t.Errorf("columns %v", names)
	}
	if c := names["ChildOf"]; !c.Relation || c.Edges || len(c.Fields) != 0 {
		t.Errorf("ChildOf: %+v", c)
	}
	if c := names["Road"]; c.Relation || !c.Edges {
		t.Errorf("Road: %+v", c)
	}
	if c := names["Dead"]; c.Storage != "tag" || c.Type != "" {
		t.Errorf("Dead: %+v", c)
	}
	var paths []string
	for _, field := range names["Infected"].Fields {
		paths = append(paths, field.Path+" "+field.Kind)
	}
	if want := "Stage enum, Since int, Strain.Number uint, Strain.Rates[0] float, Strain.Rates[1] float, " +
		"Strain.Rates[2] float, Source entity"; strings.Join(paths, ", ") != want {
		t.Errorf("fields of Infected: %v", paths)
	}
}

func TestColumnsRegisteredLater(t *testing.T) {
	f := newFixture(t, Options{})
	var before, after worldAnswer
	f.get(t, "world", &before)
	f.see(t, func() { vast.NewTag(f.w, "Later") })
	f.get(t, "world", &after)
	if len(after.Columns) != len(before.Columns)+1 || after.Columns[len(after.Columns)-1].Name != "Later" {
		t.Errorf("%d columns before and %d after, want one more, with the name Later", len(before.Columns),
			len(after.Columns))
	}
}

func TestURL(t *testing.T) {
	f := newFixture(t, Options{})
	if f.URL() != f.at("/") {
		t.Errorf("URL %s, want %s", f.URL(), f.at("/"))
	}
	f = newFixture(t, Options{ReadWrite: true, Token: "secret"})
	if f.URL() != f.at("/#token=secret") {
		t.Errorf("URL %s, want the token", f.URL())
	}
}

func TestTakenPort(t *testing.T) {
	f := newFixture(t, Options{})
	addr := f.Addr().String()
	in, err := Serve(context.Background(), f.w, Options{Addr: addr})
	var failed *ListenError
	if in != nil || !errors.As(err, &failed) || failed.Addr != addr || !errors.Is(err, syscall.EADDRINUSE) {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(err.Error(), addr) || !strings.Contains(err.Error(), "choose another port") {
		t.Errorf("the message is %q", err)
	}
	if _, err := Serve(context.Background(), f.w, Options{Addr: "nowhere"}); !errors.As(err, &failed) {
		t.Errorf("an address without a port: %v", err)
	}
}

func TestClose(t *testing.T) {
	f := newFixture(t, Options{})
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := net.Dial("tcp", f.Addr().String()); err == nil {
		t.Error("the closed inspector still listens")
	}
}

func TestContextEndsServing(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	ctx, cancel := context.WithCancel(context.Background())
	in, err := Serve(ctx, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-in.ended
	if err := in.Close(); err != nil {
		t.Error(err)
	}
}

func TestClosedWorld(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	f := &fixture{w: w}
	var err error
	if f.Inspector, err = Serve(context.Background(), w, Options{}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w.Close()
	if p := f.refused(t, http.StatusGone, "GET", "world", "", ""); p.Code != "closed" {
		t.Errorf("%+v", p)
	}
}

func TestWorldThatDoesNotAdmit(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	f := &fixture{w: w}
	var err error
	if f.Inspector, err = Serve(context.Background(), w,
		Options{Patience: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if p := f.refused(t, http.StatusServiceUnavailable, "GET", "world", "", ""); p.Code != "notAdmitted" ||
		!strings.Contains(p.Message, "World.Admit") {
		t.Errorf("%+v", p)
	}
	if w.Admit(0) {
		t.Error("the refused request still waits for a visit")
	}
}

// readEvents returns the first n events of a stream.
func readEvents(t *testing.T, f *fixture, topics string, n int) (events []string) {
	t.Helper()
	answer, err := http.Get(f.at(prefix + "stream?" + topics))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); answer.StatusCode != http.StatusOK ||
		kind != "text/event-stream" {
		t.Fatalf("status %d, %s", answer.StatusCode, kind)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var event []string
	for len(events) < n && lines.Scan() {
		if line := lines.Text(); line != "" {
			event = append(event, line)
		} else if event != nil {
			events = append(events, strings.Join(event, "\n"))
			event = nil
		}
	}
	if len(events) < n {
		t.Fatalf("the stream ended after %q: %v", events, lines.Err())
	}
	return events
}

func TestStreamRefuses(t *testing.T) {
	f := newFixture(t, Options{})
	for _, query := range []string{"", "?topic=nothing", "?topic=", "?topic=" +
		strings.Repeat("&topic=x", 20)} {
		if p := f.refused(t, http.StatusBadRequest, "GET", "stream"+query, "", ""); p.Code != "request" {
			t.Errorf("%q: %+v", query, p)
		}
	}
}
