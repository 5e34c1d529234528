package earth

import (
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
)

// watchLines starts the driver and prints a line a second. At the end, it prints a line for the last tick, if
// no line has shown this tick. It returns the exit status, or the error of a failed write.
func watchLines(d *driver, r *reader, n notes, signals <-chan os.Signal, w io.Writer) (int, error) {
	if n.credits != "" {
		fmt.Fprintf(w, "# %s\n", n.credits)
	}
	if n.inspector != "" {
		fmt.Fprintf(w, "# inspector: %s\n", n.inspector)
	}
	s := newSnapshot(0, 0)
	d.start(nil)

	second := time.NewTicker(time.Second)
	defer second.Stop()
	status := cli.Success
	var errWrite error
	printed := uint64(math.MaxUint64) // the tick of the last line; MaxUint64 before the first line
	for {
		select {
		case <-second.C:
			if s != nil {
				d.wanted <- s
				s = nil
			}
		case s = <-d.ready:
			printed = s.counts.Ticks
			if _, errWrite = fmt.Fprintln(w, line(r.read(s))); errWrite != nil {
				d.halt()
			}
		case signal := <-signals:
			status = cli.Status(signal)
			d.halt()
		case <-d.done:
			last := newSnapshot(0, 0)
			d.fill(last)
			if errWrite == nil && last.counts.Ticks != printed {
				_, errWrite = fmt.Fprintln(w, line(r.read(last)))
			}
			return status, errWrite
		}
	}
}

// line formats figures for grep and cut, as fields name=value separated by single spaces. Sizes are in bytes.
func line(f figures) string {
	day, time := timeOfDay(f.counts.Ticks)
	c, t, m := f.counts, f.timing, f.memory
	return fmt.Sprintf("tick=%d tps=%.1f p50=%.2fms p99=%.2fms max=%.2fms within=%.4f late=%d "+
		"day=%d time=%s travellers=%d moving=%d infectious=%d recovered=%d entities=%d changes=%.0f/s "+
		"reserved=%d committed=%d resident=%d go_heap=%d gc=%d gc_pause_max=%.3fms",
		c.Ticks, f.rates.ticks, milliseconds(t.p50), milliseconds(t.p99), milliseconds(t.max), t.within,
		f.late, day, time, c.Travellers, c.Moving, c.Infectious, c.Recovered, c.Entities, f.rates.changes,
		m.reserved, m.committed, m.resident, m.goHeap, m.collections, milliseconds(m.pauseMax))
}
