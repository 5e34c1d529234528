package postgres

import (
	"fmt"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// A copyStatement is a COPY … TO STDOUT statement.
type copyStatement struct {
	query     string
	csv       bool
	header    bool
	delimiter byte
	quote     byte
	escape    byte
	null      string
	forced    bool // quote all values
}

var errCopySyntax = failWithHint(codeSyntax, "malformed COPY",
	"Write COPY (SELECT …) TO STDOUT WITH (FORMAT csv, HEADER).")

// parseCopy reads COPY (query) TO STDOUT, or COPY table [(columns)] TO STDOUT, with options in the form WITH
// (FORMAT csv), or in the older form without parentheses.
func parseCopy(text string) (*copyStatement, error) {
	c := &copyStatement{}
	tokens := scan(text, dialectSQLite)
	at := nextSignificant(tokens, nextSignificant(tokens, 0)+1)
	if at >= len(tokens) {
		return c, errCopySyntax
	}
	if tokens[at].is("(") {
		end := closing(tokens, at)
		c.query = joinTokens(trimTokens(tokens[at+1 : max(at+1, min(end, len(tokens)))]))
		tokens = significant(tokens[min(end+1, len(tokens)):])
	} else {
		tokens = c.parseTable(significant(tokens[at:]))
	}
	switch {
	case len(tokens) > 0 && tokens[0].is("from"):
		return c, failWithHint(codeReadOnly, "cannot execute COPY FROM in a read-only transaction",
			"The server takes no rows from COPY. Send INSERT, if the server is not read-only.")
	case len(tokens) < 2 || !tokens[0].is("to") || c.query == "":
		return c, errCopySyntax
	case !tokens[1].is("stdout"):
		return c, failWithHint(codeNotSupported, "COPY only writes to the client",
			"Write COPY (SELECT …) TO STDOUT.")
	}
	return c, c.parseOptions(tokens[2:])
}

// parseTable reads a name and a list of columns, and returns the tokens after them.
func (c *copyStatement) parseTable(tokens []token) []token {
	at := 0
	for at < len(tokens) && !tokens[at].is("to") && !tokens[at].is("from") && !tokens[at].is("(") {
		at++
	}
	columns, end := "*", at
	if at < len(tokens) && tokens[at].is("(") {
		end = min(closing(tokens, at)+1, len(tokens))
		columns = joinTokens(tokens[at+1 : max(at+1, end-1)])
	}
	if at > 0 {
		c.query = "SELECT " + columns + " FROM " + joinTokens(tokens[:at])
	}
	return tokens[end:]
}

func (c *copyStatement) parseOptions(tokens []token) error {
	c.quote, c.escape = '"', 0
	null, hasNull := "", false
	for i := 0; i < len(tokens); i++ {
		// value returns the text that follows, after the optional word AS.
		value := func() (string, bool) {
			if i+1 < len(tokens) && tokens[i+1].is("as") {
				i++
			}
			if i+1 < len(tokens) && (tokens[i+1].kind == tokenString || tokens[i+1].isName()) {
				i++
				if tokens[i].kind == tokenString {
					return stringValue(tokens[i]), true
				}
				return tokens[i].name(), true
			}
			return "", false
		}
		var text string
		ok := true
		switch t := tokens[i]; t.name() {
		case "with", "as":
		case "csv":
			c.csv = true
		case "format":
			text, ok = value()
			c.csv = text == "csv"
			ok = ok && (text == "csv" || text == "text")
		case "header":
			c.header = true
			if i+1 < len(tokens) && (tokens[i+1].isName() || tokens[i+1].kind == tokenNumber) {
				if on, err := parseBool(tokens[i+1].text); err == nil {
					c.header = on
					i++
				}
			}
		case "delimiter", "delimiters":
			text, ok = value()
			ok = ok && len(text) == 1
			if ok {
				c.delimiter = text[0]
			}
		case "quote", "escape":
			name := t.name()
			text, ok = value()
			ok = ok && len(text) == 1
			if ok && name == "quote" {
				c.quote = text[0]
			} else if ok {
				c.escape = text[0]
			}
		case "null":
			null, ok = value()
			hasNull = true
		case "force_quote":
			c.forced = true
		case "force":
			c.forced = true
			i++
		case "encoding":
			text, ok = value()
			ok = ok && isUTF8(text)
		default:
			ok = t.is("(") || t.is(")") || t.is(",") || t.is("*")
		}
		if !ok {
			return failWithHint(codeNotSupported, "unsupported option of COPY near "+tokens[min(i,
				len(tokens)-1)].text,
				"Use FORMAT csv or text, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, FORCE_QUOTE *, "+
					"ENCODING utf8.")
		}
	}
	c.setDefaults(null, hasNull)
	return nil
}

func (c *copyStatement) setDefaults(null string, hasNull bool) {
	c.null = null
	if !hasNull && !c.csv {
		c.null = `\N`
	}
	if c.delimiter == 0 {
		c.delimiter = '\t'
		if c.csv {
			c.delimiter = ','
		}
	}
	if c.escape == 0 {
		c.escape = c.quote
	}
}

// copyOut sends the rows of a COPY statement.
func (x *session) copyOut(st *statement) error {
	c, err := parseCopy(st.text)
	if err != nil {
		return err
	}
	inner := newStatement(c.query)
	if err := x.check(inner); err != nil {
		return err
	}
	if !inner.isQuery() {
		return errCopySyntax
	}
	cursor, err := x.open(inner, nil)
	if err != nil {
		return err
	}
	defer cursor.close()
	x.setRunning(cursor.cancel)
	defer x.setRunning(nil)
	if err := cursor.describe(); err != nil {
		return err
	}
	x.backend.Send(&pgproto3.CopyOutResponse{ColumnFormatCodes: make([]uint16, len(cursor.columns))})
	n, err := x.copyRows(c, cursor)
	if err != nil {
		return err
	}
	x.backend.Send(&pgproto3.CopyDone{})
	x.backend.Send(&pgproto3.CommandComplete{CommandTag: fmt.Append(nil, "COPY ", n)})
	return nil
}

func (x *session) copyRows(c *copyStatement, cursor *cursor) (n int, err error) {
	if c.header {
		line := x.scratch[:0]
		for i, column := range cursor.columns {
			line = c.appendField(line, i, []byte(column.name), len(cursor.columns))
		}
		x.scratch = line
		if err := x.sendLine(line); err != nil {
			return 0, err
		}
	}
	var field []byte
	for {
		values, err := cursor.next()
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		line := x.scratch[:0]
		for i, value := range values {
			if value == nil {
				line = append(c.appendDelimiter(line, i), c.null...)
				continue
			}
			if field, err = appendValue(field[:0], value, cursor.columns[i].oid, formatText); err != nil {
				return n, err
			}
			line = c.appendField(line, i, field, len(values))
		}
		x.scratch = line
		if err := x.sendLine(line); err != nil {
			return n, err
		}
		n++
	}
}

func (x *session) sendLine(line []byte) error {
	x.scratch = append(line, '\n')
	x.backend.Send(&pgproto3.CopyData{Data: x.scratch})
	return x.sent(len(x.scratch))
}

func (c *copyStatement) appendDelimiter(line []byte, i int) []byte {
	if i > 0 {
		line = append(line, c.delimiter)
	}
	return line
}

// appendField appends a value that is not NULL.
func (c *copyStatement) appendField(line []byte, i int, field []byte, count int) []byte {
	line = c.appendDelimiter(line, i)
	if !c.csv {
		return c.appendEscaped(line, field)
	}
	text := string(field)
	special := string([]byte{c.delimiter, c.quote, '\n', '\r'})
	if !c.forced && text != c.null && !strings.ContainsAny(text, special) && !(count == 1 && text == `\.`) {
		return append(line, field...)
	}
	line = append(line, c.quote)
	for _, b := range field {
		if b == c.quote || b == c.escape {
			line = append(line, c.escape)
		}
		line = append(line, b)
	}
	return append(line, c.quote)
}

// appendEscaped appends a value in the text format. The control characters \b, \f, \n, \r, \t and \v become a
// backslash and a letter. A backslash comes before a backslash and before the delimiter.
func (c *copyStatement) appendEscaped(line, field []byte) []byte {
	for _, b := range field {
		switch at := strings.IndexByte("\b\f\n\r\t\v", b); {
		case at >= 0:
			line = append(line, '\\', "bfnrtv"[at])
		case b == '\\' || b == c.delimiter:
			line = append(line, '\\', b)
		default:
			line = append(line, b)
		}
	}
	return line
}
