package bench

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// maxElements keeps what the largest work needs, some 250 bytes an element, within what machines have.
const maxElements = 100_000_000

// works are the works in the order in which they are measured.
var works = []struct {
	name  string
	sides func(n int) (sides []side, done func())
}{
	{"append", func(n int) ([]side, func()) { return appends(n, false), nil }},
	{"append-longest", func(n int) ([]side, func()) { return appends(n, true), nil }},
	{"remove", func(n int) ([]side, func()) { return removals(n), nil }},
	{"refill", func(n int) ([]side, func()) { return refills(n), nil }},
	{"iterate-full", func(n int) ([]side, func()) { return iterations(n, false) }},
	{"iterate-half", func(n int) ([]side, func()) { return iterations(n, true) }},
}

// row compares our side of a work with another one.
type row struct {
	Work           string  `json:"work"`
	Against        string  `json:"against"`
	OursMs         float64 `json:"ours_ms"`
	TheirsMs       float64 `json:"theirs_ms"`
	Ratio          float64 `json:"ratio"` // theirs ÷ ours, of the best rounds
	OursMedianMs   float64 `json:"ours_median_ms"`
	TheirsMedianMs float64 `json:"theirs_median_ms"`
	OursMB         float64 `json:"ours_mb,omitempty"` // resident after the work, in 10^6 bytes
	TheirsMB       float64 `json:"theirs_mb,omitempty"`
	OursWastedMB   float64 `json:"ours_wasted_mb,omitempty"` // of that, beyond the elements
	TheirsWastedMB float64 `json:"theirs_wasted_mb,omitempty"`
}

// options are what the command line asks for.
type options struct {
	n, rounds int
	work      string
	json      bool
}

// Run is the command: it measures, prints to stdout, and returns the exit status: 0, 1 where memory ran out, or 2 for a
// command line that it does not understand.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "vast bench:", err)
		return 2
	}
	rows, err := measure(o, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "vast bench:", err)
		return 1
	}
	if o.json {
		err = json.NewEncoder(stdout).Encode(struct {
			Rows []row `json:"rows"`
		}{rows})
	} else {
		err = table(stdout, o, rows)
	}
	if err != nil {
		fmt.Fprintln(stderr, "vast bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, help io.Writer) (options, error) {
	var o options
	names := make([]string, len(works))
	for i, w := range works {
		names[i] = w.name
	}
	f := flag.NewFlagSet("vast bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.n, "n", 10_000_000, "number of elements, of 40 bytes each")
	f.IntVar(&o.rounds, "rounds", 3, "rounds that count; one more warms up")
	f.StringVar(&o.work, "work", "", "measure only this `work`: "+strings.Join(names, ", "))
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(help, "usage: vast bench [flags]")
			f.SetOutput(help)
			f.PrintDefaults()
		}
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: it takes flags only (vast bench -help)", f.Arg(0))
	}
	if o.n < 1 || o.n > maxElements {
		return o, fmt.Errorf("-n %d: a number of elements is 1 to %d", o.n, maxElements)
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("-rounds %d: at least one round must count", o.rounds)
	}
	for _, name := range names {
		if o.work == "" || o.work == name {
			return o, nil
		}
	}
	return o, fmt.Errorf("-work %q: there are %s", o.work, strings.Join(names, ", "))
}

// failure is a panic of made or closed: the operating system, or a limit, refused memory.
type failure struct{ err error }

func made[T any](v T, err error) T {
	closed(err)
	return v
}

func closed(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// measure runs the works and returns their rows.
func measure(o options, progress io.Writer) (rows []row, err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	for _, w := range works {
		if o.work != "" && o.work != w.name {
			continue
		}
		if !o.json {
			fmt.Fprintf(progress, "measuring %s ...\n", w.name)
		}
		sides, done := w.sides(o.n)
		results := contest(o.rounds, 2*o.n*bytesElement, sides)
		if done != nil {
			done()
		}
		for _, theirs := range results[1:] {
			rows = append(rows, compare(w.name, o.n*bytesElement, results[0], theirs))
		}
	}
	return rows, nil
}

func compare(work string, bytes int, ours, theirs result) row {
	r := row{
		Work: work, Against: theirs.name,
		OursMs: ms(ours.best), TheirsMs: ms(theirs.best), Ratio: float64(theirs.best) / float64(max(1, ours.best)),
		OursMedianMs: ms(ours.median), TheirsMedianMs: ms(theirs.median),
		OursMB: mb(ours.used), TheirsMB: mb(theirs.used),
	}
	if ours.used > 0 {
		r.OursWastedMB = max(0, mb(ours.used-bytes))
	}
	if theirs.used > 0 {
		r.TheirsWastedMB = max(0, mb(theirs.used-bytes))
	}
	return r
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

func mb(bytes int) float64 { return float64(bytes) / 1e6 }

// table prints the rows for people.
func table(out io.Writer, o options, rows []row) error {
	fmt.Fprintf(out, "%d elements of %d bytes, best and median of %d rounds; %s/%s, %s\n\n",
		o.n, bytesElement, o.rounds, runtime.GOOS, runtime.GOARCH, runtime.Version())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "work\tagainst\tours ms\tmedian\ttheirs ms\tmedian\tratio\tours MB\twasted\ttheirs MB\twasted\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%s\t%s\t\n", r.Work, r.Against,
			number(r.OursMs), number(r.OursMedianMs), number(r.TheirsMs), number(r.TheirsMedianMs), r.Ratio,
			memory(r.OursMB), waste(r.OursMB, r.OursWastedMB), memory(r.TheirsMB), waste(r.TheirsMB, r.TheirsWastedMB))
	}
	return w.Flush()
}

func number(ms float64) string {
	if ms < 1 {
		return fmt.Sprintf("%.4f", ms)
	}
	return fmt.Sprintf("%.1f", ms)
}

func memory(mb float64) string {
	if mb == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", mb)
}

func waste(used, wasted float64) string {
	if used == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", wasted)
}
