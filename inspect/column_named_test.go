package inspect

import (
	"encoding/csv"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// namesakes is a world with columns whose names are ambiguous.
type namesakes struct {
	*fixture
	names   []string         // names of columns 0 to 10
	cols    []vast.AnyColumn // all columns, by number
	e       vast.Entity      // has all components, each with the value 10, and a target in each relation
	targets [2]vast.Entity   // e's targets, by relation
}

func newNamesakes(t *testing.T) *namesakes {
	n := &namesakes{names: []string{"First", "Twin", "Twin", "1", "4", "99", "+2", "-3", "twin", "First#0",
		"14"}}
	n.fixture = newOddWorld(t, Options{ReadWrite: true}, 1<<10, func(w *vast.World) {
		n.e, n.targets[0], n.targets[1] = w.Archetype().New(), w.Archetype().New(), w.Archetype().New()
		for i, name := range n.names {
			switch i % 3 {
			case 0:
				vast.NewColumn[int32](w).Named(name).Add(n.e, 10)
			case 1:
				vast.NewSparseColumn[int32](w).Named(name).Add(n.e, 10)
			case 2:
				vast.NewHeapColumn[int64](w).Named(name).Add(n.e, 10)
			}
		}
		for i := range 2 { // columns 11 to 14; columns 12 and 14 are private
			vast.NewRelation(w, "Kin", vast.RelationOptions{}).Set(n.e, n.targets[i])
		}
		n.cols = probe.Columns(w)
	})
	return n
}

func (n *namesakes) values(t *testing.T) (all []int64) {
	t.Helper()
	n.see(t, func() {
		for _, col := range n.cols[:len(n.names)] {
			v, _ := probe.Value(col, n.e)
			all = append(all, v.Int())
		}
	})
	return all
}

func TestEditByNameOrNumber(t *testing.T) {
	n := newNamesakes(t)
	want := slices.Repeat([]int64{10}, len(n.names))
	for i, tt := range []struct {
		text, by string
		id       int
		refusal  string // start of the error message; empty if the edit must succeed
	}{
		{text: "First", id: 0},
		{text: "0", id: 0},
		{text: "First", by: "name", id: 0},
		{text: "0", by: "id", id: 0},
		{text: "Twin",
			refusal: `2 components are called "Twin", the numbers 1, 2: ` +
				`give the number of the column, with by=id`},
		{text: "Twin", by: "name", refusal: `2 components are called "Twin"`},
		{text: "Twin", by: "id", refusal: `by=id takes the number of a column, not "Twin"`},
		{text: "1", refusal: `"1" is the number of "Twin" and the name of number 3: ` +
			`add by=id for the number, or by=name for the name`},
		{text: "1", by: "id", id: 1},
		{text: "1", by: "name", id: 3},
		{text: "2", id: 2},
		{text: "3", id: 3},
		{text: "4", id: 4}, // the name of column 4 is "4"
		{text: "4", by: "name", id: 4},
		{text: "99", id: 5}, // column 5 has the name "99"
		{text: "99", by: "id", refusal: "the world has no component with the number 99"},
		{text: "+2", refusal: `"+2" is the number of "Twin" and the name of number 6`},
		{text: "+2", by: "name", id: 6},
		{text: "-3", id: 7},
		{text: "-4", refusal: "the world has no component with the number -4"},
		{text: "twin", id: 8},
		{text: "TWIN", refusal: `the world has no component "TWIN"`},
		{text: "First#0", id: 9},
		{text: "14", refusal: `"14" is the number of "Kin targets" and the name of number 10`},
		{text: "14", by: "id", refusal: "the world has no component with the number 14"},
		{text: "14", by: "name", id: 10},
		{text: "0", by: "number",
			refusal: `by is "number": give id for the column's number, or name for its name`},
	} {
		path := fmt.Sprintf("entities/%v/components/%s?by=%s", n.e, url.PathEscape(tt.text), tt.by)
		body := fmt.Sprintf(`{"value":%d}`, 100+i)
		if tt.refusal != "" {
			status, code := 400, "request"
			switch {
			case strings.HasPrefix(tt.refusal, "the world has no component"):
				status, code = 404, "notFound"
			case !strings.HasPrefix(tt.refusal, "by"):
				code = "ambiguous"
			}
			for _, method := range []string{"PATCH", "POST", "DELETE"} {
				p := n.refused(t, status, method, path, n.options.Token, body)
				if !strings.HasPrefix(p.Message, tt.refusal) || p.Code != code {
					t.Errorf("%s %q by %q: %+v, want %s", method, tt.text, tt.by, p, tt.refusal)
				}
			}
		} else {
			want[tt.id] = int64(100 + i)
			if a := n.change(t, "PATCH", path, body); a.Component.ID != tt.id {
				t.Errorf("%q by %q: %+v, want the column %d", tt.text, tt.by, a.Component, tt.id)
			}
		}
		if got := n.values(t); !slices.Equal(got, want) {
			t.Fatalf("%q by %q: the values are %v, want %v", tt.text, tt.by, got, want)
		}
	}
}

func TestChildrenOfRelationsThatShareAName(t *testing.T) {
	n := newNamesakes(t)
	base := fmt.Sprintf("entities/%v/children?", n.targets[1])
	for _, tt := range []struct {
		query   string
		total   int
		id      int
		refusal string
	}{
		{query: "", total: 1, id: 13},
		{query: "relation=13", total: 1, id: 13},
		{query: "relation=11&by=id", total: 0, id: 11},
		{query: "relation=Kin", refusal: `2 components are called "Kin", the numbers 11, 13`},
		{query: "relation=1", refusal: `"1" is the number of "Twin" and the name of number 3`},
		{query: "relation=1&by=id", refusal: "Twin is not a relation"},
	} {
		if tt.refusal != "" {
			if p := n.refused(t, 400, "GET", base+tt.query, "", ""); !strings.HasPrefix(p.Message,
				tt.refusal) {
				t.Errorf("%s: %s", tt.query, p.Message)
			}
			continue
		}
		var a childrenAnswer
		n.get(t, base+tt.query, &a)
		if a.ID != tt.id || a.Total != tt.total || len(a.Rows) != tt.total {
			t.Errorf("%s: %+v", tt.query, a)
		}
	}
	a := n.change(t, "PATCH", fmt.Sprintf("entities/%v/components/13?by=id", n.e),
		fmt.Sprintf(`{"value":"%v"}`, n.targets[0]))
	if len(a.Links) != 1 || a.Links[0].ID != 13 || a.Links[0].Ends[0].ID != n.targets[0].String() {
		t.Errorf("%+v", a)
	}
}

func TestQueriesOfColumnsThatShareAName(t *testing.T) {
	n := newNamesakes(t)
	n.change(t, "PATCH", fmt.Sprintf("entities/%v/components/2", n.e), `{"value":20}`)
	var w worldAnswer
	n.get(t, "world", &w)
	var labels, texts []string
	for _, c := range w.Columns {
		labels, texts = append(labels, c.Label), append(texts, c.Text)
	}
	want := "First Twin#1 Twin#2 1 4 99 +2 -3 twin First#0#9 14 Kin#11 Kin#13"
	if got := strings.Join(labels, " "); got != want {
		t.Errorf("the columns are called %s, want %s", got, want)
	}
	want = `First Twin#1 Twin#2 "1" "4" "99" "+2" "-3" twin "First#0"#9 "14" Kin#11 Kin#13`
	if got := strings.Join(texts, " "); got != want {
		t.Errorf("queries call the columns %s, want %s", got, want)
	}
	count := func(query string) int {
		t.Helper()
		var a countAnswer
		n.get(t, asking("count", "query", query), &a)
		return a.Count
	}
	for query, want := range map[string]int{
		"Twin#1": 1, "Twin#2 == 20": 1, "Twin#1 == 20": 0, "Twin#1 == 10": 1, `"Twin"#2 == 20`: 1,
		"Twin #2 == 20": 1,
		`"1"`:           1, `"4" == 10`: 1, "First#0": 1, `"First#0"`: 1, `"First#0"#9`: 1, "!Twin#1": 2,
		"Twin#1 | Twin#2": 1, "?Twin#1": 3, "TWIN#8": 1,
		fmt.Sprintf("Kin#11(%v)", n.targets[0]): 1, fmt.Sprintf("Kin#13(%v)", n.targets[0]): 0,
		fmt.Sprintf("Kin#13(%v)", n.targets[1]): 1,
	} {
		if got := count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	for query, says := range map[string]string{
		"First, Twin":            `2 components have the name "Twin": write Twin#1 or Twin#2`,
		"First, Twin == 20":      `2 components have the name "Twin"`,
		"First, TWIN":            `"TWIN" may be Twin#1 or Twin#2: write the exact name`,
		"First, Twin#0":          "the component with the number #0 is called First",
		"First, Twin#99":         "no component has the number #99",
		"First, Kin(*)":          `2 components have the name "Kin": write Kin#11 or Kin#13`,
		"First, Twin#":           `"#" is not expected here`,
		"First, #1":              "the number of a column follows the name, as in Position#1",
		"First, Twin#1#2":        `"#2" is not expected here`,
		"First, Twin#1 ~ x":      "Twin#1 has the type int32",
		"First, Twin#1, !Twin#1": "Twin#1 is both required and excluded",
	} {
		p := n.refused(t, 400, "GET", asking("count", "query", query), "", "")
		if !strings.Contains(p.Message, says) || p.Position == nil || *p.Position != 7 &&
			!strings.ContainsAny(query[7:], "#~") {
			t.Errorf("%s: %s at %d", query, p.Message, *p.Position)
		}
	}

	var page pageAnswer
	n.get(t, asking("entities", "query", "Twin#1, Twin#2, Kin#11"), &page)
	if v := page.Rows[0].Values; len(v) != 3 || v["Twin#1"] != "10" || v["Twin#2"] != "20" ||
		v["Kin#11"] != n.targets[0].String() {
		t.Errorf("%+v", page)
	}
	ask := asking("rows", "query", "Twin#1", "columns", `Twin#2,Twin#1,"First#0"`, "format", "csv")
	_, text := n.do(t, "GET", prefix+ask, "", "")
	table, err := csv.NewReader(strings.NewReader(string(text))).ReadAll()
	if err != nil || len(table) != 2 || strings.Join(table[0], " ") != "id name Twin#2 Twin#1 First#0#9" ||
		strings.Join(table[1][2:], " ") != "20 10 10" {
		t.Errorf("%q: %v", text, err)
	}
	n.refused(t, 400, "GET", asking("rows", "columns", "Twin"), "", "")
	n.refused(t, 400, "GET", asking("histogram", "field", "Twin"), "", "")
	var h histogramAnswer
	n.get(t, asking("histogram", "field", "Twin#2"), &h)
	if h.Field != "Twin#2" || h.Count != 1 || *h.Min != 20 {
		t.Errorf("%+v", h)
	}
	var check checkAnswer
	n.get(t, asking("query/check", "text", "Twin#2, ?Kin#13"), &check)
	if !check.Valid || strings.Join(check.Columns, " ") != "Twin#2 Kin#13" {
		t.Errorf("%+v", check)
	}
}

func TestNameBecomesAmbiguous(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	path := "entities/" + f.people[0].String() + "/components/Velocity"
	f.change(t, "PATCH", path, `{"value":{"X":1}}`)
	f.get(t, "count?query=Velocity", new(countAnswer))
	f.see(t, func() { vast.NewTag(f.w, "Velocity") })
	if p := f.refused(t, 400, "PATCH", path, f.options.Token, `{"value":{"X":2}}`); p.Code != "ambiguous" {
		t.Errorf("%+v", p)
	}
	if p := f.refused(t, 400, "GET", "count?query=Velocity", "", ""); !strings.Contains(p.Message,
		"write Velocity#1 or Velocity#") {
		t.Errorf("%+v", p)
	}
	var a countAnswer
	if f.get(t, asking("count", "query", "Velocity#1"), &a); a.Count != len(f.people) {
		t.Errorf("%+v", a)
	}
}

func TestIDThatIsTheNameOfAnotherEntity(t *testing.T) {
	f := newFixture(t, Options{ReadWrite: true})
	e, byID := f.people[0], f.people[1]
	byName, gone := f.people[2], f.people[3]
	f.see(t, func() {
		for named, name := range map[vast.Entity]string{
			byName: byID.String(), f.people[4]: gone.String(), f.people[5]: f.people[5].String(),
			f.people[6]: "7",
		} {
			if _, err := f.names.Set(named, name); err != nil {
				t.Fatal(err)
			}
		}
		f.w.Delete(gone)
	})
	id, stale := byID.String(), gone.String()
	path := "entities/" + e.String() + "/components/"
	now := func() (source, parent vast.Entity) {
		f.see(t, func() {
			source = f.infected.Get(e).Source
			parent, _ = f.childOf.Target(e)
		})
		return source, parent
	}
	for _, tt := range []struct {
		value   string
		want    vast.Entity
		refusal string
	}{
		{value: `"` + id + `"`, refusal: fmt.Sprintf(`%q is the name of entity %v and looks like an ID: `+
			`write {"id": %[1]q} or {"name": %[1]q}`, id, byName)},
		{value: `{"id":"` + id + `"}`, want: byID},
		{value: `{"name":"` + id + `"}`, want: byName},
		{value: `"` + stale + `"`, refusal: fmt.Sprintf("%q is the name of entity %v and looks like an ID",
			stale, f.people[4])},
		{value: `{"id":"` + stale + `"}`, refusal: "entity " + stale + " is no longer alive"},
		{value: `{"name":"` + stale + `"}`, want: f.people[4]},
		{value: `"` + f.people[5].String() + `"`, want: f.people[5]},
		{value: `"7"`, want: f.people[6]},
		{value: `{"id":"7"}`, refusal: `an entity ID is a slot and a generation, such as 17.3, not "7"`},
		{value: `"` + f.people[7].String() + `"`, want: f.people[7]},
		{value: `{"name":"` + f.people[7].String() + `"}`, refusal: "no entity has the name"},
		{value: `"London"`, want: f.london},
		{value: `{"name":"London"}`, want: f.london},
		{value: `{"id":"London"}`, refusal: "an entity ID is a slot and a generation"},
	} {
		for component, body := range map[string]string{
			"Infected": `{"path":"Source","value":` + tt.value + `}`, "ChildOf": `{"value":` + tt.value + `}`,
		} {
			source, parent := now()
			if tt.refusal != "" {
				p := f.refused(t, 400, "PATCH", path+component, f.options.Token, body)
				if !strings.Contains(p.Message, tt.refusal) {
					t.Errorf("%s: %s, want %s", body, p.Message, tt.refusal)
				}
			} else if f.change(t, "PATCH", path+component, body); component == "Infected" {
				source = tt.want
			} else {
				parent = tt.want
			}
			if s, p := now(); s != source || p != parent {
				t.Errorf("%s: the source is %v and the parent %v, want %v and %v", body, s, p, source, parent)
			}
		}
	}
}
