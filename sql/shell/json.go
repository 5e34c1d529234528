package shell

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonRows writes rows as JSON objects, one a line.
type jsonRows struct {
	out    *bufio.Writer
	array  bool // whether the objects are the elements of one array
	keys   [][]byte
	rows   int64
	object []byte // reused
}

func newJSON(out *bufio.Writer, array bool, head []string) *jsonRows {
	j := &jsonRows{out: out, array: array}
	taken := make(map[string]bool, len(head))
	for _, name := range head {
		taken[name] = true
	}
	seen := make(map[string]bool, len(head))
	for _, name := range head {
		key := name
		for i := 1; seen[key] || key != name && taken[key]; i++ {
			key = name + ":" + strconv.Itoa(i)
		}
		seen[key] = true
		j.keys = append(j.keys, append(appendText(nil, key), ':'))
	}
	return j
}

func (j *jsonRows) row(values []any) error {
	b := j.object[:0]
	if j.array {
		if j.rows == 0 {
			b = append(b, "[\n"...)
		} else {
			b = append(b, ",\n"...)
		}
	}
	j.rows++
	b = append(b, '{')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, j.keys[i]...)
		b = appendValue(b, v)
	}
	b = append(b, '}')
	if !j.array {
		b = append(b, '\n')
	}
	j.object = b
	_, err := j.out.Write(b)
	return err
}

func (j *jsonRows) flush() error { return j.out.Flush() }

func (j *jsonRows) end() error {
	if !j.array {
		return nil
	}
	text := "\n]\n"
	if j.rows == 0 {
		text = "[]\n"
	}
	_, err := j.out.WriteString(text)
	return err
}

// appendValue appends a value of a result as JSON.
func appendValue(b []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...)
	case int64:
		return strconv.AppendInt(b, v, 10)
	case bool:
		return strconv.AppendBool(b, v)
	case float64:
		switch {
		case math.IsInf(v, 1):
			return append(b, "9e999"...)
		case math.IsInf(v, -1):
			return append(b, "-9e999"...)
		case math.IsNaN(v):
			return append(b, "null"...)
		}
		return append(b, number(v)...)
	case []byte:
		b = append(b, '"')
		b = base64.StdEncoding.AppendEncode(b, v)
		return append(b, '"')
	}
	return appendText(b, plain(value))
}

// appendText appends text as a JSON string, with escapes for the characters that are not safe to print on a
// terminal. An invalid byte becomes U+FFFD.
func appendText(b []byte, text string) []byte {
	if printableASCII(text) && !strings.ContainsAny(text, `"\`) {
		return append(append(append(b, '"'), text...), '"')
	}
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic("shell: a string has no JSON form: " + err.Error()) // each string has one
	}
	// The encoder leaves some unsafe characters, such as U+007F, without an escape.
	for line := bytes.TrimSuffix(encoded.Bytes(), []byte{'\n'}); len(line) > 0; {
		r, size := utf8.DecodeRune(line)
		line = line[size:]
		switch {
		case r < utf8.RuneSelf && r != 0x7f:
			b = append(b, byte(r))
		case !unsafeRune(r):
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			b = fmt.Appendf(b, `\u%04x\u%04x`, high, low)
		default:
			b = fmt.Appendf(b, `\u%04x`, r)
		}
	}
	return b
}
