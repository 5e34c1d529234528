package inspect

import (
	"math"
	"runtime/metrics"
)

// goReading is what Go's runtime tells of itself.
type goReading struct {
	heap        int // bytes of objects, live or not yet swept
	collections uint64
	pauses      []uint64  // of the collector, by how long they took
	bounds      []float64 // in seconds, one more than pauses
}

// readGo asks the runtime, which stops nothing.
func readGo() goReading {
	samples := [...]metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(samples[:])
	h := samples[2].Value.Float64Histogram()
	return goReading{int(samples[0].Value.Uint64()), samples[1].Value.Uint64(), h.Counts, h.Buckets}
}

// pausesSince returns how often the collector stopped the program since an earlier reading, and the longest time that it
// did: the upper bound of its bucket, or where there is none the lower one.
func (r goReading) pausesSince(earlier goReading) (n uint64, worst float64) {
	for i, c := range r.pauses {
		if i < len(earlier.pauses) {
			c -= earlier.pauses[i]
		}
		if c == 0 {
			continue
		}
		n += c
		if worst = r.bounds[i+1]; math.IsInf(worst, 1) {
			worst = r.bounds[i]
		}
	}
	return n, worst
}
