// Command vastarrow exports the results of SQL statements as Parquet, Arrow, CSV or JSON lines, and imports
// such files into saved worlds. It is not a part of the command vast, because the libraries of Arrow and
// Parquet would make the first start of `go run ./cmd/vast` more than a third longer: see decision 0021.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

// task is a subcommand. The function flags declares the flags of the task, and returns the function that runs
// the task.
type task struct {
	name, usage, about string
	flags              func(f *flag.FlagSet) (run func(ctx context.Context, s streams, args []string) error)
}

// streams are standard output and standard error.
type streams struct{ out, notes io.Writer }

// misuse is the error of a wrong command line.
type misuse struct{ error }

// interruption is the cause with which a signal ends the context of a task.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return "signal: " + i.signal.String() }

var tasks = []task{exporting, importing}

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { cancel(interruption{<-signals}) }()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the task that the first argument names, and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		usage(stderr)
		return cli.Misuse
	}
	switch args[0] {
	case "help", "-h", "-help", "--help":
		usage(stdout)
		return cli.Success
	}
	for _, t := range tasks {
		if t.name == args[0] {
			return t.start(ctx, args[1:], streams{stdout, stderr})
		}
	}
	fmt.Fprintf(stderr, "vastarrow: unknown command %q; `vastarrow help` lists the commands\n", args[0])
	return cli.Misuse
}

func usage(w io.Writer) {
	fmt.Fprint(w, "usage: vastarrow COMMAND [flags]\n\n")
	for _, t := range tasks {
		fmt.Fprintf(w, "  %-7s %s\n", t.name, t.about)
	}
	fmt.Fprint(w, "\n`vastarrow COMMAND -h` lists the flags of a command.\n")
}

// start parses the command line, runs the task, and returns the exit status.
func (t *task) start(ctx context.Context, args []string, s streams) int {
	f := flag.NewFlagSet("vastarrow "+t.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	run := t.flags(f)
	rest, err := cli.Parse(f, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		var b bytes.Buffer
		f.SetOutput(&b)
		f.PrintDefaults()
		fmt.Fprintf(s.out, "usage: vastarrow %s %s\n\n%s", t.name, t.usage, b.String())
		return cli.Success
	case err != nil:
		err = misuse{err}
	default:
		err = run(ctx, s, rest)
	}
	var wrong misuse
	var stopped interruption
	switch {
	case err == nil:
		return cli.Success
	case errors.As(err, &wrong):
		fmt.Fprintf(s.notes, "vastarrow %s: %v; `vastarrow %s -h` shows the usage\n", t.name, err, t.name)
		return cli.Misuse
	case errors.As(context.Cause(ctx), &stopped):
		return cli.Status(stopped.signal)
	}
	fmt.Fprintf(s.notes, "vastarrow %s: %v\n", t.name, err)
	return cli.Failure
}
