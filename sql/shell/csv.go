package shell

import (
	"bufio"
	"encoding/csv"
)

// csvRows writes rows as CSV.
type csvRows struct {
	out      *bufio.Writer
	records  *csv.Writer // writes to out, without a buffer of its own
	terminal bool
	record   []string // reused
}

func newCSV(out *bufio.Writer, terminal bool, head []string) (*csvRows, error) {
	c := &csvRows{out: out, records: csv.NewWriter(out), terminal: terminal}
	c.record = append(c.record, head...)
	return c, c.write()
}

func (c *csvRows) row(values []any) error {
	c.record = c.record[:0]
	for _, v := range values {
		c.record = append(c.record, plain(v))
	}
	return c.write()
}

func (c *csvRows) write() error {
	if len(c.record) == 1 && c.record[0] == "" {
		// Readers of CSV skip an empty line, so this record needs quotes.
		_, err := c.out.WriteString("\"\"\n")
		return err
	}
	if c.terminal {
		for i, field := range c.record {
			c.record[i] = clean(field)
		}
	}
	return c.records.Write(c.record)
}

func (c *csvRows) flush() error { return c.out.Flush() }

func (c *csvRows) end() error { return nil }
