package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// oddWide has 300 numbers.
type oddWide struct {
	Fifty ten[ten[int16]]
	More  ten[ten[uint8]]
	Last  ten[ten[float32]]
}

func TestManyColumns(t *testing.T) {
	t.Parallel()
	const columns = 300
	var e vast.Entity
	last := "Column299"
	f := newOddWorld(t, Options{ReadWrite: true}, 1<<10, func(w *vast.World) {
		e = w.Archetype().New()
		for i := range columns {
			name := fmt.Sprintf("Column%d", i)
			switch i % 4 {
			case 0:
				vast.NewColumn[oddWide](w).Named(name).Add(e, oddWide{})
			case 1:
				vast.NewSparseColumn[oddWide](w).Named(name).Add(e, oddWide{})
			case 2:
				vast.NewHeapColumn[oddWide](w).Named(name).Add(e, oddWide{})
			case 3:
				vast.NewTag(w, name).Add(e)
			}
		}
	})
	var w worldAnswer
	f.get(t, "world", &w)
	if len(w.Columns) != columns {
		t.Fatalf("the answer has %d columns, want %d", len(w.Columns), columns)
	}
	described := 0
	for i, c := range w.Columns {
		want := worldFields / columns
		if i%4 == 3 {
			want = 0
		}
		if name := fmt.Sprintf("Column%d", i); c.ID != i || c.Name != name || c.Label != name ||
			c.Text != name ||
			len(c.Fields) != want {
			t.Errorf("column %d is %s with %d fields, want %d", c.ID, c.Name, len(c.Fields), want)
		}
		described += len(c.Fields)
	}
	if described > worldFields {
		t.Errorf("the answer describes %d fields, want at most %d", described, worldFields)
	}

	var a entityAnswer
	f.get(t, "entities/"+e.String(), &a)
	fields := 0
	for i, c := range a.Components {
		if c.ID != i || c.Column != w.Columns[i].Name || (c.Value == nil) != (i%4 == 3) {
			t.Errorf("component %d is %s", i, c.Column)
		}
		if c.Value != nil {
			fields += 1 + len(c.Value.Parts)
		}
	}
	if len(a.Components) != columns || fields > maxShown+columns {
		t.Errorf("the entity has %d components with %d fields, want %d with at most %d", len(a.Components),
			fields, columns, maxShown+columns)
	}

	// A query can read the first 256 fields of each component, although the answer to "world" has fewer.
	count := func(query string) (n countAnswer) {
		t.Helper()
		f.get(t, asking("count", "query", query), &n)
		return n
	}
	if n := count("Column0.Last.F5.F5 == 0, Column298.Last.F5.F5 == 0, " + last); n.Count != 1 || !n.Exact {
		t.Errorf("the count is %+v", n)
	}
	f.refused(t, 400, "GET", asking("count", "query", "Column0.Last.F5.F6 == 0"), "", "")
	var names []string
	for i := range columns {
		names = append(names, fmt.Sprintf("Column%d", i))
	}
	var page pageAnswer
	f.get(t, asking("entities", "query", last, "columns", strings.Join(names[:64], ",")), &page)
	if len(page.Rows) != 1 || len(page.Rows[0].Values) != 64 || page.Rows[0].Values["Column3"] != "yes" ||
		!says(page.Rows[0].Values["Column0"], "{Fifty:{F0:{F0:0 F1:0 …") {
		t.Errorf("the list of 64 columns is %+v", page)
	}
	p := f.refused(t, 400, "GET", asking("entities", "columns", strings.Join(names, ",")), "", "")
	if !strings.Contains(p.Message, "64 columns") {
		t.Errorf("the refusal of %d columns is %q", columns, p.Message)
	}
	var complete completeAnswer
	f.get(t, asking("query/complete", "text", "Column29"), &complete)
	if len(complete.Items) != 50 || complete.Items[10].Text != last ||
		complete.Items[11].Text != "Column29.Fifty.F0.F0" {
		t.Errorf("the completion has %d items: %+v", len(complete.Items), complete)
	}

	var word wordAnswer
	f.get(t, fmt.Sprintf("memory/word?slot=%d", e.Slot()), &word)
	var m memoryAnswer
	f.get(t, "memory", &m)
	elements := 0
	for _, area := range m.Areas {
		if area.Kind == "elements" && area.Column >= 0 && area.Name == fmt.Sprintf("Column%d", area.Column) {
			elements++
		}
	}
	// The areas of elements hold the elements of dense columns and the handles of sparse columns.
	if len(word.Columns) != columns || elements != columns/2 {
		t.Errorf("the word has %d columns, and the memory %d areas of elements", len(word.Columns), elements)
	}
	var costs Costs
	f.get(t, "costs", &costs)
	if len(costs.Columns) != maxCosts || costs.MoreColumns != columns-maxCosts {
		t.Errorf("the costs list %d columns and leave out %d", len(costs.Columns), costs.MoreColumns)
	}

	path := fmt.Sprintf("entities/%v/components/Column298", e)
	if a := f.change(t, "PATCH", path, `{"path":"Last.F9.F9","value":1.5}`); a.Component.ID != 298 {
		t.Errorf("the answer to the edit is %+v", a)
	}
	f.see(t, func() {
		for i, col := range probe.Columns(f.w) {
			v, _ := probe.Value(col, e)
			want := float32(0)
			if i == 298 {
				want = 1.5
			}
			if got, ok := v.Interface().(oddWide); ok && got.Last.F9.F9 != want {
				t.Errorf("column %d holds %v", i, got.Last.F9.F9)
			}
		}
	})
}

