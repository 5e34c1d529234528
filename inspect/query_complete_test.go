package inspect

import (
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	f := newFixture(t, Options{})
	var got checkAnswer
	f.get(t, asking("query/check", "text", "Position, !Dead, ?Velocity, Infected.Since > 3, ChildOf(Paris)"),
		&got)
	if !got.Valid || got.Error != nil || strings.Join(got.Columns,
		" ") != "Position Velocity Infected ChildOf" {
		t.Errorf("%+v", got)
	}
	got = checkAnswer{}
	f.get(t, asking("query/check", "text", "Position, ChildOf(Pariss)"), &got)
	if got.Valid || got.Error == nil || *got.Error.Position != 18 || *got.Error.Length != 6 ||
		got.Columns == nil {
		t.Errorf("%+v", got)
	}
	got = checkAnswer{}
	f.get(t, asking("query/check", "text", "Ä, "), &got)
	if got.Valid || *got.Error.Position != 1 || *got.Error.Length != 1 {
		t.Errorf("%+v", got)
	}
	f.get(t, "query/check?text=", &got)
	if !got.Valid || len(got.Columns) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestCompletion(t *testing.T) {
	f := newFixture(t, Options{})
	complete := func(text string) (completeAnswer, []string) {
		var got completeAnswer
		f.get(t, asking("query/complete", "text", text), &got)
		var texts []string
		for _, i := range got.Items {
			texts = append(texts, i.Text)
		}
		return got, texts
	}
	if got, texts := complete("Position, inf"); got.From != 10 || got.To != 13 || texts[0] != "Infected" {
		t.Errorf("%+v", got)
	}
	if got, texts := complete("ChildOf(lo"); got.From != 8 || texts[0] != "London" ||
		got.Items[0].Kind != "name" || got.Items[0].Detail != f.london.String() {
		t.Errorf("%+v", got)
	}
	if got, texts := complete(`ChildOf("<i`); !slices.Contains(texts, `"`+hostileName+`"`) {
		t.Errorf("%+v", got)
	}
	if got, texts := complete("Infected.Stage == s"); texts[0] != "Severe" {
		t.Errorf("%+v", got)
	}
	if got, texts := complete(strings.Repeat("x", 5000)); len(texts) != 0 || got.Items == nil {
		t.Errorf("%+v", got)
	}
}
