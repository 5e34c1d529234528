package inspect

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect/internal/value"
	"github.com/vastgo/vast/probe"
)

// oddCase is a component type in one storage.
type oddCase struct {
	*fixture
	oddShape
	col   oddColumn
	e     vast.Entity // has the component
	other vast.Entity // lacks the component
}

func (k *oddCase) test(t *testing.T) {
	c := k.describes(t)
	k.shows(t, c, k.text)
	k.lists(t, c, k.text, 0)
	k.searches(t, c, 0)
	k.showsMemory(t, c)
	k.edits(t, c)
	k.costs(t)
}

func (k *oddCase) tooLarge() bool { return k.size > maxComponent }

// listed returns the path of a field that lists show, and the number in this field. edited is the number in
// the field at k.path. If lists do not show the field at k.path, listed returns the first field, which holds
// 0.
func (k *oddCase) listed(edited int) (path string, number int) {
	if k.path == k.first || k.path == k.last {
		return k.path, edited
	}
	return k.first, 0
}

func (k *oddCase) describes(t *testing.T) column {
	t.Helper()
	var w worldAnswer
	k.get(t, "world", &w)
	i := slices.IndexFunc(w.Columns, func(c column) bool { return c.Name == k.col.Name() })
	if i < 0 {
		t.Fatalf("there is no column %q", k.col.Name())
	}
	c := w.Columns[i]
	if c.Type != k.typ || c.Size != k.size || c.Storage != k.col.storage.String() ||
		len(c.Fields) != k.fields ||
		c.ID != i || c.Label != c.Name || c.Text != `"`+c.Name+`"` {
		t.Errorf("the world describes %+v", c)
	}
	if k.fields > 0 && (c.Fields[0].Path != k.first || c.Fields[k.fields-1].Path != k.last) {
		t.Errorf("the first field is %s and the last field is %s", c.Fields[0].Path,
			c.Fields[k.fields-1].Path)
	}
	return c
}

func (k *oddCase) shows(t *testing.T, c column, text string) {
	t.Helper()
	var a entityAnswer
	k.get(t, "entities/"+k.e.String(), &a)
	i := slices.IndexFunc(a.Components, func(one component) bool { return one.ID == c.ID })
	if i < 0 {
		t.Fatalf("the entity has %+v", a.Components)
	}
	one := a.Components[i]
	v := one.Value
	if v == nil || !says(v.Text, text) || len(v.Parts) != k.parts || v.More != k.more || v.Size != k.size ||
		one.Size != k.size || one.Storage != c.Storage || one.Editable == k.tooLarge() {
		t.Errorf("the component is %+v with the value %+v", one, v)
	}
	if want := c.Storage == "dense" && k.size > 0; (one.Place != nil) != want || want &&
		one.Place.Bytes != k.size {
		t.Errorf("the component lies at %+v", one.Place)
	}
	fields := 0
	var count func(f *value.Field)
	count = func(f *value.Field) {
		fields++
		for i := range f.Parts {
			count(&f.Parts[i])
		}
	}
	if count(v); fields > maxShown/2+1 {
		t.Errorf("the tree of the component has %d fields, want at most %d", fields, maxShown/2+1)
	}
}

