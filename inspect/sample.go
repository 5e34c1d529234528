package inspect

import "time"

// Sample describes one second of a world and its program. Times are in seconds, sizes in bytes.
type Sample struct {
	At float64 `json:"at"` // when the sample was taken, in seconds since 1970
	// Admitting reports whether the world admits visitors. It is false while a tick hangs, for example.
	Admitting bool `json:"admitting"`
	// Age is the time since the entities were counted, or since sampling began if that time is shorter.
	Age              float64 `json:"age"`
	Entities         int     `json:"entities"`         // 0 if the world has never admitted a visitor
	ChangesPerSecond float64 `json:"changesPerSecond"` // structural changes
	Paused           bool    `json:"paused"`           // whether [Control] has paused the program

	*Pace // nil, and absent from the JSON, if the world has no schedule

	Memory     MemoryUse    `json:"memory"`
	GC         CollectorUse `json:"gc"`
	Goroutines int          `json:"goroutines"`
	CPU        float64      `json:"cpu"` // average number of processors in use by the program; 0 if unknown
}

// Pace describes the ticks of a world's schedule.
type Pace struct {
	Tick           uint64    `json:"tick"` // number of the last tick
	TicksPerSecond float64   `json:"ticksPerSecond"`
	TickSeconds    TickTimes `json:"tickSeconds"`
	BudgetSeconds  float64   `json:"budgetSeconds"` // planned time from one tick to the next; 0 if unknown
	Late           uint64    `json:"late"`          // number of ticks that began at least BudgetSeconds late
	Dropped        uint64    `json:"dropped"`       // number of skipped ticks
}

// TickTimes are quantiles of the durations of the ticks that ended in the sampled second. They are 0 if no
// tick ended.
type TickTimes struct {
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Worst float64 `json:"worst"`
}

// Pacer is an optional interface of a [Control] that runs the schedule's ticks itself, without
// sched.Schedule.Run.
type Pacer interface {
	// Pace returns the planned time from one tick to the next, and the numbers of late and of skipped ticks
	// so far. It may be called from any goroutine.
	Pace() (budget time.Duration, late, dropped uint64)
}

// MemoryUse is the memory of all worlds and containers of the program, and of Go's heap.
type MemoryUse struct {
	Reserved  int `json:"reserved"`  // address space
	Committed int `json:"committed"` // usable memory
	Resident  int `json:"resident"`  // physical memory
	GoHeap    int `json:"goHeap"`    // Go objects, live or not yet swept
}

// CollectorUse is the work of Go's garbage collector.
type CollectorUse struct {
	Collections     uint64  `json:"collections"` // collections since the start of the program
	PauseWorst      float64 `json:"pauseWorst"`  // longest pause in the sampled second
	PausesPerSecond float64 `json:"pausesPerSecond"`
}
