package vastsql

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
)

// newForest makes a world whose relation ChildOf links most entities to a random earlier one.
func newForest(t *testing.T, rng *rand.Rand, n int) (f *fixture, childOf vast.Relation) {
	f = &fixture{w: vast.NewWorld(vast.Options{})}
	childOf = vast.NewRelation(f.w, "ChildOf", vast.RelationOptions{})
	f.positions = vast.NewColumn[Position](f.w)
	for i := range n {
		e := f.w.Archetype(f.positions).New()
		f.entities = append(f.entities, e)
		if i > 0 && rng.IntN(10) > 0 {
			childOf.Set(e, f.entities[rng.IntN(i)])
		}
	}
	// The deletions make gaps in the table, and free slots that the next loop uses again with a new
	// generation.
	for i := 0; i < n; i += 7 {
		f.w.Delete(f.entities[i])
	}
	for range n / 20 {
		e := f.w.Archetype(f.positions).New()
		f.entities = append(f.entities, e)
		childOf.Set(e, f.entities[n/2+1])
	}
	f.serve(t)
	var err error
	if f.db, err = Open(f.w, Options{MaxPause: time.Minute}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.db.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, childOf
}

// TestTreeAgainstRelation compares the SQL functions with the methods of the relation.
func TestTreeAgainstRelation(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	f, childOf := newForest(t, rand.New(rand.NewPCG(seed, 1)), 400)
	var parents, below []string
	err := f.w.Visit(t.Context(), func() bool {
		for _, e := range f.entities {
			if !f.w.Alive(e) {
				continue
			}
			parent := ""
			if target, ok := childOf.Target(e); ok {
				parent = fmt.Sprint(int64(target.ID()))
			}
			parents = append(parents, fmt.Sprint(int64(e.ID()), "|", parent, "|", childOf.Depth(e)))
			for d := range childOf.Descendants(e) {
				below = append(below, fmt.Sprint(int64(e.ID()), "|", int64(d.ID()), "|",
					childOf.Depth(d)-childOf.Depth(e)))
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want []string
	}{
		{"SELECT entity, parent(entity), depth(entity) FROM position", parents},
		{"SELECT entity, parent(entity, 'child_of'), depth(entity, 'CHILD_OF') FROM position", parents},
		{"SELECT p.entity, d.entity, d.depth FROM position p, descendants(p.entity) d", below},
		{"SELECT ancestor, d.entity, depth FROM position p, descendants(p.entity, 'child_of') d", below},
		{"SELECT ancestor, entity, depth(entity) - depth(ancestor) FROM descendants WHERE ancestor IN " +
			"(SELECT entity FROM position)", below},
	} {
		got := read(t, f.db, c.text)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d rows differ from the %d rows of the relation", c.text, len(got), len(c.want))
		}
	}
	// Each descendant comes after its target.
	seen := map[string]bool{}
	for _, row := range read(t, f.db, "SELECT entity, parent(entity), depth FROM descendants(?)",
		int64(f.entities[1].ID())) {
		parts := strings.Split(row, "|")
		if parts[2] != "1" && !seen[parts[1]] {
			t.Fatalf("%s comes before its target", row)
		}
		seen[parts[0]] = true
	}
}

func TestTreeFunctions(t *testing.T) {
	f := newFixture(t, 20, Options{})
	id := func(i int) int64 { return int64(f.entities[i].ID()) }
	var likes vast.Relation
	one := read(t, f.db, "SELECT parent(?) = ?, depth(?), depth(?), parent(?), depth(0), parent(NULL), "+
		"depth('x'), parent(?, NULL)", id(4), id(0), id(4), id(0), id(0), id(4))
	if !reflect.DeepEqual(one, []string{"1|1|0||0||0|"}) {
		t.Error(one)
	}
	// The statement reads one row, but parent needs the whole table.
	if got := read(t, f.db, "SELECT parent(source) = ? FROM lives_in WHERE source = ?", id(0),
		id(4)); !reflect.DeepEqual(got, []string{"1"}) {
		t.Error(got)
	}
	err := f.w.Visit(t.Context(), func() bool {
		likes = vast.NewRelation(f.w, "Likes", vast.RelationOptions{Cyclic: true})
		likes.Set(f.entities[2], f.entities[3])
		likes.Set(f.entities[3], f.entities[2])
		likes.Set(f.entities[4], f.entities[2])
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	f.db.SetMaxIdleConns(0) // a new connection sees the relation
	for _, c := range []struct {
		text string
		args []any
		want string
	}{
		{"SELECT parent(?, 'likes') = ?", []any{id(4), id(2)}, "1"},
		{"SELECT parent(?, 'lives_in') = ?", []any{id(4), id(0)}, "1"},
		{"SELECT parent(?, ?) = ?", []any{id(4), "likes", id(2)}, "1"},
		{"SELECT depth(?, 'lives_in') + count(*) FROM descendants(?, 'lives_in')", []any{id(4), id(0)}, "10"},
		{"SELECT count(*) FROM descendants(?, 'lives_in') d JOIN traveller t USING (entity) WHERE age > 4",
			[]any{id(0)}, "7"},
	} {
		if got := read(t, f.db, c.text, c.args...); !reflect.DeepEqual(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"SELECT parent(5)", "several relations: name one of 'lives_in', 'likes'"},
		{"SELECT * FROM descendants(5)", "several relations"},
		{"SELECT depth(5, 'nothing')", `no relation "nothing"`},
		{"SELECT depth(5, 'position')", `no relation "position"`},
		{"SELECT parent(5, 'likes'), parent(5, 'lives'||'_in')",
			"write the name of the relation as text: 'lives_in'"},
		{fmt.Sprintf("SELECT depth(%d, 'likes')", id(2)), "back to it"},
		{fmt.Sprintf("SELECT depth(%d, 'likes')", id(4)), "back to it"},
		{fmt.Sprintf("SELECT count(*) FROM descendants(%d, 'likes')", id(2)), "back to it"},
		{"SELECT * FROM descendants", "descendants needs an entity"},
		{"SELECT parent()", "wrong number of arguments"},
	} {
		if _, err := tryRead(f.db, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}
