package bench

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// maxElements keeps what the largest work needs, some 250 bytes an element, within what machines have.
const maxElements = 100_000_000

// family is the works that measure one part of the library.
type family struct {
	name  string
	about string // what is measured; N is the number that -n gives
	works func() []work
}

// work is something that each of its sides does in its own way.
type work struct {
	name  string
	bytes func(n int) int                         // what the data take, without any waste; nil where memory is not compared
	sides func(n int) (sides []side, done func()) // ours first; done, if any, cleans up
}

// families are the families in the order in which they are measured.
var families = []family{
	{"array", "bulk.Array: N elements of 40 bytes are appended", arrayWorks},
	{"pool", "bulk.Pool: N elements of 40 bytes are removed in random order, put in again, and read", poolWorks},
	{"shared", "bulk.SharedArray, bulk.SharedPool: N elements of 40 bytes are appended, N ÷ 2 replaced, N ÷ 10 read, by 1 to 8 goroutines", sharedWorks},
	{"dense", "bulk.Dense: N elements of 40 bytes are inserted, found by handles, read, and removed in random order", denseWorks},
	{growthFamily, "growth strategies: N elements of 40 bytes are appended, and read", growthWorks},
	{"table", "bulk.Table: N particles of ten float32, 40 bytes, are appended, removed, and stepped in the time", tableWorks},
	{"lists", "bulk.Lists: N ÷ 10 lists of 0 to 8 elements of 8 bytes are built, freed, walked over and changed", listsWorks},
	{"index", "bulk.HashIndex, bulk.OrderedIndex: N pairs of 16 bytes are put in, found, and removed", indexWorks},
	{"replace", "bulk.SharedTable: N operations on N/10 entries of 40 bytes, one in 16 replaces an entry, the others read one", replaceWorks},
	{"arena", "arena: N records of 24 bytes, or slices of 1 to 4 of them, in 10 frames that end together, with the collector's work", arenaWorks},
	{"ring", "ring: blocks of 64 KiB (N ÷ 1,000), messages (N ÷ 10) and frames (N ÷ 2, over a socket N ÷ 10) go through a buffer", ringWorks},
	{"heap", "heap.Heap: N objects of 64 bytes are replaced; 100 N bytes grow; N/200 blocks of 16 KiB, every second one freed", heapWorks},
	{"guard", "guard: N elements of 40 bytes, of which a thousandth is guarded, N/10 that come and go, and N/1000 that all are guarded", guardWorks},
	{"uid", "uid: N identifiers are made", uidWorks},
}

// row compares our side of a work with another one.
type row struct {
	Family         string  `json:"family"`
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
	names     []string // of families and works; none: all
	json      bool
	svg       string // the file to draw the growth strategies into, if any
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
	var traces []trace
	if err == nil && o.wantsTraces() {
		traces, err = traceGrowth(o, stderr)
	}
	if err != nil {
		fmt.Fprintln(stderr, "vast bench:", err)
		return 1
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
		fmt.Fprintln(stderr, "vast bench:", err)
		return 1
	}
	return 0
}

func parse(args []string, help io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("vast bench", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.n, "n", 10_000_000, "the number of elements, N")
	f.IntVar(&o.rounds, "rounds", 3, "rounds that count; one more warms up")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.StringVar(&o.svg, "svg", "", "draw the growth strategies into this `file`")
	// Flags may stand behind names.
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
		return o, fmt.Errorf("-n %d: a number of elements is 1 to %d", o.n, maxElements)
	}
	if o.rounds < 1 {
		return o, fmt.Errorf("-rounds %d: at least one round must count", o.rounds)
	}
	if o.svg != "" && !o.wantsTraces() {
		return o, fmt.Errorf("-svg draws the growth strategies: name %s too", growthFamily)
	}
	for _, name := range o.names {
		if !slices.ContainsFunc(families, func(f family) bool { return f.has(name) }) {
			return o, fmt.Errorf("%q: there are %s, and their works (vast bench -help)", name, strings.Join(familyNames(), ", "))
		}
	}
	return o, nil
}

// has reports whether name is the family's or one of its works'.
func (f family) has(name string) bool {
	return name == f.name || slices.ContainsFunc(f.works(), func(w work) bool { return w.name == name })
}

func familyNames() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// wants reports whether the work is to be measured.
func (o *options) wants(f family, w work) bool {
	return len(o.names) == 0 || slices.Contains(o.names, f.name) || slices.Contains(o.names, w.name)
}

func usage(help io.Writer, f *flag.FlagSet) {
	fmt.Fprintln(help, "usage: vast bench [flags] [name ...]\n\nA name is that of a family or of a work. Without names all are measured.")
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

// failure is a panic of made or closed: the operating system, or a limit, refused memory.
type failure struct{ err error }

// catch, deferred, turns a failure into an error.
func catch(err *error) {
	if r := recover(); r != nil {
		f, ok := r.(failure)
		if !ok {
			panic(r)
		}
		*err = f.err
	}
}

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
	defer catch(&err)
	for _, f := range families {
		for _, w := range f.works() {
			if !o.wants(f, w) {
				continue
			}
			if !o.json {
				fmt.Fprintf(progress, "measuring %s ...\n", w.name)
			}
			bytes := 0
			if w.bytes != nil {
				bytes = w.bytes(o.n)
			}
			sides, done := w.sides(o.n)
			results := contest(o.rounds, 2*bytes, sides)
			if done != nil {
				done()
			}
			for _, theirs := range results[1:] {
				r := compare(w.name, bytes, results[0], theirs)
				r.Family = f.name
				rows = append(rows, r)
			}
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
	fmt.Fprintf(out, "N = %d, best and median of %d rounds; %s/%s, %s\n",
		o.n, o.rounds, runtime.GOOS, runtime.GOARCH, runtime.Version())
	for _, f := range families {
		own := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.Family != f.name })
		if len(own) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n\n", f.about)
		if err := familyTable(out, own); err != nil {
			return err
		}
	}
	return nil
}

func familyTable(out io.Writer, rows []row) error {
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
