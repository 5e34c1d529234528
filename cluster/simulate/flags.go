package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vastgo/vast/cluster/internal/plan"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

type options struct {
	costs   string // name of a file, or empty
	measure bool
	json    bool
	regions []int
	each    int     // travellers for each region; 0: Setup.Travellers, for all regions together
	network float64 // bandwidth, in megabytes a second
	plan.Setup
}

const usage = `usage: go run ./cluster/simulate [flags]

Predicts the ticks a second of an Earth that is divided into regions, and names the first bottleneck.
In the simulated cluster, each process has a machine of its own.

`

// parse returns flag.ErrHelp after it has printed the usage.
func parse(args []string, stdout io.Writer) (o options, err error) {
	o.regions = []int{1, 4, 16, 64, 256, 1000}
	f := flag.NewFlagSet("simulate", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.costs, "costs", "",
		"`file` of costs: -measure writes the file; without -measure, the command reads it")
	f.BoolVar(&o.measure, "measure", false,
		"measure the costs on this machine; without -costs, the command always measures")
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.Func("regions", "`numbers` of regions, separated by commas (default 1,4,16,64,256,1000)", o.setRegions)
	f.IntVar(&o.PerProcess, "per-process", 16, "largest `number` of regions of a process")
	f.IntVar(&o.Cores, "cores", 0,
		"`number` of cores of each process; 0: as many as the measured machine has")
	f.IntVar(&o.Servers, "servers", 0,
		"`number` of machines that run a NATS server; 0: the first processes contain the servers")
	f.IntVar(&o.ServerCores, "server-cores", 0,
		"`number` of cores of each machine of -servers; 0: as many as the measured machine has")
	f.IntVar(&o.Replicas, "replicas", 1, "`number` of servers that keep each message")
	f.DurationVar(&o.RoundTrip, "round-trip", 200*time.Microsecond, "`time` of a round trip between machines")
	f.Float64Var(&o.network, "bandwidth", 1250, "`megabytes` a second that a machine can send")
	f.IntVar(&o.Lookahead, "lookahead", simulation.Lookahead,
		"`ticks` after which data that a region sends to another region takes effect")
	f.Float64Var(&o.Hz, "hz", 0, "`rate` to reach, in ticks a second; 0: as fast as possible")
	f.IntVar(&o.Every, "checkpoint", 600,
		"`ticks` from one checkpoint of a region to the next; 0: no checkpoints")
	f.IntVar(&o.Travellers, "travellers", 1_000_000, "`number` of travellers in all regions together")
	f.IntVar(&o.each, "each", 0, "`number` of travellers for each region, instead of -travellers")
	f.Float64Var(&o.Hot, "hot", 1,
		"`factor`: number of travellers in the hottest region, divided by the average of all regions;\n"+
			"a factor above the number of regions counts as that number")
	f.IntVar(&o.Ticks, "ticks", 0,
		"`number` of ticks to simulate; 0: the number depends on the number of regions")
	f.Uint64Var(&o.Seed, "seed", 1, "`number` that determines all random numbers")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		f.SetOutput(stdout)
		f.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	}
	o.measure = o.measure || o.costs == ""
	return o, o.check()
}

func (o *options) setRegions(list string) error {
	o.regions = nil
	for text := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("%q: use numbers of 1 or more", text)
		}
		o.regions = append(o.regions, n)
	}
	return nil
}

// check returns an error for wrong flags, before the command measures the costs.
func (o *options) check() error {
	if o.each < 0 || o.Ticks < 0 || o.Cores < 0 || o.ServerCores < 0 {
		return errors.New("-each, -ticks, -cores and -server-cores: use 0 or more")
	}
	for _, regions := range o.regions {
		setup := o.setup(&plan.Costs{Cores: 1}, regions)
		if err := setup.Check(); err != nil {
			return fmt.Errorf("%d regions: %w", regions, err)
		}
	}
	return nil
}

func (o *options) setup(costs *plan.Costs, regions int) plan.Setup {
	s := o.Setup
	s.Regions, s.Bandwidth = regions, o.network*1e6
	s.Hot = min(s.Hot, float64(regions))
	if s.Cores == 0 {
		s.Cores = costs.Cores
	}
	if s.ServerCores == 0 {
		s.ServerCores = costs.Cores
	}
	if o.each > 0 {
		s.Travellers = o.each * regions
	}
	if s.Ticks == 0 {
		s.Ticks = ticks(regions, s.PerProcess)
	}
	return s
}

// ticks returns the default number of ticks to simulate. It limits the number of simulated events: a tick has
// about one event for each message that arrives at a process.
func ticks(regions, perProcess int) int {
	const maxEvents, minTicks, maxTicks = 6_000_000, 60, 1300
	processes := (regions + perProcess - 1) / max(perProcess, 1)
	return min(max(maxEvents/(regions*(processes+10)), minTicks), maxTicks)
}
