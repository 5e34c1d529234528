package clone_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
			t.Errorf("panicked with %q, which does not contain %q", got, want)
		}
	}()
	f()
}

func newCloner(t testing.TB, from, to *scene, o clone.Options) *clone.Cloner {
	t.Helper()
	c, err := clone.New(from.World, to.World, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// descendants returns e and its descendants in hierarchies. It searches breadth first, without package clone.
func (s *scene) descendants(e vast.Entity, along ...vast.Relation) map[vast.Entity]bool {
	found := map[vast.Entity]bool{e: true}
	for queue := []vast.Entity{e}; len(queue) > 0; queue = queue[1:] {
		for _, r := range along {
			for source := range r.Sources(queue[0]) {
				if !found[source] {
					found[source] = true
					queue = append(queue, source)
				}
			}
		}
	}
	return found
}

// TestSubtrees compares copies with their originals, in random worlds.
func TestSubtrees(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range longtest.Pick(20, 400) {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		s := newScene(t, round%3, vast.Options{MaxEntities: 1 << 14})
		es := s.fill(r, 10+r.IntN(300))
		cloner := newCloner(t, s, s, clone.Options{})
		for range 4 {
			root := es[r.IntN(min(5, len(es)))]
			want := s.descendants(root, s.child, s.above)
			n := min(r.IntN(5), 2000/len(want)) // copies below copies would soon fill the world
			before := s.Len()
			copies, err := cloner.CloneN(root, n)
			if err != nil {
				t.Fatal(err)
			}
			if copies.Len() != n || s.Len() != before+n*len(want) {
				t.Fatalf("%d copies, %d new entities, want %d × %d", copies.Len(), s.Len()-before, n,
					len(want))
			}
			for i := range n {
				var originals, copied []vast.Entity
				for original, one := range copies.All(i) {
					if !want[original] || copies.Of(original, i) != one || !copies.Of(one, i).IsZero() {
						t.Fatalf("copy %d of %v is %v, or Of disagrees", i, original, one)
					}
					originals, copied = append(originals, original), append(copied, one)
				}
				if len(originals) != len(want) || copies.Root(i) != copied[0] || originals[0] != root {
					t.Fatalf("%d originals, want %d, or the root is not first", len(originals), len(want))
				}
				compareInside(t, s, originals, copied)
			}
		}
		if err := checkQueries(s.World); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
}

// checkQueries checks that queries and look-ups agree about all entities.
func checkQueries(w *vast.World) error {
	n := 0
	for e := range w.Query().All() {
		if !w.Alive(e) {
			return fmt.Errorf("the query yields the stale entity %v", e)
		}
		n++
	}
	if n != w.Len() {
		return fmt.Errorf("the query yields %d entities, the world has %d", n, w.Len())
	}
	return nil
}

// TestHierarchies copies along all, none or one of the relations, and checks how a Cloner treats misuse.
func TestHierarchies(t *testing.T) {
	s := newScene(t, 0, vast.Options{MaxEntities: 1 << 12})
	a := s.Archetype(s.size)
	root, kid, above := a.New(), a.New(), a.New()
	s.child.Set(kid, root)
	s.above.Set(above, root)
	for _, tt := range []struct {
		along []vast.Relation
		want  int
	}{{nil, 3}, {[]vast.Relation{}, 1}, {[]vast.Relation{s.child}, 2}, {[]vast.Relation{s.above}, 2}} {
		before := s.Len()
		if _, err := newCloner(t, s, s, clone.Options{Hierarchies: tt.along}).Clone(root); err != nil {
			t.Fatal(err)
		}
		if got := s.Len() - before; got != tt.want {
			t.Errorf("%d relations: %d entities are copied, want %d", len(tt.along), got, tt.want)
		}
	}
	mustPanic(t, "Options.Hierarchies has a relation of another world", func() {
		_, _ = clone.New(s.World, s.World, clone.Options{Hierarchies: []vast.Relation{s.aims}})
	})
	mustPanic(t, "the number of copies cannot be negative", func() {
		_, _ = newCloner(t, s, s, clone.Options{}).CloneN(root, -1)
	})
	c := newCloner(t, s, s, clone.Options{})
	mustPanic(t, "while a query was running, by a copy of package clone", func() {
		for range s.Query(s.size).All() {
			_, _ = c.Clone(root)
		}
	})
	s.Delete(root)
	if e, err := c.Clone(root); !e.IsZero() || err != nil {
		t.Errorf("Clone of a stale entity returns %v, %v", e, err)
	}
	if copies, err := c.CloneN(root, 3); copies.Len() != 0 || err != nil {
		t.Errorf("CloneN of a stale entity returns %d copies, %v", copies.Len(), err)
	}
	mustPanic(t, "0 copies and no copy number 3", func() { new(clone.Copies).Root(3) })
	vast.NewTag(s.World, "late")
	mustPanic(t, "make the Cloner after the last column", func() { _, _ = c.Clone(above) })
}

// TestShared checks which memory on the Go heap a copy shares with its original.
func TestShared(t *testing.T) {
	s := newScene(t, 0, vast.Options{MaxEntities: 1 << 12})
	a := s.Archetype(s.minds)
	e, other := a.New(), a.New()
	m := &mind{Words: []string{"a"}, Known: []vast.Entity{e, other},
		Score: map[vast.Entity]int{e: 1, other: 2}}
	m.Friend = m // a circle
	*s.minds.Get(e) = mind{Words: m.Words, Known: m.Known, Score: m.Score, Friend: m}
	c, err := newCloner(t, s, s, clone.Options{}).Clone(e)
	if err != nil {
		t.Fatal(err)
	}
	got := s.minds.Get(c)
	if &got.Words[0] != &m.Words[0] {
		t.Error("the words are copied")
	}
	if !slices.Equal(got.Known, []vast.Entity{c, other}) || got.Score[c] != 1 || got.Score[other] != 2 ||
		len(got.Score) != 2 {
		t.Errorf("the copy has %v and %v", got.Known, got.Score)
	}
	if f := got.Friend; f == m || f.Friend != f || &f.Known[0] != &got.Known[0] {
		t.Error("the friend is shared with the original, or its memory is copied twice")
	}
	if !slices.Equal(m.Known, []vast.Entity{e, other}) || m.Score[e] != 1 {
		t.Error("the original has changed")
	}
}

// TestOtherWorld copies into a world with other storages, another order of columns and other entities.
func TestOtherWorld(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range longtest.Pick(12, 300) {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		from := newScene(t, round%3, vast.Options{MaxEntities: 1 << 13})
		to := newScene(t, round/3%3, vast.Options{MaxEntities: 1 << 14})
		to.fill(r, 100)
		es := from.fill(r, 10+r.IntN(200))
		// All entities become descendants of one root, so that no reference leads out.
		root := from.Archetype().New()
		for _, e := range es {
			if !from.child.Has(e) {
				from.child.Set(e, root)
			}
		}
		stale := es[len(es)-1]
		from.Delete(stale)
		before, length := to.Len(), from.Len()
		copies, err := newCloner(t, from, to, clone.Options{}).CloneN(root, 2)
		if err != nil {
			t.Fatal(err)
		}
		if to.Len() != before+2*length || from.Len() != length {
			t.Fatalf("%d entities became %d, want %d more", before, to.Len(), 2*length)
		}
		for i := range 2 {
			var originals, copied []vast.Entity
			for original, one := range copies.All(i) {
				originals, copied = append(originals, original), append(copied, one)
			}
			zero := func(vast.Entity) string { return "0" }
			want := from.shape(originals, from.labels(originals, zero), false)
			got := to.shape(copied, to.labels(copied, foreign), false)
			if got != want {
				wl, gl := strings.Split(want, "\n"), strings.Split(got, "\n")
				for k := range wl {
					if wl[k] != gl[k] {
						t.Fatalf("entity %d:\noriginal %s\ncopy     %s", k, wl[k], gl[k])
					}
				}
			}
		}
		from.Close()
		to.Close()
	}
}

// TestLeadsOut checks that a Cloner for another world refuses references, links and edges that lead out of
// the originals.
func TestLeadsOut(t *testing.T) {
	for name, set := range map[string]func(s *scene, e, other vast.Entity){
		"component": func(s *scene, e, other vast.Entity) { s.nodes.Get(e).Beside[0] = other },
		"sparse":    func(s *scene, e, other vast.Entity) { s.rare.Get(e).To = other },
		"shared":    func(s *scene, e, other vast.Entity) { s.kinds.Set(e, road{Owner: other}) },
		"slice":     func(s *scene, e, other vast.Entity) { s.minds.Get(e).Known = []vast.Entity{{}, other} },
		"key": func(s *scene, e, other vast.Entity) {
			s.minds.Get(e).Score = map[vast.Entity]int{other: 1}
		},
		"pointer": func(s *scene, e, other vast.Entity) {
			m := &mind{Known: []vast.Entity{other}}
			m.Friend = m
			s.minds.Get(e).Friend = m
		},
		"link":          func(s *scene, e, other vast.Entity) { s.child.Set(e, other) },
		"circular link": func(s *scene, e, other vast.Entity) { s.aims.Set(e, other) },
		"edge":          func(s *scene, e, other vast.Entity) { s.roads.Add(e, other, road{}) },
		"value of edge": func(s *scene, e, other vast.Entity) { s.roads.Add(e, e, road{Owner: other}) },
	} {
		t.Run(name, func(t *testing.T) {
			from, to := newScene(t, 0, vast.Options{MaxEntities: 1 << 10}),
				newScene(t, 1, vast.Options{MaxEntities: 1 << 10})
			a := from.Archetype(from.columns()...)
			e, other := a.New(), a.New()
			set(from, e, other)
			c := newCloner(t, from, to, clone.Options{})
			_, err := c.Clone(e)
			if err == nil || !strings.Contains(err.Error(), "is not copied: copy it, too") || to.Len() != 0 {
				t.Fatalf("error %v, %d entities", err, to.Len())
			}
			from.Delete(other) // Cascade deletes e, too, in one case
			if from.Alive(e) {
				if _, err := c.Clone(e); err != nil {
					t.Errorf("a stale reference is refused: %v", err)
				}
			}
		})
	}
}

func TestColumnsWithoutCounterpart(t *testing.T) {
	type armour struct{ Points int }
	from, to := vast.NewWorld(vast.Options{Name: "from"}), vast.NewWorld(vast.Options{Name: "to"})
	defer from.Close()
	defer to.Close()
	armours, size := vast.NewColumn[armour](from), vast.NewColumn[uint64](from).Named("size")
	child := vast.NewRelation(from, "childOf", vast.RelationOptions{})
	vast.NewEdges[uint64](from, "roads", vast.EdgesOptions{})
	sizes := vast.NewColumn[uint32](to).Named("size")
	vast.NewRelation(to, "childOf", vast.RelationOptions{Cyclic: true})
	vast.NewEdges[uint32](to, "roads", vast.EdgesOptions{})
	e := from.Archetype(armours, size).New()
	child.Set(from.Archetype(armours).New(), e)
	_, err := clone.New(from, to, clone.Options{})
	for _, want := range []string{
		`copying from world "from" to world "to"`,
		"column armour has no counterpart: register it there, or set Options.Drop",
		"column size is a column of uint64 here and a column of uint32 there: give it the same type",
		"column childOf is a relation here and a relation with circles there",
		"column roads is edges of uint64 here and edges of uint32 there",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, which lacks %q", err, want)
		}
	}
	c, err := clone.New(from, to, clone.Options{Drop: true})
	if err != nil {
		t.Fatal(err)
	}
	copies, err := c.CloneN(e, 3)
	if err != nil || to.Len() != 6 || sizes.Len() != 0 || len(probe.ComponentsOf(to, copies.Root(0))) != 0 {
		t.Errorf("%v: %d entities, want 6 without components", err, to.Len())
	}
	vast.NewColumn[uint64](to).Named("size")
	vast.NewColumn[uint64](to).Named("size")
	if _, err := clone.New(from, to, clone.Options{Drop: true}); err == nil ||
		!strings.Contains(err.Error(), `two columns there have the name "size"`) {
		t.Errorf("the error is %v", err)
	}
}

// TestExhausted checks that a Cloner refuses copies for which the world has no room.
func TestExhausted(t *testing.T) {
	s := newScene(t, 0, vast.Options{MaxEntities: 1 << 10})
	es := s.fill(rand.New(rand.NewPCG(1, 2)), 200)
	root := es[0]
	before, slots, shape := s.Len(), s.Slots(), s.shape(es, vast.Entity.String, true)
	var refused *vm.Error
	_, err := newCloner(t, s, s, clone.Options{}).CloneN(root, 1000)
	if !errors.As(err, &refused) || !errors.Is(err, vm.ErrCapacity) {
		t.Fatalf("CloneN beyond MaxEntities returns %v", err)
	}
	if s.Len() != before || s.Slots() != slots || s.shape(es, vast.Entity.String, true) != shape {
		t.Error("a refused CloneN has changed the world")
	}
}

// TestCallbackPanics checks that copies are deleted if a callback panics.
func TestCallbackPanics(t *testing.T) {
	for _, when := range []string{"component", "link", "circular link"} {
		s := newScene(t, 0, vast.Options{MaxEntities: 1 << 12})
		es := s.fill(rand.New(rand.NewPCG(3, 4)), 200)
		root := es[0]
		c := newCloner(t, s, s, clone.Options{})
		before, left := s.shape(es, vast.Entity.String, true), 2
		fail := func() {
			if left--; left == 0 {
				panic("no more")
			}
		}
		switch when {
		case "component":
			s.size.OnAdd(func(vast.Entity, *uint64) { fail() })
		case "link":
			s.child.OnAdd(func(_, _ vast.Entity) { fail() })
		default:
			s.aims.OnAdd(func(_, _ vast.Entity) { fail() })
		}
		mustPanic(t, "no more", func() { _, _ = c.CloneN(root, 3) })
		if s.Len() != 200 || s.shape(es, vast.Entity.String, true) != before {
			t.Errorf("%s: %d entities after a panic", when, s.Len())
		}
		if _, err := c.CloneN(root, 3); err != nil {
			t.Errorf("%s: after a panic: %v", when, err)
		}
	}
}
