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

// maxLine bounds one row of JSON, in bytes.
const maxLine = 16 << 20

// count writes the number of matching entities.
func (o *output) count(n int, exact bool, format string) error {
	text := fmt.Sprintln(n)
	switch {
	case format == "json":
		text = fmt.Sprintf("{\"count\":%d,\"exact\":%t}\n", n, exact)
	case !exact:
		fmt.Fprintln(o.notes, "vast query: the number is not exact: the world changed during the count, or "+
			"the time ran out")
	}
	_, err := io.WriteString(o.to, text)
	return err
}

// lines copies rows of JSON to the output: at most limit rows, or all rows if limit is 0. On a terminal, each
// row appears as it arrives. The method lines returns the number of written rows, and whether the input has
// more rows.
func (o *output) lines(in io.Reader, limit int) (n int, more bool, err error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	out := bufio.NewWriter(o.to)
	for lines.Scan() {
		if limit > 0 && n == limit {
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

// failureIn returns the error that a line holds instead of a row, or nil if the line is a row.
func failureIn(line string) error {
	if !strings.HasPrefix(line, `{"error":`) {
		return nil
	}
	var response struct{ Error struct{ Message string } }
	if err := json.Unmarshal([]byte(line), &response); err != nil {
		return err
	}
	return errors.New(response.Error.Message)
}

// csv does the same for CSV as the method lines for JSON. It also copies the heading, but does not count it.
func (o *output) csv(in io.Reader, limit int) (n int, more bool, err error) {
	rows, out := newReader(in), csv.NewWriter(o.to)
	for n = -1; ; n++ {
		record, err := rows.Read()
		if err == io.EOF {
			out.Flush()
			return max(n, 0), false, out.Error()
		}
		if err != nil {
			out.Flush()
			return max(n, 0), false, err
		}
		if limit > 0 && n == limit {
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

func newReader(in io.Reader) *csv.Reader {
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1
	r.ReuseRecord = true
	return r
}
