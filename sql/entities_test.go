package vastsql

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

func TestEntities(t *testing.T) {
	f := newFixture(t, 20, Options{MaxPause: time.Minute})
	f.addRoads(t)
	id := func(i int) int64 { return int64(f.entities[i].ID()) }
	for _, c := range []struct {
		text string
		args []any
		want []string
	}{
		{"SELECT count(*), count(name), count(components) FROM entities", nil, []string{"19|1|19"}},
		{"SELECT name FROM entities WHERE entity = ?", []any{id(3)}, []string{"Ann"}},
		{"SELECT name IS NULL, components FROM entities WHERE entity = ?", []any{id(2)},
			[]string{"1|position,traveller,note,lives_in,roads,knows"}},
		{"SELECT components FROM entities WHERE name = 'Ann'", nil,
			[]string{"position,traveller,name,owes"}},
		{"SELECT e.components FROM name n JOIN entities e USING (entity)", nil,
			[]string{"position,traveller,name,owes"}},
		{"SELECT count(*) FROM entities WHERE components LIKE '%frozen%'", nil, []string{"4"}},
		{"SELECT components FROM entities WHERE entity = ?", []any{id(1)}, nil},
	} {
		if got := read(t, f.db, c.text, c.args...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	err := f.w.Visit(t.Context(), func() bool {
		late, at := vast.NewTag(f.w, "TooLate"), vast.NewRelation(f.w, "At", vast.RelationOptions{})
		late.Add(f.entities[5])
		at.Set(f.entities[6], f.entities[5]) // the private column of targets must not appear
		bare := f.w.Archetype().New()
		if _, err := f.w.Names().Set(bare, "Bob"); err != nil {
			t.Error(err)
		}
		f.w.Delete(f.entities[3])
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	got := read(t, f.db, "SELECT name, components FROM entities WHERE name IS NOT NULL OR entity = ?", id(5))
	slices.Sort(got)
	want := []string{"Bob|name", "|position,traveller,position2,frozen,roads,too_late"}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNeeds checks that a statement copies only what it uses.
func TestNeeds(t *testing.T) {
	f := newFixture(t, 5, Options{})
	f.addRoads(t)
	for text, want := range map[string]map[string]need{
		"SELECT slot FROM entities":                    {"entities": {gens: true}},
		"SELECT name FROM entities":                    {"entities": {parts: 1 << 3}},
		"SELECT entity FROM entities WHERE name = 'x'": {"entities": {parts: 1 << 3, gens: true}},
		"SELECT count(*) FROM roads":                   {"roads": {}},
		"SELECT target FROM roads":                     {"roads": {parts: 1 << partTarget}},
		"SELECT lanes FROM roads WHERE source = 1":     {"roads": {parts: 1<<partSource | 1<<partValue}},
		"SELECT parent(5)":                             {"lives_in": needLinks},
		"SELECT entity FROM descendants(5)":            {"lives_in": needLinks},
		"SELECT name FROM vast_systems":                {"vast_systems": {gens: true}},
	} {
		c, err := f.db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		err = c.Raw(func(driver any) error {
			s, err := driver.(*conn).PrepareContext(t.Context(), text)
			if err != nil {
				return err
			}
			defer s.Close()
			got := map[string]need{}
			for table, n := range s.(*stmt).needs {
				got[table.name] = n
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %v, want %v", text, got, want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
