package handle

import (
	"testing"

	"github.com/vastgo/vast"
)

func TestSlotIsUsedAgain(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	a := w.Archetype()
	e := a.New()
	w.Delete(e)
	if again := a.New(); again.Slot() != e.Slot() {
		t.Error("the slot was not used again")
	}
}