func (k *oddCase) lists(t *testing.T, c column, text string, edited int) {
	t.Helper()
	if k.tooLarge() && c.Storage == "dense" {
		text = "{N:0 Bytes:0x0000000000…" // the list reads dense columns in place
	}
	var page pageAnswer
	k.get(t, asking("entities", "query", c.Text, "columns", c.Text), &page)
	if page.Total != 1 || len(page.Rows) != 1 || page.Rows[0].ID != k.e.String() ||
		!says(page.Rows[0].Values[c.Label], text) {
		t.Errorf("the list is %+v", page)
	}
	status, lines := k.do(t, "GET", prefix+asking("rows", "query", c.Text, "format", "ndjson"),
		k.options.Token, "")
	var row struct{ Values map[string]any }
	if err := json.Unmarshal(lines, &row); err != nil || status != http.StatusOK {
		t.Fatalf("the rows are %d %.200s, the error is %v", status, lines, err)
	}
	switch got := row.Values[c.Label].(type) {
	case bool:
		if k.fields > 0 || !got {
			t.Errorf("the row is %.200s", lines)
		}
	case map[string]any:
		at, number := k.listed(edited)
		want := any(float64(number))
		if k.tooLarge() && c.Storage != "dense" {
			want = nil
		}
		if v, has := got[at]; len(got) != k.fields || v != want || !has {
			t.Errorf("the row has %d values, want %d; the value of %s is %v, want %v", len(got),
				k.fields, at, v, want)
		}
	default:
		t.Errorf("the row is %.200s", lines)
	}
	_, table := k.do(t, "GET", prefix+asking("rows", "query", c.Text, "format", "csv"), k.options.Token, "")
	titles, values, _ := strings.Cut(strings.TrimSpace(string(table)), "\n")
	n := 2 + max(k.fields, 1)
	if strings.Count(titles, ",") != n-1 || strings.Count(values, ",") != n-1 ||
		strings.Contains(values, "\n") {
		t.Errorf("the table has the titles %.200s and the row %.200s, want %d columns", titles, values, n)
	}
}

func (k *oddCase) searches(t *testing.T, c column, edited int) {
	t.Helper()
	count := func(query string) int {
		t.Helper()
		var a countAnswer
		k.get(t, asking("count", "query", query), &a)
		return a.Count
	}
	if has, lacks := count(c.Text), count("!"+c.Text); has != 1 || lacks != 2 {
		t.Errorf("%d entities have the component and %d lack it, want 1 and 2", has, lacks)
	}
	var check checkAnswer
	k.get(t, asking("query/check", "text", c.Text), &check)
	var complete completeAnswer
	k.get(t, asking("query/complete", "text", strings.TrimSuffix(c.Text, `"`)), &complete)
	if !check.Valid || !slices.Equal(check.Columns, []string{c.Label}) || len(complete.Items) != 1 ||
		complete.Items[0].Text != c.Text {
		t.Errorf("the check is %+v, the completion is %+v", check, complete)
	}
	if k.fields == 0 {
		p := k.refused(t, 400, "GET", asking("count", "query", c.Text+" > 0"), "", "")
		if !strings.HasSuffix(p.Message, "has no fields") {
			t.Errorf("a comparison of a component without fields is refused with %q", p.Message)
		}
		k.refused(t, 400, "GET", asking("histogram", "field", c.Text), "", "")
		return
	}
	path, number := k.listed(edited)
	named := c.Text + path
	if path[0] != '[' {
		named = c.Text + "." + path
	}
	if k.tooLarge() && c.Storage != "dense" {
		for _, ask := range []string{
			asking("count", "query", named+" == 0"), asking("histogram", "field", named),
			asking("rows", "columns", named),
		} {
			p := k.refused(t, 400, "GET", ask, "", "")
			if !strings.Contains(p.Message, "1048580 bytes: too large") {
				t.Errorf("%s is refused with %q", ask, p.Message)
			}
		}
		return
	}
	same, others := count(fmt.Sprintf("%s == %d", named, number)),
		count(fmt.Sprintf("%s != %d", named, number))
	if same != 1 || others != 0 {
		t.Errorf("%s is %d in %d entities and differs in %d, want 1 and 0", named, number, same, others)
	}
	var h histogramAnswer
	k.get(t, asking("histogram", "field", named), &h)
	if h.Count != 1 || h.Min == nil || *h.Min != float64(number) || *h.Max != float64(number) {
		t.Errorf("the histogram is %+v", h)
	}
	var page pageAnswer
	k.get(t, asking("entities", "query", c.Text, "columns", named), &page)
	if want := fmt.Sprint(number); len(page.Rows) != 1 || len(page.Rows[0].Values) != 1 {
		t.Errorf("the list is %+v", page)
	} else if got := page.Rows[0].Values[c.Label+strings.TrimPrefix(named, c.Text)]; got != want {
		t.Errorf("%s is listed as %q, want %s", named, got, want)
	}
}

