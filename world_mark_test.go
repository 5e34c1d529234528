package vast_test

import (
	"testing"

	"github.com/vastgo/vast"
)

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
		twin, twinEntity := made(mark)
		other, otherEntity := made(mark ^ 2)
		if e != twinEntity || !twin.Alive(e) || e == otherEntity || other.Alive(e) || w.Alive(otherEntity) {
			t.Errorf("mark %d: two worlds with the mark made %x and %x, a world with another mark made %x; "+
				"or Alive is wrong", mark, e.ID(), twinEntity.ID(), otherEntity.ID())
		}
		if got := w.Options().Mark; got != mark || e.Generation() != 1 {
			t.Errorf("Options has mark %d, want %d; the entity has generation %d, want 1", got, mark,
				e.Generation())
		}
		w.Reset()
		if again := w.Archetype().New(); again.ID()>>56 != uint64(mark) || w.Alive(e) {
			t.Errorf("after Reset the new entity %x lacks mark %d, or the old entity is alive", again.ID(),
				mark)
		}
	}
	a, e := made(0)
	if mark := a.Options().Mark; mark == 0 || e.ID()>>56 != uint64(mark) {
		t.Errorf("the default mark is %d, want more than 0 and the mark of entity %x", mark, e.ID())
	}
}
