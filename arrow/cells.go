package vastarrow

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// cells are the values of one leaf in the rows that Read has read and for which it has made no entities
// yet.
type cells struct {
	leaf
	data  []byte   // values as in memory, but entities as IDs, times as nanoseconds; nil for texts and JSON
	texts []string // texts and JSON; nil for other leaves
	set   []bool   // for each row, whether it has a value; a number that did not fit counts as the value 0
	found bool     // whether the file has the column
}

func newCells(l leaf, rows int) *cells {
	c := &cells{leaf: l, set: make([]bool, rows)}
	if n := l.size(); n > 0 {
		c.data = make([]byte, rows*n)
	} else {
		c.texts = make([]string, rows)
	}
	return c
}

// clear makes the rows [0, rows) null.
func (c *cells) clear(rows int) {
	clear(c.data[:rows*c.size()])
	clear(c.texts[:min(rows, len(c.texts))])
	clear(c.set[:rows])
}

func (c *cells) row(row int) []byte { return c.data[row*c.size() : (row+1)*c.size()] }

// at returns the address of value i of a row. The address is aligned: the length of data is a multiple of the
// size of a value, so Go aligns the start of data for such values. The distance from the start to value i is
// also a multiple of this size.
func (c *cells) at(row, i int) unsafe.Pointer {
	size := c.kind.size()
	return unsafe.Pointer(&c.data[row*c.size()+i*size : row*c.size()+i*size+size][0])
}

func (c *cells) outOfRange(text string) error {
	return fmt.Errorf("%s is out of the range of %s", text, kindTypes[c.kind])
}

func (c *cells) wrongType(what string) error {
	return fmt.Errorf("%s does not fit into %s", what, kindTypes[c.kind])
}

func store[T any](p unsafe.Pointer, v T) { *(*T)(p) = v }

// setInt stores v as value i of a row, and returns an error if v does not fit. The other setters do the same
// for values of other types.
func (c *cells) setInt(row, i int, v int64) error {
	fits := true
	switch c.kind {
	case kindBool:
		if fits = v == 0 || v == 1; fits {
			store(c.at(row, i), v == 1)
		}
	case kindInt8:
		if fits = v == int64(int8(v)); fits {
			store(c.at(row, i), int8(v))
		}
	case kindInt16:
		if fits = v == int64(int16(v)); fits {
			store(c.at(row, i), int16(v))
		}
	case kindInt32:
		if fits = v == int64(int32(v)); fits {
			store(c.at(row, i), int32(v))
		}
	case kindInt64:
		store(c.at(row, i), v)
	case kindFloat32:
		if fits = int64(float32(v)) == v && v != math.MaxInt64; fits {
			store(c.at(row, i), float32(v))
		}
	case kindFloat64:
		if fits = int64(float64(v)) == v && v != math.MaxInt64; fits {
			store(c.at(row, i), float64(v))
		}
	case kindUint8, kindUint16, kindUint32, kindUint64, kindEntity:
		if fits = v >= 0; fits {
			return c.setUint(row, i, uint64(v))
		}
	default:
		return c.setText(row, strconv.FormatInt(v, 10))
	}
	if !fits {
		return c.outOfRange(strconv.FormatInt(v, 10))
	}
	return nil
}

func (c *cells) setUint(row, i int, v uint64) error {
	fits := true
	switch c.kind {
	case kindUint8:
		if fits = v == uint64(uint8(v)); fits {
			store(c.at(row, i), uint8(v))
		}
	case kindUint16:
		if fits = v == uint64(uint16(v)); fits {
			store(c.at(row, i), uint16(v))
		}
	case kindUint32:
		if fits = v == uint64(uint32(v)); fits {
			store(c.at(row, i), uint32(v))
		}
	case kindUint64, kindEntity:
		store(c.at(row, i), v)
	case kindText, kindJSON, kindTime:
		return c.setText(row, strconv.FormatUint(v, 10))
	case kindFloat32:
		if fits = uint64(float32(v)) == v && v != math.MaxUint64; fits {
			store(c.at(row, i), float32(v))
		}
	case kindFloat64:
		if fits = uint64(float64(v)) == v && v != math.MaxUint64; fits {
			store(c.at(row, i), float64(v))
		}
	default:
		if fits = v <= math.MaxInt64; fits {
			return c.setInt(row, i, int64(v))
		}
	}
	if !fits {
		return c.outOfRange(strconv.FormatUint(v, 10))
	}
	return nil
}

