package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/vastgo/vast/cluster/internal/plan"
	"github.com/vastgo/vast/cluster/internal/trial"
	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// predict compares the predicted rate of 16 regions with the measured rate. The prediction uses costs that
// are measured with one, two and four regions. Before each round, predict measures how much other programs
// slow this machine down.
func predict(ctx context.Context, b *bench) (row, error) {
	const travellers, regions, every, ticks = 1_000_000, 16, 600, 1200
	costs, err := trial.Measure(ctx, b.dir, travellers, func(string) {})
	if err != nil {
		return row{}, err
	}
	planet, err := simulation.NewGlobe(simulation.Config{Travellers: travellers, Seed: 1,
		Workers: trial.Workers(regions)}, regions)
	if err != nil {
		return row{}, err
	}
	defer planet.Close()
	setup := trial.Setup(costs, regions, travellers)
	setup.Every, setup.Ticks = every, ticks
	var predicted, measured, ratios []float64
	for range b.rounds {
		if err := trial.Calibrate(ctx, b.dir, travellers, costs); err != nil {
			return row{}, err
		}
		result, err := plan.Run(costs, setup)
		if err != nil {
			return row{}, err
		}
		const first = 100 // ticks before the measurement begins
		run, err := trial.Earth(ctx, trial.EarthOptions{Dir: filepath.Join(b.dir, "predicted"),
			Planet: planet, Every: every, Ticks: first + ticks + simulation.Lookahead, From: first,
			To: first + ticks})
		if err != nil {
			return row{}, err
		}
		predicted, measured = append(predicted, result.Rate), append(measured, run.Rate)
		ratios = append(ratios, result.Rate/run.Rate)
	}
	return row{What: fmt.Sprintf("predicted ticks a second of %d regions in one process, from costs "+
		"measured with up to 4 regions, a million travellers", regions), Against: "measured ticks a second",
		Ours: median(predicted), Peer: median(measured), Figure: median(ratios), Unit: "×", Goal: 0.75,
		Highest: 1.25}, nil
}