func TestManyArchetypes(t *testing.T) {
	const archetypes, columns = maxArchetypes + 88, 24
	f := newOddWorld(t, Options{}, 1<<17, func(w *vast.World) {
		var cols []vast.AnyColumn
		for i := range columns {
			cols = append(cols, vast.NewColumn[oddGrid](w).Named(fmt.Sprintf("Grid%d", i)))
		}
		for i := range archetypes {
			var some []vast.AnyColumn
			for k, c := range cols {
				if (i+1)>>k&1 != 0 || k > 9 {
					some = append(some, c)
				}
			}
			w.Archetype(some...).NewN(1+i%64, nil)
		}
	})
	entities := 0
	for i := range archetypes {
		entities += 1 + i%64
	}
	var m memoryAnswer
	f.get(t, "memory", &m)
	sum := 0
	for i, a := range m.Archetypes {
		sum += a.Entities
		if a.Slots != 64 || a.Extents != 1 || a.Entities != 1+i%64 || a.Number != i+m.Archetypes[0].Number ||
			!slices.Contains(a.Columns, "Grid10") || slices.Contains(a.Columns, "Grid0") != (i%2 == 0) {
			t.Fatalf("archetype %d is %+v", i, a)
		}
	}
	if len(m.Archetypes) != maxArchetypes || sum >= entities || m.Slots != 64*archetypes {
		t.Errorf("%d archetypes are listed with %d of %d entities; all archetypes have %d slots",
			len(m.Archetypes), sum, entities, m.Slots)
	}
	var p memoryPictureJSON
	grid := m.area(t, "Grid10", "elements")
	f.get(t, fmt.Sprintf("memory/picture?format=json&by=archetype&from=%d&to=%d&cells=%d", grid.First,
		grid.First+64*archetypes*grid.Stride, archetypes), &p)
	seen := make(map[int]bool)
	for _, c := range p.Cells {
		if c[6] >= 0 {
			seen[c[6]] = true
		}
	}
	if len(seen) != archetypes {
		t.Errorf("the picture shows %d archetypes, want %d", len(seen), archetypes)
	}
	var n countAnswer
	f.get(t, "count?query=Grid10", &n)
	all := n.Count
	f.get(t, asking("count", "query", "Grid10, Grid0[2][3] == 0"), &n)
	odd := 0
	for i := 0; i < archetypes; i += 2 {
		odd += 1 + i%64
	}
	if all != entities || n.Count != odd {
		t.Errorf("%d entities have Grid10, want %d; %d also have Grid0, want %d", all, entities, n.Count, odd)
	}
	var page pageAnswer
	f.get(t, asking("entities", "query", "Grid10, !Grid0", "columns", "Grid10[0][0]", "offset", "100",
		"limit", "3"), &page)
	if page.Total != entities-odd || len(page.Rows) != 3 || page.Rows[2].Values["Grid10[0][0]"] != "0" {
		t.Errorf("the list is %+v", page)
	}
}
