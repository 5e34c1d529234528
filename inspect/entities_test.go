package inspect

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
)

// asking returns a path with query parameters: name, value, name, value, and so on.
func asking(path string, parameters ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(parameters); i += 2 {
		q.Set(parameters[i], parameters[i+1])
	}
	return path + "?" + q.Encode()
}

func TestEntityPages(t *testing.T) {
	f := newFixture(t, Options{})
	for _, c := range []struct {
		query string
		total int
	}{
		{"", 1003}, {"Position", 1003}, {"Velocity, !Dead", 990}, {"Infected", 100}, {"ChildOf(Paris)", 335},
		{"ChildOf(" + hostileName + ")", 0},
		{`ChildOf("` + hostileName + `")`, 333}, {"Infected.Stage == Severe", 50},
		{"Position.X >= 990, Velocity", 10}, {"Ship | Note", 2},
		{`Name == "Paris"`, 1}, {`Name ~ "<IMG"`, 1}, {"Ship.Hull == 7", 1}, {"Note.Text ~ lumi", 1},
		{"Infected.Source == " + f.people[0].String(), 100},
		{"Infected.Strain.Number == 4", 0}, {"Road", 1}, {"!Velocity", 3},
	} {
		if strings.Contains(c.query, "ChildOf(<") {
			p := f.refused(t, http.StatusBadRequest, "GET", asking("entities", "query", c.query), "", "")
			if p.Code != "query" || p.Position == nil || *p.Position != 8 {
				t.Errorf("%s: %+v", c.query, p)
			}
			continue
		}
		var seen []string
		for offset := 0; ; {
			var page pageAnswer
			f.get(t, asking("entities", "query", c.query, "offset", fmt.Sprint(offset), "limit", "300"),
				&page)
			if page.Total != c.total || page.Query != c.query || page.Truncated || page.Offset != offset {
				t.Fatalf("%q: the total is %d, want %d: %+v", c.query, page.Total, c.total, page)
			}
			for _, row := range page.Rows {
				seen = append(seen, row.ID)
				if !strings.HasPrefix(row.ID, fmt.Sprint(row.Slot)+".") {
					t.Errorf("%q: the slot is %d, but the ID is %s", c.query, row.Slot, row.ID)
				}
			}
			if offset += len(page.Rows); len(page.Rows) == 0 {
				break
			}
		}
		slices.Sort(seen)
		if n := len(slices.Compact(seen)); n != c.total || len(seen) != c.total {
			t.Errorf("%q: the pages have %d rows, %d of them different, want %d", c.query, len(seen), n,
				c.total)
		}
	}
}

func TestPageValues(t *testing.T) {
	f := newFixture(t, Options{})
	var page pageAnswer
	f.get(t, asking("entities", "query", "Name", "columns", "Position.X, Note,ChildOf,Dead,Ship.Hull,Road"),
		&page)
	want := []rowAnswer{
		{ID: f.paris.String(), Slot: int(f.paris.Slot()), Name: "Paris",
			Values: map[string]string{"Position.X": "0", "Road": "yes",
				"Note": `{Text:"Ville lumière" Tags:["river" "<img src=x onerror=alert(1)>"] Next:nil}`}},
		{ID: f.london.String(), Slot: int(f.london.Slot()), Name: "London",
			Values: map[string]string{"Position.X": "1",
				"ChildOf": f.paris.String() + ` "Paris"`, "Ship.Hull": "7"}},
		{ID: f.hostile.String(), Slot: int(f.hostile.Slot()), Name: hostileName,
			Values: map[string]string{"Position.X": "2"}},
	}
	if got, wanted := fmt.Sprint(page.Rows), fmt.Sprint(want); got != wanted {
		t.Errorf("got  %s\nwant %s", got, wanted)
	}
	page = pageAnswer{}
	f.get(t, asking("entities", "query", "Infected.Stage == Mild, !Name, Dead", "limit", "1"), &page)
	if len(page.Rows) != 1 || page.Rows[0].Values["Dead"] != "yes" ||
		!strings.Contains(page.Rows[0].Values["Infected"], "Stage:Mild") {
		t.Errorf("with the columns of the query: %+v", page)
	}
	page = pageAnswer{}
	f.get(t, asking("entities", "query", "Infected", "columns", ""), &page)
	if len(page.Rows) == 0 || len(page.Rows[0].Values) != 0 {
		t.Errorf("without columns: %+v", page.Rows)
	}
}

