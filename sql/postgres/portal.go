package postgres

import (
	"fmt"
	"io"
	"math"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A portal is a statement with its parameters. Its cursor stays open between two Execute messages, so that
// the second one continues with the next row.
type portal struct {
	statement *statement
	arguments []any
	formats   []int16 // of the columns: none, one for all, or one each
	cursor    *cursor // nil before the first use, and for statements without rows
	shared    bool    // the cursor belongs to another portal, which FETCH reads
	skip      uint32  // rows that FETCH still skips, if shared
	limit     uint32  // rows that FETCH still reads after the skipped rows, if shared
	ran       bool    // whether a statement that writes rows and returns none has run
}

func (p *portal) close() {
	if p.cursor != nil && !p.shared {
		p.cursor.close()
	}
}

// format returns the format of a column.
func (p *portal) format(i int) int16 {
	switch {
	case len(p.formats) == 1:
		return p.formats[0]
	case i < len(p.formats):
		return p.formats[i]
	}
	return formatText
}

// addPortal adds a portal to the session. A portal without a name replaces the previous one without a name.
func (x *session) addPortal(name string, p *portal) error {
	if old, ok := x.portals[name]; ok {
		if name != "" {
			return fail(codeDuplicateCursor, fmt.Sprintf("portal %q already exists", name))
		}
		old.close()
	} else if len(x.portals) >= maxPortals {
		return failWithHint(codeLimit, fmt.Sprintf("%d portals are open, more are not possible", maxPortals),
			"Close portals that are read to the end.")
	}
	x.portals[name] = p
	return nil
}

func (x *session) closePortals() {
	for _, p := range x.portals {
		p.close()
	}
	clear(x.portals)
}

// openPortal opens the cursor of a portal whose statement returns rows.
func (x *session) openPortal(p *portal) error {
	if p.cursor != nil {
		return nil
	}
	var err error
	switch st := p.statement; st.verb {
	case "show":
		p.cursor, err = x.show(significant(scan(st.text, dialectSQLite)))
	case "fetch":
		err = x.openFetch(p)
	default:
		p.cursor, err = x.open(st, p.arguments)
		if err == nil {
			x.useDescription(p)
			if st.returning {
				defaultToText(p.cursor.columns)
			}
			x.setRunning(p.cursor.cancel)
			err = p.cursor.describe()
			x.setRunning(nil)
		}
	}
	return err
}

// useDescription sets the types of the cursor's columns to those in the statement's description, which the
// client has.
func (x *session) useDescription(p *portal) {
	if len(p.statement.columns) != len(p.cursor.columns) {
		return
	}
	for i, c := range p.statement.columns {
		if c.oid != oidUnspecified {
			p.cursor.columns[i].oid = c.oid
		}
	}
}

// rowDescription returns the description of columns with their formats.
func rowDescription(columns []column, format func(int) int16) *pgproto3.RowDescription {
	fields := make([]pgproto3.FieldDescription, len(columns))
	for i, c := range columns {
		fields[i] = pgproto3.FieldDescription{
			Name: []byte(c.name), DataTypeOID: uint32(c.oid), DataTypeSize: c.oid.size(), TypeModifier: -1,
			Format: format(i),
		}
	}
	return &pgproto3.RowDescription{Fields: fields}
}

// perform executes a portal until its end or until maxRows rows, where zero stands for all rows.
func (x *session) perform(p *portal, maxRows uint32) error {
	st := p.statement
	if err := x.checkTransaction(st); err != nil {
		return err
	}
	if err := x.checkWriteTransaction(st); err != nil {
		return err
	}
	switch {
	case st.verb == "":
		x.backend.Send(&pgproto3.EmptyQueryResponse{})
		return nil
	case st.verb == "copy":
		return x.copyOut(st)
	case !st.returnsRows():
		perform := func() (string, error) { return x.command(st) }
		if st.writes() {
			perform = func() (string, error) { return x.write(p) }
		}
		tag, err := perform()
		if err == nil {
			x.backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
		}
		return err
	}
	if err := x.openPortal(p); err != nil {
		return err
	}
	return x.performRows(p, maxRows)
}

func (x *session) performRows(p *portal, maxRows uint32) error {
	limit := maxRows
	if limit == 0 {
		limit = math.MaxUint32
	}
	if p.shared {
		limit = min(limit, p.limit)
	}
	x.setRunning(p.cursor.cancel)
	n, ended, err := uint32(0), false, p.skipRows()
	if err == nil {
		n, ended, err = x.sendRows(p, limit)
	}
	x.setRunning(nil)
	p.limit -= min(n, p.limit)
	if err != nil {
		p.close()
		return err
	}
	if !ended && (!p.shared || p.limit > 0) {
		x.backend.Send(&pgproto3.PortalSuspended{})
		return nil
	}
	if !p.shared {
		p.cursor.close() // frees the connection to SQLite before the client reads the last rows
	}
	tag := "SELECT "
	switch p.statement.verb {
	case "show":
		tag = "SHOW"
	case "fetch":
		tag = "FETCH "
	case "explain":
		tag = "EXPLAIN"
	case "insert", "update", "delete", "replace":
		tag = writeTag(p.statement.verb, int64(n))
	}
	if tag[len(tag)-1] == ' ' {
		tag = fmt.Sprint(tag, n)
	}
	x.backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(tag)})
	return nil
}

// skipRows reads the rows that FETCH RELATIVE does not return.
func (p *portal) skipRows() error {
	for ; p.skip > 0; p.skip-- {
		if _, err := p.cursor.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// sendRows sends up to maxRows rows. It returns their number, and whether the query ended before maxRows.
func (x *session) sendRows(p *portal, maxRows uint32) (n uint32, ended bool, err error) {
	for n < maxRows {
		values, err := p.cursor.next()
		if err == io.EOF {
			return n, true, nil
		}
		if err != nil {
			return n, false, err
		}
		if err := x.sendRow(p, values); err != nil {
			return n, false, err
		}
		n++
	}
	return n, false, nil
}

func (x *session) sendRow(p *portal, values []any) (err error) {
	x.scratch, x.ends = x.scratch[:0], x.ends[:0]
	for i, value := range values {
		if value != nil {
			if x.scratch, err = appendValue(x.scratch, value, p.cursor.columns[i].oid,
				p.format(i)); err != nil {
				return err
			}
		}
		x.ends = append(x.ends, len(x.scratch))
	}
	x.row.Values = x.row.Values[:0]
	start := 0
	for i, end := range x.ends {
		// A slice of no bytes is an empty value. Only nil is NULL.
		value := x.scratch[start:end:end]
		if values[i] == nil {
			value = nil
		} else if value == nil {
			value = []byte{}
		}
		x.row.Values = append(x.row.Values, value)
		start = end
	}
	x.backend.Send(&x.row)
	return x.sent(len(x.scratch) + 4*len(values))
}

// sent counts bytes of a result that are in the buffer, and flushes the buffer when they are many.
func (x *session) sent(bytes int) error {
	x.pending += bytes
	if x.pending < flushBytes {
		return nil
	}
	return x.flush()
}
