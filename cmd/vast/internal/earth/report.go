package earth

import (
	"encoding/json"
	"io"
)

// report is the object that -json prints. Sizes are in bytes.
type report struct {
	Seed              uint64       `json:"seed"`
	Ticks             uint64       `json:"ticks"`
	Travellers        int          `json:"travellers"`
	Places            int          `json:"places"`
	Entities          int          `json:"entities"`
	StructuralChanges uint64       `json:"structural_changes"`
	StateHash         string       `json:"state_hash"`
	TickMs            tickReport   `json:"tick_ms"`
	WithinBudget      float64      `json:"within_budget"` // share of the ticks that took at most the budget
	Memory            memoryReport `json:"memory"`
	GC                gcReport     `json:"gc"`

	// These fields are nil without -data. ResumedAt is the tick after which the run began: 0 for a new world.
	ResumedAt   *uint64            `json:"resumed_at,omitempty"`
	Checkpoints *checkpointsReport `json:"checkpoints,omitempty"`
}

// tickReport has the times of the ticks of this run, without the time of drawing.
type tickReport struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

type memoryReport struct {
	Reserved  int `json:"reserved"`
	Committed int `json:"committed"`
	Resident  int `json:"resident"`
	GoHeap    int `json:"go_heap"`
}

// checkpointsReport covers the checkpoints of this run.
type checkpointsReport struct {
	Count   int         `json:"count"`
	Skipped int         `json:"skipped"`  // checkpoints that were due during another checkpoint
	PauseMs pauseReport `json:"pause_ms"` // the times for which checkpoints stopped the ticks
	Bytes   int64       `json:"bytes"`    // the size of the last checkpoint
}

type pauseReport struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// gcReport covers the time since the process began, including the loading.
type gcReport struct {
	Count      int     `json:"count"`
	PauseMaxMs float64 `json:"pause_max_ms"`
}

func writeReport(out io.Writer, d *driver, o options) error {
	w, t := d.world, d.meter.timing()
	c, m := w.Counts(), readMemory()
	r := report{
		Seed: o.seed, Ticks: c.Ticks, Travellers: c.Travellers, Places: c.Places, Entities: c.Entities,
		StructuralChanges: c.StructuralChanges, StateHash: w.Hash(),
		TickMs: tickReport{milliseconds(t.p50), milliseconds(t.p90), milliseconds(t.p99),
			milliseconds(t.max)},
		WithinBudget: t.within,
		Memory:       memoryReport{m.reserved, m.committed, m.resident, m.goHeap},
		GC:           gcReport{m.collections, milliseconds(m.pauseMax)},
	}
	if d.saves != nil {
		r.Seed, r.ResumedAt, r.Checkpoints = d.saves.seed, &d.saves.resumed, d.saves.report()
	}
	return json.NewEncoder(out).Encode(r)
}
