// Package bench is the command `vast bench`. It compares the library with other ways to do the same work in
// Go. Each way, also that of the library, is a side of the work. The command measures all sides in one
// process and prints the ratios of their times.
//
// Each round runs every side of a work once. The first round warms up and does not count. Before a side runs,
// all unused memory goes back to the operating system. The timed functions are not inlined, so that the
// compiler does not optimize them together with the harness.
package bench

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

// maxElements bounds -n, because the largest work needs about 250 bytes of memory for each element.
const maxElements = 100_000_000

// options are the flags and arguments of the command line.
type options struct {
	n, rounds int
	names     []string // names of works, and of families (groups of works); empty for all
	json      bool
	svg       string // file for the chart of the growth strategies, or empty
}

// Run runs the command and returns the exit status: 0 for success, 1 if a measurement failed or the output
// could not be written, 2 if the command line is wrong.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return cli.Success
	}
	if err != nil {
		return cli.Fail(stderr, "bench", err, cli.Misuse)
	}
	rows, err := measureAll(o, stderr)
	var traces []trace
	if err == nil && o.wantsTraces() {
		traces, err = traceGrowth(o, stderr)
	}
	if err != nil {
		return cli.Fail(stderr, "bench", err, cli.Failure)
	}
	if o.json {
		err = json.NewEncoder(stdout).Encode(struct {
			Rows   []row   `json:"rows"`
			Growth []trace `json:"growth,omitempty"`
		}{rows, traces})
	} else {
		err = errors.Join(table(stdout, o, rows), traceTable(stdout, o, traces))
	}
	if err == nil && o.svg != "" {
		err = os.WriteFile(o.svg, growthChart(o, traces), 0o644)
	}
	if err != nil {
		return cli.Fail(stderr, "bench", err, cli.Failure)
	}
	return cli.Success
}

func parse(args []string, help io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("vast bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.n, "n", 10_000_000, "the number of elements, N")
	f.IntVar(&o.rounds, "rounds", 3, "the number of rounds that count; one more round warms up")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.svg, "svg", "", "draw the growth strategies into this `file`")
	// Flags may follow names.
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				usage(help, f)
			}
			return o, err
		}
		if args = f.Args(); len(args) > 0 {
			o.names, args = append(o.names, args[0]), args[1:]
		}
	}
	if o.n < 1 || o.n > maxElements {
		return o, fmt.Errorf("-n %d: use 1 to %d elements", o.n, maxElements)
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("-rounds %d: at least one round must count", o.rounds)
	}
	if o.svg != "" && !o.wantsTraces() {
		return o, fmt.Errorf("-svg draws the growth strategies: add the name %s", growthFamily)
	}
	for _, name := range o.names {
		if !slices.ContainsFunc(families, func(f family) bool { return f.has(name) }) {
			return o, fmt.Errorf("unknown name %q: use one of %s, or a work from vast bench -help", name,
				strings.Join(familyNames(), ", "))
		}
	}
	return o, nil
}

// wants reports whether to measure a work: the command line names the work or its family, or has no names.
func (o *options) wants(f family, w work) bool {
	return len(o.names) == 0 || slices.Contains(o.names, f.name) || slices.Contains(o.names, w.name)
}

func usage(help io.Writer, f *flag.FlagSet) {
	fmt.Fprintln(help, "usage: vast bench [flags] [name ...]\n\n"+
		"Each name is the name of a family or of a work. Without names, all works are measured.")
	for _, family := range families {
		fmt.Fprintf(help, "\n  %s\n    %s\n    ", family.name, family.about)
		for i, w := range family.works() {
			if i > 0 {
				fmt.Fprint(help, ", ")
			}
			fmt.Fprint(help, w.name)
		}
	}
	fmt.Fprintln(help, "\n\nflags:")
	f.SetOutput(help)
	f.PrintDefaults()
}

// failure is the value of a panic that reports an error. In most cases, the operating system or a limit has
// refused memory.
type failure struct{ err error }

// catch recovers a panic with a failure, and stores its error in *err. The caller must defer catch.
func catch(err *error) {
	if r := recover(); r != nil {
		f, ok := r.(failure)
		if !ok {
			panic(r)
		}
		*err = f.err
	}
}

// made returns v, or panics with a failure if err is not nil.
func made[T any](v T, err error) T {
	mustSucceed(err)
	return v
}

// mustSucceed panics with a failure if err is not nil.
func mustSucceed(err error) {
	if err != nil {
		panic(failure{err})
	}
}
