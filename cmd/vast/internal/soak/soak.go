// Package soak is the command `vast soak`. For a given time, the command uses most packages of the library
// (not, for example, event, shared, store and cluster), and checks that nothing leaks.
//
// A soak runs rounds of about half a second. A round runs each churn once. A churn makes containers, worlds,
// schedules or inspectors. It compares them with models of plain Go values, and closes them. Lasting
// containers are made in the first round and stay open to the end.
//
// Between two rounds, no churn runs, and the soak reads the figures of the process. An exact figure, such as
// the number of goroutines, must not exceed its baseline: the value after the third round, or a smaller later
// value. Other figures, such as the size of the Go heap, may vary. For these figures, the soak takes up to
// 1000 samples after the first tenth of the time, and compares the medians of the first quarter and of the
// last quarter of the samples. The variable judged lists the figures and their allowed growth.
package soak

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

type options struct {
	length  time.Duration
	seed    uint64
	workers int
	json    bool
}

// Run runs the command with the arguments after `vast soak`, and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return cli.Success
	case err != nil:
		return cli.Fail(stderr, "soak", &cli.UsageError{Command: "soak", Err: err}, cli.Misuse)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	s := newSoak(o)
	s.signals = signals
	if lines := linesTo(o, stdout, stderr); lines != nil {
		s.print = func(l string) { fmt.Fprintln(lines, l) }
	}
	result := s.run()
	if err := write(stdout, o, result); err != nil {
		return cli.Fail(stderr, "soak", err, cli.Failure)
	}
	if result.failed() {
		return cli.Failure
	}
	return cli.Success
}

// linesTo returns the destination of the progress lines. Without -json, the destination is standard output.
// With -json, the destination is standard error if standard error is a terminal, and nil otherwise.
func linesTo(o options, stdout, stderr io.Writer) io.Writer {
	switch {
	case !o.json:
		return stdout
	case tty.Is(stderr):
		return stderr
	}
	return nil
}

func parse(args []string, help io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("vast soak", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.DurationVar(&o.length, "for", time.Minute, "run for this time; use 1h for a thorough test")
	f.Uint64Var(&o.seed, "seed", rand.Uint64(), "seed of all random numbers (default: a random seed)")
	f.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0),
		"`number` of goroutines that share the work of a round")
	f.BoolVar(&o.json, "json", false, "print only one JSON object, at the end")
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.Lookup("seed").DefValue, f.Lookup("workers").DefValue = "", "one a processor"
		f.SetOutput(help)
		fmt.Fprint(help, "usage: vast soak [flags]\n\nUses most packages of the library, and checks "+
			"that no memory, mappings, files or goroutines leak.\n"+
			"Ctrl-C ends the run early. The exit status is 1 if something grew or an answer was wrong.\n\n")
		f.PrintDefaults()
	case err != nil:
	case f.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.length <= 0:
		err = fmt.Errorf("-for %v: give a time above 0, such as 1h", o.length)
	case o.workers < 1 || o.workers > maxWorkers:
		err = fmt.Errorf("-workers %d: use 1 to %d goroutines", o.workers, maxWorkers)
	}
	return o, err
}

const (
	// minRounds is the minimum number of rounds, even if the time of -for ends earlier.
	minRounds = 8
	// maxSamples bounds the samples of a soak. They are allocated before the baseline, so that their memory
	// does not count as growth.
	maxSamples = 1000
	// settlingRounds is the number of the round that gives the baseline. The first round opens the lasting
	// containers.
	settlingRounds = 3
)

// maxWorkers bounds the flag -workers, to catch typing errors.
const maxWorkers = 4096

type soak struct {
	options
	tally   tally
	churns  []churn
	signals <-chan os.Signal
	print   func(line string)
	wait    time.Duration // the longest wait after a round for goroutines to end and for files to close
}

func newSoak(o options) *soak {
	s := &soak{options: o, print: func(string) {}, wait: 20 * time.Second}
	s.churns = newChurns(&s.tally)
	return s
}

// run runs rounds until the time is over, a signal arrives, an exact figure grows or an answer is wrong. If
// no round has failed, it judges the medians. If no answer was wrong, it closes the lasting containers.
func (s *soak) run() (result report) {
	started := time.Now()
	var (
		base    figures
		held    holders // the open regions at the baseline
		samples = make([]figures, 0, maxSamples)
		printed time.Time
		sampled time.Time
	)
	result.Seed = s.seed
	for result.Rounds < minRounds || time.Since(started) < s.length {
		select {
		case <-s.signals:
			result.Interrupted = true
		default:
		}
		if result.Interrupted {
			break
		}
		if err := s.round(result.Rounds); err != nil {
			result.Wrong = fmt.Sprintf("seed %d, round %d: %v", s.seed, result.Rounds, err)
			break
		}
		result.Rounds++
		now := s.read(base, result.Rounds > settlingRounds)
		result.add(&s.tally, now, time.Since(started))
		if since := time.Since(printed); since >= time.Second {
			s.print(result.line())
			printed = time.Now()
		}
		switch warming := time.Since(started) < s.length/10; {
		case result.Rounds <= settlingRounds:
			base, held = now, readHolders()
		case len(above(base, now)) > 0:
			result.Grown, result.More = above(base, now), readHolders().more(held)
		default:
			if now.Regions < base.Regions {
				held = readHolders()
			}
			lower(&base, now)
			if !warming && len(samples) < cap(samples) && time.Since(sampled) >= s.length/maxSamples {
				samples, sampled = append(samples, now), time.Now()
			}
		}
		if len(result.Grown) > 0 {
			break
		}
	}
	result.First, result.Last = quarters(samples)
	if !result.failed() {
		result.Grown = judge(result.First, result.Last)
	}
	if result.Wrong == "" && result.Rounds > 0 {
		result.Wrong = s.end()
	}
	return result
}

func (s *soak) round(number int) error {
	var (
		workers sync.WaitGroup
		next    = make(chan int)
		errs    = make([]error, len(s.churns))
	)
	for range s.workers {
		workers.Go(func() {
			for i := range next {
				r := rand.New(rand.NewPCG(s.seed, uint64(number)<<16|uint64(i)))
				errs[i] = s.churns[i].try(func() { s.churns[i].round(r) })
			}
		})
	}
	for i := range s.churns {
		next <- i
	}
	close(next)
	workers.Wait()
	return errors.Join(errs...)
}

// read reads the figures after a round. Because closed resources may take a moment to end, it reads the
// figures repeatedly and returns the last figures. Before the baseline is settled, it reads for 100 ms.
// Afterwards, it reads until the exact figures return to the baseline, but at most for the time s.wait.
func (s *soak) read(base figures, settled bool) figures {
	patience := 100 * time.Millisecond
	if settled {
		patience = s.wait
	}
	for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		now := readFigures()
		if settled && len(above(base, now)) == 0 || time.Now().After(until) {
			return now
		}
	}
}

// end closes the lasting containers, and returns the text of the errors.
func (s *soak) end() string {
	var errs []error
	for _, c := range s.churns {
		if c.close != nil {
			errs = append(errs, c.try(c.close))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err.Error()
	}
	return ""
}
