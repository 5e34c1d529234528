// Command bench compares SQL statements about a world with the same statements about SQLite's own tables of
// the same rows. Run it in the folder of the module:
//
//	go run ./bench [-work REGEXP] [-rounds N] [-json]
//
// The world and SQLite's tables are the two sides. They run prepared statements in turn, in one process. A
// line shows the best time of each side. The world's times include the wait for its owner and the copy of the
// columns. The line pause shows how long the owner waits for such a copy.
package main

import (
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"time"

	"github.com/vastgo/vast/internal/measure"
)

type row struct {
	Work    string  `json:"work"`
	What    string  `json:"what"`
	Against string  `json:"against,omitempty"`
	Ours    float64 `json:"ours"`           // milliseconds
	Peer    float64 `json:"peer,omitempty"` // milliseconds
	Figure  float64 `json:"figure"`         // Peer divided by Ours, or Ours if there is no Peer
	Unit    string  `json:"unit"`
	Goal    float64 `json:"goal"`
	Most    bool    `json:"at_most"` // whether Goal is the upper limit of Figure, not the lower limit
}

type work struct {
	name, text string
	args       []any
	goal       float64
	repeat     int // runs of the statement in one sample
}

const own = "SQLite's own table"

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	asJSON := f.Bool("json", false, "print one JSON object")
	pattern := f.String("work", "", "measure only works whose names match this regular `expression`")
	rounds := f.Int("rounds", 7, "`number` of rounds")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	wanted, err := regexp.Compile(*pattern)
	if err != nil {
		return err
	}
	s, err := newSides()
	if err != nil {
		return err
	}
	defer s.close()
	var rows []row
	show := func(r row) {
		rows = append(rows, r)
		if !*asJSON {
			limit := "at least"
			if r.Most {
				limit = "at most"
			}
			against := ""
			if r.Peer > 0 {
				against = fmt.Sprintf(", %.4g ms against %.4g ms", r.Ours, r.Peer)
			}
			fmt.Fprintf(stdout, "%-12s %10.4g %s (%s %g)%s: %s\n", r.Work, r.Figure, r.Unit, limit, r.Goal,
				against, r.What)
		}
	}
	for _, w := range s.works() {
		if wanted.MatchString(w.name) {
			r, err := s.compare(w, *rounds)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			show(r)
		}
	}
	if wanted.MatchString("pause") {
		r, err := s.pause(*rounds)
		if err != nil {
			return fmt.Errorf("pause: %w", err)
		}
		show(r)
	}
	if *asJSON {
		return json.NewEncoder(stdout).Encode(map[string][]row{"rows": rows})
	}
	return nil
}

func (s *sides) compare(w work, rounds int) (row, error) {
	r := row{Work: w.name, What: w.text, Against: own, Unit: "times as fast", Goal: w.goal}
	var statements [2]*sql.Stmt
	var results [2]string
	for i, db := range []*sql.DB{s.world, s.own} {
		statement, err := db.Prepare(w.text)
		if err != nil {
			return r, err
		}
		defer statement.Close()
		statements[i] = statement
		for range 2 { // warms up
			if results[i], err = read(statement, w.args); err != nil {
				return r, err
			}
		}
	}
	if results[0] != results[1] {
		return r, fmt.Errorf("the results differ: %.200s and %.200s", results[0], results[1])
	}
	var readErr error
	samples := measure.Turns(rounds, 2, nil, func(side int) float64 {
		began := time.Now()
		for range max(1, w.repeat) {
			if _, err := read(statements[side], w.args); err != nil {
				readErr = err
			}
		}
		return time.Since(began).Seconds() * 1000 / float64(max(1, w.repeat))
	})
	ours, peer := measure.Samples(samples[0]), measure.Samples(samples[1])
	r.Ours, r.Peer, r.Figure = ours.Best(), peer.Best(), measure.Ratio(ours, peer)
	return r, readErr
}

// read reads all rows of a statement. It returns their number and the first 100 rows as text. Floats have 9
// digits, because the two sides add them in different orders.
func read(statement *sql.Stmt, args []any) (string, error) {
	rows, err := statement.Query(args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return "", err
	}
	values, targets := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		targets[i] = &values[i]
	}
	text := []byte{}
	n := 0
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return "", err
		}
		if n++; n <= 100 {
			for _, v := range values {
				if f, ok := v.(float64); ok && !math.IsNaN(f) {
					text = fmt.Appendf(text, "%.9g ", f)
				} else {
					text = fmt.Append(text, v, " ")
				}
			}
		}
	}
	return fmt.Sprint(n, " rows: ", string(text)), rows.Err()
}