func (k *oddCase) showsMemory(t *testing.T, c column) {
	t.Helper()
	var b bytesAnswer
	k.get(t, fmt.Sprintf("memory/bytes?slot=%d&column=%d", k.e.Slot(), c.ID), &b)
	raw, err := hex.DecodeString(b.Hex)
	want := min(k.size, maxBytes)
	if c.Storage == "heap" || c.Storage != "dense" && k.tooLarge() {
		want = 0
	}
	whole := 0 // number of fields whose bytes are all in the answer
	for _, f := range fieldsIn(k.typeOf()) {
		if f.offset+int(f.typ.Size()) <= want {
			whole++
		}
	}
	cut := c.Storage != "heap" && (want < k.size || whole == maxFields)
	if err != nil || len(raw) != want || slices.ContainsFunc(raw, func(b byte) bool { return b != 0 }) ||
		b.Size != k.size || len(b.Parts) != whole || b.Cut != cut || (b.From >= 0) != (c.Storage == "dense") {
		t.Errorf("the answer has %d of %d bytes and %d fields, cut is %t, the place is %d, the error is %v",
			len(raw), b.Size, len(b.Parts), b.Cut, b.From, err)
	}
	var w wordAnswer
	k.get(t, fmt.Sprintf("memory/word?slot=%d", k.e.Slot()), &w)
	i := slices.IndexFunc(w.Columns, func(p presence) bool { return p.Column == c.ID })
	if i < 0 || w.Columns[i].Size != k.size || w.Columns[i].Slots != "0000000000000001" {
		t.Errorf("the word has %+v", w.Columns)
	}
	var m memoryAnswer
	k.get(t, "memory", &m)
	if c.Storage == "dense" {
		a := m.area(t, c.Name, "elements")
		if a.Stride != k.size {
			t.Errorf("the column's area is %+v", a)
		}
		var at placeAnswer
		k.get(t, fmt.Sprintf("memory/at?offset=%d", a.First+int(k.e.Slot())*a.Stride), &at)
		if k.size > 0 && (at.Name != c.Name || at.Entity == nil || at.Entity.ID != k.e.String() ||
			at.Field != k.first || at.Byte != 0) {
			t.Errorf("the answer for the component's first byte is %+v", at)
		}
	}
	for _, mode := range memoryModes {
		var p memoryPictureJSON
		k.get(t, "memory/picture?format=json&cells=256&by="+mode, &p)
		if len(p.Cells) != 256 {
			t.Errorf("a picture by %s has %d cells", mode, len(p.Cells))
		}
	}
}

func (k *oddCase) typeOf() reflect.Type { return probe.Describe(k.col).Type }

func (k *oddCase) edits(t *testing.T, c column) {
	t.Helper()
	token := k.options.Token
	path := func(e vast.Entity) string {
		return fmt.Sprintf("entities/%v/components/%s", e,
			url.PathEscape(c.Name))
	}
	if k.tooLarge() {
		for _, method := range []string{"PATCH", "POST"} {
			p := k.refused(t, 400, method, path(k.other), token, `{"value":{"N":7}}`)
			if !strings.Contains(p.Message, "too many to edit") {
				t.Errorf("%s is refused with %q", method, p.Message)
			}
		}
		return
	}
	if k.path == "" {
		k.refused(t, 400, "PATCH", path(k.e), token, `{"path":"N","value":7}`)
		k.refused(t, 400, "PATCH", path(k.e), token, `{"path":"[0]","value":7}`)
		k.refused(t, 404, "PATCH", path(k.other), token, k.emptyValue())
		a := k.change(t, "PATCH", path(k.e), k.emptyValue())
		if a.Component == nil || a.Component.ID != c.ID || !says(a.Component.Value.Text, k.text) {
			t.Errorf("the answer to the edit is %+v", a)
		}
	} else {
		body := fmt.Sprintf(`{"path":%q,"value":7}`, k.path)
		a := k.change(t, "PATCH", path(k.e), body)
		if a.Component == nil || a.Component.ID != c.ID || !says(a.Component.Value.Text, k.set) {
			t.Errorf("the answer to the edit is %+v", a)
		}
		k.see(t, func() {
			v, _ := probe.Value(k.col, k.e)
			for _, f := range stepsOf(k.path) {
				v = f(v)
			}
			if v.Int() != 7 {
				t.Errorf("%s is %v, want 7", k.path, v)
			}
		})
		k.lists(t, c, k.set, 7)
		k.searches(t, c, 7)
	}
	a := k.change(t, "POST", path(k.other), "")
	if a.Component == nil || a.Component.ID != c.ID || !says(a.Component.Value.Text, k.text) {
		t.Errorf("the answer to the addition is %+v", a)
	}
	k.see(t, func() {
		if !has(k.w, k.col, k.other) {
			t.Error("the component was not added")
		}
	})
	k.change(t, "DELETE", path(k.other), "")
	k.see(t, func() {
		if has(k.w, k.col, k.other) || !has(k.w, k.col, k.e) {
			t.Error("the component was not removed, or was removed from another entity")
		}
	})
}

