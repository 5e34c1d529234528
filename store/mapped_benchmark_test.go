package store_test

import (
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// BenchmarkOpenAt opens the newest stored moment of a world with 1 GiB of components, and reads one
// component.
func BenchmarkOpenAt(b *testing.B) {
	type part [8]uint64
	const entities = 4 << 20
	dir := b.TempDir()
	world := func() (*vast.World, []vast.Column[part]) {
		w := vast.NewWorld(vast.Options{MaxEntities: entities})
		var cs []vast.Column[part]
		for _, name := range []string{"a", "b", "c", "d"} {
			cs = append(cs, vast.NewColumn[part](w).Named(name))
		}
		return w, cs
	}
	w, cs := world()
	st, err := store.Open(dir, w, store.Options{Every: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	w.Archetype(cs[0], cs[1], cs[2], cs[3]).NewN(entities, func(run vast.Run) {
		for _, c := range cs {
			s := c.Slice(run)
			for i := range s {
				s[i][0] = uint64(i)
			}
		}
	})
	if err := st.Recover(nil, nil); err != nil {
		b.Fatal(err)
	}
	if err := st.Close(); err != nil {
		b.Fatal(err)
	}
	w.Close()
	for _, how := range []string{"mapped", "read"} {
		b.Run(how, func(b *testing.B) {
			if how == "read" {
				defer store.Read()()
			}
			for b.Loop() {
				w, cs := world()
				st, err := store.OpenAt(dir, w, 1<<40, store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				for slot := range w.Query(cs[1]).Slots() {
					if cs[1].At(slot)[0] != 0 {
						b.Fatal()
					}
					break
				}
				b.StopTimer()
				st.Close()
				w.Close()
				b.StartTimer()
			}
		})
	}
}
