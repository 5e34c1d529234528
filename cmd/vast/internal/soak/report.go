package soak

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/vastgo/vast/vm"
)

// report is the result of a soak, and the object that -json prints.
type report struct {
	Seed        uint64   `json:"seed"`
	Seconds     float64  `json:"seconds"`
	Rounds      int      `json:"rounds"` // completed rounds
	Operations  int64    `json:"operations"`
	Hostile     int64    `json:"hostile"` // forged or stale handles and entities
	Wraps       int64    `json:"wraps"`   // slots that used up all their generations
	Interrupted bool     `json:"interrupted"`
	First       figures  `json:"first"` // medians of the first quarter of the samples
	Last        figures  `json:"last"`  // medians of the last quarter of the samples
	Grown       []growth `json:"grown"`
	More        []string `json:"more,omitempty"` // lines about names with more regions than at the baseline
	Wrong       string   `json:"wrong"`          // the wrong answer or the error; empty without either
	now         figures  // the figures after the last round
}

func (r *report) failed() bool { return len(r.Grown) > 0 || r.Wrong != "" }

// add updates the report after a round.
func (r *report) add(t *tally, now figures, passed time.Duration) {
	r.Operations, r.Hostile, r.Wraps = t.operations.Load(), t.hostile.Load(), t.wraps.Load()
	r.now, r.Seconds = now, passed.Seconds()
}

// line formats the report for grep and cut, as fields name=value separated by single spaces. Sizes are in
// bytes.
func (r *report) line() string {
	f := r.now
	return fmt.Sprintf("seconds=%.0f rounds=%d operations=%d hostile=%d wraps=%d mappings=%d "+
		"address_space=%d resident=%d "+
		"fds=%d goroutines=%d go_heap=%d regions=%d reserved=%d committed=%d in_regions=%d",
		r.Seconds, r.Rounds, r.Operations, r.Hostile, r.Wraps, f.Mappings, f.AddressSpace, f.Resident,
		f.Descriptors, f.Goroutines, f.GoHeap, f.Regions, f.Reserved, f.Committed, f.InRegions)
}

func write(w io.Writer, o options, r report) error {
	if o.json {
		if r.Grown == nil {
			r.Grown = []growth{}
		}
		return json.NewEncoder(w).Encode(r)
	}
	_, err := io.WriteString(w, r.summary())
	return err
}

func (r *report) summary() string {
	text := fmt.Sprintf("\n%d rounds in %.0f s, seed %d: %d operations, %d hostile handles and entities, "+
		"%d slots worn out\n\n"+
		"%-28s %12s %12s\n", r.Rounds, r.Seconds, r.Seed, r.Operations, r.Hostile, r.Wraps,
		"median of a quarter", "first", "last")
	for _, f := range judged {
		from, to := *f.of(&r.First), *f.of(&r.Last)
		if f.bytes {
			text += fmt.Sprintf("%-28s %12s %12s\n", f.name, vm.Bytes(from), vm.Bytes(to))
		} else {
			text += fmt.Sprintf("%-28s %12d %12d\n", f.name, from, to)
		}
	}
	text += "\n"
	for _, g := range r.Grown {
		text += g.String() + "\n"
	}
	for _, m := range r.More {
		text += m + "\n"
	}
	if r.Wrong != "" {
		text += r.Wrong + "\n"
	}
	if !r.failed() {
		text += "nothing grew, and all answers were right\n"
	}
	return text
}