// emptyValue returns the body of an edit of a component without fields.
func (k *oddCase) emptyValue() string {
	switch t := k.typeOf(); {
	case t.Kind() == reflect.Struct:
		return `{"value":{}}`
	case t.Len() == 0:
		return `{"value":[]}`
	case t.Elem().Kind() == reflect.Struct:
		return fmt.Sprintf(`{"path":"[%d]","value":{}}`, min(t.Len()-1, math.MaxInt32-1))
	default:
		return `{"path":"[1048575][1048575]","value":{}}`
	}
}

// stepsOf returns the steps of a path as functions from a value to its part.
func stepsOf(path string) (steps []func(reflect.Value) reflect.Value) {
	for _, f := range strings.FieldsFunc(path, func(r rune) bool {
		return r == '.' || r == '[' ||
			r == ']'
	}) {
		i := 0
		if n, err := fmt.Sscanf(f, "%d", &i); n == 1 && err == nil {
			steps = append(steps, func(v reflect.Value) reflect.Value { return v.Index(i) })
		} else {
			steps = append(steps, func(v reflect.Value) reflect.Value { return v.FieldByName(f) })
		}
	}
	return steps
}

func (k *oddCase) costs(t *testing.T) {
	t.Helper()
	var a Costs
	k.get(t, "costs", &a)
	i := slices.IndexFunc(a.Columns, func(c ColumnCost) bool { return c.Name == k.col.Name() })
	if i < 0 {
		t.Fatalf("the costs are %+v", a)
	}
	if c := a.Columns[i]; c.Size != k.size || c.Type == "" || c.Slots != 64 || c.Entities < 1 ||
		c.Entities > 2 {
		t.Errorf("the costs are %+v", c)
	}
}

func (f *fixture) testTag(t *testing.T, e, other vast.Entity) {
	var a entityAnswer
	f.get(t, "entities/"+e.String(), &a)
	if len(a.Components) != 1 {
		t.Fatalf("the entity has %+v", a.Components)
	}
	if c := a.Components[0]; c.Column != "Tag" || c.Value != nil || c.Storage != "tag" || c.Editable ||
		c.Size != 0 {
		t.Errorf("the entity has %+v", c)
	}
	var page pageAnswer
	f.get(t, "entities?query=Tag", &page)
	if page.Total != 1 || page.Rows[0].Values["Tag"] != "yes" {
		t.Errorf("the list is %+v", page)
	}
	id := a.Components[0].ID
	var b bytesAnswer
	f.get(t, fmt.Sprintf("memory/bytes?slot=%d&column=%d", e.Slot(), id), &b)
	if b.Size != 0 || b.Hex != "" || b.Cut || len(b.Parts) != 0 || b.From != -1 {
		t.Errorf("the bytes of the tag are %+v", b)
	}
	f.refused(t, 400, "GET", "count?query=Tag==0", "", "")
	f.refused(t, 400, "PATCH", fmt.Sprintf("entities/%v/components/Tag", e), f.options.Token, `{"value":{}}`)
	path := fmt.Sprintf("entities/%v/components/Tag", other)
	f.change(t, "POST", path, "")
	f.get(t, "entities?query=Tag", &page)
	if page.Total != 2 {
		t.Errorf("the list after the addition is %+v", page)
	}
	f.change(t, "DELETE", path, "")
	f.refused(t, 404, "DELETE", path, f.options.Token, "")
}
