package vast

import (
	"fmt"
	"strings"
	"testing"
)

// anotherColumn registers a column with a unique name, so that a world may have several columns of type T.
func anotherColumn[T any](w *World) Column[T] {
	return NewColumn[T](w).Named(fmt.Sprint("column ", len(w.columns)))
}

func TestColumnOf(t *testing.T) {
	w := NewWorld(Options{Name: "home", MaxEntities: 1024})
	defer w.Close()
	refused := func(err error, want ...string) {
		t.Helper()
		for _, s := range want {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("the error is %v, want an error that contains %q", err, s)
			}
		}
	}
	_, err := ColumnOf[position](w)
	refused(err,
		`ColumnOf[vast.position]: world "home" has no column of this type: register it with NewColumn`)
	pos := NewColumn[position](w)
	e := w.Archetype(pos).New()
	found, err := ColumnOf[position](w)
	if err != nil || found != pos || found.Get(e) != pos.Get(e) {
		t.Errorf("found %v, %v, want the column of NewColumn", found, err)
	}
	NewColumn[position](w).Named("old")
	c, err := ColumnOf[position](w)
	refused(err, `several columns of this type, Column "position", Column "old": keep the Column`)
	if c != (Column[position]{}) {
		t.Error("ColumnOf returned a column with the error")
	}

	NewHeapColumn[string](w).Named("title")
	_, err = ColumnOf[string](w)
	refused(err, `a HeapColumn of this type, "title", and no Column: keep the HeapColumn that NewHeapColumn`)
	NewSparseColumn[number](w)
	_, err = ColumnOf[number](w)
	refused(err, `a SparseColumn of this type, "number", and no Column: keep the SparseColumn`)
	NewRelation(w, "ChildOf", RelationOptions{})
	_, err = ColumnOf[Entity](w)
	refused(err, "no column of this type")

	w.Close()
	mustPanic(t, "closed", func() { _, _ = ColumnOf[position](w) })
}

func TestColumnsOfOneTypeAndName(t *testing.T) {
	const twins = `two columns "number" of type vast.number: give one of them another name with Named`
	uses := map[string]func(w *World, c Column[number]){
		"NewColumn":       func(w *World, _ Column[number]) { NewColumn[velocity](w) },
		"NewSparseColumn": func(w *World, _ Column[number]) { NewSparseColumn[squad](w) },
		"NewHeapColumn":   func(w *World, _ Column[number]) { NewHeapColumn[string](w) },
		"NewTag":          func(w *World, _ Column[number]) { NewTag(w, "x") },
		"NewRelation":     func(w *World, _ Column[number]) { NewRelation(w, "x", RelationOptions{}) },
		"NewEdges":        func(w *World, _ Column[number]) { NewEdges[uint64](w, "x", EdgesOptions{}) },
		"ColumnOf":        func(w *World, _ Column[number]) { _, _ = ColumnOf[number](w) },
		"Query":           func(w *World, _ Column[number]) { w.Query() },
		"Query.Without":   func(w *World, c Column[number]) { w.Query().Without(c) },
		"Archetype":       func(w *World, _ Column[number]) { w.Archetype() },
	}
	for name, use := range uses {
		for i, second := range []func(w *World){
			func(w *World) { NewColumn[number](w) },
			func(w *World) { NewSparseColumn[number](w) },
			func(w *World) { NewHeapColumn[number](w) },
		} {
			t.Run(fmt.Sprint(name, i), func(t *testing.T) {
				w := NewWorld(Options{MaxEntities: 1024})
				defer w.Close()
				c := NewColumn[number](w)
				second(w)
				before := len(w.columns)
				mustPanic(t, twins, func() { use(w, c) })
				if len(w.columns) != before {
					t.Errorf("the panic left %d columns, want %d", len(w.columns), before)
				}
				c.Named("first")
				use(w, c)
			})
		}
	}

	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	NewColumn[position](w)
	type position struct{ X int } // another type of the same name
	NewColumn[position](w)
	NewColumn[velocity](w).Named("position")
	type count uint64
	a, b := NewColumn[count](w), NewColumn[count](w).Named("b")
	w.Query(a, b)
	w.Query(NewColumn[uint64](w), NewColumn[uint64](w)) // columns of a predeclared type may share a name
	mustPanic(t, `a column "b" of type vast.count already: choose another name`, func() { a.Named("b") })
	if got := a.Named("count").Name(); got != "count" {
		t.Errorf("the name is %q, want count", got)
	}

	NewTag(w, "docked")
	NewRelation(w, "kin", RelationOptions{})
	NewEdges[uint64](w, "road", EdgesOptions{})
	NewTag(w, "kin")
	NewRelation(w, "kin", RelationOptions{})
	NewColumn[Entity](w).Named("kin")
	mustPanic(t, `NewTag: world "world" has a tag "docked" already`, func() { NewTag(w, "docked") })
	NewHeapColumn[string](w).Named("Name")
	if _, err := w.Names().Set(w.Archetype().New(), "x"); err != nil {
		t.Error(err)
	}
	w.Query(w.Names())
}

