package inspect

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/vastgo/vast"
)

const (
	defaultRows    = 1000
	maxRows        = 1 << 20
	maxSample      = 100_000
	maxRowsPerLook = 1024
)

// rowSource finds and reads rows in several looks. A look is a visit to the world between ticks.
type rowSource struct {
	*search
	limit  int
	picked []vast.Entity // entities found but not yet read
	ended  bool          // whether the search has found all matches
	read   int           // number of rows read so far
	rows   []row         // rows that the last look read
}

// rowWriter writes rows in a format.
type rowWriter interface {
	contentType() string
	begin(r *rowReader)
	row(r *rowReader, one *row)
	// end ends the output. It returns false if the format cannot express err.
	end(err error) (told bool)
	bytes() []byte // output since the last call of bytes; valid until the next call of a method
}

// streamRows sends rows while the search still runs.
func (in *Inspector) streamRows(w http.ResponseWriter, r *http.Request) error {
	format := r.URL.Query().Get("format")
	if format != "" && format != "json" && format != "ndjson" && format != "csv" {
		return badRequest("format must be json, ndjson or csv, not %.40q", format)
	}
	limit, err := wholeNumber(r, "limit", defaultRows, 1, maxRows)
	if err != nil {
		return err
	}
	sample, err := wholeNumber(r, "sample", 0, 0, maxSample)
	if err != nil {
		return err
	}
	s, err := in.searchFor(r, wanted{leaves: format == "csv" || format == "ndjson", slots: slotsRead},
		streamTime)
	if err != nil {
		return err
	}
	defer s.end()
	source := &rowSource{search: s, limit: limit}
	if sample > 0 {
		source.limit = min(sample, limit)
		err = source.sample()
	}
	if err == nil {
		err = source.next()
	}
	if err != nil {
		return err // nothing has been sent yet
	}
	out := newRowWriter(format)
	w.Header().Set("Content-Type", out.contentType())
	w.WriteHeader(http.StatusOK)
	source.send(w, out)
	return nil
}

func newRowWriter(format string) rowWriter {
	switch format {
	case "csv":
		return newCSVRows()
	case "ndjson":
		return &lineRows{}
	}
	return &jsonRows{}
}

// send writes s.rows. Then it reads and writes the further rows, one look at a time.
func (s *rowSource) send(w http.ResponseWriter, out rowWriter) {
	control := http.NewResponseController(w)
	out.begin(s.reader)
	for len(s.rows) > 0 {
		for i := range s.rows {
			out.row(s.reader, &s.rows[i])
		}
		extend(w)
		if _, err := w.Write(out.bytes()); err != nil || control.Flush() != nil {
			return // the client is gone
		}
		if err := s.next(); err != nil {
			s.fail(w, out, err)
			return
		}
	}
	out.end(nil)
	extend(w)
	_, _ = w.Write(out.bytes())
}

// fail ends an incomplete answer. If the request has ended or the format cannot express the error, fail
// closes the connection.
func (s *rowSource) fail(w http.ResponseWriter, out rowWriter, err error) {
	if s.ctx.Err() != nil && !errors.Is(err, errOver) || !out.end(err) {
		panic(http.ErrAbortHandler)
	}
	extend(w)
	_, _ = w.Write(out.bytes())
}

var errOver = &problem{Status: http.StatusServiceUnavailable, Code: "time",
	Message: fmt.Sprintf("the rows are incomplete, because a request may read the world for at most %v "+
		"and last at most %v: ask for fewer rows or narrow the query", searchTime, streamTime)}

// next replaces s.rows by the next rows. After the last match, and after s.limit rows, s.rows is empty. next
// skips entities that the program deleted after the search had found them.
func (s *rowSource) next() error {
	s.rows = s.rows[:0]
	err := s.look(func() (done bool) {
		for len(s.rows) < maxRowsPerLook && s.read < s.limit {
			if len(s.picked) == 0 && !s.pick() {
				return s.ended || len(s.rows) > 0
			}
			if one := s.reader.read(s.picked[0]); one.cells != nil {
				s.rows = append(s.rows, one)
				s.read++
			}
			s.picked = s.picked[1:]
			if s.late() {
				return len(s.rows) > 0
			}
		}
		return true
	})
	if err == nil && s.over {
		err = errOver
	}
	return err
}

// pick appends further matches to s.picked. It returns false if it found no match before the end of the
// search or of the look.
func (s *rowSource) pick() bool {
	for !s.ended && !s.late() {
		lo, words, n, ok := s.step()
		s.ended = !ok
		if n > 0 {
			s.pickFrom(lo, words)
			return true
		}
	}
	return false
}

func (s *rowSource) pickFrom(lo int, words []uint64) {
	eachEntity(s.in.world, lo, words, 0, func(e vast.Entity) bool {
		s.picked = append(s.picked, e)
		return true
	})
}

// sample sets s.picked to a uniform random sample of the matches.
func (s *rowSource) sample() error {
	var thinner thinning
	// With this bound, halve practically never leaves fewer entities than s.limit.
	maxSampled := max(4*s.limit, 1024)
	s.picked = make([]vast.Entity, 0, gatheredAtOnce+slotsRead) // does not grow in a look
	var sampled []vast.Entity
	for more := true; more; {
		s.picked = s.picked[:0]
		more = false
		err := s.walk(func(lo int, words []uint64, _ int) bool {
			thinner.thin(words)
			s.pickFrom(lo, words)
			more = len(s.picked) >= gatheredAtOnce
			return more
		})
		if err == nil && s.over {
			err = errOver
		}
		if err != nil {
			return err
		}
		for sampled = append(sampled, s.picked...); len(sampled) > maxSampled; {
			sampled = halve(&thinner, sampled)
		}
	}
	s.picked = choose(sampled, min(s.limit, len(sampled)))
	s.ended = true
	return nil
}

// gatheredAtOnce is the number of entities or values after which a look ends. The caller merges them into the
// result outside the look, because merging may take a while.
const gatheredAtOnce = 16 << 10
