package vast

import (
	"errors"
	"testing"

	"github.com/vastgo/vast/internal/modeltest"
)

// FuzzNames sets, replaces and removes names of any bytes, and deletes entities with names.
func FuzzNames(f *testing.F) {
	f.Add("a\x00b", []byte{0, 1, 1, 0, 1, 1, 2, 1, 2, 0, 1, 3, 1, 0, 0, 1, 2, 2, 1, 0, 1})
	f.Add("", []byte{1, 1, 1, 1, 0, 2, 3, 4, 5, 6, 7, 8, 9})
	f.Fuzz(func(t *testing.T, letters string, data []byte) {
		w := NewWorld(Options{MaxEntities: 64})
		defer w.Close()
		names, b := w.Names(), modeltest.NewStream(data)
		commands := NewCommands(w, CommandsOptions{Bytes: 1 << 10})
		byName, byEntity := map[string]Entity{}, map[Entity]string{}
		var es []Entity // includes deleted entities
		for len(es) < 20 {
			es = append(es, w.Archetype().New())
		}
		forget := func(e Entity) {
			delete(byName, byEntity[e])
			delete(byEntity, e)
		}
		for step := 0; b.More() && step < 500; step++ {
			e, from := es[b.Below(len(es))], b.Below(len(letters)+1)
			name := letters[from:min(len(letters), from+b.Byte())]
			switch b.Byte() % 7 {
			case 0, 1, 2:
				alive, err := names.Set(e, name)
				other, taken := byName[name]
				var refused *NameTaken
				switch taken = taken && other != e && w.Alive(e); {
				case taken != errors.As(err, &refused) || !taken && err != nil:
					t.Fatalf("Set(%v, %q) returns %v; the name belongs to %v", e, name, err, other)
				case taken:
				case alive != w.Alive(e):
					t.Fatalf("Set(%v, %q) = %v", e, name, alive)
				case alive:
					forget(e)
					if name != "" {
						byName[name], byEntity[e] = e, name
					}
				}
			case 3:
				if _, had := byEntity[e]; names.Remove(e) != had {
					t.Fatalf("Remove(%v) is not %v", e, had)
				}
				forget(e)
			case 4:
				w.Delete(e)
				forget(e)
			case 5:
				names.SetLater(commands, e, name)
				other, taken := byName[name]
				done, err := w.Apply(commands)
				if want := w.Alive(e) && (!taken || other == e); err != nil || want != (done.Done == 1) {
					t.Fatalf("SetLater(%v, %q): %+v, %v; the name belongs to %v", e, name, done, err, other)
				}
				if done.Done == 1 {
					forget(e)
					if name != "" {
						byName[name], byEntity[e] = e, name
					}
				}
			case 6:
				if w.Len() < 30 {
					es = append(es, w.Archetype().New())
				}
			}
			if got, ok := names.Find(name); got != byName[name] || ok != (byName[name] != Entity{}) {
				t.Fatalf("Find(%q) is %v, want %v", name, got, byName[name])
			}
		}
		if names.Len() != len(byName) {
			t.Fatalf("%d names, want %d", names.Len(), len(byName))
		}
		for _, e := range es {
			if got, ok := names.Of(e); got != byEntity[e] || ok != (byEntity[e] != "") {
				t.Fatalf("%v is named %q, want %q", e, got, byEntity[e])
			}
		}
	})
}
