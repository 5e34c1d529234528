package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText is a valid JSON text and a position in the text.
type jsonText struct {
	b  []byte
	at int
}

// newJSONText reads src up to its end. If the text is not JSON or not UTF-8, the error names the line.
func newJSONText(src io.Reader) (*jsonText, error) {
	b, err := io.ReadAll(src)
	if err != nil {
		return nil, err
	}
	t := &jsonText{b: b}
	if !json.Valid(b) {
		err := json.Unmarshal(b, new(json.RawMessage))
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return nil, t.errorf(max(int(syntax.Offset)-1, 0), "the document is not JSON: %w", err)
		}
		return nil, err
	}
	if !utf8.Valid(b) {
		at := 0
		for at < len(b) {
			r, n := utf8.DecodeRune(b[at:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return nil, t.errorf(at, "the document is not UTF-8")
	}
	return t, nil
}

// errorf returns an error that begins with the line and the column of a position.
func (t *jsonText) errorf(at int, format string, args ...any) error {
	before := t.b[:min(at, len(t.b))]
	line, start := 1+bytes.Count(before, []byte{'\n'}), bytes.LastIndexByte(before, '\n')+1
	return fmt.Errorf("line %d, column %d: %w", line, 1+utf8.RuneCount(before[start:]),
		fmt.Errorf(format, args...))
}

// next moves to the beginning of the next token and returns its first byte, or 0 at the end of the text. A
// colon does not count as a token.
func (t *jsonText) next() byte {
	for t.at < len(t.b) {
		switch c := t.b[t.at]; c {
		case ' ', '\t', '\r', '\n', ':':
			t.at++
		default:
			return c
		}
	}
	return 0
}

// open enters an object or a list. The position must be at the opening bracket: call next before open.
func (t *jsonText) open() { t.at++ }

// more moves to the next member of an object or to the next element of a list. After the last one, more moves
// past the closing bracket and returns false.
func (t *jsonText) more() bool {
	switch t.next() {
	case ',':
		t.at++
		t.next()
		return true
	case '}', ']':
		t.at++
		return false
	}
	return true
}

// skip consumes a value and returns its text.
func (t *jsonText) skip() []byte {
	t.next()
	start, depth := t.at, 0
	for {
		switch t.next() {
		case '{', '[':
			depth++
			t.at++
		case '}', ']':
			depth--
			t.at++
		case ',':
			t.at++
		case '"':
			t.quoted()
		default:
			t.word()
		}
		if depth == 0 {
			return t.b[start:t.at]
		}
	}
}

// quoted consumes a string. It returns the bytes between the quotes, and whether the string has escapes.
func (t *jsonText) quoted() (raw []byte, escaped bool) {
	t.at++
	start := t.at
	for t.b[t.at] != '"' {
		if t.b[t.at] == '\\' {
			escaped = true
			t.at++
		}
		t.at++
	}
	t.at++
	return t.b[start : t.at-1], escaped
}

// word consumes a number, true, false or null, and returns its text.
func (t *jsonText) word() []byte {
	start := t.at
	for t.at < len(t.b) {
		switch t.b[t.at] {
		case ' ', '\t', '\r', '\n', ',', '}', ']':
			return t.b[start:t.at]
		}
		t.at++
	}
	return t.b[start:]
}

// null consumes the next value if it is null, and reports whether it was null.
func (t *jsonText) null() bool {
	if t.next() != 'n' {
		return false
	}
	t.word()
	return true
}

func (t *jsonText) member() (name []byte, err error) { return t.string() }

// string consumes the next value, which must be a string, and returns its content. The content may share
// memory with the text.
func (t *jsonText) string() ([]byte, error) {
	t.next()
	at := t.at
	raw, escaped := t.quoted()
	if !escaped {
		return raw, nil
	}
	s := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		if raw[0] != '\\' {
			s, raw = append(s, raw[0]), raw[1:]
			continue
		}
		switch c := raw[1]; c {
		case 'u':
			r := unit(raw)
			raw = raw[6:]
			if utf16.IsSurrogate(r) {
				if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
					return nil, t.errorf(at, "the string has half of a pair of \\u escapes: write both")
				}
				if r = utf16.DecodeRune(r, unit(raw)); r == utf8.RuneError {
					return nil, t.errorf(at, "the string has half of a pair of \\u escapes: write both")
				}
				raw = raw[6:]
			}
			s = utf8.AppendRune(s, r)
			continue
		case 'b':
			s = append(s, '\b')
		case 'f':
			s = append(s, '\f')
		case 'n':
			s = append(s, '\n')
		case 'r':
			s = append(s, '\r')
		case 't':
			s = append(s, '\t')
		default:
			s = append(s, c)
		}
		raw = raw[2:]
	}
	return s, nil
}

// unit returns the number in an escape such as \u00e9.
func unit(escape []byte) rune {
	n, _ := strconv.ParseUint(string(escape[2:6]), 16, 16) // the text is valid
	return rune(n)
}

// count returns the number of elements of a list. The position must be at the opening bracket, and does not
// change.
func (t *jsonText) count() (n int) {
	at := t.at
	for t.open(); t.more(); n++ {
		t.skip()
	}
	t.at = at
	return n
}

// shown returns the text of the next value for a message, cut to a few bytes. shown does not consume the
// value.
func (t *jsonText) shown() string {
	const most = 40
	t.next()
	at := t.at
	text := t.skip()
	t.at = at
	if len(text) > most {
		return string(bytes.ToValidUTF8(text[:most], nil)) + "…"
	}
	return string(text)
}

// appendString appends s, which must be UTF-8, as a JSON string.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c < ' ':
			b = fmt.Appendf(b, "\\u%04x", c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
