// Command town runs one model on Ark and on Vast, and compares results, times and lines of code. README.md
// describes the model.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// A phase is one step of a tick.
type phase struct {
	name string
	run  func()
}

// A side is the town on one of the two libraries.
type side interface {
	phases() []phase
	begin(tick int64)
	census() Census
}

var (
	//go:embed ark.go
	arkSource string
	//go:embed vast.go
	vastSource string
)

func main() {
	people := flag.Int("people", 100_000, "`number` of people at the beginning")
	ticks := flag.Int("ticks", 1500, "`number` of ticks")
	warm := flag.Int("warm", 500, "`number` of ticks before the first timed tick")
	flag.Parse()
	if !run(os.Stdout, defaults(*people), *ticks, *warm, 250) {
		os.Exit(1)
	}
}

// run prints the comparison to out, and reports whether the results of both sides were equal. It compares the
// results after the first tick, every interval ticks, and after the last tick.
func run(out io.Writer, p Params, ticks, warm, interval int) bool {
	vastSide := newVastTown(p)
	defer vastSide.world.Close()
	sides := [2]side{newArkTown(p), vastSide}
	phases := [2][]phase{sides[0].phases(), sides[1].phases()}
	times := make([][2][]time.Duration, len(phases[0]))
	for tick := range ticks {
		for _, s := range sides {
			s.begin(int64(tick))
		}
		for i := range phases[0] {
			first := (tick + i) % 2
			for _, k := range []int{first, 1 - first} {
				start := time.Now()
				phases[k][i].run()
				if d := time.Since(start); tick >= warm {
					times[i][k] = append(times[i][k], d)
				}
			}
		}
		if tick%interval == 0 || tick == ticks-1 {
			a, b := sides[0].census(), sides[1].census()
			if a != b {
				fmt.Fprintf(out, "tick %d: the results differ:\nArk  %+v\nVast %+v\n", tick, a, b)
				return false
			}
			fmt.Fprintf(out, "tick %5d: %d people, %d of them children; %d walk, %d incubate, %d are sick, "+
				"%d immune; the hash of both sides is %016x\n",
				tick, a.People, a.Children, a.Walking, a.Incubating, a.Sick, a.Immune, a.Sum)
		}
	}
	fmt.Fprintf(out, "\n%-10s %12s %12s %8s\n", "phase", "Ark", "Vast", "ratio")
	var sum [2]time.Duration
	for i, both := range times {
		var medians [2]time.Duration
		for k := range both {
			medians[k] = median(both[k])
			sum[k] += medians[k]
		}
		line(out, phases[0][i].name, medians)
	}
	line(out, "a tick", sum)
	fmt.Fprintf(out, "%-10s %12d %12d %8.2f\n", "lines", lines(arkSource), lines(vastSource),
		float64(lines(arkSource))/float64(lines(vastSource)))
	return true
}

func line(out io.Writer, name string, d [2]time.Duration) {
	fmt.Fprintf(out, "%-10s %9.1f µs %9.1f µs %8.2f\n", name,
		float64(d[0].Nanoseconds())/1000, float64(d[1].Nanoseconds())/1000, float64(d[0])/float64(d[1]))
}

func median(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// lines counts the lines of a source, without lines of comments and empty lines.
func lines(source string) (n int) {
	for l := range strings.Lines(source) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "//") {
			n++
		}
	}
	return n
}
