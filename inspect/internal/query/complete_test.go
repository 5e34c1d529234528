package query

import (
	"slices"
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	f := newTestWorld(t, 200)
	for _, c := range []struct {
		text     string // text in which ^ is the cursor
		from, to int
		first    string // text of the first item
		kind     string // kind of the first item
	}{
		{"^", 0, 0, "Body", "component"},
		{"Bo^", 0, 2, "Body", "component"},
		{"Bo^dy, Dead", 0, 4, "Body", "component"},
		{"Body, chi^", 6, 9, "ChildOf", "relation"},
		{"Body, !de^", 7, 9, "Dead", "component"},
		{"Body | No^", 7, 9, "Note", "component"},
		{"Body, not il^", 10, 12, "Illness", "component"},
		{"Body, ?^", 7, 7, "Body", "component"},
		{"yea^", 0, 3, `"Age in years"`, "component"},
		{`"Age^`, 0, 4, `"Age in years"`, "component"},
		{`"Age in ye^ars" > 5`, 0, 14, `"Age in years"`, "component"},
		{"ChildOf(Pa^", 8, 10, `Paris 0`, "name"},
		{"ChildOf(Pa^ris 0), Dead", 8, 15, `Paris 0`, "name"},
		{"ChildOf(new y^)", 8, 13, "New York 7", "name"},
		{`ChildOf("Pa^`, 8, 11, "Paris 0", "name"},
		{`ChildOf("Pa^ris 0")`, 8, 17, "Paris 0", "name"},
		{"ChildOf(^", 8, 8, "*", "operator"},
		{"ChildOf^", 0, 7, "ChildOf", "relation"},
		{"ChildOf ^", 8, 8, "(", "operator"},
		{"Body, whe^", 6, 9, "where", "keyword"},
		{"where ^", 6, 6, "ChildOf(", "relation"},
		{"!up Chi^", 4, 7, "ChildOf(", "relation"},
		{"where ChildOf ^", 14, 14, "(", "operator"},
		{"where ChildOf(^", 14, 14, "Body", "component"},
		{"where ChildOf(Body, !No^te)", 21, 25, "Note", "component"},
		{"where ChildOf(Body ^", 19, 19, ")", "operator"},
		{"where ChildOf(Body), Bo^", 21, 23, "Body", "component"},
		{"Body.^", 5, 5, "X", "field"},
		{"Body.Ma^", 5, 7, "Mass", "field"},
		{"Numbers.In[1].^", 8, 14, "In[1].Deep", "field"},
		{"Body.X ^", 7, 7, "==", "operator"},
		{"Body ^", 5, 5, ".", "operator"},
		{"Body.X > 5 ^", 11, 11, ",", "operator"},
		{"Illness.Stage == Se^", 17, 19, "Severe", "name"},
		{"Illness.Stage == ^", 17, 17, "Gone", "name"},
		{"Numbers.On == t^", 14, 15, "true", "keyword"},
		{"Illness.Source == Par^", 18, 21, "Paris 0", "name"},
		{`Name == "Par^`, 8, 12, `"Paris 0"`, "name"},
		{"Name == Par^", 8, 11, `"Paris 0"`, "name"},
	} {
		before, after, _ := strings.Cut(c.text, "^")
		got := Complete(before+after, len([]rune(before)), f.schema)
		if prefix, ok := got.WantsNames(); ok {
			got.AddNames(f.Suggest(prefix, 10))
		}
		if got.From != c.from || got.To != c.to || len(got.Items) == 0 {
			t.Errorf("%q: items from %d to %d: %v, want from %d to %d", c.text, got.From, got.To, got.Items,
				c.from, c.to)
			continue
		}
		if one := got.Items[0]; one.Text != c.first || one.Kind != c.kind {
			t.Errorf("%q: %v, want first %s, of the kind %s", c.text, got.Items, c.first, c.kind)
		}
	}
}

func TestCompleteAfterACompleteName(t *testing.T) {
	f := newTestWorld(t, 40)
	texts := func(text string) (list []string) {
		for _, i := range Complete(text, len([]rune(text)), f.schema).Items {
			list = append(list, i.Text)
		}
		return list
	}
	if got := texts("Body"); !slices.Contains(got, "Body.X") || !slices.Contains(got, "Body.Mass") {
		t.Errorf("after Body: %v", got)
	}
	if got := texts("ChildOf"); !slices.Contains(got, "ChildOf(") {
		t.Errorf("after ChildOf: %v", got)
	}
	if got := texts("Body "); !slices.Contains(got, ",") || slices.Contains(got, "==") {
		t.Errorf("after Body and a space: %v", got)
	}
	if got := texts("Body.X "); slices.Contains(got, "~") || !slices.Contains(got, "<=") {
		t.Errorf("after Body.X: %v", got)
	}
}
