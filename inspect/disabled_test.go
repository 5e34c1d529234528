package inspect

import (
	"slices"
	"testing"

	"github.com/vastgo/vast"
)

// TestDisabledEntities checks that lists and counts include disabled entities, and that lists mark them.
// Counts of a query that names the tag of a Disabled are never outdated, although Disable is no structural
// change.
func TestDisabledEntities(t *testing.T) {
	f := newFixture(t, Options{})
	var off, mute vast.Disabled
	f.see(t, func() {
		off, mute = vast.NewDisabled(f.w, "off"), vast.NewDisabled(f.w, "mute", f.velocity)
		off.Disable(f.people[7])
		off.Disable(f.london)
		mute.Disable(f.people[8])
	})
	total := func(query string) int {
		t.Helper()
		var page pageAnswer
		f.get(t, asking("entities", "query", query, "limit", "1"), &page)
		return page.Total
	}
	for query, want := range map[string]int{"": 1003, "Velocity": 1000, "off": 2, "!off": 1001,
		"Velocity, !off": 999, "off | mute": 3, "mute, Velocity": 1, "!Velocity": 3, "ChildOf(Paris)": 335,
		"where ChildOf(off)": 333, "where ChildOf(!off)": 668, "up ChildOf(!off)": 1001} {
		if got := total(query); got != want {
			t.Errorf("%q has %d matches, want %d", query, got, want)
		}
	}
	f.see(t, func() { off.Disable(f.people[9]) }) // no structural change
	if got := total("off"); got != 3 {
		t.Errorf("after Disable, %d entities are disabled, want 3", got)
	}
	var page pageAnswer
	f.get(t, asking("entities", "query", "Velocity", "limit", "20"), &page)
	for _, row := range page.Rows {
		want := slices.Contains([]string{f.people[7].String(), f.people[9].String()}, row.ID)
		if row.Disabled != want {
			t.Errorf("row %s: disabled is %v", row.ID, row.Disabled)
		}
	}
	var e entityAnswer
	f.get(t, "entities/"+f.people[7].String(), &e)
	if !slices.Equal(e.DisabledBy, []string{"off"}) || e.Components[0].DisabledBy == nil {
		t.Errorf("the entity is disabled by %v", e.DisabledBy)
	}
	f.get(t, "entities/"+f.people[8].String(), &e)
	if len(e.DisabledBy) != 0 {
		t.Errorf("the entity is disabled by %v, want no tag", e.DisabledBy)
	}
	for _, c := range e.Components {
		if (len(c.DisabledBy) > 0) != (c.Column == "Velocity") {
			t.Errorf("component %s is disabled by %v", c.Column, c.DisabledBy)
		}
		if c.Column == "Velocity" && c.Value == nil {
			t.Error("the component that is switched off has no value")
		}
	}
}
