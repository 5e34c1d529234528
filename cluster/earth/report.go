package main

import (
	"encoding/json"
	"time"
)

// report is the JSON object that -json prints. It has most fields of `vast earth -json`, and fields about the
// cluster. Its times cover only the ticks that ran in this process.
type report struct {
	Seed              uint64     `json:"seed"`
	Ticks             uint64     `json:"ticks"`
	Travellers        int        `json:"travellers"`
	Places            int        `json:"places"`
	Entities          int        `json:"entities"`
	StructuralChanges uint64     `json:"structural_changes"`
	StateHash         string     `json:"state_hash"`
	TickMs            tickReport `json:"tick_ms"`
	WithinBudget      float64    `json:"within_budget"` // share of ticks that ended in time
	TicksPerSecond    float64    `json:"ticks_per_second"`

	Regions       int        `json:"regions"`
	Processes     int        `json:"processes"`
	Moved         int        `json:"moved"`     // how often a region got a new owner from a living owner
	Failovers     int        `json:"failovers"` // how often a region got a new owner after its owner had died
	Crossed       uint64     `json:"crossed"`   // travellers who departed for another region
	BarrierWaitMs waitReport `json:"barrier_wait_ms"`
}

type tickReport struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

type waitReport struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

func (v *viewer) report() error {
	s := v.sample()
	hash, err := v.hash(&s)
	if err != nil {
		return err
	}
	t, times := s.total, v.node.Times()
	r := report{Seed: v.o.seed, Ticks: t.Tick, Travellers: t.Travellers, Places: t.Places,
		Entities: t.Entities + t.InTransit, StructuralChanges: t.Changes, StateHash: hash,
		TickMs: tickReport{milliseconds(times.Tick.P50), milliseconds(times.Tick.P90),
			milliseconds(times.Tick.P99), milliseconds(times.Tick.Max)},
		WithinBudget: times.InTime, TicksPerSecond: times.Rate,
		Regions: len(s.regions), Processes: s.processes(), Crossed: t.Crossed,
		BarrierWaitMs: waitReport{milliseconds(times.Barrier.P50), milliseconds(times.Barrier.P99)}}
	for _, region := range s.regions {
		r.Moved += region.Moves
		r.Failovers += region.Failovers
	}
	return json.NewEncoder(v.stdout).Encode(r)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
