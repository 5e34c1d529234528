package earth

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
	"github.com/vastgo/vast/vm"
)

func TestReaderRates(t *testing.T) {
	r := newReader(simulation.Counts{Ticks: 100, StructuralChanges: 5000})
	begin := r.at
	read := func(after time.Duration, ticks, changes uint64) rates {
		return r.read(&snapshot{
			at: begin.Add(after), counts: simulation.Counts{Ticks: ticks, StructuralChanges: changes},
		}).rates
	}
	for _, c := range []struct {
		after          time.Duration
		ticks, changes uint64
		want           rates
	}{
		{500 * time.Millisecond, 130, 5500, rates{60, 1000}}, // first snapshot: average since the start
		{600 * time.Millisecond, 190, 5500, rates{60, 1000}}, // no update before 0.9 s
		{time.Second, 200, 9000, rates{100, 4000}},           // average since the start
		{1500 * time.Millisecond, 300, 9900, rates{100, 4000}},
		{1950 * time.Millisecond, 219, 9000, rates{20, 0}}, // average of the last 0.95 s
		{3950 * time.Millisecond, 219, 9000, rates{0, 0}},
	} {
		if got := read(c.after, c.ticks, c.changes); math.Abs(got.ticks-c.want.ticks) > 1e-9 ||
			math.Abs(got.changes-c.want.changes) > 1e-9 {
			t.Errorf("after %v: %+v, want %+v", c.after, got, c.want)
		}
	}
}

func TestReadMemory(t *testing.T) {
	before := readMemory()
	const bytes = 3 << 20
	region, err := vm.Reserve(16<<20, vm.Options{Name: "figures test"})
	if err != nil {
		t.Fatal(err)
	}
	defer region.Close()
	if err := region.Commit(0, bytes); err != nil {
		t.Fatal(err)
	}
	kept := make([]byte, 8<<20)
	runtime.GC()
	after := readMemory()
	runtime.KeepAlive(kept)
	if got := after.reserved - before.reserved; got != region.Size() {
		t.Errorf("reserved %d more, want %d", got, region.Size())
	}
	if got := after.committed - before.committed; got != region.Committed() || got < bytes {
		t.Errorf("committed %d more, want %d", got, region.Committed())
	}
	if after.goHeap < len(kept) || after.collections <= before.collections || after.pauseMax <= 0 {
		t.Errorf("%+v after %+v, want 8 MiB in the heap and a collection", after, before)
	}
}

func TestLongestPause(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		counts  []uint64
		buckets []float64
		want    time.Duration
	}{
		{[]uint64{0, 0}, []float64{0, 1, 2}, 0},
		{[]uint64{5, 0}, []float64{0, 0.001, 2}, time.Millisecond},
		{[]uint64{5, 1}, []float64{0, 0.001, 2}, 2 * time.Second},
		{[]uint64{5, 1}, []float64{math.Inf(-1), 3, inf}, 3 * time.Second},
	} {
		if got := longest(&metrics.Float64Histogram{Counts: c.counts, Buckets: c.buckets}); got != c.want {
			t.Errorf("longest of the counts %v in the buckets %v = %v, want %v", c.counts, c.buckets, got,
				c.want)
		}
	}
}

func TestTimeOfDay(t *testing.T) {
	for _, c := range []struct {
		ticks, day uint64
		time       string
	}{{0, 1, "00:00"}, {61, 1, "01:01"}, {1439, 1, "23:59"}, {1440, 2, "00:00"},
		{1440*365 + 90, 366, "01:30"}} {
		if day, time := timeOfDay(c.ticks); day != c.day || time != c.time {
			t.Errorf("timeOfDay(%d) = day %d %s, want day %d %s", c.ticks, day, time, c.day, c.time)
		}
	}
}

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0.0", 1: "100.0", 0.99999: "99.9", 0.5: "50.0",
		0.9867: "98.6"} {
		if got := percent(share); got != want {
			t.Errorf("percent(%g) = %q, want %q", share, got, want)
		}
	}
}
