package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// rounds is the number of measurements of each calculation. measure prints the shortest time.
const rounds = 7

// measure prints the time per particle of each calculation in each layout, and the speedup over the first
// layout. No particle is removed, so there are no holes: this is the best case for structs.
func measure(out io.Writer, n int) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "%d particles, nanoseconds per particle, and the speedup over the first layout\n\n", n)
	fmt.Fprintln(w, "layout\ttick (1 of 10 fields)\t\tmove (6)\t\tfade (3)\t\t")
	var first [3]float64
	for k, l := range layouts {
		s, err := l.make(n)
		if err != nil {
			return err
		}
		for i := range n {
			p := newParticle(i)
			p.life = 1000
			s.spawn(p)
		}
		fmt.Fprintf(w, "%s\t", l.name)
		for i, calculation := range []func(){s.tick, s.move, s.fade} {
			ns := float64(best(calculation)) / float64(n)
			if k == 0 {
				first[i] = ns
			}
			fmt.Fprintf(w, "%.2f\t×%.1f\t", ns, first[i]/ns)
		}
		fmt.Fprintln(w)
		if err := s.close(); err != nil {
			return err
		}
	}
	return w.Flush()
}

func best(f func()) time.Duration {
	f() // warms up
	shortest := time.Duration(1 << 62)
	for range rounds {
		start := time.Now()
		f()
		shortest = min(shortest, time.Since(start))
	}
	return max(shortest, 1)
}
