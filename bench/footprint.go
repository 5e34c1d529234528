package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

// Work memory2comp: make a world of n entities with Position and Velocity, write to every component, and
// measure the growth of the process's resident memory, per entity. Before each reading, garbage is collected
// and free memory is returned to the system.
//
// Work memory10comp: memory2comp with entities that also have C1 … C8.
//
// Works gc_cycle, gc_cpu and gc_pause: measure a garbage collection while a world of n entities with two
// components is alive.
//   - gc_cycle: the time from the start of the collection to its end.
//   - gc_cpu: the processor time of the collection.
//   - gc_pause: the time for which the collection stops the program.

// collections is the number of collections that a process measures.
const collections = 5

func memory(parts int) *outside {
	return &outside{parts: parts, measure: measureMemory}
}

// measureMemory returns the resident memory of a world, in bytes per entity.
func measureMemory(n int, fill func() any) (float64, error) {
	measure.Settle()
	before, err := measure.Resident()
	if err != nil {
		return 0, fmt.Errorf("%w: leave out the works memory2comp and memory10comp", err)
	}
	world := fill()
	measure.Settle()
	after, err := measure.Resident()
	runtime.KeepAlive(world)
	return float64(after-before) / float64(n), err
}

type collection struct {
	wall, processor, stopped time.Duration
}

// collector returns a work that measures one of the three times of a garbage collection; pick chooses the
// time. The result is the least time of several collections, because other programs can only make a
// collection slower.
func collector(pick func(collection) time.Duration) *outside {
	return &outside{parts: twoParts, measure: func(_ int, fill func() any) (float64, error) {
		world := fill()
		runtime.GC()
		runtime.GC() // the first collection may still clean up after filling the world
		least := pick(collect())
		for range collections - 1 {
			least = min(least, pick(collect()))
		}
		runtime.KeepAlive(world)
		return float64(max(1, least).Nanoseconds()), nil
	}}
}

func collect() collection {
	var stats debug.GCStats
	processor, start := processorTime(), time.Now()
	runtime.GC()
	c := collection{wall: time.Since(start), processor: processorTime() - processor}
	debug.ReadGCStats(&stats)
	c.stopped = stats.Pause[0]
	return c
}

// processorTime returns the processor time of the collector so far, including its work on otherwise idle
// processors.
func processorTime() time.Duration {
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(sample)
	return time.Duration(sample[0].Value.Float64() * float64(time.Second))
}
