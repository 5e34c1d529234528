package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/vastgo/vast/cluster"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// porter is a machine that sends a fixed number of bytes to the next region in each tick.
type porter struct {
	region, regions, bytes int
	ran                    func(region int, tick uint64) // called in each tick; may be nil
}

func (p *porter) Tick(tick uint64, _, _ [][]byte) ([][]byte, cluster.Hash, error) {
	sections := make([][]byte, p.regions)
	sections[(p.region+1)%p.regions] = make([]byte, p.bytes)
	if p.ran != nil {
		p.ran(p.region, tick)
	}
	return sections, cluster.Hash{}, nil
}

func (p *porter) Save() ([]byte, error) { return []byte("porter"), nil }
func (p *porter) Load([]byte) error     { return nil }
func (p *porter) Close() error          { return nil }

func porters(dir string, regions, bytes int, ran func(region int, tick uint64)) cluster.Options {
	return cluster.Options{Name: "bench", Dir: dir, Regions: regions, Lookahead: simulation.Lookahead,
		Every: 60, New: func(region int) (cluster.Machine, error) {
			return &porter{region, regions, bytes, ran}, nil
		}}
}

// handoffs measures how many travellers pass through one outbox in a second.
func handoffs(ctx context.Context, b *bench) (row, error) {
	const travellers = 1000 // in each tick
	const ticks = 2000
	dir := filepath.Join(b.dir, "handoffs")
	o := porters(dir, 1, travellers*simulation.BytesTraveller, nil)
	o.Until = ticks
	n, err := cluster.Join(ctx, o)
	if err != nil {
		return row{}, err
	}
	defer n.Close()
	if err := n.Wait(ctx); err != nil {
		return row{}, err
	}
	rate := travellers * n.Times().Rate
	return row{What: fmt.Sprintf("travellers a second through one outbox, %d in each tick", travellers),
		Ours: rate, Figure: rate, Unit: "a second", Goal: 50_000}, nil
}

// followerLag measures how many ticks a follower is behind the owner of its region, at 60 ticks a second.
func followerLag(ctx context.Context, b *bench) (row, error) {
	const hz, ticks = 60, 1200
	var mu sync.Mutex
	ran := make(map[uint64]time.Time) // when the owner ran each tick
	o := porters(filepath.Join(b.dir, "owner"), 2, 2000, func(region int, tick uint64) {
		if region == 0 {
			mu.Lock()
			defer mu.Unlock()
			if _, again := ran[tick]; !again {
				ran[tick] = time.Now()
			}
		}
	})
	o.Hz, o.Until, o.Listen = hz, ticks, "127.0.0.1:0"
	owner, err := cluster.Join(ctx, o)
	if err != nil {
		return row{}, err
	}
	defer owner.Close()
	f := porters(filepath.Join(b.dir, "follower"), 2, 2000, nil)
	f.Observe, f.Until, f.URL = true, ticks, owner.URL()
	follower, err := cluster.Join(ctx, f)
	if err != nil {
		return row{}, err
	}
	defer follower.Close()
	var lags []float64
	err = follower.Follow(ctx, 0, func(_ cluster.Machine, tick uint64) {
		mu.Lock()
		defer mu.Unlock()
		if tick > ticks/10 { // at first the follower catches up
			lags = append(lags, time.Since(ran[tick]).Seconds()*hz)
		}
	})
	if err != nil {
		return row{}, err
	}
	slices.Sort(lags)
	return row{What: "lag of a follower that joins over TCP, p99 in ticks at 60 ticks a second",
		Ours: lags[len(lags)*99/100], Figure: lags[len(lags)*99/100], Unit: "ticks",
		Goal: simulation.Lookahead + 3, Most: true}, nil
}

// failover kills a process that owns half of the regions, and measures the time until all regions run again.
func failover(ctx context.Context, b *bench) (row, error) {
	var pauses []float64
	for round := range b.rounds {
		pause, err := b.failoverOnce(ctx, round)
		if err != nil {
			return row{}, err
		}
		pauses = append(pauses, pause)
	}
	return row{What: "from the kill of a process until all regions run again, with a lease of a second",
		Ours: median(pauses), Figure: median(pauses), Unit: "s", Goal: 2.5, Most: true}, nil
}

const failoverRegions = 8

func (b *bench) failoverOnce(ctx context.Context, round int) (float64, error) {
	var mu sync.Mutex
	last := make(map[int]time.Time) // by region: time of the last tick in this process
	dir := filepath.Join(b.dir, fmt.Sprintf("failover-%d", round))
	o := porters(dir, failoverRegions, 1000, func(region int, _ uint64) {
		mu.Lock()
		defer mu.Unlock()
		last[region] = time.Now()
	})
	o.Hz, o.Listen = 60, "127.0.0.1:0"
	n, err := cluster.Join(ctx, o)
	if err != nil {
		return 0, err
	}
	defer n.Close()
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	child := exec.Command(program)
	child.Env = append(os.Environ(), "VAST_BENCH_URL="+n.URL(), "VAST_BENCH_DIR="+dir+"-child")
	child.Stderr = b.stderr
	if err := child.Start(); err != nil {
		return 0, err
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	}()
	owned := func() (here, there int) {
		for _, s := range n.Regions() {
			switch {
			case s.Waiting != "":
			case s.Process == n.Process():
				here++
			default:
				there++
			}
		}
		return here, there
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if here, there := owned(); here == failoverRegions/2 && there == failoverRegions/2 {
			break
		}
		if time.Since(began) > time.Minute {
			return 0, errors.New("after a minute, the two processes do not have half of the regions each")
		}
	}
	time.Sleep(2 * time.Second) // each region makes a checkpoint once a second, that is, every 60 ticks
	if err := child.Process.Kill(); err != nil {
		return 0, err
	}
	killed := time.Now()
	for ; time.Since(killed) < time.Minute; time.Sleep(time.Millisecond) {
		mu.Lock()
		running := 0
		for _, ran := range last {
			if time.Since(ran) < 100*time.Millisecond && ran.After(killed.Add(300*time.Millisecond)) {
				running++
			}
		}
		mu.Unlock()
		if running == failoverRegions {
			return time.Since(killed).Seconds(), nil
		}
	}
	return 0, errors.New("the regions did not all run again within a minute")
}

// runChild runs the process that failoverOnce kills.
func runChild(url, dir string) error {
	o := porters(dir, failoverRegions, 1000, nil)
	o.Hz, o.URL = 60, url
	n, err := cluster.Join(context.Background(), o)
	if err != nil {
		return err
	}
	return n.Wait(context.Background())
}
