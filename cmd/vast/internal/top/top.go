// Package top implements the command `vast top`, which shows a running program in a terminal. The data comes
// from the program's inspector.
//
// A feed reads the program's live stream on its own goroutine, and attaches again if it loses the stream. Its
// updates change a state. The command shows the state as a page, or prints one line each second.
package top

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

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

type options struct {
	address string
	token   string
	once    bool
	json    bool
	plain   bool
}

// flags declares the flags. It discards the output of package flag, because Run prints each error.
func flags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("vast top", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVar(&o.token, "token", "", attach.AboutToken)
	f.BoolVar(&o.once, "once", false, "print one page and end")
	f.BoolVar(&o.json, "json", false,
		"print one JSON object each second; with -once, a single JSON object with the history")
	f.BoolVar(&o.plain, "plain", false, "print one line each second, even on a terminal")
	return f
}

func parse(args []string) (options, error) {
	var o options
	rest, err := cli.Parse(flags(&o), args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, &cli.UsageError{Command: "top", Err: err}
	case len(rest) == 0:
		return o, &cli.UsageError{Command: "top",
			Err: errors.New("the inspector's address is missing, such as 127.0.0.1:8080")}
	case len(rest) > 1:
		return o, &cli.UsageError{Command: "top", Err: fmt.Errorf("unexpected argument %q", rest[1])}
	case o.json && o.plain:
		return o, &cli.UsageError{Command: "top",
			Err: errors.New("-json and -plain contradict each other: both set the format of the output")}
	}
	o.address = rest[0]
	return o, nil
}

func usage(w io.Writer) {
	var b bytes.Buffer
	f := flags(new(options))
	f.SetOutput(&b)
	f.PrintDefaults()
	fmt.Fprintf(w, `usage: vast top ADDRESS [flags]

Shows a running program that serves an inspector: ticks, entities, memory, the
collector, the costliest systems and the largest columns. ADDRESS is HOST:PORT, or the
URL that the program printed. If the output is not a terminal, vast top prints one line
each second.

%s
Keys: q or Esc ends with exit status 0, Ctrl-C with 130. If the environment variable
NO_COLOR is set, the screen has no colours.

The p50, p99 and worst of ticks cover the last second. A system's p50 and p99 cover its
last 256 runs, and its worst covers all runs. Load is the time that a system took in the
last second, as a share of one processor.
`, b.String())
}

// Run runs the command with the arguments after `vast top`, and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return cli.Success
	case err != nil:
		return cli.Fail(stderr, "top", err, cli.Misuse)
	}
	program, err := attach.New(o.address, o.token)
	if err != nil {
		return cli.Fail(stderr, "top", &cli.UsageError{Command: "top", Err: err}, cli.Misuse)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	return run(newFeed(program), o, signals, stdout, stderr)
}

// run shows the updates of the feed until the command ends, and returns the exit status.
func run(f *feed, o options, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	first := make(chan error, 1)
	s := newState(f.program.Address())
	go func() { first <- f.begin(ctx, s) }()
	select {
	case err := <-first:
		if err != nil {
			return fail(stderr, err)
		}
	case signal := <-signals:
		return cli.Status(signal)
	}
	if o.once {
		if err := printOnce(stdout, s, o); err != nil {
			return fail(stderr, err)
		}
		return cli.Success
	}
	go f.follow(ctx)
	if o.json || o.plain || !tty.Draws(stdout) {
		return watchLines(f, s, o, signals, stdout, stderr)
	}
	screen, err := tty.Open(fallbacks())
	if err != nil {
		fmt.Fprintf(stderr, "vast top: no live screen, printing lines: %v\n", err)
		return watchLines(f, s, o, signals, stdout, stderr)
	}
	return watchScreen(f, s, screen, signals)
}

// fail prints the error that ends the command. It cleans the error, which may contain text from the program.
func fail(stderr io.Writer, err error) int {
	return cli.Fail(stderr, "top", errors.New(tty.Clean(err.Error())), cli.Failure)
}
