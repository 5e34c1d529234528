//go:build (linux || darwin || freebsd || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

// In builds with the heap stand-in, such as race builds, a world has no room for a million entities.

package vast_test

import (
	"fmt"

	"github.com/vastgo/vast"
)

// The program of the README, with a loop over runs instead of slots.
func Example() {
	type Position struct{ X, Y float64 }
	type Velocity struct{ X, Y float64 }
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	pos, vel := vast.NewColumn[Position](w), vast.NewColumn[Velocity](w)
	ships := w.Archetype(pos, vel)
	first := ships.New()
	vel.Set(first, Velocity{1, 2})
	ships.NewN(999_999, nil)
	for run := range w.Query(pos, vel).Runs() {
		p, v := pos.Slice(run), vel.Slice(run)
		for i := range p {
			p[i].X += v[i].X
			p[i].Y += v[i].Y
		}
	}
	fmt.Println(*pos.Get(first), w.Len())
	// Output: {1 2} 1000000
}
