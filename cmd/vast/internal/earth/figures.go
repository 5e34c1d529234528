package earth

import (
	"fmt"
	"time"

	simulation "github.com/vastgo/vast/cmd/vast/earth"
)

// figures are the facts about a run that a viewer shows.
type figures struct {
	counts simulation.Counts
	timing timing
	late   uint64
	paused bool
	saved  saved
	rates  rates
	memory memory
}

// rates are averages over about a second.
type rates struct {
	ticks, changes float64 // per second
}

// reader makes figures from snapshots. It updates the rates and the memory figures at the first snapshot, and
// then about once a second.
type reader struct {
	at     time.Time         // the start of the interval that the next rates cover
	counts simulation.Counts // the counts at the start of this interval
	rates  rates
	memory memory
	first  bool // whether the next snapshot is the first
}

// newReader returns the reader for a run that starts now with the counts start.
func newReader(start simulation.Counts) *reader {
	return &reader{at: time.Now(), counts: start, first: true}
}

func (r *reader) read(s *snapshot) figures {
	passed := s.at.Sub(r.at)
	// The bound is below one second, because a viewer that reads once a second is sometimes a little early.
	due := passed >= 9*time.Second/10
	if r.first || due {
		if seconds := passed.Seconds(); seconds > 0 {
			r.rates = rates{
				ticks:   float64(s.counts.Ticks-r.counts.Ticks) / seconds,
				changes: float64(s.counts.StructuralChanges-r.counts.StructuralChanges) / seconds,
			}
		}
		r.memory, r.first = readMemory(), false
		if due {
			r.at, r.counts = s.at, s.counts
		}
	}
	return figures{
		counts: s.counts, timing: s.timing, late: s.late, paused: s.paused, saved: s.saved, rates: r.rates,
		memory: r.memory,
	}
}

// timeOfDay returns the simulated day and time. A tick is a minute, and the first day is day 1.
func timeOfDay(ticks uint64) (day uint64, time string) {
	return ticks/(24*60) + 1, fmt.Sprintf("%02d:%02d", ticks/60%24, ticks%60)
}

// percent formats a share in percent. It rounds down, so that only a full share gives 100.0.
func percent(share float64) string {
	return fmt.Sprintf("%.1f", float64(int(share*1000))/10)
}
