package vast

import (
	"fmt"
	"maps"
	"testing"
)

// A deletion calls the hooks column by column. It also calls a hook that is registered during the deletion if
// the hook's column comes later.
func TestHooksThatRegisterHooks(t *testing.T) {
	for name, end := range map[string]func(*World, []Entity){
		"Delete": func(w *World, es []Entity) {
			for _, e := range es {
				w.Delete(e)
			}
		},
		"Delete of a target": func(w *World, es []Entity) { w.Delete(es[0]) },
		"DeleteAll":          func(w *World, _ []Entity) { w.DeleteAll(w.Query()) },
		"Reset":              func(w *World, _ []Entity) { w.Reset() },
		"Close":              func(w *World, _ []Entity) { _ = w.Close() },
	} {
		for _, linked := range []bool{false, true} {
			if name == "Delete of a target" && !linked {
				continue
			}
			w := NewWorld(Options{MaxEntities: 1024})
			var tags []Tag
			var cols []AnyColumn
			for i := range 4 {
				tags = append(tags, NewTag(w, fmt.Sprint(i)))
				cols = append(cols, tags[i])
			}
			es := []Entity{w.Archetype(cols...).New(), w.Archetype(cols...).New()}
			if linked {
				NewRelation(w, "part", RelationOptions{OnDelete: Cascade}).Set(es[1], es[0])
			}
			told := map[string]int{}
			count := func(what string) func(Entity) { return func(Entity) { told[what]++ } }
			first := true
			tags[1].OnRemove(func(e Entity) {
				told["1"]++
				if first {
					first = false
					tags[0].OnRemove(count("0"))
					tags[3].OnRemove(count("3 late"))
					NewSparseColumn[uint64](w)
				}
			})
			tags[2].OnRemove(count("2"))
			tags[3].OnRemove(count("3"))
			end(w, es)
			want := map[string]int{"1": 2, "2": 2, "3": 2, "3 late": 2}
			if name == "Delete" && !linked {
				want["0"] = 1 // this case has a second deletion
			}
			if !maps.Equal(told, want) {
				t.Errorf("%s, linked %t: the hooks were called %v times, want %v", name, linked, told, want)
			}
			w.checkInvariants()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRelationMadeByHook(t *testing.T) {
	w := NewWorld(Options{MaxEntities: 1024})
	defer w.Close()
	c, child := NewColumn[number](w), NewRelation(w, "child", RelationOptions{OnDelete: Orphan})
	a := w.Archetype(c)
	es := []Entity{a.New(), a.New(), a.New()}
	child.Set(es[1], es[0])
	child.Set(es[2], es[0])
	var more Relation
	c.OnRemove(func(Entity, *number) { more = NewRelation(w, "more", RelationOptions{OnDelete: Cascade}) })
	if !w.Delete(es[0]) || w.Len() != 2 || child.Len() != 0 {
		t.Errorf("%d entities and %d links are left, want 2 and 0", w.Len(), child.Len())
	}
	more.Set(es[1], es[2])
	if w.checkInvariants(); more.Len() != 1 {
		t.Errorf("the relation that a hook made has %d links, want 1", more.Len())
	}
}
