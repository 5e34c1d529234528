package inspect

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// line is a row of NDJSON.
type line struct {
	ID, Name string
	Values   map[string]any
	Error    *problem
}

func (f *fixture) lines(t testing.TB, parameters ...string) (lines []line) {
	t.Helper()
	status, body := f.do(t, "GET", prefix+asking("rows", append(parameters, "format", "ndjson")...), "", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	for text := range strings.Lines(string(body)) {
		var one line
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		lines = append(lines, one)
	}
	return lines
}

func TestRowsAsLines(t *testing.T) {
	f := newFixture(t, Options{})
	f.see(t, func() {
		*f.position.Get(f.paris) = Position{float32(math.NaN()), float32(math.Inf(-1))}
		f.infected.Add(f.paris, Infected{Stage: Severe, Since: 1<<53 + 1, Source: f.london})
		f.dead.Add(f.london)
	})
	got := f.lines(t, "query", "Name", "columns",
		"Position, Infected, Dead, ChildOf, Note, Infected.Since, Name")
	if len(got) != 3 {
		t.Fatalf("%d rows, want 3", len(got))
	}
	paris, london := got[0], got[1]
	want := map[string]any{
		"Position": map[string]any{"X": "NaN", "Y": "-Inf"},
		"Infected": map[string]any{"Stage": "Severe", "Since": "9007199254740993", "Strain.Number": 0.,
			"Strain.Rates[0]": 0.,
			"Strain.Rates[1]": 0., "Strain.Rates[2]": 0., "Source": f.london.String()},
		"Infected.Since": "9007199254740993",
		"Note": map[string]any{"Text": "Ville lumière",
			"Tags": `["river" "<img src=x onerror=alert(1)>"]`, "Next": "nil"},
		"Name": "Paris",
	}
	if fmt.Sprint(paris.Values) != fmt.Sprint(want) || paris.ID != f.paris.String() || paris.Name != "Paris" {
		t.Errorf("got  %v\nwant %v", paris, want)
	}
	if london.Values["Dead"] != true || london.Values["ChildOf"] != f.paris.String() ||
		london.Values["Infected"] != nil {
		t.Errorf("got %v", london)
	}
	if n := len(f.lines(t, "query", "Velocity")); n != 1000 {
		t.Errorf("%d rows, want 1000", n)
	}
	if n := len(f.lines(t, "query", "Position", "limit", "7")); n != 7 {
		t.Errorf("%d rows, want 7", n)
	}
	if n := len(f.lines(t, "query", "Position.X > 1e9")); n != 0 {
		t.Errorf("%d rows, want 0", n)
	}
}

func TestRowsAsTable(t *testing.T) {
	f := newFixture(t, Options{})
	f.see(t, func() {
		for name, e := range map[string]vast.Entity{"=1+2": f.people[0], "-7": f.people[1],
			"a \"b\", c\nd": f.people[2], "@x": f.people[3], "1-2": f.people[4]} {
			if _, err := f.names.Set(e, name); err != nil {
				t.Fatal(err)
			}
		}
		f.velocity.Get(f.people[1]).X = -7
		f.note.Add(f.people[2], Note{Text: "+note"})
	})
	status, body := f.do(t, "GET", prefix+asking("rows", "query", "Name, Velocity", "columns",
		"Velocity,Note.Text,Dead,ChildOf", "format", "csv"), "", "")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	got, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	id := func(i int) string { return f.people[i].String() }
	want := [][]string{
		{"id", "name", "Velocity.X", "Velocity.Y", "Note.Text", "Dead", "ChildOf"},
		{id(0), "'=1+2", "0", "1", "", "true", f.paris.String()},
		{id(1), "'-7", "-7", "1", "", "", f.london.String()},
		{id(2), "a \"b\", c\nd", "0", "1", "'+note", "", f.hostile.String()},
		{id(3), "'@x", "0", "1", "", "", f.paris.String()},
		{id(4), "1-2", "0", "1", "", "", f.london.String()},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestRowsAsTableWithoutRows: a table without rows has a header.
func TestRowsAsTableWithoutRows(t *testing.T) {
	f := newFixture(t, Options{})
	_, body := f.do(t, "GET", prefix+asking("rows", "query", "Position.X < 0", "format", "csv"), "", "")
	if got := string(body); got != "id,name,Position.X,Position.Y\n" {
		t.Errorf("got %q", got)
	}
}

func TestRowsAsObject(t *testing.T) {
	f := newFixture(t, Options{})
	var got struct{ Rows []rowAnswer }
	f.get(t, asking("rows", "query", "Infected", "columns", "Position.X"), &got)
	if len(got.Rows) != 100 || got.Rows[3].ID != f.people[30].String() ||
		got.Rows[3].Values["Position.X"] != "30" {
		t.Errorf("%+v", got)
	}
	f.get(t, asking("rows", "query", "Infected, !Position"), &got)
	if got.Rows == nil || len(got.Rows) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestRowsSampled: a sample holds no match twice, and each match with the same probability.
func TestRowsSampled(t *testing.T) {
	f := newFixtureOf(t, Options{}, 10_000)
	if n := len(f.lines(t, "query", "ChildOf(Paris)", "sample", "100000", "limit",
		"100000")); n != 10_000/3+2 {
		t.Errorf("a sample of all matches has %d rows, want %d", n, 10_000/3+2)
	}
	slots := make(map[string]int)
	byPart := make([]int, 10)
	const rounds, size = 30, 200
	for range rounds {
		seen := make(map[string]bool)
		for _, one := range f.lines(t, "query", "Velocity, !Dead", "sample", fmt.Sprint(size), "columns",
			"Position.X") {
			if seen[one.ID] {
				t.Fatalf("%s is in a sample twice", one.ID)
			}
			seen[one.ID] = true
			slots[one.ID]++
			byPart[int(one.Values["Position.X"].(float64))/1000]++
		}
		if len(seen) != size {
			t.Fatalf("a sample has %d rows, want %d", len(seen), size)
		}
	}
	// Each tenth of the entities gets 600 of the 6,000 draws on average, with a standard deviation of 23.
	for i, n := range byPart {
		if n < 460 || n > 740 {
			t.Errorf("%d of %d draws came from tenth %d of the entities, want about 600", n, rounds*size, i)
		}
	}
	if len(slots) < 4000 {
		t.Errorf("%d draws gave %d different entities, want at least 4000", rounds*size, len(slots))
	}
}

// TestRowsWhileTheWorldChanges: while the program makes and deletes entities and removes components, each
// entity that always matches is in the rows exactly once.
func TestRowsWhileTheWorldChanges(t *testing.T) {
	f := newFixtureOf(t, Options{}, 3_000)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		triple := 0
		var made []vast.Entity
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			_ = f.w.Visit(t.Context(), func() bool {
				archetype := f.w.Archetype(f.position, f.velocity, f.dead)
				for range 50 {
					made = append(made, archetype.New())
				}
				triple = (triple + 1) % (len(f.people) / 3)
				f.velocity.Remove(f.people[triple*3]) // stays alive, but no longer matches
				f.w.Delete(f.people[triple*3+1])
				for range min(40, len(made)) {
					f.w.Delete(made[len(made)/2])
					made = append(made[:len(made)/2], made[len(made)/2+1:]...)
				}
				return true
			})
		}
	}()
	for range 3 {
		seen := make(map[string]int)
		for _, one := range f.lines(t, "query", "Position.Y >= -1, Velocity", "limit", "1000000", "columns",
			"Position") {
			seen[one.ID]++
		}
		for i := 2; i < len(f.people); i += 3 {
			if n := seen[f.people[i].String()]; n != 1 {
				t.Fatalf("the rows hold %v, which always matches, %d times, want 1", f.people[i], n)
			}
		}
		for id, n := range seen {
			if n != 1 {
				t.Fatalf("the rows hold %s %d times, want 1", id, n)
			}
		}
		var page pageAnswer
		f.get(t, asking("entities", "query", "Velocity, Position.X > 5", "offset", "500", "limit", "500"),
			&page)
		if len(page.Rows) == 0 || page.Total < 990 {
			t.Errorf("a page has %d rows, the total is %d; want some rows and a total of at least 990",
				len(page.Rows), page.Total)
		}
	}
	close(stop)
	<-stopped
}

// TestRowsForAClientThatGoes: if a client hangs up, its search ends.
func TestRowsForAClientThatGoes(t *testing.T) {
	f := newFixtureOf(t, Options{}, 100_000)
	for range 2 * maxSearches {
		r, err := http.Get(f.at(prefix + asking("rows", "query", "Velocity", "limit", "1000000", "format",
			"ndjson")))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
	}
	for deadline := time.Now().Add(time.Minute); len(f.asked.turns) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d searches still run after their clients hung up", len(f.asked.turns))
		}
	}
}
