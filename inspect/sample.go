package inspect

import "time"

// Sample is what a world and its program did in one second. Times are in seconds, sizes in bytes.
type Sample struct {
	At float64 `json:"at"` // when it was taken, in seconds since 1970
	// Admitting tells whether the world lets the inspector look. Where it does not, as when a tick hangs, Entities are those of
	// Age seconds ago, or 0 if it never did.
	Admitting        bool    `json:"admitting"`
	Age              float64 `json:"age"`
	Entities         int     `json:"entities"`
	ChangesPerSecond float64 `json:"changesPerSecond"` // of structure
	Paused           bool    `json:"paused"`           // by [Control]

	*Pace // nil, and left out, for a world without a schedule

	Memory     MemoryUse    `json:"memory"`
	GC         CollectorUse `json:"gc"`
	Goroutines int          `json:"goroutines"`
	CPU        float64      `json:"cpu"` // processors that the program kept busy; 0 where the system does not say
}

// Pace is how a world's schedule keeps time.
type Pace struct {
	Tick           uint64    `json:"tick"` // number of the last one
	TicksPerSecond float64   `json:"ticksPerSecond"`
	TickSeconds    TickTimes `json:"tickSeconds"`
	BudgetSeconds  float64   `json:"budgetSeconds"` // the time from one tick to the next; 0 where nobody says
	Late           uint64    `json:"late"`          // ticks that began a whole step late, so far
	Dropped        uint64    `json:"dropped"`       // ticks that were left out, so far
}

// TickTimes are how long ticks took that ended in the second; 0 when none did.
type TickTimes struct {
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Worst float64 `json:"worst"`
}

// Pacer is what a [Control] may be, too, that makes the schedule's ticks by itself instead of sched.Schedule.Run: it says how
// it keeps time.
type Pacer interface {
	// Pace returns the time from one tick to the next, and how many ticks began late, and were left out, so far. It may be called
	// from any goroutine.
	Pace() (budget time.Duration, late, dropped uint64)
}

// MemoryUse is what the program holds, in all its worlds and containers, and on Go's heap.
type MemoryUse struct {
	Reserved  int `json:"reserved"`  // addresses
	Committed int `json:"committed"` // may be touched
	Resident  int `json:"resident"`  // in memory
	GoHeap    int `json:"goHeap"`    // objects, live or not yet swept
}

// CollectorUse is what Go's collector did.
type CollectorUse struct {
	Collections     uint64  `json:"collections"` // so far
	PauseWorst      float64 `json:"pauseWorst"`  // of the second
	PausesPerSecond float64 `json:"pausesPerSecond"`
}
