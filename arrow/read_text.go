package vastarrow

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readCSV reads CSV with a line of names. Empty fields are nulls.
func (m *importer) readCSV(r io.Reader) error {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	header, err := in.Read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return csvError(err)
	}
	columns := make([]*cells, len(header))
	for i, name := range header {
		if i == 0 && len(name) >= 3 && name[:3] == "\ufeff" { // a byte order mark, from a spreadsheet
			name = name[3:]
		}
		columns[i] = m.column(name)
	}
	for {
		row, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return csvError(err)
		}
		if _, err := m.room(); err != nil {
			return err
		}
		for i, c := range columns {
			if c != nil && row[i] != "" {
				m.put(c, m.rows, c.setText(m.rows, row[i]))
			}
		}
		m.rows++
	}
}

// csvError returns the error for an error of a csv.Reader: the text is no valid CSV, or the io.Reader failed.
func csvError(err error) error {
	if _, ok := errors.AsType[*csv.ParseError](err); ok {
		return damaged(CSV, err)
	}
	return unreadable(err)
}

// readJSON reads lines with a JSON object each. It skips empty lines.
func (m *importer) readJSON(r io.Reader, most int) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, min(64<<10, most)), most)
	for number := 1; lines.Scan(); number++ {
		line := lines.Bytes()
		if len(line) == 0 {
			continue
		}
		if _, err := m.room(); err != nil {
			return err
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal(line, &values); err != nil {
			return damaged(JSONLines, fmt.Errorf("line %d: %w", number, err))
		}
		for name, v := range values {
			if c := m.column(name); c != nil && string(v) != "null" {
				m.put(c, m.rows, c.setJSON(m.rows, v))
			}
		}
		m.rows++
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("vastarrow: a line is longer than %d bytes: set ReadOptions.MaxBytes to read it",
			most)
	} else if err != nil {
		return unreadable(err)
	}
	return nil
}

// setJSON sets the value of a row from a JSON value. It decodes a JSON string and passes the decoded text to
// setText. For a leaf of kindJSON, the decoded text must itself be JSON, because Write stores such leaves as
// JSON texts in all formats.
func (c *cells) setJSON(row int, v json.RawMessage) error {
	if v[0] != '"' {
		return c.setText(row, string(v))
	}
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		return err
	}
	return c.setText(row, text)
}
