package clone_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/clone"
	"github.com/vastgo/vast/shared"
	"github.com/vastgo/vast/store"
)

// storedScene has columns of all storages, whose values can be saved.
type storedScene struct {
	*vast.World
	node  vast.Column[node]
	rare  vast.SparseColumn[uint64]
	words vast.HeapColumn[[]string]
	kind  shared.Column[road]
	tag   vast.Tag
	child vast.Relation
	roads vast.Edges[road]
}

func newStoredScene(t *testing.T) *storedScene {
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 14, Mark: 7})
	t.Cleanup(func() { w.Close() })
	s := &storedScene{World: w, node: vast.NewColumn[node](w), rare: vast.NewSparseColumn[uint64](w),
		words: vast.NewHeapColumn[[]string](w), kind: shared.New[road](w), tag: vast.NewTag(w, "tag"),
		child: vast.NewRelation(w, "childOf", vast.RelationOptions{OnDelete: vast.Cascade}),
		roads: vast.NewEdges[road](w, "roads", vast.EdgesOptions{})}
	w.Archetype(s.node, s.rare, s.words, s.kind, s.tag)
	return s
}

func (s *storedScene) saved(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.Save(s.World, &b, store.Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// play makes copies and deletions that depend only on the state of the world.
func (s *storedScene) play(t *testing.T, es []vast.Entity) {
	t.Helper()
	c, err := clone.New(s.World, s.World, clone.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range es {
		switch i % 3 {
		case 0:
			s.Clone(e)
		case 1:
			s.CloneN(e, i%50, nil)
		default:
			if _, err := c.CloneN(e, i%4); err != nil {
				t.Fatal(err)
			}
		}
		if i%7 == 0 {
			s.Delete(es[i/2])
		}
	}
}

// TestRepeatable makes the same copies in a world and in its saved and loaded state. The two worlds must stay
// equal, so that a store can compute the ticks after a checkpoint again.
func TestRepeatable(t *testing.T) {
	s, loaded := newStoredScene(t), newStoredScene(t)
	r := rand.New(rand.NewPCG(1, 2))
	var es []vast.Entity
	s.Archetype(s.node, s.rare, s.words, s.kind, s.tag).NewN(300, func(run vast.Run) {
		for _, e := range run.All() {
			es = append(es, e)
		}
	})
	for i, e := range es {
		other := es[r.IntN(i+1)]
		s.node.Set(e, node{Name: uint64(i), To: other, Beside: [2]vast.Entity{e}})
		s.words.Set(e, []string{fmt.Sprint(i)})
		s.kind.Set(e, road{Length: uint64(i % 3), Owner: es[i/2]})
		if other != e {
			s.child.Set(e, other)
		}
		s.roads.Add(e, es[r.IntN(300)], road{Owner: e})
		if i%5 == 0 {
			s.tag.Remove(e)
		}
	}
	if _, err := store.Load(loaded.World, bytes.NewReader(s.saved(t)), store.Options{}); err != nil {
		t.Fatal(err)
	}
	s.play(t, es)
	loaded.play(t, es)
	if s.Len() != loaded.Len() || s.Len() < 500 || !bytes.Equal(s.saved(t), loaded.saved(t)) {
		t.Errorf("the worlds differ, or have less than 500 entities: %d and %d", s.Len(), loaded.Len())
	}
	again := newStoredScene(t)
	if _, err := store.Load(again.World, bytes.NewReader(s.saved(t)), store.Options{}); err != nil {
		t.Errorf("a world with copies cannot be loaded: %v", err)
	}
}
