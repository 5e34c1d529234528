package vastarrow

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// textWriter writes CSV or JSON lines.
type textWriter struct {
	w      *bufio.Writer
	json   bool
	before [][]byte // for each column, the text before its value: a comma or brace, and for JSON the name
	line   []byte
}

// appender appends a value of a column as text.
type appender func(b []byte, row int) []byte

func newTextWriter(w io.Writer, schema *arrow.Schema, json bool) (*textWriter, error) {
	t := &textWriter{w: bufio.NewWriterSize(w, 64<<10), json: json}
	var header []byte
	for i, f := range schema.Fields() {
		if err := writable(f); err != nil {
			return nil, err
		}
		var before []byte
		switch {
		case json && i == 0:
			before = append(appendJSONText([]byte{'{'}, f.Name), ':')
		case json:
			before = append(appendJSONText([]byte{','}, f.Name), ':')
		case i > 0:
			before = []byte{','}
		}
		t.before = append(t.before, before)
		if i > 0 {
			header = append(header, ',')
		}
		header = appendCSVText(header, f.Name)
	}
	if json {
		return t, nil
	}
	_, err := t.w.Write(append(header, '\n'))
	return t, err
}

// writable returns an error if Parquet, CSV and JSON lines cannot hold a column of a source.
func writable(f arrow.Field) error {
	t := f.Type
	if list, ok := t.(*arrow.FixedSizeListType); ok {
		t = list.Elem()
	}
	switch t.ID() {
	case arrow.BOOL, arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16,
		arrow.UINT32, arrow.UINT64, arrow.FLOAT32, arrow.FLOAT64, arrow.STRING, arrow.BINARY, arrow.TIMESTAMP:
		return nil
	}
	return fmt.Errorf("vastarrow: column %q has the type %s, which only Arrow files can hold: convert the "+
		"column, or "+
		"write an Arrow file", f.Name, f.Type)
}

func (t *textWriter) Write(r arrow.RecordBatch) error {
	columns := make([]appender, r.NumCols())
	for i := range columns {
		columns[i] = t.appender(r.Column(i))
	}
	for row := range int(r.NumRows()) {
		b := t.line[:0]
		for i, column := range columns {
			b = append(b, t.before[i]...)
			if r.Column(i).IsValid(row) {
				b = column(b, row)
			} else if t.json {
				b = append(b, "null"...)
			} else if len(columns) == 1 {
				b = append(b, `""`...) // readers skip empty lines
			}
		}
		if t.json {
			if len(columns) == 0 {
				b = append(b, '{')
			}
			b = append(b, '}')
		}
		t.line = append(b, '\n')
		if _, err := t.w.Write(t.line); err != nil {
			return err
		}
	}
	return nil
}

func (t *textWriter) Close() error { return t.w.Flush() }

// appender returns the appender of an array. Each type gets a closure of its own, because a switch for each
// value would cost more than the conversion of a small number.
func (t *textWriter) appender(a arrow.Array) appender {
	switch a := a.(type) {
	case *array.Boolean:
		return func(b []byte, i int) []byte { return strconv.AppendBool(b, a.Value(i)) }
	case *array.Int8:
		return appendInts(a.Values())
	case *array.Int16:
		return appendInts(a.Values())
	case *array.Int32:
		return appendInts(a.Values())
	case *array.Int64:
		return appendInts(a.Values())
	case *array.Uint8:
		return appendUints(a.Values())
	case *array.Uint16:
		return appendUints(a.Values())
	case *array.Uint32:
		return appendUints(a.Values())
	case *array.Uint64:
		return appendUints(a.Values())
	case *array.Float32:
		return t.floats(32, func(i int) float64 { return float64(a.Value(i)) })
	case *array.Float64:
		return t.floats(64, a.Value)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return t.texts(func(i int) string { return a.Value(i).ToTime(unit).UTC().Format(time.RFC3339Nano) })
	case *array.String:
		return t.texts(a.Value)
	case *array.Binary:
		return t.texts(func(i int) string { return base64.StdEncoding.EncodeToString(a.Value(i)) })
	case *array.FixedSizeList:
		inner := textWriter{json: true}
		return t.list(a, inner.appender(a.ListValues()))
	}
	panic("vastarrow: unreachable: writable accepted the type " + a.DataType().String())
}

func appendInts[T int8 | int16 | int32 | int64](v []T) appender {
	return func(b []byte, i int) []byte { return strconv.AppendInt(b, int64(v[i]), 10) }
}

func appendUints[T uint8 | uint16 | uint32 | uint64](v []T) appender {
	return func(b []byte, i int) []byte { return strconv.AppendUint(b, uint64(v[i]), 10) }
}

func (t *textWriter) floats(bits int, value func(int) float64) appender {
	return func(b []byte, i int) []byte {
		v := value(i)
		name := ""
		switch {
		case math.IsNaN(v):
			name = "NaN"
		case math.IsInf(v, 1):
			name = "Infinity"
		case math.IsInf(v, -1):
			name = "-Infinity"
		default:
			return strconv.AppendFloat(b, v, 'g', -1, bits)
		}
		if t.json {
			return append(append(append(b, '"'), name...), '"')
		}
		return append(b, name...)
	}
}

func (t *textWriter) texts(value func(int) string) appender {
	if t.json {
		return func(b []byte, i int) []byte { return appendJSONText(b, value(i)) }
	}
	return func(b []byte, i int) []byte { return appendCSVText(b, value(i)) }
}

// list returns the appender of an array of lists. A list becomes a JSON array, which has quotes around it in
// CSV.
func (t *textWriter) list(a *array.FixedSizeList, value appender) appender {
	values := a.ListValues()
	return func(b []byte, row int) []byte {
		if !t.json {
			b = append(b, '"')
		}
		start := len(b)
		b = append(b, '[')
		first, end := a.ValueOffsets(row)
		for i := first; i < end; i++ {
			if i > first {
				b = append(b, ',')
			}
			if values.IsValid(int(i)) {
				b = value(b, int(i))
			} else {
				b = append(b, "null"...)
			}
		}
		b = append(b, ']')
		if t.json {
			return b
		}
		if bytes.IndexByte(b[start:], '"') >= 0 { // a text such as "NaN"
			text := strings.ReplaceAll(string(b[start:]), `"`, `""`)
			b = append(b[:start], text...)
		}
		return append(b, '"')
	}
}

func appendJSONText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			text, _ := json.Marshal(s) // returns no error for a string
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}

// appendCSVText appends a field of RFC 4180. An empty text gets quotes, because an empty field without quotes
// is an absent value.
func appendCSVText(b []byte, s string) []byte {
	if s != "" && s[0] != ' ' && s[len(s)-1] != ' ' && !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}
