package top

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/inspect"
)

// Size of the page that -once prints, in cells.
const (
	onceColumns = 100
	onceRows    = 500
)

func printOnce(w io.Writer, s *state, o options) error {
	if o.json {
		return json.NewEncoder(w).Encode(struct {
			Now     inspect.Sample   `json:"now"`
			History []inspect.Sample `json:"history"`
			Costs   inspect.Costs    `json:"costs"`
		}{s.now(), s.history, s.costs})
	}
	lines := compose(s, onceColumns, onceRows, time.Now())
	lines = lines[:len(lines)-1] // the last line lists the keys
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n")
	return err
}

// watchLines prints a line or a JSON object for each new sample. It returns the exit status after a signal, a
// failed write or a refusal by the program.
func watchLines(f *feed, s *state, o options, signals <-chan os.Signal, stdout, stderr io.Writer) int {
	printNow := func() error {
		if o.json {
			return json.NewEncoder(stdout).Encode(s.now())
		}
		_, err := fmt.Fprintln(stdout, plainLine(s.now()))
		return err
	}
	err := printNow()
	printed, lost := s.now().At, false
	for err == nil {
		select {
		case u := <-f.updates:
			s.apply(u)
			if u.lost != nil {
				if isRefusal(u.lost) {
					return fail(stderr, u.lost)
				}
				if !lost {
					fmt.Fprintf(stderr, "vast top: connection lost, trying again: %s\n",
						tty.Clean(u.lost.Error()))
				}
			} else if lost {
				fmt.Fprintln(stderr, "vast top: attached again")
			}
			lost = u.lost != nil
			if now := s.now().At; now != printed {
				printed, err = now, printNow()
			}
		case signal := <-signals:
			return cli.Status(signal)
		}
	}
	return fail(stderr, err)
}

// plainLine formats a sample as name=value pairs with one space between them, for grep and cut. Sizes are in
// bytes.
func plainLine(n inspect.Sample) string {
	var b strings.Builder
	if p := n.Pace; p != nil {
		t := p.TickSeconds
		fmt.Fprintf(&b, "tick=%d tps=%.1f p50=%.3fms p99=%.3fms worst=%.3fms budget=%.3fms late=%d "+
			"dropped=%d ", p.Tick, p.TicksPerSecond, 1e3*t.P50, 1e3*t.P99, 1e3*t.Worst,
			1e3*p.BudgetSeconds, p.Late, p.Dropped)
	}
	m := n.Memory
	fmt.Fprintf(&b, "entities=%d changes=%.0f/s admitting=%t paused=%t reserved=%d committed=%d resident=%d "+
		"go_heap=%d gc=%d gc_pause_worst=%.3fms goroutines=%d cpu=%.2f",
		n.Entities, n.ChangesPerSecond, n.Admitting, n.Paused, m.Reserved, m.Committed, m.Resident,
		m.GoHeap, n.GC.Collections, 1e3*n.GC.PauseWorst, n.Goroutines, n.CPU)
	return b.String()
}
