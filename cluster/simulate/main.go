// Command simulate predicts how fast a cluster runs an Earth (package cmd/vast/earth) that is divided into
// regions. The machines of the cluster need not exist: the command simulates the cluster event by event. It
// measures the costs of the work on this machine, or reads the costs from a file.
//
//	go run ./cluster/simulate                             measures for a minute or two, then predicts
//	go run ./cluster/simulate -measure -costs costs.json  also writes the file costs.json
//	go run ./cluster/simulate -costs costs.json -cores 16 -servers 3 -server-cores 8 -replicas 3 -each 60000
//
// For the measurement, one process runs the embedded NATS server and Earths of one and of four regions. Each
// line of the table is a cluster. The bottleneck is the part of the cluster that is busy for the largest
// share of the time. If no part is busy for more than 80 % of the time, the regions wait for each other. The
// bottleneck is then "the latency of messages" or "the pauses for checkpoints". There is no bottleneck if the
// regions reach the rate of -hz.
//
// Package cluster/internal/plan says what the simulation models, and what it leaves out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/vastgo/vast/cluster/internal/plan"
	"github.com/vastgo/vast/cluster/internal/trial"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "simulate: %v\n", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return fmt.Errorf("%w; -h shows the usage", err)
	}
	costs, err := o.costsOf(ctx, stderr)
	if err != nil {
		return err
	}
	var rows []plan.Result
	for _, regions := range o.regions {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r, err := plan.Run(costs, o.setup(costs, regions))
		if err != nil {
			return fmt.Errorf("%d regions: %w", regions, err)
		}
		rows = append(rows, r)
	}
	if o.json {
		return printJSON(stdout, costs, rows)
	}
	return printTable(stdout, rows)
}

// costsOf reads the costs from the file of -costs, or measures them if measure is set. It writes measured
// costs to the file of -costs, if that flag is set.
func (o *options) costsOf(ctx context.Context, stderr io.Writer) (*plan.Costs, error) {
	if !o.measure {
		file, err := os.Open(o.costs)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return plan.Read(file)
	}
	costs, err := measure(ctx, stderr)
	if err != nil || o.costs == "" {
		return costs, err
	}
	file, err := os.Create(o.costs)
	if err != nil {
		return nil, err
	}
	return costs, errors.Join(costs.Write(file), file.Close())
}

// measuredTravellers is the number of travellers in each measured Earth.
const measuredTravellers = 1_000_000

func measure(ctx context.Context, stderr io.Writer) (costs *plan.Costs, err error) {
	dir, err := os.MkdirTemp("", "vast-simulate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	return trial.Measure(ctx, dir, measuredTravellers, func(what string) {
		fmt.Fprintf(stderr, "measuring %s\n", what)
	})
}
