package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/store"
)

// Works earth and earth-opened: the world of `vast earth` with n travellers runs at 60 ticks a second on two
// workers. A folder keeps the world, with a checkpoint each second. A run makes the world in a new folder,
// closes the world, and opens it again. Work earth-opened measures the next ten seconds. Work earth measures
// the minute that follows.

const earthWorkers = 2

// earthCatchUp is the largest number of missed ticks that a run makes up for, as in `vast earth`. A run that
// has missed more ticks drops all of them, and the dropped ticks count as late.
const earthCatchUp = 5

// Tests replace earthScale with a shorter second and fewer places.
var earthScale = struct {
	second time.Duration
	places *places.List // nil for all places of the Earth
}{second: time.Second}

// earthSeconds is the length of each part of a run, in seconds.
var earthSeconds = [...]int{partOpened: 10, partLater: 60}

const (
	partOpened = iota
	partLater
)

// The rows compare the figures of a part with these bounds.
const (
	earthPause = 5 * time.Millisecond
	earthLate  = time.Second / ticksPerSecond
)

// earthPart holds the figures of a part of a run. The lateness of a tick is the time from the moment at which
// the tick is due to the end of the tick.
type earthPart struct {
	pause  time.Duration // the 99th percentile of the pauses of checkpoints
	late   time.Duration // the 99th percentile of the lateness
	within float64       // the share of ticks whose lateness is at most earthLate
}

// earthRuns has one run for each number of travellers. Several rows share a run.
var earthRuns = make(map[int][]earthPart)

// newEarthPart returns a function that makes a side. The side shows one figure of a part.
func newEarthPart(part int, figure func(p earthPart) time.Duration) func(n int) side {
	return func(n int) side {
		var err error
		return side{units: 1,
			figure: func() float64 {
				if earthRuns[n] == nil {
					var run []earthPart
					if run, err = runEarth(n); err != nil {
						return 1
					}
					earthRuns[n] = run
				}
				return max(1, float64(figure(earthRuns[n][part])))
			},
			within: func() float64 {
				if err != nil {
					return 0
				}
				return earthRuns[n][part].within
			},
			check: func(int) error { return err }}
	}
}

// earthMatches returns the rows of a part. Each row compares a figure of the part with a bound.
func earthMatches(part int) []match {
	row := func(peer string, bound time.Duration, figure func(p earthPart) time.Duration) match {
		return match{peer: peer, ours: newEarthPart(part, figure),
			theirs: func(int) side { return constantSide(1, float64(bound)) }}
	}
	return []match{
		row(peer5ms, earthPause, func(p earthPart) time.Duration { return p.pause }),
		row(peer16ms, earthLate, func(p earthPart) time.Duration { return p.late }),
	}
}

// runEarth makes a world in a new folder, opens the world again, and measures all parts of a run.
func runEarth(n int) (parts []earthPart, err error) {
	dir, err := makeFolder()
	if err != nil {
		return nil, err
	}
	defer removeFolder(dir)
	var mu sync.Mutex
	var kept []uint64 // ticks of the durable checkpoints
	var problems error
	config := earth.Config{Travellers: n, Seed: 1, Workers: earthWorkers, Places: earthScale.places,
		Data: filepath.Join(dir, "world"), Every: earthScale.second,
		Notify: func(c store.Checkpoint) {
			mu.Lock()
			defer mu.Unlock()
			kept, problems = append(kept, c.Tick), errors.Join(problems, c.Err, c.PruneErr)
		}}
	e, err := earth.New(config)
	if err == nil {
		err = e.Close()
	}
	if err == nil {
		e, err = earth.New(config)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()

	first := e.Store().LastTick()
	period := earthScale.second / ticksPerSecond
	var late []time.Duration
	var ends []int                                // number of ticks at the end of each part
	var missed [len(earthSeconds)][]time.Duration // lateness of the dropped ticks of each part
	due := clock.Now()
	for part, seconds := range earthSeconds {
		from := len(late)
		for enough := false; !enough; {
			time.Sleep(due - clock.Now())
			if behind := clock.Now() - due; behind > earthCatchUp*period {
				for range behind / period {
					missed[part] = append(missed[part], behind)
				}
				due += behind
			}
			if err := e.Tick(); err != nil {
				return nil, err
			}
			late = append(late, clock.Now()-due)
			due += period
			mu.Lock()
			err = problems
			enough = len(late)+len(missed[part])-from >= seconds*ticksPerSecond &&
				slices.ContainsFunc(kept, func(tick uint64) bool { return tick > first+uint64(from) })
			mu.Unlock()
			if err != nil {
				return nil, err
			}
		}
		ends = append(ends, len(late))
	}
	if now := e.Store().LastTick(); now != first+uint64(len(late)) {
		return nil, fmt.Errorf("the world has made %d ticks, want %d", now-first, len(late))
	}
	mu.Lock()
	defer mu.Unlock()
	checkpoints := make([]bool, len(late))
	for _, tick := range kept {
		if tick > first {
			checkpoints[tick-first-1] = true
		}
	}
	from := 0
	for part, end := range ends {
		parts = append(parts, newEarthPartOf(late[from:end], checkpoints[from:end], missed[part]))
		from = end
	}
	return parts, nil
}

// newEarthPartOf computes the figures of a part. late is the lateness of each tick, checkpoints says for each
// tick whether it had a checkpoint, and missed is the lateness of the dropped ticks.
//
// The pause of a checkpoint is the lateness of its tick or of the next tick, whichever is larger, minus the
// median lateness of the ticks without a checkpoint. The next tick counts because it is the first tick that
// writes to the memory that the checkpoint protects.
func newEarthPartOf(late []time.Duration, checkpoints []bool, missed []time.Duration) (p earthPart) {
	var ordinary, pauses []time.Duration
	within := 0
	for i, d := range late {
		if d <= earthLate {
			within++
		}
		if !checkpoints[i] {
			ordinary = append(ordinary, d)
			continue
		}
		if i+1 < len(late) {
			d = max(d, late[i+1])
		}
		pauses = append(pauses, d)
	}
	all := slices.Concat(late, missed)
	p.within, p.late = float64(within)/float64(len(all)), percentile(all, 0.99)
	p.pause = percentile(pauses, 0.99) - percentile(ordinary, 0.5)
	return p
}

// percentile returns the nearest-rank percentile of the values, or 0 if there are no values. The median has
// the share 0.5.
func percentile(values []time.Duration, share float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}
