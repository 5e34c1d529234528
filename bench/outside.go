package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// Some works (see workload) measure the cost that a full world has for the rest of the program. Each side of
// these works, Vast or a peer, runs in a child process, which fills one world, measures, and prints one
// number.

// outside describes a work whose sides run in child processes.
type outside struct {
	parts   int // number of components of an entity
	measure func(n int, fill func() any) (float64, error)
}

// sideVast is the name of Vast's side. The other sides have the names of their peers.
const sideVast = "vast"

// outsideVariable is the environment variable that tells a child process what to measure. Its value has the
// name of the work, the name of the side and the number of entities.
const outsideVariable = "VAST_BENCH_OUTSIDE"

// sample measures one side in a child process.
func (w *workload) sample(side string, n int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	var stdout, stderr bytes.Buffer
	child := exec.Command(self)
	child.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s %d", outsideVariable, w.name, side, n))
	child.Stdout, child.Stderr = &stdout, &stderr
	if err := child.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strconv.ParseFloat(stdout.String(), 64)
}

// runOutside measures one side if outsideVariable is set, and returns the exit status. asked reports whether
// the variable is set.
func runOutside(stdout, stderr io.Writer) (status int, asked bool) {
	order := os.Getenv(outsideVariable)
	if order == "" {
		return exitOK, false
	}
	value, err := measureOutside(order)
	if err != nil {
		fmt.Fprintln(stderr, "bench:", err)
		return exitFailed, true
	}
	fmt.Fprint(stdout, value)
	return exitOK, true
}

// measureOutside makes the measurement that order, the value of outsideVariable, describes.
func measureOutside(order string) (float64, error) {
	var name, side string
	var n int
	if _, err := fmt.Sscanf(order, "%s %s %d", &name, &side, &n); err != nil {
		return 0, fmt.Errorf("%s=%q: %w", outsideVariable, order, err)
	}
	work, fill := workNamed(name), fillers[side]
	if work == nil || work.outside == nil || fill == nil {
		return 0, fmt.Errorf("%s=%q: no such work or side", outsideVariable, order)
	}
	made := 0
	value, err := work.outside.measure(n, func() (world any) {
		world, made = fill(n, work.outside.parts)
		return world
	})
	if err == nil && made != n {
		err = fmt.Errorf("%d of %d entities have all components", made, n)
	}
	return value, err
}

func workNamed(name string) *workload {
	for i := range workloads {
		if workloads[i].name == name {
			return &workloads[i]
		}
	}
	return nil
}

// sampleOutside takes one sample of each side.
func (m measurement) sampleOutside(p plan, to *times) error {
	value, err := p.work.sample(sideVast, p.n)
	if err != nil {
		return fmt.Errorf("vast: %w", err)
	}
	to.ours = append(to.ours, value)
	if value, err = p.work.sample(p.match.peer, p.n); err != nil {
		return fmt.Errorf("the peer: %w", err)
	}
	to.theirs = append(to.theirs, value)
	return nil
}

// outsideMatches returns a match for each peer. fillers has the functions that make the worlds.
func outsideMatches(peers ...string) []match {
	var matches []match
	for _, name := range peers {
		matches = append(matches, match{peer: name})
	}
	return matches
}

// canMeasure reports whether this system can measure a work. Only Linux can measure resident memory.
func (w *workload) canMeasure() bool {
	return w.outside == nil || !w.bytes || runtime.GOOS == "linux"
}
