package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/vastgo/vast/internal/measure"
)

// A row is one line of the result, with either times or bytes. Times are in nanoseconds. Most works report
// the time per entity; README.md lists the other units.
type row struct {
	Work      string  `json:"work"`
	N         int     `json:"n"`
	Peer      string  `json:"peer"`
	OursNS    float64 `json:"ours_ns,omitempty"`    // best round
	PeerNS    float64 `json:"peer_ns,omitempty"`    // best round
	OursBytes float64 `json:"ours_bytes,omitempty"` // best round, per entity
	PeerBytes float64 `json:"peer_bytes,omitempty"` // best round, per entity
	// the peer's figure ÷ Vast's figure: over 1 when Vast is ahead
	Ratio           float64 `json:"ratio"`
	OursMedianNS    float64 `json:"ours_median_ns,omitempty"`
	PeerMedianNS    float64 `json:"peer_median_ns,omitempty"`
	OursMedianBytes float64 `json:"ours_median_bytes,omitempty"`
	PeerMedianBytes float64 `json:"peer_median_bytes,omitempty"`
	// share of Vast's ticks that end at most 16.7 ms after they are due; only in rows of earth…
	OursWithin *float64 `json:"ours_within,omitempty"`
	// time of a whole query that matches nothing, best round
	OursEmptyQueryNS float64 `json:"ours_empty_query_ns,omitempty"`
	// time of a whole query that matches nothing, best round
	PeerEmptyQueryNS float64 `json:"peer_empty_query_ns,omitempty"`
}

// newRow makes the row of a plan from the samples t. empty has the samples of the empty query, or none.
func newRow(p plan, t, empty *times) row {
	r := row{Work: p.work.name, N: p.n, Peer: p.match.peer,
		Ratio: rounded(measure.Ratio(t.ours, t.theirs)), OursWithin: t.within}
	if p.work.bytes {
		r.OursBytes, r.PeerBytes = rounded(t.ours.Best()), rounded(t.theirs.Best())
		r.OursMedianBytes, r.PeerMedianBytes = rounded(t.ours.Median()), rounded(t.theirs.Median())
	} else {
		r.OursNS, r.PeerNS = rounded(t.ours.Best()), rounded(t.theirs.Best())
		r.OursMedianNS, r.PeerMedianNS = rounded(t.ours.Median()), rounded(t.theirs.Median())
	}
	if len(empty.ours) > 0 {
		r.OursEmptyQueryNS, r.PeerEmptyQueryNS = rounded(empty.ours.Best()), rounded(empty.theirs.Best())
	}
	return r
}

// rounded rounds v to four decimals, which is finer than any measurement here.
func rounded(v float64) float64 {
	return math.Round(v*1e4) / 1e4
}

// A report receives all rows. A call of finish follows the last row.
type report interface {
	add(row) error
	finish() error
}

type reports []report

func (rs reports) add(r row) error {
	var errs []error
	for _, each := range rs {
		errs = append(errs, each.add(r))
	}
	return errors.Join(errs...)
}

func (rs reports) finish() error {
	var errs []error
	for _, each := range rs {
		errs = append(errs, each.finish())
	}
	return errors.Join(errs...)
}

// A table prints each row in columns of fixed width, as soon as it gets the row.
type table struct {
	out     io.Writer
	started bool
}

func newTable(out io.Writer) *table {
	return &table{out: out}
}

const (
	tableTitle = "%-19s %8s  %-13s %10s %10s %8s   %10s %10s   %9s %9s\n"
	tableLine  = "%-19s %8d  %-13s %10.2f %10.2f %8.2f   %10.2f %10.2f   %9.1f %9.1f\n"
)

func (t *table) add(r row) error {
	if !t.started {
		t.started = true
		_, err := fmt.Fprintf(t.out,
			"Nanoseconds per entity, best and median of the rounds; ratio = peer ÷ ours, over 1 when Vast "+
				"is ahead.\n"+
				"Other units: memory… and bytes-…: bytes per entity; gc_…: ns per collection;\nreplay: "+
				"ns per tick; record: ns per input; …_world and first_entity: ns per world; pause-…, "+
				"open-at and earth…: ns.\n\n"+
				tableTitle, "work", "n", "peer", "ours", "peer", "ratio",
			"ours med", "peer med", "ours q0", "peer q0")
		if err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(t.out, tableLine, r.Work, r.N, r.Peer, r.OursNS+r.OursBytes, r.PeerNS+r.PeerBytes,
		r.Ratio,
		r.OursMedianNS+r.OursMedianBytes, r.PeerMedianNS+r.PeerMedianBytes,
		r.OursEmptyQueryNS, r.PeerEmptyQueryNS)
	return err
}

func (t *table) finish() error {
	_, err := fmt.Fprintln(t.out,
		"\nq0: nanoseconds of a whole query that matches nothing, in a world with the same component types.")
	return err
}

// A jsonReport prints one object after the last row.
type jsonReport struct {
	out  io.Writer
	rows []row
}

func newJSONReport(out io.Writer) *jsonReport {
	return &jsonReport{out: out, rows: []row{}}
}

func (j *jsonReport) add(r row) error {
	j.rows = append(j.rows, r)
	return nil
}

func (j *jsonReport) finish() error {
	encoder := json.NewEncoder(j.out)
	encoder.SetIndent("", "\t")
	return encoder.Encode(struct {
		Rows []row `json:"rows"`
	}{j.rows})
}
