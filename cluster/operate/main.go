// Command operate shows the processes and regions of a cluster, moves regions, and drains and resumes
// processes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/vastgo/vast/cluster"
)

const usage = `usage: go run ./cluster/operate [flags] [command]

Commands:
  status                show the processes and the regions (default)
  move REGION PROCESS   move a region to a process, where it stays
  move REGION any       let any process own the region again
  drain PROCESS         make a process give its regions to others and take no more
  resume PROCESS        let a process that was drained take regions again

PROCESS is the name of a process. The first characters are enough if they are unique.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "operate:", err)
		os.Exit(1)
	}
}

type options struct {
	url, name, credentials string
	json                   bool
	wait                   time.Duration
	args                   []string
}

func run(ctx context.Context, args []string, stdout io.Writer) (err error) {
	o, err := parse(args, stdout)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.wait, fmt.Errorf("no result after %v", o.wait))
	defer cancel()
	var connect []nats.Option
	if o.credentials != "" {
		connect = append(connect, nats.UserCredentials(o.credentials))
	}
	c, err := cluster.Operate(ctx, o.url, o.name, connect...)
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("no answer from %s: %w", o.url, context.Cause(ctx))
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return o.do(ctx, c, stdout)
}

// parse parses the command line. It returns flag.ErrHelp after it has printed the usage.
func parse(args []string, stdout io.Writer) (o options, err error) {
	f := flag.NewFlagSet("operate", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&o.url, "url", nats.DefaultURL, "`address` of the NATS servers")
	f.StringVar(&o.name, "name", "earth", "`name` of the cluster")
	f.StringVar(&o.credentials, "credentials", "", "`file` with the credentials of a NATS user")
	f.BoolVar(&o.json, "json", false, "print the status as JSON")
	f.DurationVar(&o.wait, "wait", time.Minute, "`time` after which the command gives up")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, usage)
		f.SetOutput(stdout)
		f.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, err
	}
	if o.args = f.Args(); len(o.args) == 0 {
		o.args = []string{"status"}
	}
	operands := map[string]int{"status": 0, "move": 2, "drain": 1, "resume": 1}
	want, known := operands[o.args[0]]
	switch {
	case !known:
		return o, fmt.Errorf("unknown command %q: use status, move, drain or resume", o.args[0])
	case len(o.args)-1 != want:
		return o, fmt.Errorf("%s has %d arguments, want %d: see -help", o.args[0], len(o.args)-1, want)
	case o.json && o.args[0] != "status":
		return o, fmt.Errorf("-json: %s prints no result", o.args[0])
	}
	return o, nil
}

func (o options) do(ctx context.Context, c *cluster.Operator, stdout io.Writer) error {
	if o.args[0] == "status" {
		return o.status(c, stdout)
	}
	if o.args[0] == "move" && o.args[2] == "any" {
		region, err := strconv.Atoi(o.args[1])
		if err != nil {
			return fmt.Errorf("the region %q is not a number", o.args[1])
		}
		return c.Move(ctx, region, "")
	}
	process, err := find(c.Processes(), o.args[len(o.args)-1])
	if err != nil {
		return err
	}
	switch o.args[0] {
	case "drain":
		return c.Drain(ctx, process)
	case "resume":
		return c.Resume(ctx, process)
	}
	region, err := strconv.Atoi(o.args[1])
	if err != nil {
		return fmt.Errorf("the region %q is not a number", o.args[1])
	}
	return c.Move(ctx, region, process)
}
