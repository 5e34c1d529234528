package clone_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/shared"
)

// node is a component with references.
type node struct {
	Name   uint64
	To     vast.Entity
	Beside [2]vast.Entity
}

// mind leads to references on the Go heap.
type mind struct {
	Words  []string
	Known  []vast.Entity
	Score  map[vast.Entity]int
	Friend *mind
}

// road is the value of an edge.
type road struct {
	Length uint64
	Owner  vast.Entity
}

// scene is a world with names, columns of all storages and links of all kinds.
type scene struct {
	*vast.World
	nodes vast.ValueColumn[node]
	node  vast.AnyColumn
	size  vast.Column[uint64]
	small vast.Column[[3]byte]
	rare  vast.SparseColumn[node]
	minds vast.HeapColumn[mind]
	kinds shared.Column[road]
	tag   vast.Tag
	child vast.Relation
	above vast.Relation
	aims  vast.Relation
	roads vast.Edges[road]
	names *vast.Names
}

// newScene makes a world. variant changes the order of the columns. If variant is odd, the column of nodes is
// sparse.
func newScene(t testing.TB, variant int, o vast.Options) *scene {
	s := &scene{World: vast.NewWorld(o)}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := s.World
	for i := range 3 {
		switch (i + variant) % 3 {
		case 0:
			s.tag, s.size = vast.NewTag(w, "tag"), vast.NewColumn[uint64](w)
			s.child = vast.NewRelation(w, "childOf", vast.RelationOptions{OnDelete: vast.Cascade})
		case 1:
			if variant%2 == 0 {
				c := vast.NewColumn[node](w)
				s.nodes, s.node = c, c
			} else {
				c := vast.NewSparseColumn[node](w)
				s.nodes, s.node = c, c
			}
			s.roads = vast.NewEdges[road](w, "roads", vast.EdgesOptions{})
			s.above = vast.NewRelation(w, "above", vast.RelationOptions{})
			s.names = w.Names()
		case 2:
			s.small = vast.NewColumn[[3]byte](w).Named("small")
			s.rare = vast.NewSparseColumn[node](w).Named("rare")
			s.minds = vast.NewHeapColumn[mind](w)
			s.kinds = shared.New[road](w)
			s.aims = vast.NewRelation(w, "aims", vast.RelationOptions{Cyclic: true})
		}
	}
	return s
}

func (s *scene) columns() []vast.AnyColumn {
	return []vast.AnyColumn{s.node, s.size, s.small, s.rare, s.minds, s.kinds, s.tag}
}

// fill makes n entities with random components and links.
func (s *scene) fill(r *rand.Rand, n int) (es []vast.Entity) {
	columns := s.columns()
	for len(es) < n {
		var set []vast.AnyColumn
		for i := range columns {
			if r.IntN(3) > 0 {
				set = append(set, columns[i])
			}
		}
		s.Archetype(set...).NewN(1+r.IntN(min(100, n-len(es))), func(run vast.Run) {
			for i := range run.Len() {
				es = append(es, run.Entity(i))
			}
		})
	}
	random := func() vast.Entity {
		if r.IntN(10) == 0 {
			return vast.Entity{}
		}
		return es[r.IntN(len(es))]
	}
	// Some entities gain and lose components.
	for range n / 4 {
		e := random()
		switch r.IntN(4) {
		case 0:
			s.tag.Add(e)
		case 1:
			s.rare.Remove(e)
		case 2:
			s.size.Add(e, 1)
		case 3:
			s.small.Remove(e)
		}
	}
	for i, e := range es {
		randomNode := func() node {
			return node{Name: r.Uint64N(1000), To: random(), Beside: [2]vast.Entity{random(), e}}
		}
		for _, c := range []vast.ValueColumn[node]{s.nodes, s.rare} {
			if p := c.Get(e); p != nil {
				*p = randomNode()
			}
		}
		if p := s.size.Get(e); p != nil {
			*p = uint64(i)
		}
		if p := s.small.Get(e); p != nil {
			*p = [3]byte{byte(i), byte(i >> 8), 9}
		}
		if s.kinds.Has(e) {
			s.kinds.Set(e, road{r.Uint64N(3), random()})
		}
		if p := s.minds.Get(e); p != nil {
			*p = mind{Words: []string{"w"}, Known: []vast.Entity{random(), e},
				Score: map[vast.Entity]int{random(): 1, e: 2}}
			p.Friend = &mind{Known: p.Known, Friend: p.Friend}
		}
		if i > 0 && r.IntN(4) > 0 {
			s.child.Set(e, es[r.IntN(i)])
		}
		if i > 0 && r.IntN(8) == 0 {
			s.above.Set(e, es[r.IntN(i)])
		}
		if r.IntN(3) == 0 {
			s.aims.Set(e, random())
		}
		for range r.IntN(3) {
			s.roads.Add(e, random(), road{r.Uint64N(100), random()})
		}
		if r.IntN(5) == 0 {
			if _, err := s.names.Set(e, fmt.Sprint("name ", i)); err != nil {
				panic(err)
			}
		}
	}
	return es
}

