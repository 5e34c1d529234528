package vast_test

import (
	"testing"

	"github.com/vastgo/vast"
)

// TestMarks: an entity is stale in a world with another mark, and is alive in a world with the same mark and
// the same history.
func TestMarks(t *testing.T) {
	made := func(mark uint8) (*vast.World, vast.Entity) {
		w := vast.NewWorld(vast.Options{Mark: mark, MaxEntities: 64})
		t.Cleanup(func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
		return w, w.Archetype().New()
	}
	for _, mark := range []uint8{1, 17, 255} {
		w, e := made(mark)
		same, same1 := made(mark)
		other, other1 := made(mark ^ 2)
		if e != same1 || !same.Alive(e) || e == other1 || other.Alive(e) || w.Alive(other1) {
			t.Errorf("mark %d: the entities are %x, %x with the same mark, and %x with another mark", mark,
				e.ID(), same1.ID(), other1.ID())
		}
		if got := w.Options().Mark; got != mark || e.Generation() != 1 {
			t.Errorf("Options has mark %d, want %d; the entity has generation %d, want 1", got, mark,
				e.Generation())
		}
		w.Reset()
		if again := w.Archetype().New(); again.ID()>>56 != uint64(mark) || w.Alive(e) {
			t.Errorf("after Reset the new entity is %x, or the old entity is alive", again.ID())
		}
	}
	a, e := made(0)
	if mark := a.Options().Mark; mark == 0 || e.ID()>>56 != uint64(mark) {
		t.Errorf("the default mark is %d, and the entity is %x", mark, e.ID())
	}
}
