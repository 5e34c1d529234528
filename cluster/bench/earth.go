package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/vastgo/vast/cluster"
	"github.com/vastgo/vast/cluster/internal/globe"
	"github.com/vastgo/vast/cluster/internal/trial"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// speed compares the ticks a second of two Earths: one is divided into regions in one process, the other is
// one world. speed returns an error if the two Earths do not end with the same hash.
func (b *bench) speed(ctx context.Context, regions int, goal float64) (row, error) {
	const travellers, ticks = 1_000_000, 1200
	planet, err := simulation.NewGlobe(simulation.Config{Travellers: travellers, Seed: 1,
		Workers: trial.Workers(regions)}, regions)
	if err != nil {
		return row{}, err
	}
	defer planet.Close()
	var ours, theirs []float64
	for round := range b.rounds {
		run, err := trial.Earth(ctx, trial.EarthOptions{Planet: planet, Ticks: ticks, Every: 600,
			Dir: filepath.Join(b.dir, fmt.Sprintf("earth-%d-%d", regions, round))})
		if err != nil {
			return row{}, err
		}
		plain, want, err := plainEarth(travellers, ticks)
		if err != nil {
			return row{}, err
		}
		if run.Hash != want {
			return row{}, fmt.Errorf("the Earth in regions has the hash %s, and the Earth in one world "+
				"has %s", run.Hash, want)
		}
		ours, theirs = append(ours, run.Times.Rate), append(theirs, plain)
	}
	r := row{What: fmt.Sprintf("ticks a second, a million travellers in %d regions in one process", regions),
		Against: "one world", Ours: median(ours), Peer: median(theirs), Unit: "×", Goal: goal}
	r.Figure = r.Ours / r.Peer
	return r, nil
}

func plainEarth(travellers, ticks int) (rate float64, hash string, err error) {
	e, err := simulation.New(simulation.Config{Travellers: travellers, Seed: 1})
	if err != nil {
		return 0, "", err
	}
	defer e.Close()
	var began time.Time
	for i := range ticks {
		if err := e.Tick(); err != nil {
			return 0, "", err
		}
		if i == 0 { // the first tick does not count, as in cluster.Times.Rate
			began = time.Now()
		}
	}
	return float64(ticks-1) / time.Since(began).Seconds(), e.Hash(), nil
}

// inTime measures the share of ticks that end in time. Two processes run the regions at 60 ticks a second.
// The share is that of the first process, which has the server.
func inTime(ctx context.Context, b *bench) (row, error) {
	program, err := b.program(ctx, "earth-program", "github.com/vastgo/vast/cluster/earth")
	if err != nil {
		return row{}, err
	}
	var f struct {
		Within float64 `json:"within_budget"`
	}
	if err := b.output(ctx, program, []string{"-travellers", "300000", "-regions", "16", "-processes", "2",
		"-ticks", "5400", "-json"}, &f); err != nil {
		return row{}, err
	}
	return row{What: "ticks that end within 16.7 ms, in the first 90 seconds at 60 ticks a second: 300,000 " +
		"travellers, 16 regions, 2 processes, each message synced", Ours: 100 * f.Within,
		Figure: 100 * f.Within, Unit: "%", Goal: 99}, nil
}

// handoffBytes divides the bytes of all messages of an Earth by the number of travellers who cross a border.
// It compares the result with the bytes of the components of one traveller.
func handoffBytes(ctx context.Context, b *bench) (row, error) {
	const travellers, regions, ticks = 300_000, 16, 300
	planet, err := simulation.NewGlobe(simulation.Config{Travellers: travellers, Seed: 1, Workers: 1},
		regions)
	if err != nil {
		return row{}, err
	}
	defer planet.Close()
	dir := filepath.Join(b.dir, "handoff-bytes")
	n, err := cluster.Join(ctx, cluster.Options{Name: "bench", Dir: dir, Regions: regions,
		Lookahead: simulation.Lookahead, Schema: planet.Schema(), Until: ticks,
		Every: 1_000_000, // so that the journals keep all messages
		New:   func(region int) (cluster.Machine, error) { return globe.New(planet, region, ticks), nil }})
	if err != nil {
		return row{}, err
	}
	err = n.Wait(ctx)
	crossed := uint64(0)
	for _, s := range n.Regions() {
		var f globe.Figures
		err = errors.Join(err, json.Unmarshal(s.Machine, &f))
		crossed += f.Crossed
	}
	if err := errors.Join(err, n.Close()); err != nil {
		return row{}, err
	}
	var sum int64
	err = filepath.Walk(filepath.Join(dir, "journal"), func(_ string, i os.FileInfo, err error) error {
		if err == nil && !i.IsDir() {
			sum += i.Size()
		}
		return err
	})
	if err != nil {
		return row{}, err
	}
	r := row{What: "bytes of messages for each traveller who crosses a border: 300,000 travellers, 16 " +
		"regions",
		Against: "its components", Ours: float64(sum) / float64(crossed), Peer: simulation.BytesComponents,
		Unit: "×", Goal: 1.3, Most: true}
	r.Figure = r.Ours / r.Peer
	return r, nil
}