// shape describes entities as text. label writes a reference.
func (s *scene) shape(es []vast.Entity, label func(vast.Entity) string, names bool) string {
	var b strings.Builder
	var describe func(m *mind)
	describe = func(m *mind) {
		fmt.Fprint(&b, " mind", m.Words)
		for _, e := range m.Known {
			fmt.Fprint(&b, " ", label(e))
		}
		var scores []string
		for e, n := range m.Score {
			if s.Alive(e) { // a stale key is left out in another world
				scores = append(scores, fmt.Sprint(label(e), "=", n))
			}
		}
		slices.Sort(scores)
		fmt.Fprint(&b, scores)
		if m.Friend != nil {
			describe(m.Friend)
		}
	}
	for _, e := range es {
		fmt.Fprint(&b, label(e), ":")
		if !s.Alive(e) {
			fmt.Fprintln(&b, " stale")
			continue
		}
		for _, c := range []vast.ValueColumn[node]{s.nodes, s.rare} {
			if p := c.Get(e); p != nil {
				fmt.Fprint(&b, " node ", p.Name, label(p.To), label(p.Beside[0]), label(p.Beside[1]))
			}
		}
		if p := s.size.Get(e); p != nil {
			fmt.Fprint(&b, " size ", *p)
		}
		if p := s.small.Get(e); p != nil {
			fmt.Fprint(&b, " small ", *p)
		}
		if p := s.minds.Get(e); p != nil {
			describe(p)
		}
		if v, ok := s.kinds.Get(e); ok {
			fmt.Fprint(&b, " kind ", v.Length, label(v.Owner))
		}
		fmt.Fprint(&b, " tag ", s.tag.Has(e))
		for _, rel := range []vast.Relation{s.child, s.above, s.aims} {
			if target, ok := rel.Target(e); ok {
				fmt.Fprint(&b, " ", rel.Name(), " ", label(target))
			}
			for source := range rel.Sources(e) {
				fmt.Fprint(&b, " ", label(source), ",")
			}
		}
		fmt.Fprint(&b, " depth ", s.child.Depth(e), s.above.Depth(e))
		for to, v := range s.roads.Targets(e) {
			fmt.Fprint(&b, " road ", label(to), v.Length, label(v.Owner))
		}
		for from := range s.roads.Sources(e) {
			fmt.Fprint(&b, " from ", label(from))
		}
		if name, ok := s.names.Of(e); ok && names {
			fmt.Fprint(&b, " ", name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// foreign describes a reference to an entity that the list given to labels lacks.
func foreign(e vast.Entity) string { return "foreign " + e.String() }

// labels returns a function that writes entities of es as numbers and the zero Entity as 0. For all other
// entities, this function calls others.
func (s *scene) labels(es []vast.Entity, others func(vast.Entity) string) func(vast.Entity) string {
	index := make(map[vast.Entity]int, len(es))
	for i, e := range es {
		index[e] = i
	}
	return func(e vast.Entity) string {
		if i, ok := index[e]; ok {
			return fmt.Sprint("#", i)
		}
		if e.IsZero() {
			return "0"
		}
		return others(e)
	}
}

// compareInside checks that copies are equal to their originals, apart from names, and from sources and edges
// that lead to the originals from other entities.
func compareInside(t *testing.T, s *scene, originals, copies []vast.Entity) {
	t.Helper()
	a, b := s.plain(originals), s.plain(copies)
	if a != b {
		al, bl := strings.Split(a, "\n"), strings.Split(b, "\n")
		for i := range al {
			if al[i] != bl[i] {
				t.Fatalf("entity %d of %d:\noriginal %s\ncopy     %s", i, len(originals), al[i], bl[i])
			}
		}
	}
}

// plain is shape without names, and without the sources and edges that come from entities outside of es.
func (s *scene) plain(es []vast.Entity) string {
	text := s.shape(es, s.labels(es, func(e vast.Entity) string { return "<" + e.String() + ">" }), false)
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		parts := strings.Split(line, " ")
		for i := 0; i < len(parts); i++ {
			source := strings.HasPrefix(parts[i], "<") && strings.HasSuffix(parts[i], ",")
			edge := parts[i] == "from" && strings.HasPrefix(parts[i+1], "<")
			if source {
				parts = slices.Delete(parts, i, i+1)
				i--
			} else if edge {
				parts = slices.Delete(parts, i, i+2)
				i--
			}
		}
		kept = append(kept, strings.Join(parts, " "))
	}
	return strings.Join(kept, "\n")
}
