// Package earth is the command `vast earth`. The command runs the simulation of package cmd/vast/earth at a
// steady rate. It shows the simulation as a live map in a terminal, as lines of text, or as one JSON object.
//
// The driver ticks the Earth on its own goroutine. The viewer (screen or lines) reads the Earth only through
// snapshots: it sends a snapshot to the driver, and the driver fills the snapshot between two ticks and sends
// it back.
package earth

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/vm"
)

// world is the part of the simulation that the driver and the report use.
type world interface {
	Tick() error
	Counts() simulation.Counts
	Paint(m *atlas.Map, density, infected []uint32)
	Hash() string
}

// Run runs the command with the arguments after `vast earth`, and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return cli.Success
	case err != nil:
		return cli.Fail(stderr, "earth", err, cli.Misuse)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	return runUntil(o, signals, stdout, stderr)
}

// runUntil runs the command with parsed flags until the run ends or a signal arrives.
func runUntil(o options, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	loaded, status := load(o, signals, stderr)
	if loaded.earth == nil {
		return status
	}
	defer loaded.earth.Close()
	d := newDriver(loaded.earth, o)
	d.saves = loaded.saves
	n := notes{credits: o.credits(), saves: d.saves != nil}
	var db *sql.DB
	if o.inspect != noInspector || o.sql != "" {
		var err error
		if db, err = openSQL(loaded, o); err != nil {
			return cli.Fail(stderr, "earth", err, cli.Failure)
		}
		defer db.Close() // runs before earth.Close, because statements read the Earth
	}
	if o.inspect != noInspector {
		in, err := serve(loaded, d, o, db)
		switch {
		case err == nil:
			n.inspector = in.URL()
			defer in.Close() // runs before earth.Close and db.Close, because the inspector uses both
		case o.inspect != "":
			return cli.Fail(stderr, "earth", err, cli.Failure)
		default:
			// The run continues, because the user did not ask for an inspector.
			fmt.Fprintf(stderr, "vast earth: no inspector: %v\n", err)
		}
	}
	if o.sql != "" {
		s, command, err := serveSQL(db, loaded, d, o)
		if err != nil {
			return cli.Fail(stderr, "earth", err, cli.Failure)
		}
		defer s.Close()
		fmt.Fprintf(stderr, "# sql: %s\n", command)
	}
	return run(d, n, o, signals, stdout, stderr)
}

// run runs the driver and shows its world. At the end, it writes the picture of -capture and the report of
// -json. It returns the exit status.
func run(d *driver, n notes, o options, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	r := newReader(d.world.Counts())
	if d.saves != nil {
		out := stderr
		if o.drawsOn(stdout) && tty.Is(stderr) {
			out = io.Discard // lines would damage the screen
		}
		d.saves.announce(out)
	}
	status, err := watch(d, r, n, o, signals, stdout, stderr)
	d.halt()
	if d.err != nil {
		err = d.err
	}
	if d.saves != nil {
		if errSaves := d.saves.close(); err == nil {
			err = errSaves
		}
	}
	if err == nil && o.capture != "" {
		err = capture(d, r, o)
	}
	if err == nil && o.json {
		err = writeReport(stdout, d, o)
	}
	if err != nil {
		return cli.Fail(stderr, "earth", err, cli.Failure)
	}
	return status
}

// watch starts the driver and shows its world until the driver ends, or until a signal or a key ends the run.
// It returns the exit status, or the error of a failed write.
func watch(d *driver, r *reader, n notes, o options, signals <-chan os.Signal, stdout, stderr io.Writer) (int,
	error) {
	if o.json {
		// Standard output holds only the JSON object.
		if tty.Is(stderr) {
			return watchLines(d, r, n, signals, stderr)
		}
		if n.inspector != "" {
			fmt.Fprintf(stderr, "# inspector: %s\n", n.inspector)
		}
		return watchNothing(d, signals), nil
	}
	if !o.drawsOn(stdout) {
		return watchLines(d, r, n, signals, stdout)
	}
	screen, err := tty.Open(fallbacks())
	if err != nil {
		fmt.Fprintf(stderr, "vast earth: no live screen, printing lines: %v\n", err)
		return watchLines(d, r, n, signals, stdout)
	}
	status := watchScreen(d, r, n, screen, signals)
	d.halt()
	printSummary(stdout, d, r, o)
	return status, nil
}

// drawsOn reports whether the run tries to draw a screen on standard output.
func (o options) drawsOn(stdout io.Writer) bool { return !o.json && !o.plain && tty.Draws(stdout) }

func watchNothing(d *driver, signals <-chan os.Signal) int {
	d.start(nil)
	select {
	case <-d.done:
		return cli.Success
	case s := <-signals:
		return cli.Status(s)
	}
}

// limit returns the limit of -memory-limit, or nil without this flag.
func (o options) limit() *vm.Limit {
	if o.memoryLimit == 0 {
		return nil
	}
	return vm.NewLimit(int(o.memoryLimit))
}

// budget returns the time that a tick may take.
func (o options) budget() time.Duration {
	if o.hz == 0 {
		return time.Second / 60
	}
	return time.Second / time.Duration(o.hz)
}
