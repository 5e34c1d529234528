package postgres

import (
	"strings"
	"unicode/utf8"
)

// matchLike reports whether a text matches a pattern of LIKE, or of ILIKE, with the rules of PostgreSQL: case
// matters in LIKE, and a backslash makes the next character stand for itself. It returns nil if the pattern
// or the text is NULL.
func matchLike(pattern, text any, ignoreCase bool) any {
	if pattern == nil || text == nil {
		return nil
	}
	p, s := textOf(pattern), textOf(text)
	if ignoreCase {
		p, s = strings.ToLower(p), strings.ToLower(s)
	}
	return like(p, s)
}

// The function like takes time in proportion to the product of the two lengths, or less.
func like(pattern, text string) bool {
	// retryPattern is the position after the last %, or -1. The % covers the text up to retryText so far.
	// After a mismatch, the % covers one more character.
	retryPattern, retryText := -1, 0
	p, t := 0, 0
	for t < len(text) {
		if p < len(pattern) && pattern[p] == '%' {
			p++
			retryPattern, retryText = p, t
			continue
		}
		if n, m, ok := likeCharacter(pattern[p:], text[t:]); ok {
			p, t = p+n, t+m
			continue
		}
		if retryPattern < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[retryText:])
		retryText += size
		p, t = retryPattern, retryText
	}
	return strings.Trim(pattern[p:], "%") == ""
}

// likeCharacter returns the lengths of the first characters of a pattern and of a text if they match.
func likeCharacter(pattern, text string) (n, m int, ok bool) {
	if pattern == "" {
		return 0, 0, false
	}
	_, size := utf8.DecodeRuneInString(text)
	if pattern[0] == '_' {
		return 1, size, true
	}
	escape := 0
	if pattern[0] == '\\' && len(pattern) > 1 {
		escape = 1
	}
	return escape + size, size, strings.HasPrefix(pattern[escape:], text[:size])
}
