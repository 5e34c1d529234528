package remote

import (
	"bufio"
	"bytes"
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/internal/sqlnote"
)

// Limits of the lines of an answer, in bytes.
const (
	maxLine = 64 << 20
	maxHead = 1 << 20 // a head takes up to ten times its size in memory
)

var errTooLong = fmt.Errorf("a row has more than %d MiB: select a part of its columns or texts", maxLine>>20)

// rows reads the answer to a statement. The answer consists of lines of JSON: an object with the columns, an
// array for each row, and an object with the number of rows or with an error.
type rows struct {
	ctx     context.Context
	address string // of the program, for errors
	text    string // of the statement
	body    io.Closer
	lines   *bufio.Scanner
	columns []column
	names   []string
	n       int64 // number of rows so far
	err     error // what Next returns from now on, if it is not nil
}

type column struct{ Name, Type string }

// begin returns the rows of an answer whose columns it has read. The rows close the body.
func begin(ctx context.Context, address, text string, body io.ReadCloser) (_ *rows, err error) {
	r := &rows{ctx: ctx, address: address, text: text, body: body, lines: bufio.NewScanner(body)}
	r.lines.Buffer(nil, maxLine)
	r.lines.Split(wholeLines)
	defer func() {
		if err != nil {
			err = errors.Join(err, body.Close())
		}
	}()
	if !r.lines.Scan() {
		return nil, r.lost()
	}
	var head struct {
		Columns []column
		Error   *attach.Error
	}
	line := r.lines.Bytes()
	if len(line) > maxHead {
		return nil, r.unclear(fmt.Errorf("its first line has more than %d bytes", maxHead))
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, r.unclear(err)
	}
	switch {
	case head.Error != nil:
		return nil, r.refusal(head.Error)
	case head.Columns == nil:
		return nil, r.unclear(errors.New("its first line has no columns"))
	}
	r.columns = head.Columns
	for _, c := range head.Columns {
		r.names = append(r.names, c.Name)
	}
	return r, nil
}

// wholeLines is like bufio.ScanLines, but drops a last line without an end: it is cut off.
func wholeLines(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// unclear returns the error for an answer that breaks the rules.
func (r *rows) unclear(err error) error {
	return fmt.Errorf("%s gave an answer that cannot be understood: %w", r.address, err)
}

// refusal returns the error in a line.
func (r *rows) refusal(e *attach.Error) error {
	if e.Message == "" {
		return r.unclear(errors.New("its error has no message"))
	}
	return placed(e, r.text)
}

// lost returns the error for an answer without a last line.
func (r *rows) lost() error {
	err := r.lines.Err()
	switch {
	case r.ctx.Err() != nil:
		return context.Cause(r.ctx)
	case errors.Is(err, bufio.ErrTooLong):
		return errTooLong
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("the answer of %s ended early, after %d rows: %w", r.address, r.n, err)
}

// Columns returns the names of the columns.
func (r *rows) Columns() []string { return r.names }

// ColumnTypeDatabaseTypeName returns the declared type of a column, or "".
func (r *rows) ColumnTypeDatabaseTypeName(i int) string { return r.columns[i].Type }

// Close ends the statement. If rows are left, the program notices that the connection closes.
func (r *rows) Close() error { return r.body.Close() }

// Next reads a row.
func (r *rows) Next(to []driver.Value) error {
	if r.err == nil {
		r.err = r.next(to)
	}
	return r.err
}

func (r *rows) next(to []driver.Value) error {
	if !r.lines.Scan() {
		return r.lost()
	}
	line := r.lines.Bytes()
	if len(line) == 0 || line[0] != '[' {
		return r.last(line)
	}
	if err := decodeRow(line, to); err != nil {
		return r.unclear(fmt.Errorf("row %d: %w", r.n, err))
	}
	r.n++
	return nil
}

// last returns io.EOF, or the error in the last line.
func (r *rows) last(line []byte) error {
	var end struct {
		Rows  *int64
		More  bool
		Notes []string
		Error *attach.Error
	}
	err := errors.New("its last line is too long")
	if len(line) <= maxHead {
		err = json.Unmarshal(line, &end)
	}
	switch {
	case err != nil:
		return r.unclear(err)
	case end.Error != nil:
		return r.refusal(end.Error)
	case end.Rows == nil || *end.Rows != r.n:
		return r.unclear(fmt.Errorf("it has %d rows, which is not the number in its last line", r.n))
	case end.More:
		return fmt.Errorf("%s sends only the first %d rows", r.address, r.n)
	}
	for _, note := range end.Notes {
		sqlnote.Send(r.ctx, note)
	}
	return io.EOF
}
