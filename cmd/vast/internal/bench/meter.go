package bench

import (
	"cmp"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/internal/measure"
	"github.com/vastgo/vast/vm"
)

// meter measures one side in one round.
type meter struct {
	before int           // resident bytes when the side began
	time   time.Duration // time of the work
	growth int           // growth of the resident bytes during the work
}

// run measures the time of f. f must call a function that is not inlined.
func (m *meter) run(f func()) {
	start := clock.Now()
	f()
	m.time = clock.Now() - start
}

// weigh collects garbage and sets m.growth. The caller must keep its data alive until weigh returns.
func (m *meter) weigh() {
	measure.Settle()
	m.weighWithGarbage()
}

// weighWithGarbage is like weigh, but does not collect garbage.
func (m *meter) weighWithGarbage() { m.growth = max(0, resident()-m.before) }

// resident returns the number of bytes of this process that are in memory. If the system does not report this
// number, resident adds the sizes that Go's runtime and the regions report.
func resident() int {
	n, err := measure.Resident()
	if err != nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		n = int(m.HeapInuse) + vm.Snapshot(true).Total().Resident
	}
	return n
}

type result struct {
	name   string
	times  measure.Samples // milliseconds, one sample for each round
	growth int             // growth of the resident bytes in the fastest round
}

// warm touches and frees memory before a side runs. In a virtual machine, memory that has been free for
// seconds may have gone back to the host, and touching such memory takes ten times as long. Without warm, the
// time of a side would depend on the previous side.
func warm(bytes int) {
	r := made(vm.Reserve(bytes, vm.Options{Name: "bench"}))
	mustSucceed(r.Huge(0, r.Size()))
	mustSucceed(r.Commit(0, bytes))
	touch(unsafe.Slice((*byte)(r.Base()), bytes))
	mustSucceed(r.Close())
}

//go:noinline
func touch(memory []byte) {
	for i := 0; i < len(memory); i += vm.PageSize() {
		memory[i] = 1
	}
}

// contest runs the sides in turns and returns one result for each side. Each side runs rounds+1 times, and
// its first run does not count. If bytes is positive, contest warms this number of bytes before each run.
func contest(rounds, bytes int, sides []side) []result {
	took := measure.Turns(rounds+1, len(sides), nil, func(i int) meter {
		measure.Settle()
		if bytes > 0 {
			warm(bytes)
		}
		m := meter{before: resident()}
		sides[i].do(&m)
		return m
	})
	measure.Settle()
	results := make([]result, len(sides))
	for i, s := range sides {
		results[i] = summary(s.name, took[i][1:])
	}
	return results
}

func summary(name string, rounds []meter) result {
	best := slices.MinFunc(rounds, func(a, b meter) int { return cmp.Compare(a.time, b.time) })
	r := result{name: name, growth: best.growth}
	for _, m := range rounds {
		r.times = append(r.times, float64(max(1, m.time))/1e6)
	}
	return r
}
