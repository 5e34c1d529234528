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

// Some works measure the cost that a full world has for the rest of the program. Each of their sides runs in
// a process of its own, which fills one world, measures, and prints one number.

// outside describes a work whose sides run in processes of their own.
type outside struct {
	parts   int // components of an entity
	measure func(n int, fill func() any) (float64, error)
}

// sideVast names Vast's side to the process that measures it. The other sides have the names of their peers.
const sideVast = "vast"

// outsideVariable is the environment variable that tells a process which work and side to measure.
const outsideVariable = "VAST_BENCH_OUTSIDE"

// sample starts a process that measures one side, and returns the number that it prints.
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

// runOutside measures one side if the environment variable is set, and returns the exit status. asked reports
// whether the variable is set.
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

// measureOutside follows an order: it measures a side of a work with a number of entities.
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

// workNamed returns the workload with the given name, or nil.
func workNamed(name string) *workload {
	for i := range workloads {
		if workloads[i].name == name {
			return &workloads[i]
		}
	}
	return nil
}

// measureOutside takes one sample of each side.
func (m measurement) measureOutside(p plan, to *times) error {
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

// outsideMatches returns a match for each peer. The functions that fill the worlds are in fillers.
func outsideMatches(peers ...string) []match {
	var matches []match
	for _, name := range peers {
		matches = append(matches, match{peer: name})
	}
	return matches
}

// canMeasure reports whether a work can be measured on this system.
func (w *workload) canMeasure() bool {
	return w.outside == nil || !w.bytes || runtime.GOOS == "linux"
}
