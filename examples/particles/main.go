// Particles runs one particle system in every layout that package bulk has for it, and shows that the code around them stays
// the same and the result too.
//
// A particle has ten numbers: its lifetime, position, velocity and color. Three calculations run over all particles in
// each step: tick touches one of the numbers, move six, fade three. Particles whose time is over are taken out, and new
// ones come.
//
//	go run ./examples/particles            # the same sum of all states in every layout
//	go run ./examples/particles -measure   # and what each calculation costs in each layout
//
// The system and the layouts are those of Niklas Gray, "Data Structures Part 1: Bulk Data" (Our Machinery, 2019).
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/vastgo/vast/bulk"
)

// system is a particle system in some layout.
type system interface {
	spawn(p particle)
	tick()
	move()
	fade()
	cull() // takes out the particles whose time is over
	sum() (live int, state uint64)
	close() error
}

// layouts are the systems, each with what makes it, for at most so many particles.
var layouts = []struct {
	name string
	make func(capacity int) (system, error)
}{
	{"structs, with holes", newPooled},
	{"structs, packed", newPacked},
	{"columns", inTable(bulk.LayoutColumns)},
	{"blocks of 8", inTable(bulk.LayoutBlocks8)},
	{"blocks of 16", inTable(bulk.LayoutBlocks16)},
	{"blocks of a page", inTable(bulk.LayoutBlocksPage)},
	{"temporary columns", newTransposed},
}

func main() {
	measuring := flag.Bool("measure", false, "measure the calculations")
	n := flag.Int("n", 2_000_000, "with -measure: the number of particles")
	flag.Parse()
	var err error
	switch {
	case *n < 1:
		err = fmt.Errorf("-n %d: a number of particles is 1 or more", *n)
	case *measuring:
		err = measure(os.Stdout, *n)
	default:
		err = show(os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "particles:", err)
		os.Exit(1)
	}
}

const (
	steps    = 200
	perStep  = 97 // particles that come in each step
	capacity = steps * perStep
)

// show runs all layouts for a while and prints what they come to.
func show(out io.Writer) error {
	for _, l := range layouts {
		s, err := l.make(capacity)
		if err != nil {
			return err
		}
		run(s)
		live, state := s.sum()
		fmt.Fprintf(out, "%-20s %d particles, state %016x\n", l.name, live, state)
		if err := s.close(); err != nil {
			return err
		}
	}
	return nil
}

// run lets particles come and go.
func run(s system) {
	for step := range steps {
		for i := range perStep {
			s.spawn(newParticle(step*perStep + i))
		}
		s.tick()
		s.move()
		s.fade()
		s.cull()
	}
}
