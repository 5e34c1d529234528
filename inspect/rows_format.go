package inspect

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/vastgo/vast"
)

// jsonRows writes one object, {"rows": […]}. Its rows have the same format as the rows of GET entities.
type jsonRows struct {
	buffer bytes.Buffer
	some   bool
}

func (j *jsonRows) contentType() string { return "application/json" }

func (j *jsonRows) begin(*rowReader) { j.buffer.WriteString(`{"rows":[`) }

func (j *jsonRows) row(r *rowReader, one *row) {
	if j.some {
		j.buffer.WriteByte(',')
	}
	j.some = true
	text, _ := json.Marshal(r.answer(one)) // cannot fail: strings, a number and a bool
	j.buffer.Write(text)
}

func (j *jsonRows) end(err error) bool {
	j.buffer.WriteString("]}")
	return err == nil
}

func (j *jsonRows) bytes() []byte { return taken(&j.buffer) }

// taken empties a buffer and returns its content, which is valid until the next write.
func taken(b *bytes.Buffer) []byte {
	text := b.Bytes()
	b.Reset()
	return text
}

// lineRows writes an object for each row: {"id": …, "name": …, "values": {column: value}}. The value of a
// component with fields is an object whose keys are the paths of the fields. The value of a tag is true. The
// value of a relation is the ID of the target. If the search fails, the last line is {"error": …}.
type lineRows struct {
	buffer bytes.Buffer
}

func (l *lineRows) contentType() string { return "application/x-ndjson" }

func (l *lineRows) begin(*rowReader) {}

func (l *lineRows) row(r *rowReader, one *row) {
	l.buffer.WriteString(`{"id":"` + one.entity.String() + `","name":`)
	l.json(one.name)
	l.buffer.WriteString(`,"values":{`)
	some := false
	for i := range one.cells {
		if !one.cells[i].has {
			continue
		}
		if some {
			l.buffer.WriteByte(',')
		}
		some = true
		c := &r.shown[i]
		l.json(c.Name)
		l.buffer.WriteByte(':')
		l.value(c, c.all(&one.cells[i]))
	}
	l.buffer.WriteString("}}\n")
}

func (l *lineRows) value(c *shownColumn, all []any) {
	if c.Part != nil || c.typ == nil || len(all) == 1 && c.parts[0].Path == "" {
		l.json(plainJSON(all[0]))
		return
	}
	l.buffer.WriteByte('{')
	for i, v := range all {
		if i > 0 {
			l.buffer.WriteByte(',')
		}
		l.json(c.parts[i].Path)
		l.buffer.WriteByte(':')
		l.json(plainJSON(v))
	}
	l.buffer.WriteByte('}')
}

func (l *lineRows) json(v any) {
	text, _ := json.Marshal(v) // cannot fail: numbers, bools and strings
	l.buffer.Write(text)
}

func (l *lineRows) end(err error) bool {
	if err != nil {
		text, _ := json.Marshal(struct {
			Error *problem `json:"error"`
		}{problemOf(err)})
		l.buffer.Write(append(text, '\n'))
	}
	return true
}

func (l *lineRows) bytes() []byte { return taken(&l.buffer) }

// plainJSON turns entities, and numbers that JSON or JavaScript cannot hold exactly, into strings.
func plainJSON(v any) any {
	const safe = 1 << 53 // JavaScript holds all integers up to this size exactly
	switch v := v.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return floatText(v, 64)
		}
	case float32:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return floatText(f, 32)
		}
	case int64:
		if v < -safe || v > safe {
			return strconv.FormatInt(v, 10)
		}
	case uint64:
		if v > safe {
			return strconv.FormatUint(v, 10)
		}
	case vast.Entity:
		return entityText(v)
	}
	return v
}

func entityText(e vast.Entity) string {
	if e.IsZero() {
		return ""
	}
	return e.String()
}

func floatText(f float64, bits int) string { return strconv.FormatFloat(f, 'g', -1, bits) }

// csvRows writes a table with a header line. Each field of a component has a column.
type csvRows struct {
	buffer bytes.Buffer
	out    *csv.Writer
	line   []string
}

func newCSVRows() *csvRows {
	c := &csvRows{}
	c.out = csv.NewWriter(&c.buffer)
	return c
}

func (c *csvRows) contentType() string { return "text/csv; charset=utf-8" }

func (c *csvRows) row(r *rowReader, one *row) {
	c.line = append(c.line[:0], one.entity.String(), safeText(one.name))
	for i := range one.cells {
		column := &r.shown[i]
		if !one.cells[i].has {
			for range column.width() {
				c.line = append(c.line, "")
			}
			continue
		}
		for _, v := range column.all(&one.cells[i]) {
			c.line = append(c.line, csvText(v))
		}
	}
	_ = c.out.Write(c.line) // cannot fail: it writes to memory
}

func (c *csvRows) begin(r *rowReader) {
	c.line = append(c.line[:0], "id", "name")
	for i := range r.shown {
		column := &r.shown[i]
		if column.Part != nil || column.typ == nil {
			c.line = append(c.line, safeText(column.Name))
			continue
		}
		for _, p := range column.parts {
			c.line = append(c.line, safeText(strings.TrimSuffix(column.Name+"."+p.Path, ".")))
		}
	}
	_ = c.out.Write(c.line)
}

// width returns the number of table columns that c needs.
func (c *shownColumn) width() int {
	if c.typ == nil {
		return 1
	}
	return len(c.parts)
}

func (c *csvRows) end(err error) bool { return err == nil }

func (c *csvRows) bytes() []byte {
	c.out.Flush()
	return taken(&c.buffer)
}

func csvText(v any) string {
	switch v := v.(type) {
	case float64:
		return floatText(v, 64)
	case float32:
		return floatText(float64(v), 32)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case bool:
		return strconv.FormatBool(v)
	case vast.Entity:
		return entityText(v)
	case string:
		return safeText(v)
	}
	return ""
}

// safeText changes a text that a spreadsheet would read as a formula: see OWASP, "CSV Injection".
func safeText(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
