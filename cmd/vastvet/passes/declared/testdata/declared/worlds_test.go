package declared

import (
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/sched"
)

func TestOtherWorldsCannotBeDeclared(t *testing.T) {
	w, assets := vast.NewWorld(vast.Options{}), vast.NewWorld(vast.Options{})
	defer w.Close()
	defer assets.Close()
	s := sched.New(w, sched.Options{})
	pos, weight, model := vast.NewColumn[position](w), vast.NewColumn[mass](w), vast.NewColumn[velocity](assets)
	s.Add(sched.System{Name: "models", Writes: sched.Columns(pos), Run: func(c *sched.Context) {
		pos.Set(vast.Entity{}, position{model.Get(vast.Entity{}).X, 0})
		_ = weight.Get(vast.Entity{}) // want `system "models" reads weight`
	}})
	s.Add(sched.System{Name: "which world", Run: func(c *sched.Context) { _ = model.Get(vast.Entity{}) }})
}

func TestOneWorld(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	pos := vast.NewColumn[position](w)
	s.Add(sched.System{Name: "reads", Run: func(c *sched.Context) {
		_ = pos.Get(vast.Entity{}) // want `system "reads" reads pos`
	}})
}

func TestNamedColumns(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	s := sched.New(w, sched.Options{})
	pos, old := vast.NewColumn[position](w).Named("position"), vast.NewColumn[position](w).Named("old")
	s.Add(sched.System{Name: "named", Reads: sched.Columns(old), Run: func(c *sched.Context) {
		_ = pos.Get(vast.Entity{}) // want `system "named" reads pos`
	}})
}
