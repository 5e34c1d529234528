package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"

	"github.com/vastgo/vast/cmd/vast/earth/places"
)

type options struct {
	regions, processes int
	url, listen, name  string
	data               string // folder; empty: a temporary folder
	travellers         int
	places             string // file; empty: the embedded places
	seed               uint64
	hz                 float64
	ticks              uint64 // last tick; 0: run until a signal
	checkpoint         uint64 // ticks from one checkpoint to the next
	upgrade            bool
	inspect            string // address, or noInspector
	json, plain        bool
	child              bool
}

// noInspector is the value of -inspect that turns the inspector off.
const noInspector = "off"

const usage = `usage: go run ./cluster/earth [flags]

Runs the Earth of "vast earth" as regions on several processes. Each region is a world of its own. Travellers
pass from region to region through NATS JetStream. Without -url the first process contains the NATS server.
With -inspect, the command prints an address. Open this address in a browser: the page shows the travellers
of all regions on a map, and each region with its owner and its ticks. The path /metrics is for Prometheus.

`

// parse parses the command line. With -h, it prints the usage and returns flag.ErrHelp.
func parse(args []string, stdout io.Writer) (o options, err error) {
	f := flag.NewFlagSet("earth", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.IntVar(&o.regions, "regions", 16, "`number` of regions; the same in all processes")
	f.IntVar(&o.processes, "processes", 1, "`number` of processes to run on this machine, including this one")
	f.StringVar(&o.url, "url", "",
		"`address` of the NATS servers of a cluster to join, such as nats://host:4222")
	f.StringVar(&o.listen, "listen", "",
		"`host:port` at which other processes reach the server of this process")
	f.StringVar(&o.name, "name", "earth", "`name` of the cluster; a server may have several clusters")
	f.StringVar(&o.data, "data", "",
		"`folder` of the cluster; a later command with this folder continues the cluster.\n"+
			"Default: a temporary folder")
	f.IntVar(&o.travellers, "travellers", 1_000_000, "`number` of travellers at the start")
	f.StringVar(&o.places, "places", "", "`file` of places, instead of the embedded places")
	f.Uint64Var(&o.seed, "seed", 1, "`number` that determines all random numbers")
	f.Float64Var(&o.hz, "hz", 60, "`rate` in ticks a second; 0: as fast as possible")
	f.Uint64Var(&o.ticks, "ticks", 0, "`number` of the last tick; 0: run until a signal")
	f.Uint64Var(&o.checkpoint, "checkpoint", 600,
		"`number` of ticks from one checkpoint of a region to the next")
	f.BoolVar(&o.upgrade, "upgrade", false,
		"replace the program of a running cluster by this build, at a tick some seconds ahead")
	f.StringVar(&o.inspect, "inspect", noInspector,
		"`address` at which to serve the inspector, a page for browsers, and the metrics of the regions,\n"+
			"such as 127.0.0.1:8080; off: serve nothing")
	f.BoolVar(&o.json, "json", false, "print one JSON object at the end; needs -ticks")
	f.BoolVar(&o.plain, "plain", false, "print a line a second instead of a map")
	f.BoolVar(&o.child, "child", false, "end when standard input ends; for processes that -processes starts")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		f.SetOutput(stdout)
		f.PrintDefaults()
		fmt.Fprintf(stdout, "\n%s\n", places.Attribution)
		return o, err
	} else if err != nil {
		return o, err
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unknown argument %q", f.Arg(0))
	case o.regions < 1:
		return o, fmt.Errorf("-regions %d: use 1 or more", o.regions)
	case o.processes < 1 || o.processes > 64:
		return o, fmt.Errorf("-processes %d: use 1 to 64", o.processes)
	case o.url != "" && o.processes > 1:
		return o, errors.New("-url and -processes: with -url, run the command once for each process")
	case o.json && o.ticks == 0:
		return o, errors.New("-json prints after the last tick: give -ticks")
	case o.checkpoint == 0:
		return o, errors.New("-checkpoint 0: use 1 or more")
	}
	if _, port, err := net.SplitHostPort(o.inspect); o.inspect != noInspector && (err != nil || port == "") {
		return o, fmt.Errorf("-inspect %s: use host:port such as 127.0.0.1:8080, :0 for any port on all "+
			"addresses, or off", o.inspect)
	}
	if o.processes > 1 && o.listen == "" {
		o.listen = "127.0.0.1:0"
	}
	return o, nil
}

// args returns the arguments of another process of the cluster. url is the address of the server, and data is
// the folder of the process.
func (o options) args(url, data string) []string {
	return []string{"-child", "-plain", "-url", url, "-data", data, "-name", o.name,
		"-regions", fmt.Sprint(o.regions), "-travellers", fmt.Sprint(o.travellers), "-places", o.places,
		"-seed", fmt.Sprint(o.seed), "-hz", fmt.Sprint(o.hz), "-ticks", fmt.Sprint(o.ticks),
		"-checkpoint", fmt.Sprint(o.checkpoint)}
}
