package offheap

import (
	"testing"

	"github.com/vastgo/vast"
)

func TestRefused(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	func() {
		type named struct{ Name string }
		vast.NewColumn[named](w)
	}()
	vast.NewColumn[string](w) // want `NewColumn\[string\] panics`
}
