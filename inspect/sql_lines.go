package inspect

import (
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
)

// sqlLines turns the rows of a statement into JSON lines.
type sqlLines struct {
	buffer []byte
	values []any // the values of a row
	into   []any // pointers to values
}

type sqlColumn struct {
	Name string `json:"name"`
	Type string `json:"type"` // as the database declares it; empty if unknown
}

// newSQLLines returns lines whose first line has the names and types of the columns.
func newSQLLines(types []*sql.ColumnType) (*sqlLines, error) {
	l := &sqlLines{values: make([]any, len(types)), into: make([]any, len(types))}
	columns := make([]sqlColumn, len(types))
	for i, t := range types {
		columns[i] = sqlColumn{t.Name(), t.DatabaseTypeName()}
		l.into[i] = &l.values[i]
	}
	return l, l.object(struct {
		Columns []sqlColumn `json:"columns"`
	}{columns})
}

// object adds a value as a line.
func (l *sqlLines) object(v any) error {
	text, err := json.Marshal(v)
	l.buffer = append(append(l.buffer, text...), '\n')
	return err
}

// row adds the line of the current row.
func (l *sqlLines) row(rows *sql.Rows) error {
	if err := rows.Scan(l.into...); err != nil {
		return err
	}
	l.buffer = append(l.buffer, '[')
	for i, v := range l.values {
		if i > 0 {
			l.buffer = append(l.buffer, ',')
		}
		l.buffer = appendSQLValue(l.buffer, v)
	}
	l.buffer = append(l.buffer, "]\n"...)
	return nil
}

// appendSQLValue appends a value of a row as JSON. Blobs, infinite floats, and integers beyond ±(2^53−1)
// become objects: JavaScript does not read larger integers exactly. A float is written with a decimal point
// or an exponent, so that it differs from an integer.
func appendSQLValue(b []byte, v any) []byte {
	const safe = 1<<53 - 1
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case int64:
		if v < -safe || v > safe {
			b = strconv.AppendInt(append(b, `{"integer":"`...), v, 10)
			return append(b, `"}`...)
		}
		return strconv.AppendInt(b, v, 10)
	case float64:
		return appendReal(b, v)
	case []byte:
		b = base64.StdEncoding.AppendEncode(append(b, `{"blob":"`...), v)
		return append(b, `"}`...)
	case string:
		return appendJSONText(b, v)
	case time.Time:
		return append(v.AppendFormat(append(b, '"'), time.RFC3339Nano), '"')
	}
	text, err := json.Marshal(v)
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, text...)
}

func appendReal(b []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(b, "null"...) // SQLite turns NaN into NULL
	case math.IsInf(v, 1):
		return append(b, `{"real":"Infinity"}`...)
	case math.IsInf(v, -1):
		return append(b, `{"real":"-Infinity"}`...)
	}
	from := len(b)
	b = strconv.AppendFloat(b, v, 'g', -1, 64)
	if !strings.ContainsAny(string(b[from:]), ".e") {
		b = append(b, ".0"...)
	}
	return b
}

func appendJSONText(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(text) // cannot fail: it replaces bytes that are not UTF-8
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