func TestColumnsOfAnotherWorldOfTheSameName(t *testing.T) {
	w, other := NewWorld(Options{MaxEntities: 1024}), NewWorld(Options{MaxEntities: 1024})
	third := NewWorld(Options{Name: "third", MaxEntities: 1024})
	defer w.Close()
	defer other.Close()
	defer third.Close()
	pos := NewColumn[position](other)
	mustPanic(t, `vast: Query: column position belongs to another world, which has the same name "world"`,
		func() { w.Query(pos) })
	mustPanic(t, `column position belongs to world "world", not to "third"`, func() { third.Query(pos) })
	cs := NewCommands(w, CommandsOptions{})
	e := w.Archetype().New()
	mustPanic(t, `column position belongs to another world, which has the same name "world"`,
		func() { pos.AddLater(cs, e, position{}) })
}

func TestColumnOfATypeWithPointers(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	mustPanic(t, "NewColumn[string]: string is a string: memory outside", func() { NewColumn[string](w) })
	mustPanic(t, ", or make the column with NewHeapColumn", func() { NewColumn[string](w) })
	mustPanic(t, ", or make the column with NewHeapColumn", func() { NewSparseColumn[boxed](w) })
	if len(w.columns) > 0 {
		t.Error("a refused column was registered")
	}
}

func TestChangeNamesTheMethod(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	tag, kin := NewTag(w, "tag"), NewRelation(w, "kin", RelationOptions{})
	road, num := NewEdges[uint64](w, "road", EdgesOptions{}), NewColumn[uint64](w)
	es := make([]Entity, 0, 3)
	w.Archetype().NewN(3, func(r Run) { es = append(es, r.Entity(0), r.Entity(1), r.Entity(2)) })
	third := es[2]
	for _, step := range []struct {
		name   string
		change func(a, b Entity)
	}{
		{"Tag.Add", func(a, _ Entity) { tag.Add(a) }},
		{"Tag.Remove", func(a, _ Entity) { tag.Remove(a) }},
		{"Relation.Set", func(a, b Entity) { kin.Set(a, b) }},
		{"Relation.Set", func(a, _ Entity) { kin.Set(a, third) }},
		{"Relation.Remove", func(a, _ Entity) { kin.Remove(a) }},
		{"Edges.Add", func(a, b Entity) { road.Add(a, b, 1) }},
		{"Edges.Add", func(a, _ Entity) { road.Add(a, a, 1) }},
		{"Edges.Remove", func(a, b Entity) { road.Remove(a, b) }},
		{"Edges.Remove", func(a, _ Entity) { road.Remove(a, a) }},
		{"Names.Set", func(a, _ Entity) { _, _ = w.Names().Set(a, "x") }},
		{"Names.Remove", func(a, _ Entity) { w.Names().Remove(a) }},
		{"Column.Add", func(a, _ Entity) { num.EditOrAdd(a) }},
	} {
		mustPanic(t, "a query was running, by "+step.name+": record", func() {
			for range w.Query().All() {
				step.change(es[0], es[1])
			}
		})
	}
}

func TestEditOrAdd(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	type column interface {
		AnyColumn
		Add(Entity, uint64) *uint64
		Get(Entity) *uint64
		EditOrAdd(Entity) *uint64
		Remove(Entity) bool
		OnAdd(func(Entity, *uint64))
	}
	for _, c := range []column{
		NewColumn[uint64](w).Named("dense"), NewSparseColumn[uint64](w).Named("sparse"),
		NewHeapColumn[uint64](w).Named("heap"),
	} {
		e := w.Archetype().New()
		c.Add(e, 7) // leaves bytes that EditOrAdd must clear
		c.Remove(e)
		p := c.EditOrAdd(e)
		if p == nil || *p != 0 || c.Get(e) != p {
			t.Fatalf("%s: EditOrAdd returns %v, want the address %v of a zero component", c.Name(), p,
				c.Get(e))
		}
		*p = 5
		tr := NewTracker(w, c)
		if q := c.EditOrAdd(e); q != p || *q != 5 {
			t.Errorf("%s: EditOrAdd of a present component returns %v, want %v, which holds 5", c.Name(), q,
				p)
		}
		seen := 0
		for got := range tr.Changed(c) {
			if got != e {
				t.Errorf("%s: Changed yields %v, want %v", c.Name(), got, e)
			}
			seen++
		}
		if seen != 1 {
			t.Errorf("%s: Changed yields %d entities, want 1", c.Name(), seen)
		}
		told := 0
		c.OnAdd(func(got Entity, v *uint64) {
			told++
			if *v != 0 {
				t.Errorf("%s: OnAdd saw %d, want 0", c.Name(), *v)
			}
		})
		for e := range w.Query(c).All() {
			*c.EditOrAdd(e)++
		}
		if *p != 6 || told != 0 {
			t.Errorf("%s: after the loop the component is %d, and OnAdd was called %d times; want 6 and 0",
				c.Name(), *p, told)
		}
		c.Remove(e)
		if p = c.EditOrAdd(e); *p != 0 || told != 1 {
			t.Errorf("%s: the component is %d after %d calls of OnAdd, want 0 after 1", c.Name(), *p, told)
		}
		w.Delete(e)
		if p := c.EditOrAdd(e); p != nil {
			t.Errorf("%s: EditOrAdd returns %v for a stale entity, want nil", c.Name(), p)
		}
	}
	c := NewColumn[uint64](w).Named("late")
	w.Close()
	mustPanic(t, "closed", func() { c.EditOrAdd(Entity{}) })
}
