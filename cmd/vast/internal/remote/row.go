package remote

import (
	"bytes"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// decodeRow decodes line, an array of values. The first byte of line must be '['. decodeRow is several
// times as fast as package encoding/json. A row must not have nested arrays: decodeRow refuses them without
// taking memory for them.
func decodeRow(line []byte, to []driver.Value) (err error) {
	rest := line[1:]
	for i := range to {
		if i > 0 {
			if rest = skipBlanks(rest); len(rest) == 0 || rest[0] != ',' {
				return fmt.Errorf("it has only %d of %d values", i, len(to))
			}
			rest = rest[1:]
		}
		if to[i], rest, err = decodeValue(skipBlanks(rest)); err != nil {
			return err
		}
	}
	if string(bytes.TrimRight(skipBlanks(rest), blanks)) != "]" {
		return fmt.Errorf("no ] follows value %d", len(to))
	}
	return nil
}

const blanks = " \t\r"

func skipBlanks(text []byte) []byte { return bytes.TrimLeft(text, blanks) }

// decodeValue decodes the value at the beginning of text, and returns the text after it.
func decodeValue(text []byte) (v driver.Value, rest []byte, err error) {
	if len(text) == 0 {
		return nil, nil, errors.New("a value is missing")
	}
	n := 0
	switch c := text[0]; {
	case c == '"':
		n, err = stringSize(text)
		if err == nil {
			v, err = decodeString(text[:n])
		}
	case c == '{':
		n = bytes.IndexByte(text, '}') + 1 // the values in objects have no braces
		v, err = decodeObject(text[:n])
	case c == '-' || '0' <= c && c <= '9':
		for n < len(text) && strings.IndexByte("+-.0123456789Ee", text[n]) >= 0 {
			n++
		}
		v, err = decodeNumber(string(text[:n]))
	default:
		for _, literal := range literals {
			if bytes.HasPrefix(text, []byte(literal.text)) {
				return literal.value, text[len(literal.text):], nil
			}
		}
		err = fmt.Errorf("%.20q is not a value", text)
	}
	return v, text[n:], err
}

var literals = []struct {
	text  string
	value driver.Value
}{{"null", nil}, {"true", true}, {"false", false}}

// stringSize returns the size in bytes, with both quotes, of the string at the beginning of text.
func stringSize(text []byte) (int, error) {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1, nil
		case '\\':
			i++
		}
	}
	return 0, errors.New("a string has no closing quote")
}

func decodeString(quoted []byte) (v driver.Value, err error) {
	plain := quoted[1 : len(quoted)-1]
	for _, c := range plain {
		if c < ' ' || c > '~' || c == '\\' {
			var text string
			err := json.Unmarshal(quoted, &text)
			return text, err
		}
	}
	return string(plain), nil
}

// decodeNumber decodes a number. A number with a point or an exponent is a float, and any other number is an
// integer.
func decodeNumber(text string) (driver.Value, error) {
	if !strings.ContainsAny(text, ".Ee") {
		return strconv.ParseInt(text, 10, 64)
	}
	return strconv.ParseFloat(text, 64)
}

// decodeObject decodes an object, which stands for a blob, an infinity, or an integer that needs more than 53
// bits. JSON has no blobs and no infinities, and JavaScript does not read larger integers exactly.
func decodeObject(text []byte) (driver.Value, error) {
	var o struct {
		Integer *string
		Real    *string
		Blob    *[]byte
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, err
	}
	switch {
	case o.Integer != nil:
		return strconv.ParseInt(*o.Integer, 10, 64)
	case o.Blob != nil:
		return *o.Blob, nil
	case o.Real != nil && *o.Real == "Infinity":
		return math.Inf(1), nil
	case o.Real != nil && *o.Real == "-Infinity":
		return math.Inf(-1), nil
	}
	return nil, fmt.Errorf("%.40q is not a value", text)
}
