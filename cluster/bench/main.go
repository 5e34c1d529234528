// Command bench measures clusters. Run it in the folder of the module:
//
//	go run ./bench [-work REGEXP] [-rounds N] [-json]
//
// The command makes several measurements, called works, and prints a row for each work. The figure of a work
// with several rounds is the median of the rounds.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
)

type row struct {
	Work    string  `json:"work"`
	What    string  `json:"what"`
	Against string  `json:"against,omitempty"`
	Ours    float64 `json:"ours"`
	Peer    float64 `json:"peer,omitempty"`
	Figure  float64 `json:"figure"` // Ours, or Ours divided by Peer
	Unit    string  `json:"unit"`
	Goal    float64 `json:"goal"`
	Most    bool    `json:"at_most"` // whether Goal is the upper limit of Figure, not the lower limit
	// Highest is the upper limit of Figure if Goal is the lower limit. 0 means no upper limit.
	Highest float64 `json:"goal_highest,omitempty"`
}

func (r *row) bounds() string {
	switch {
	case r.Highest != 0:
		return fmt.Sprintf("%g to %g", r.Goal, r.Highest)
	case r.Most:
		return fmt.Sprintf("at most %g", r.Goal)
	}
	return fmt.Sprintf("at least %g", r.Goal)
}

type work struct {
	name string
	run  func(ctx context.Context, b *bench) (row, error)
}

var works = []work{
	{"regions-1", func(ctx context.Context, b *bench) (row, error) { return b.speed(ctx, 1, 0.9) }},
	{"regions-4", func(ctx context.Context, b *bench) (row, error) { return b.speed(ctx, 4, 0.8) }},
	{"in-time", inTime},
	{"handoff-bytes", handoffBytes},
	{"handoffs", handoffs},
	{"follower-lag", followerLag},
	{"failover", failover},
	{"predict-16", predict},
}

type bench struct {
	rounds int
	dir    string // temporary folder for programs and clusters
	stderr io.Writer
}

func main() {
	if url := os.Getenv("VAST_BENCH_URL"); url != "" {
		if err := runChild(url, os.Getenv("VAST_BENCH_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	asJSON := f.Bool("json", false, "print one JSON object")
	pattern := f.String("work", "", "measure only works whose names match this regular `expression`")
	rounds := f.Int("rounds", 3, "`number` of rounds of each work whose figure is a median")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "vast-cluster-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b := &bench{rounds: max(1, *rounds), dir: dir, stderr: stderr}
	var rows []row
	for _, w := range works {
		if !wanted.MatchString(w.name) {
			continue
		}
		r, err := w.run(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		r.Work = w.name
		rows = append(rows, r)
		if !*asJSON {
			fmt.Fprintf(stdout, "%-14s %10.4g %s (%s): %s\n", r.Work, r.Figure, r.Unit, r.bounds(), r.What)
		}
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(map[string][]row{"rows": rows})
	}
	return nil
}

// program builds the command of a package, and returns the path of the executable file. A later call with the
// same name returns the same file.
func (b *bench) program(ctx context.Context, name, pkg string) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, pkg)
	cmd.Stderr = b.stderr
	return path, cmd.Run()
}

func (b *bench) output(ctx context.Context, path string, args []string, into any) error {
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if err != nil {
		return fmt.Errorf("%s %v: %w", filepath.Base(path), args, err)
	}
	return json.Unmarshal(out, into)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
