package unchecked

import (
	"testing"

	"github.com/vastgo/vast/bulk"
)

func TestMisuse(t *testing.T) {
	ships, _ := bulk.NewArray[int](bulk.Options{})
	ships.Grow(1) // want `bulk.Array.Grow`
	panics(t, func() { ships.Grow(-1) })
	t.Run("x", func(t *testing.T) { ships.Grow(1) }) // want `bulk.Array.Grow`
}

func panics(t *testing.T, f func()) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}
