package query

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// mostLine bounds one row, in bytes.
const mostLine = 16 << 20

// count writes the number of matching entities.
func (o *output) count(n int, exact bool, format string) error {
	text := fmt.Sprintln(n)
	switch {
	case format == "json":
		text = fmt.Sprintf("{\"count\":%d,\"exact\":%t}\n", n, exact)
	case !exact:
		fmt.Fprintln(o.notes, "vast query: the world changed meanwhile, or the time ran out: the number "+
			"is not exact")
	}
	_, err := io.WriteString(o.to, text)
	return err
}

// lines writes rows of JSON as they arrive: at most the given number of rows, or all rows if most is 0. It
// returns the number of written rows, and whether there are more rows.
func (o *output) lines(from io.Reader, most int) (n int, more bool, err error) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, mostLine)
	out := bufio.NewWriter(o.to)
	for lines.Scan() {
		if most > 0 && n == most {
			return n, true, out.Flush()
		}
		line := lines.Text()
		if err := failureIn(line); err != nil {
			return n, false, errors.Join(out.Flush(), err)
		}
		if o.terminal {
			line = tty.Clean(line)
		}
		if _, err := out.WriteString(line + "\n"); err != nil {
			return n, false, err
		}
		n++
		if o.terminal {
			if err := out.Flush(); err != nil {
				return n, false, err
			}
		}
	}
	return n, false, errors.Join(out.Flush(), lines.Err())
}

// failureIn returns the error in a line that holds an error instead of a row, or nil.
func failureIn(line string) error {
	if !strings.HasPrefix(line, `{"error":`) {
		return nil
	}
	var told struct{ Error struct{ Message string } }
	if err := json.Unmarshal([]byte(line), &told); err != nil {
		return err
	}
	return errors.New(told.Error.Message)
}

// csv does the same as lines for rows of CSV. The first row has the names of the columns and does not count.
func (o *output) csv(from io.Reader, most int) (n int, more bool, err error) {
	in, out := newReader(from), csv.NewWriter(o.to)
	for n = -1; ; n++ {
		record, err := in.Read()
		if err == io.EOF {
			out.Flush()
			return max(n, 0), false, out.Error()
		}
		if err != nil {
			out.Flush()
			return max(n, 0), false, err
		}
		if most > 0 && n == most {
			out.Flush()
			return n, true, out.Error()
		}
		if o.terminal {
			for i := range record {
				record[i] = tty.Clean(record[i])
			}
		}
		if err := out.Write(record); err != nil {
			return max(n, 0), false, err
		}
		if o.terminal {
			out.Flush()
		}
	}
}

func newReader(from io.Reader) *csv.Reader {
	in := csv.NewReader(from)
	in.FieldsPerRecord = -1
	in.ReuseRecord = true
	return in
}
