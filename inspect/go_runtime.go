package inspect

import (
	"math"
	"runtime/metrics"
)

type goReading struct {
	heap        int // bytes of objects, live or not yet swept
	collections uint64
	pauses      []uint64  // number of collector pauses in each bucket
	bounds      []float64 // bounds of the buckets in seconds; one element more than pauses
}

// readGo reads the runtime's metrics. It does not stop the program.
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

// pausesSince returns the number of collector pauses since an earlier reading, and the approximate length of
// the longest pause in seconds: the upper bound of its bucket, or the lower bound if the bucket has no upper
// bound.
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