func (c *cells) setFloat(row, i int, v float64) error {
	switch c.kind {
	case kindFloat32:
		if f := float32(v); math.IsInf(float64(f), 0) && !math.IsInf(v, 0) {
			return c.outOfRange(strconv.FormatFloat(v, 'g', -1, 64))
		}
		store(c.at(row, i), float32(v))
		return nil
	case kindFloat64:
		store(c.at(row, i), v)
		return nil
	case kindText, kindJSON, kindTime:
		return c.setText(row, strconv.FormatFloat(v, 'g', -1, 64))
	}
	switch {
	case v != math.Trunc(v): // a fraction or NaN
		return c.wrongType(strconv.FormatFloat(v, 'g', -1, 64))
	case v >= -1<<63 && v < 1<<63:
		return c.setInt(row, i, int64(v))
	case v >= 1<<63 && v < 1<<64:
		return c.setUint(row, i, uint64(v))
	}
	return c.outOfRange(strconv.FormatFloat(v, 'g', -1, 64))
}

func (c *cells) setBool(row, i int, v bool) error {
	switch c.kind {
	case kindBool:
		store(c.at(row, i), v)
		return nil
	case kindText, kindJSON:
		return c.setText(row, strconv.FormatBool(v))
	}
	return c.wrongType(strconv.FormatBool(v))
}

// setText stores the value of a row from its text, which is a JSON array for a leaf with several values.
func (c *cells) setText(row int, text string) error {
	if c.count > 0 {
		return c.setArray(row, text)
	}
	return c.setOne(row, 0, text)
}

func (c *cells) setOne(row, i int, text string) error {
	switch c.kind {
	case kindText:
		c.texts[row] = strings.Clone(text)
		return nil
	case kindJSON:
		if !json.Valid([]byte(text)) {
			return errors.New(strconv.Quote(shorten(text)) + " is not JSON")
		}
		c.texts[row] = strings.Clone(text)
		return nil
	case kindBool:
		v, err := strconv.ParseBool(text)
		if err != nil {
			return c.wrongType(strconv.Quote(shorten(text)))
		}
		store(c.at(row, i), v)
		return nil
	case kindTime:
		t, err := parseTime(text)
		if err != nil {
			return fmt.Errorf("%q is not a time such as 2006-01-02T15:04:05Z", shorten(text))
		}
		return c.setTime(row, t)
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil && c.kind != kindFloat32 &&
		c.kind != kindFloat64 {
		return c.setInt(row, i, v)
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil && c.kind != kindFloat32 &&
		c.kind != kindFloat64 {
		return c.setUint(row, i, v)
	}
	v, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return c.outOfRange(shorten(text))
	case err != nil:
		return c.wrongType(strconv.Quote(shorten(text)))
	}
	return c.setFloat(row, i, v)
}

func parseTime(text string) (t time.Time, err error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00",
		"2006-01-02 15:04:05.999999999Z07", time.DateTime, time.DateOnly} {
		if t, err = time.Parse(layout, text); err == nil {
			break
		}
	}
	return t, err
}

func (c *cells) setTime(row int, t time.Time) error {
	switch c.kind {
	case kindTime:
		if t.Before(firstTime) || t.After(lastTime) {
			return c.outOfRange(t.Format(time.RFC3339))
		}
		store(c.at(row, 0), t.UnixNano())
		return nil
	case kindText:
		c.texts[row] = t.UTC().Format(time.RFC3339Nano)
		return nil
	}
	return c.wrongType("a time")
}

// setArray stores the values of a row from a JSON array.
func (c *cells) setArray(row int, text string) error {
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(text), &values); err != nil {
		return fmt.Errorf("%q is not a list such as [1,2]", shorten(text))
	}
	if err := c.length(len(values)); err != nil {
		return err
	}
	for i, v := range values {
		text := string(v)
		if v[0] == '"' { // NaN and infinities are texts
			if err := json.Unmarshal(v, &text); err != nil {
				return err
			}
		}
		if err := c.setOne(row, i, text); err != nil {
			return err
		}
	}
	return nil
}

// length returns an error unless the leaf has n values.
func (c *cells) length(n int) error {
	if c.count > 0 && n == c.count {
		return nil
	}
	if c.count == 0 {
		return fmt.Errorf("a list of %d values does not fit into one value", n)
	}
	return fmt.Errorf("the list has %d values, and the field has %d", n, c.count)
}