// TestEntitiesFarDown checks pages with large offsets. The first request and the request after the deletion
// search the whole world. All other requests use cached ranks: see the type ranks.
func TestEntitiesFarDown(t *testing.T) {
	f := newFixtureOf(t, Options{}, 200_000)
	var page pageAnswer
	at := func(offset int) []rowAnswer {
		t.Helper()
		f.get(t, asking("entities", "query", "Velocity", "offset", fmt.Sprint(offset), "limit", "3"), &page)
		return page.Rows
	}
	for range 2 { // in the second round, offset 0 also uses the cached ranks
		for _, offset := range []int{0, 65_000, 65_536, 131_071, 199_998, 199_999, 200_000, 1 << 30} {
			rows := at(offset)
			if want := max(0, min(3, 200_000-offset)); len(rows) != want {
				t.Fatalf("at offset %d: %d rows, want %d", offset, len(rows), want)
			}
			if !page.Exact || page.Total != 200_000 {
				t.Errorf("at %d: the total is %d, want 200000; exact is %t, want true", offset,
					page.Total, page.Exact)
			}
			for i, row := range rows {
				if row.ID != f.people[offset+i].String() {
					t.Errorf("at %d: %s, want %v", offset+i, row.ID, f.people[offset+i])
				}
			}
		}
	}
	f.see(t, func() { f.w.Delete(f.people[100]) })
	if rows := at(150_000); rows[0].ID != f.people[150_001].String() || page.Total != 199_999 {
		t.Errorf("after a deletion: the rows are %+v, the total is %d", rows, page.Total)
	}
}

func TestSearchesRefuse(t *testing.T) {
	f := newFixture(t, Options{})
	for _, c := range []struct {
		path, says       string
		position, length int
	}{
		{asking("entities", "query", "Position, Infectd"),
			`no component has the name "Infectd": did you mean Infected?`, 10, 7},
		{asking("entities", "query", "ChildOf(Pariss)"),
			`no entity has the name "Pariss": did you mean Paris?`, 8, 6},
		{asking("count", "query", "Position.Z > 1"), `Position has no field "Z"`, 8, 2},
		{asking("rows", "query", "(", "format", "csv"), "write the name of a component", 0, 1},
		{asking("histogram", "query", "Dead,", "field", "Position.X"), "is missing after", 4, 1},
	} {
		p := f.refused(t, http.StatusBadRequest, "GET", c.path, "", "")
		if p.Code != "query" || !strings.Contains(p.Message, c.says) || p.Position == nil ||
			*p.Position != c.position || *p.Length != c.length {
			t.Errorf("%s: %+v", c.path, p)
		}
	}
	for path, says := range map[string]string{
		"entities?limit=501": "0 to 500", "entities?offset=-1": "offset", "entities?limit=x": "limit",
		"rows?format=xml": "json, ndjson or csv",
		"rows?limit=0":    "limit", "rows?sample=1000000": "sample",
		"entities?columns=Quark":     `no component has the name "Quark"`,
		"entities?columns=Position.": "columns",
		"histogram?field=":           "field is missing", "histogram?field=Name": "name a numeric field",
		"histogram?field=Position": "not a single value",
		"histogram?field=Dead":     "is a tag", "histogram?field=Position.X&bins=0": "bins",
		"histogram?field=Position.X,Position.Y": "one numeric field",
		"query/complete?text=&at=-1":            "at",
	} {
		if p := f.refused(t, http.StatusBadRequest, "GET", path, "", ""); !strings.Contains(p.Message, says) {
			t.Errorf("%s: %+v, want %q", path, p, says)
		}
	}
}

func TestQueriesOfNewColumns(t *testing.T) {
	f := newFixture(t, Options{})
	f.refused(t, http.StatusBadRequest, "GET", "count?query=Later", "", "")
	f.see(t, func() {
		later := vast.NewTag(f.w, "Later")
		later.Add(f.paris)
	})
	var count countAnswer
	f.get(t, "count?query=Later", &count)
	if count.Count != 1 || !count.Exact {
		t.Errorf("%+v", count)
	}
}
