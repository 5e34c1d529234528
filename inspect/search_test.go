package inspect

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func (f *fixture) search(t *testing.T, text string, want wanted) *search {
	t.Helper()
	s, err := f.newSearch(httptest.NewRequest("GET", "/", nil), text, want, answerTime)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	return s
}

// TestSearchesEnd: a search whose time has run out ends, and its answer says that it is incomplete.
func TestSearchesEnd(t *testing.T) {
	f := newFixture(t, Options{})
	s := f.search(t, "Position.X > 3", wanted{})
	s.spent = searchTime + 1
	if err := s.walk(func(int, []uint64, int) bool { return false }); err != nil || !s.over || s.whole() ||
		s.scanned() != 0 {
		t.Errorf("error %v, over: %t, %d slots scanned", err, s.over, s.scanned())
	}
	s = f.search(t, "Velocity", wanted{leaves: true})
	rows := &rowSource{search: s, limit: 1000}
	if err := rows.next(); err != nil || len(rows.rows) == 0 {
		t.Fatal(err)
	}
	rows.picked, s.spent = nil, searchTime+1
	if err := rows.next(); err != errOver {
		t.Errorf("the error is %v, want %v", err, errOver)
	}
	answer := httptest.NewRecorder()
	lines := &lineRows{}
	rows.fail(answer, lines, errOver)
	if text := answer.Body.String(); !strings.HasPrefix(text,
		`{"error":{"code":"time","message":"the rows are incomplete`) {
		t.Errorf("the last line is %s", text)
	}
	func() {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("an incomplete table ends like a complete table")
			}
		}()
		rows.fail(answer, newCSVRows(), errOver)
	}()

	ended, end := context.WithTimeout(context.Background(), 0)
	defer end()
	s = f.search(t, "Velocity", wanted{})
	if err := s.look(func() bool { return true }); err != nil {
		t.Fatal(err)
	}
	s.ctx = ended
	if err := s.walk(func(int, []uint64, int) bool { return false }); err != nil || !s.over {
		t.Errorf("error %v, over: %t", err, s.over)
	}
}

// TestSearchesTakeTurns: while maxSearches searches run, a further search waits.
func TestSearchesTakeTurns(t *testing.T) {
	f := newFixture(t, Options{})
	for range maxSearches {
		f.search(t, "", wanted{})
	}
	counted := make(chan string, 1)
	go func() {
		_, body := f.do(t, "GET", prefix+"count?query=Name", "", "")
		counted <- string(body)
	}()
	select {
	case <-counted:
		t.Error("the search did not wait for its turn")
	case <-time.After(20 * time.Millisecond):
	}
	// Free a turn, as if a search had ended: the waiting search begins. The send below takes the turn again,
	// because t.Cleanup frees the turns of all maxSearches searches.
	<-f.asked.turns
	if got := <-counted; !strings.HasPrefix(got, `{"count":3,`) {
		t.Errorf("the answer is %s, want the count 3", got)
	}
	f.asked.turns <- struct{}{}

	ended, end := context.WithCancel(context.Background())
	end()
	if _, err := f.newSearch(httptest.NewRequestWithContext(ended, "GET", "/", nil), "", wanted{},
		answerTime); err == nil {
		t.Error("a client that hung up got a turn")
	}
}

// TestMatchesAreKept: a repeated search reuses the matches of the first search for matchesTime.
func TestMatchesAreKept(t *testing.T) {
	f := newFixture(t, Options{})
	page := func() (a pageAnswer) {
		f.get(t, asking("entities", "query", "Velocity, Position.X < 100", "offset", "90"), &a)
		return a
	}
	if a := page(); a.Total != 100 || len(a.Rows) != 10 || a.Truncated {
		t.Fatalf("%+v", a)
	}
	setFound := func(at time.Time) {
		f.asked.mu.Lock()
		defer f.asked.mu.Unlock()
		f.asked.lists[0].at = at
	}
	setFound(time.Now().Add(time.Hour)) // keeps the matches valid on a slow machine
	f.see(t, func() { f.position.Get(f.people[95]).X = 1000; f.w.Delete(f.people[97]) })
	if a := page(); a.Exact || a.Total != 100 || len(a.Rows) != 9 || a.Rows[5].ID != f.people[95].String() {
		t.Errorf("%+v", a)
	}
	setFound(time.Now().Add(-2 * matchesTime))
	if a := page(); a.Total != 98 || len(a.Rows) != 8 {
		t.Errorf("%+v", a)
	}
	for i := range 2 * maxLists {
		f.get(t, asking("entities", "query", "Position.X > "+string(rune('0'+i))), new(pageAnswer))
	}
	if n := len(f.asked.lists); n != maxLists {
		t.Errorf("%d lists of matches are kept, want %d", n, maxLists)
	}
}
