package earth

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

type options struct {
	travellers  int
	places      string        // name of a file; empty: the embedded places
	hz          int           // ticks per second; 0: as fast as possible
	ticks       int           // number of the last tick; 0: no end
	length      time.Duration // time to run; 0: no end
	seed        uint64
	data        string // name of the folder that keeps the world; empty: no folder
	dropTail    bool
	given       given
	workers     int  // number of goroutines; 0: one per processor
	memoryLimit size // 0: the limit of VAST_LIMIT, if any
	json        bool
	plain       bool
	capture     string // name of the file for the picture; empty: no picture
	inspect     string // address of the inspector, or noInspector; empty: the default address
	sql         string // address of the SQL server; empty: no server
	inspectAll  bool   // whether users of the inspector may change values, pause and step
}

// given reports whether -seed and -travellers are on the command line. A given flag must not contradict the
// folder of -data. Without -data, the fields are false.
type given struct{ seed, travellers bool }

// noInspector is the value of -inspect that turns the inspector off.
const noInspector = "off"

// Bounds that catch typing errors.
const (
	maxTravellers = 100_000_000
	maxHz         = 1_000_000
	maxWorkers    = 4096
)

type number struct {
	value    *int
	min, max int
}

// Set implements flag.Value.
func (n number) Set(s string) error {
	v, err := strconv.ParseInt(s, 0, 0)
	if err != nil || int(v) < n.min || int(v) > n.max {
		if n.max == math.MaxInt {
			return fmt.Errorf("want a whole number of %d or more", n.min)
		}
		return fmt.Errorf("want a whole number from %d to %d", n.min, n.max)
	}
	*n.value = int(v)
	return nil
}

// String implements flag.Value. Package flag also calls String on a zero number.
func (n number) String() string {
	if n.value == nil {
		return "0"
	}
	return strconv.Itoa(*n.value)
}

type seed uint64

// Set implements flag.Value.
func (s *seed) Set(text string) error {
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return errors.New("want a whole number from 0 to 18446744073709551615")
	}
	*s = seed(v)
	return nil
}

// String implements flag.Value.
func (s *seed) String() string { return strconv.FormatUint(uint64(*s), 10) }

type length time.Duration

// Set implements flag.Value.
func (l *length) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v < 0 {
		return errors.New("want a time of 0 or more with its unit, such as 30s or 5m")
	}
	*l = length(v)
	return nil
}

// String implements flag.Value.
func (l *length) String() string { return time.Duration(*l).String() }

// address is a flag whose value is host:port. If off is not empty, the value may also be the text in off.
type address struct {
	text *string
	off  string
}

// Set implements flag.Value.
func (a address) Set(text string) error {
	if a.off == "" || text != a.off {
		if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
			want := "want host:port such as 127.0.0.1:8080, or :0 for any port on all addresses"
			if a.off != "" {
				want += "; or " + a.off
			}
			return errors.New(want)
		}
	}
	*a.text = text
	return nil
}

// String implements flag.Value.
func (a address) String() string {
	if a.text == nil { // package flag makes a zero value
		return ""
	}
	return *a.text
}

