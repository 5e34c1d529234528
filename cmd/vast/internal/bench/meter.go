package bench

import (
	"runtime"
	"runtime/debug"
	"slices"
	"time"
	"unsafe"

	"github.com/vastgo/vast/internal/clock"
	"github.com/vastgo/vast/vm"
)

// side does a work once in its own way. It prepares what it needs, has the meter time the work itself, and cleans up.
type side struct {
	name string
	do   func(*meter)
}

// meter takes the measures of one side in one round.
type meter struct {
	before int           // bytes resident when the side began
	time   time.Duration // of the work
	used   int           // bytes resident after the work
}

// run times f, which must call a function that is not inlined.
func (m *meter) run(f func()) {
	start := clock.Now()
	f()
	m.time = clock.Now() - start
}

// weigh takes how much more memory is resident than before the side began. What the collector can free does not count.
// The caller keeps alive what is to be weighed.
func (m *meter) weigh() {
	settle()
	m.used = max(0, resident()-m.before)
}

// settle gives the memory that nobody uses back to the operating system.
func settle() {
	runtime.GC()
	debug.FreeOSMemory()
}

// result is what one side measured over all rounds.
type result struct {
	name         string
	best, median time.Duration
	used         int // bytes, of the best round
}

// warm makes sure that so many bytes of the machine's free memory were in use a moment ago. Where the machine is a virtual
// one, memory that its kernel has had free for seconds may have gone back to the host, and touching it again takes ten
// times as long: without this, a side would be measured by what ran before it.
func warm(bytes int) {
	r := made(vm.Reserve(bytes, vm.Options{Purpose: "bench"}))
	closed(r.Huge(0, r.Size()))
	closed(r.Commit(0, bytes))
	touch(unsafe.Slice((*byte)(r.Base()), bytes))
	closed(r.Close())
}

//go:noinline
func touch(memory []byte) {
	for i := 0; i < len(memory); i += vm.PageSize() {
		memory[i] = 1
	}
}

// contest runs all sides in turn, a round to warm up and rounds that count, and returns a result for each. bytes is about
// how much memory a side takes; 0 where that does not matter.
func contest(rounds, bytes int, sides []side) []result {
	took := make([][]meter, len(sides))
	for round := range rounds + 1 {
		for i, s := range sides {
			settle()
			if bytes > 0 {
				warm(bytes)
			}
			m := meter{before: resident()}
			s.do(&m)
			if round > 0 {
				took[i] = append(took[i], m)
			}
		}
	}
	settle()
	results := make([]result, len(sides))
	for i, s := range sides {
		results[i] = summary(s.name, took[i])
	}
	return results
}

// summary returns the best and the median of the rounds.
func summary(name string, rounds []meter) result {
	slices.SortFunc(rounds, func(a, b meter) int { return int(a.time - b.time) })
	return result{name, rounds[0].time, rounds[len(rounds)/2].time, rounds[0].used}
}
