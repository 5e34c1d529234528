package inspect

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/vastgo/vast/sched"
	"github.com/vastgo/vast/vm"
)

func systemStats(name string, runs uint64, total time.Duration) sched.SystemStats {
	return sched.SystemStats{Name: name, Phase: sched.Update,
		Times:  sched.Times{Count: runs, Total: total, Last: 1e6, Max: 5e6},
		Recent: sched.Times{P50: 2e6, P99: 3e6}}
}

func TestSampleOfTwoReadings(t *testing.T) {
	begin := time.Unix(1_700_000_000, 500_000_000)
	bounds := []float64{0, 1e-6, 1e-5, math.Inf(1)}
	before := reading{
		at: begin, census: census{100, 1000}, censusAt: begin, schedule: 7,
		stats: sched.Stats{Tick: 260, Ticks: sched.Times{Count: 60},
			Systems: []sched.SystemStats{systemStats("a", 60, 6e8), systemStats("b", 60, 1e8)}},
		golang: goReading{collections: 3, pauses: []uint64{5, 5, 1}, bounds: bounds}, processor: time.Second,
	}
	after := reading{
		at: begin.Add(2 * time.Second), census: census{90, 1500}, censusAt: begin.Add(time.Second),
		censusAge: time.Second, paused: true,
		schedule: 7, ticks: TickTimes{1, 2, 3}, budget: time.Second / 50,
		memory: vm.PurposeStats{Reserved: 4, Committed: 3, Resident: 2},
		stats: sched.Stats{Tick: 180, Ticks: sched.Times{Count: 180}, Late: 8, Dropped: 9,
			Systems: []sched.SystemStats{systemStats("a", 180, 7e8), systemStats("b", 180, 9e8),
				systemStats("c", 1, 5e9)}},
		golang: goReading{heap: 77, collections: 4, pauses: []uint64{5, 9, 1}, bounds: bounds}, routines: 12,
		processor: 4 * time.Second,
	}
	got := after.since(before)
	if got.Pace == nil || *got.Pace != (Pace{180, 60, TickTimes{1, 2, 3}, 0.02, 8, 9}) {
		t.Errorf("pace %+v", got.Pace)
	}
	got.Pace = nil
	want := Sample{At: 1_700_000_002.5, Admitting: true, Age: 1, Entities: 90, ChangesPerSecond: 500,
		Paused: true,
		Memory: MemoryUse{4, 3, 2, 77}, GC: CollectorUse{4, 1e-5, 2}, Goroutines: 12, CPU: 1.5}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}

	costs := after.costsSince(before)
	if len(costs) != 3 || costs[0].Name != "b" || costs[1].Name != "a" || costs[2].Name != "c" {
		t.Fatalf("costs %+v: want the most expensive system first and the new system last", costs)
	}
	if want := (SystemCost{"b", "update", 180, 0.9, 0.4, 0.001, 0.002, 0.003, 0.005}); costs[0] != want {
		t.Errorf("got %+v, want %+v", costs[0], want)
	}

	// Each of these changes removes a rate: another schedule, a reset of the world, no elapsed time.
	after.schedule, after.census.changes, after.at = 8, 1, begin
	if got := after.since(before); got.TicksPerSecond != 0 || got.ChangesPerSecond != 0 || got.CPU != 0 ||
		got.GC.PausesPerSecond != 0 {
		t.Errorf("sample %+v with pace %+v, want no rates", got, got.Pace)
	}
	for _, c := range after.costsSince(before) {
		if c.Load != 0 {
			t.Errorf("%+v: want no load after a change of the schedule", c)
		}
	}
	after.censusAge = admitTime
	if after.since(before).Admitting {
		t.Error("the world has long admitted no visit, but the sample says that the world admits visits")
	}
	after.schedule = 0
	if after.since(before).Pace != nil {
		t.Error("a world without a schedule has a pace")
	}
}

func TestPauses(t *testing.T) {
	bounds := []float64{0, 1, 2, math.Inf(1)}
	for _, c := range []struct {
		before, after []uint64
		n             uint64
		worst         float64
	}{
		{nil, []uint64{0, 0, 0}, 0, 0},
		{nil, []uint64{1, 0, 0}, 1, 1},
		{[]uint64{1, 2, 3}, []uint64{1, 2, 3}, 0, 0},
		{[]uint64{1, 2, 3}, []uint64{3, 3, 3}, 3, 2},
		{[]uint64{1, 2, 3}, []uint64{1, 2, 4}, 1, 2}, // the last bucket has no upper bound
	} {
		n, worst := goReading{pauses: c.after, bounds: bounds}.pausesSince(goReading{pauses: c.before,
			bounds: bounds})
		if n != c.n || worst != c.worst {
			t.Errorf("%v after %v: %d pauses, the longest %v; want %d, the longest %v", c.after, c.before, n,
				worst, c.n, c.worst)
		}
	}
	before := readGo()
	runtime.GC()
	after := readGo()
	if n, worst := after.pausesSince(before); n < 2 || worst <= 0 || worst > 60 ||
		after.collections <= before.collections || after.heap <= 0 {
		t.Errorf("one collection made %d pauses, the longest of %v s; the count of collections rose from %d "+
			"to %d; the heap has %d bytes", n, worst, before.collections, after.collections, after.heap)
	}
}

func TestProcessorTime(t *testing.T) {
	before := processorTime()
	for begin := time.Now(); processorTime() <= before; {
		if time.Since(begin) > time.Minute {
			t.Fatal("a busy minute took no processor time")
		}
	}
}

func TestHistory(t *testing.T) {
	var h history
	if _, ok := h.last(); ok || len(h.since(0)) > 0 {
		t.Error("an empty history has samples")
	}
	for i := range historyLength*2 + 5 {
		h.add(Sample{At: float64(i)})
		if last, ok := h.last(); !ok || last.At != float64(i) {
			t.Fatalf("the last sample after number %d is %v", i, last.At)
		}
		first := max(i-historyLength+1, 10)
		got := h.since(9)
		if i < 10 {
			if len(got) > 0 {
				t.Fatalf("there are %d samples after sample 9, but the last sample is %d", len(got), i)
			}
			continue
		}
		if len(got) != i-first+1 || got[0].At != float64(first) || got[len(got)-1].At != float64(i) {
			t.Fatalf("after sample %d: %d samples, the first is %v; want %d samples, the first is %d", i,
				len(got), got[0].At, i-first+1, first)
		}
	}
}