// flags declares the flags. It discards the output of package flag, so that an error is printed only once.
func flags(o *options) *flag.FlagSet {
	*o = options{travellers: 1_000_000, hz: 60, seed: 1}
	f := flag.NewFlagSet("vast earth", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Var(number{&o.travellers, 1, maxTravellers}, "travellers", "`number` of travellers")
	f.StringVar(&o.places, "places", "",
		"`file` of places, instead of the embedded places:\na GeoNames table, or a table with a header that "+
			"has name, lat and lon; may be gzipped")
	f.Var(number{&o.hz, 0, maxHz}, "hz", "`rate` in ticks a second; 0: as fast as possible")
	f.StringVar(&o.data, "data", "",
		"keep the world in this `folder`; the next run resumes the world with its seed and travellers.\n"+
			"The places must be the same in each run, and -ticks counts from the world's first tick")
	f.BoolVar(&o.dropTail, "drop-tail", false, "resume from the last checkpoint in -data and drop the "+
		"later ticks.\nUse this flag if another build of vast recorded these ticks")
	f.Var(number{&o.ticks, 0, math.MaxInt}, "ticks", "end after this `number` of ticks; 0: no end")
	f.Var((*length)(&o.length), "for", "end after this `time`, such as 30s; 0: no end")
	f.Var((*seed)(&o.seed), "seed",
		"`number` that determines the world: the same seed, places, travellers and ticks\n"+
			"give the same world")
	f.Var(number{&o.workers, 0, maxWorkers}, "workers",
		"`number` of goroutines that share the work of a tick; 0: one per processor.\n"+
			"The result does not depend on the number")
	f.Var(&o.memoryLimit, "memory-limit",
		"limit of the memory outside the Go heap, as a `size` such as 512MiB or 2GB\n"+
			"(default: VAST_LIMIT, or no limit)")
	f.BoolVar(&o.json, "json", false, "print only one JSON object on standard output, at the end")
	f.BoolVar(&o.plain, "plain", false, "print a line a second, even on a terminal")
	f.Var(address{&o.inspect, noInspector}, "inspect",
		"serve the inspector, a page for browsers, at this `address`; off: no inspector\n"+
			"(default 127.0.0.1:0: any free port, for this machine only)")
	f.BoolVar(&o.inspectAll, "inspect-write", false, "allow users of the inspector's printed address to\n"+
		"change values, pause and step")
	f.Var(address{text: &o.sql}, "sql",
		"answer SQL statements of psql and other PostgreSQL clients at this `address`,\n"+
			"such as 127.0.0.1:5432; the variable VAST_SQL_PASSWORD sets a password")
	f.StringVar(&o.capture, "capture", "", "write the last screen to this `file`, as a picture in SVG")
	return f
}

// parse reads the flags. It returns flag.ErrHelp for -h, and a *cli.UsageError for a wrong command line.
func parse(args []string) (options, error) {
	var o options
	f := flags(&o)
	switch err := f.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, &cli.UsageError{Command: "earth", Err: err}
	case f.NArg() > 0:
		return o, &cli.UsageError{Command: "earth", Err: fmt.Errorf("unexpected argument %q", f.Arg(0))}
	case o.inspect == noInspector && o.inspectAll:
		return o, &cli.UsageError{Command: "earth",
			Err: errors.New("-inspect off and -inspect-write contradict each other")}
	case o.dropTail && o.data == "":
		return o, &cli.UsageError{Command: "earth",
			Err: errors.New("-drop-tail needs -data: the folder of a world")}
	case o.json && o.plain:
		return o, &cli.UsageError{Command: "earth",
			Err: errors.New("-json and -plain contradict each other: each sets the format of the output")}
	}
	if o.data != "" {
		f.Visit(func(set *flag.Flag) {
			o.given.seed = o.given.seed || set.Name == "seed"
			o.given.travellers = o.given.travellers || set.Name == "travellers"
		})
	}
	return o, nil
}

func usage(w io.Writer) {
	var b bytes.Buffer
	f := flags(new(options))
	f.SetOutput(&b)
	f.PrintDefaults()
	fmt.Fprintf(w, `usage: vast earth [flags]

Runs the Earth: travellers move between real towns, meet, fall ill, recover, are
born and die. A tick is one simulated minute. On a terminal, the command shows the
travellers live on a map. Elsewhere, it prints a line a second.

%s
Keys: space pauses; q or Esc ends with exit status 0, Ctrl-C with 130.
If NO_COLOR is set, the screen has no colours.

The command prints the address of its inspector; with -json, on standard error. Open the
address in a browser: the inspector shows the map, the places and travellers, their memory
and the times of the ticks, and answers SQL statements.

With -data, the command takes a checkpoint of the world each second and at the end, and
records the ticks after each checkpoint. The run may therefore be killed at any moment: the
next run resumes after the last durable tick or a later tick. An edit in the inspector is
durable as soon as the browser shows it. An error of the disk ends the run.

After each checkpoint and once a second, the command prints a new durable tick on standard
error, as "# durable TICK". If standard error is a terminal and the map is shown, the map
shows the age of the last checkpoint instead.

With -data, the object of -json has these additional fields:
  resumed_at            the tick after which the run resumed; 0 for a new world
  checkpoints.count     the number of checkpoints
  checkpoints.skipped   the number of checkpoints skipped because the disk was busy
  checkpoints.pause_ms  the times for which checkpoints stopped the ticks
  checkpoints.bytes     the size of the last checkpoint

The times of ticks (tick_ms, p50, p99, worst) are the times of the simulation, without
drawing. With -data, the times include the copying of the world for checkpoints. The times
cover the whole run, including the first ticks, which touch memory for the first time. A
tick is late if it begins a period or more after it was due. A run makes up for at most %d
missed ticks. If it has missed more ticks, it runs one of them and drops the others.

%s
`, b.String(), catchUp, places.Attribution)
}
