package earth

import (
	"math"
	"runtime/metrics"
	"time"

	"github.com/vastgo/vast/vm"
)

// memory has figures of package vm and of the Go runtime. Sizes are in bytes.
type memory struct {
	reserved, committed, resident int           // sizes of all regions of package vm
	goHeap                        int           // size of the objects that are live or not yet swept
	collections                   int           // garbage collections since the process began
	pauseMax                      time.Duration // longest pause of a garbage collection
}

// readMemory may be called during a tick.
func readMemory() memory {
	total := vm.Snapshot(true).Total()
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples)
	return memory{
		reserved: total.Reserved, committed: total.Committed, resident: total.Resident,
		goHeap:      int(samples[0].Value.Uint64()),
		collections: int(samples[1].Value.Uint64()),
		pauseMax:    longest(samples[2].Value.Float64Histogram()),
	}
}

// longest returns the upper bound of the last bucket with values. If the upper bound is infinite, longest
// returns the lower bound.
func longest(h *metrics.Float64Histogram) time.Duration {
	for i := len(h.Counts) - 1; i >= 0; i-- {
		if h.Counts[i] == 0 {
			continue
		}
		bound := h.Buckets[i+1]
		if math.IsInf(bound, 1) {
			bound = h.Buckets[i]
		}
		return time.Duration(bound * float64(time.Second))
	}
	return 0
}
