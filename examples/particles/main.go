// Particles runs one particle system in every layout of package bulk. The result does not depend on the
// layout.
//
// A particle has ten numbers: lifetime (one number), position, velocity and color (three numbers each). In
// each step, three calculations run over all particles: tick changes the lifetime, move adds the velocity to
// the position, and fade changes the color. The system also adds new particles, and removes particles whose
// lifetime is over.
//
//	go run ./examples/particles            # prints the same hash of all particles for every layout
//	go run ./examples/particles -measure   # prints the cost of each calculation in each layout
//
// The system and the layouts are those of Niklas Gray, "Data Structures Part 1: Bulk Data" (Our Machinery,
// 2019).
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
	cull() // removes the particles whose lifetime is over
	sum() (live int, state uint64)
	close() error
}

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
	n := flag.Int("n", 2_000_000, "number of particles for -measure")
	flag.Parse()
	var err error
	switch {
	case *n < 1:
		err = fmt.Errorf("-n %d: the number of particles must be at least 1", *n)
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
	perStep  = 97 // new particles in each step
	capacity = steps * perStep
)

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
