package postgres

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape returns the text of s, a string of the form E'text' with its quotes. It knows the sequences
// \b, \f, \n, \r, \t, \101, \x41, \u0041 and \U00000041. Any other character after a backslash stands for
// itself. Two quotes stand for one quote. If the text is not valid, ok is false, and U+FFFD replaces each
// part that is not valid.
func unescape(s string) (text string, ok bool) {
	s = strings.TrimSuffix(s[2:], "'")
	var b strings.Builder
	ok = true
	for i := 0; i < len(s); {
		switch {
		case s[i] == '\'' && i+1 < len(s) && s[i+1] == '\'':
			b.WriteByte('\'')
			i += 2
		case s[i] == '\\' && i+1 < len(s):
			n, valid := writeEscape(&b, s[i:])
			ok = ok && valid
			i += n
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	text = b.String()
	if strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
		const replacement = string(utf8.RuneError)
		return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", replacement), replacement), false
	}
	return text, ok
}

// writeEscape writes what the sequence at the start of s stands for, and returns the length of the sequence.
func writeEscape(b *strings.Builder, s string) (n int, ok bool) {
	c := s[1]
	switch {
	case strings.IndexByte("bfnrt", c) >= 0:
		b.WriteByte("\b\f\n\r\t"[strings.IndexByte("bfnrt", c)])
		return 2, true
	case isOctal(c):
		digits := lengthWhile(s[1:min(4, len(s))], isOctal)
		v, _ := strconv.ParseUint(s[1:1+digits], 8, 16)
		b.WriteByte(byte(v)) // PostgreSQL too ignores the ninth bit
		return 1 + digits, true
	case c == 'x' && len(s) > 2 && isHex(s[2]):
		digits := lengthWhile(s[2:min(4, len(s))], isHex)
		v, _ := strconv.ParseUint(s[2:2+digits], 16, 8)
		b.WriteByte(byte(v))
		return 2 + digits, true
	case c == 'u' || c == 'U':
		r, n := escapedRune(s)
		if utf16.IsSurrogate(r) {
			second, more := escapedRune(s[n:])
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
				r = -1
			}
			n += more
		}
		b.WriteRune(r)
		return max(n, 2), r >= 0
	}
	b.WriteByte(c)
	return 2, true
}

// escapedRune returns the character of the sequence \u0041 or \U00000041 at the start of s and the length of
// the sequence, or -1 if there is no character.
func escapedRune(s string) (rune, int) {
	n := 0
	switch {
	case strings.HasPrefix(s, `\u`):
		n = 6
	case strings.HasPrefix(s, `\U`):
		n = 10
	}
	if n == 0 || len(s) < n || lengthWhile(s[2:n], isHex) < n-2 {
		return -1, 0
	}
	v, _ := strconv.ParseUint(s[2:n], 16, 32)
	if v > utf8.MaxRune {
		return -1, n
	}
	return rune(v), n
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }
func isHex(c byte) bool   { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
