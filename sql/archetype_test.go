package vastsql

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

func TestArchetypes(t *testing.T) {
	f := newFixture(t, 20, Options{})
	type Engine struct{ Power int32 }
	var old *vast.Archetype
	err := f.w.Visit(t.Context(), func() bool {
		engines := vast.NewColumn[Engine](f.w)
		a := f.w.Archetype(f.positions, engines, f.frozen)
		old = f.w.Archetype(f.positions, f.travellers)
		for i := range 200 { // extents of the two archetypes alternate
			e := a.New()
			engines.Set(e, Engine{int32(i)})
			f.entities = append(f.entities, e)
			old.New()
		}
		f.frozen.Remove(f.entities[20])
		f.rare.Add(f.entities[21], Position2{1})
		f.w.Archetype(engines)
		f.w.Archetype()
		long := []vast.AnyColumn{f.positions}
		for i := range 8 {
			long = append(long, vast.NewTag(f.w, fmt.Sprint("QuiteALongNameOfATag", i)))
		}
		f.w.Archetype(long...)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	f.db.SetMaxIdleConns(0) // a new connection sees the archetypes
	defer f.db.SetMaxIdleConns(2)
	number := -1
	for i, a := range probe.Archetypes(f.w) {
		if a == old {
			number = i
		}
	}
	if number != 0 {
		t.Fatalf("the archetype has the number %d", number)
	}
	id := func(i int) int64 { return int64(f.entities[i].ID()) }
	for _, c := range []struct {
		text string
		args []any
		want []string
	}{
		{"SELECT name FROM sqlite_schema WHERE name LIKE 'archetype%' ORDER BY rowid", nil, []string{
			"archetype_position_traveller", "archetype_position_frozen_engine", "archetype_engine",
			"archetype_3", "archetype_4"}},
		{"SELECT name FROM pragma_table_info('archetype_position_frozen_engine')", nil, []string{"entity",
			"position.x", "position.y", "engine.power"}},
		{"SELECT name FROM pragma_table_info('archetype_engine')", nil, []string{"entity", "power"}},
		{"SELECT name FROM pragma_table_info('archetype_3')", nil, []string{"entity"}},
		{"SELECT count(*), sum(\"engine.power\") FROM archetype_position_frozen_engine", nil,
			[]string{fmt.Sprint(199, "|", 199*200/2)}},
		{"SELECT \"engine.power\" FROM archetype_position_frozen_engine WHERE entity = ?", []any{id(100)},
			[]string{"80"}},
		{"SELECT \"position.x\" FROM archetype_position_frozen_engine WHERE entity = ?", []any{id(4)}, nil},
		{"SELECT count(*) FROM archetype_position_frozen_engine WHERE entity = ?", []any{id(20)},
			[]string{"0"}},
		{"SELECT count(*) FROM archetype_position_frozen_engine a JOIN position2 USING (entity)", nil,
			[]string{"1"}},
		{"SELECT count(*) FROM archetype_engine", nil, []string{"0"}},
		{"SELECT count(*) FROM archetype_position_traveller", nil, []string{"219"}},
	} {
		if got := read(t, f.db, c.text, c.args...); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	_, err = f.db.Exec("CREATE VIRTUAL TABLE temp.a USING vast(position, archetype_engine)")
	if err == nil || !strings.Contains(err.Error(), "is not the table of a component, tag or relation") {
		t.Error(err)
	}
	_, err = f.db.Exec("CREATE VIRTUAL TABLE temp.a USING vast(position, frozen)")
	if err != nil {
		t.Error(err)
	}
}
