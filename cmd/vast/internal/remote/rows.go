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

// Limits of an answer, in bytes.
const (
	maxLine   = 64 << 20 // a line
	maxObject = 1 << 20  // the first or the last line, which may take ten times its size in memory
)

var errTooLong = fmt.Errorf("a row has more than %d MiB: select a part of its columns or texts", maxLine>>20)

// rows reads the answer to a statement. The answer consists of lines of JSON: an object with the columns, an
// array for each row, and an object with the number of rows or with an error.
type rows struct {
	ctx       context.Context
	address   string // of the program, for errors
	statement string
	body      io.Closer
	lines     *bufio.Scanner
	columns   []column
	names     []string // of the columns
	n         int64    // number of rows so far
	changed   int64    // number of rows that the statement has changed; set by the last line
	err       error    // if not nil, each further call of Next returns this error
}

type column struct{ Name, Type string }

// begin reads the first line of an answer, and returns the rows. Close closes the body. If begin fails, begin
// closes the body.
func begin(ctx context.Context, address, statement string, body io.ReadCloser) (_ *rows, err error) {
	r := &rows{ctx: ctx, address: address, statement: statement, body: body, lines: bufio.NewScanner(body)}
	r.lines.Buffer(nil, maxLine)
	r.lines.Split(wholeLines)
	defer func() {
		if err != nil {
			err = errors.Join(err, body.Close())
		}
	}()
	if !r.lines.Scan() {
		return nil, r.truncated()
	}
	var head struct {
		Columns []column
		Error   *attach.Error
	}
	line := r.lines.Bytes()
	if len(line) > maxObject {
		return nil, r.malformed(fmt.Errorf("its first line has more than %d bytes", maxObject))
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, r.malformed(err)
	}
	switch {
	case head.Error != nil:
		return nil, r.refusal(head.Error)
	case head.Columns == nil:
		return nil, r.malformed(errors.New("its first line has no columns"))
	}
	r.columns = head.Columns
	for _, c := range head.Columns {
		r.names = append(r.names, c.Name)
	}
	return r, nil
}

// wholeLines is like bufio.ScanLines, but drops a last line that does not end in a newline.
func wholeLines(data []byte, _ bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	return 0, nil, nil
}

// malformed returns the error for an answer that does not have the form that the type rows describes.
func (r *rows) malformed(err error) error {
	return fmt.Errorf("%s gave an answer that cannot be understood: %w", r.address, err)
}

// refusal returns the error that the inspector sent in a line.
func (r *rows) refusal(e *attach.Error) error {
	if e.Message == "" {
		return r.malformed(errors.New("its error has no message"))
	}
	return withStatement(e, r.statement)
}

// truncated returns the error for an answer that ends before its last line.
func (r *rows) truncated() error {
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

// Close closes the answer. If the program still sends rows, Close also ends the statement, because the
// program notices the closed connection.
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
		return r.truncated()
	}
	line := r.lines.Bytes()
	if len(line) == 0 || line[0] != '[' {
		return r.end(line)
	}
	if err := decodeRow(line, to); err != nil {
		return r.malformed(fmt.Errorf("row %d: %w", r.n, err))
	}
	r.n++
	return nil
}

// end decodes the last line. end sends the notes in the line to the context's receiver and returns io.EOF, or
// returns the error in the line.
func (r *rows) end(line []byte) error {
	var last struct {
		Rows    *int64
		More    bool
		Changed int64
		Notes   []string
		Error   *attach.Error
	}
	err := errors.New("its last line is too long")
	if len(line) <= maxObject {
		err = json.Unmarshal(line, &last)
	}
	switch {
	case err != nil:
		return r.malformed(err)
	case last.Error != nil:
		return r.refusal(last.Error)
	case last.Rows == nil || *last.Rows != r.n:
		return r.malformed(fmt.Errorf("it has %d rows, which is not the number in its last line", r.n))
	case last.More:
		return fmt.Errorf("%s sends only the first %d rows", r.address, r.n)
	}
	r.changed = last.Changed
	for _, note := range last.Notes {
		sqlnote.Send(r.ctx, note)
	}
	return io.EOF
}
