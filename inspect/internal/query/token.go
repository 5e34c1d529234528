package query

import (
	"strconv"
	"strings"
	"unicode"
)

// sort is the kind of a token.
type sort uint8

const (
	sortEnd    sort = iota
	sortWord        // letters, marks, digits and _; the first is a letter or _; see also lexer.name
	sortQuoted      // a text in quotes
	sortNumber      // a number, or a word after + or -, such as -Inf
	sortColumn      // a number of a column, such as #7
	sortSign        // an operator, a bracket, a comma or any other character
)

// token is a token of a text.
type token struct {
	sort sort
	text string // characters of the token; for sortQuoted, the text without quotes and escapes
	Span
}

// is reports whether a token is one of the given signs or unquoted words.
func (t token) is(texts ...string) bool {
	if t.sort != sortSign && t.sort != sortWord {
		return false
	}
	for _, text := range texts {
		if t.text == text {
			return true
		}
	}
	return false
}

// String returns the token as error messages show it.
func (t token) String() string {
	if t.sort == sortEnd {
		return "the end"
	}
	return strconv.Quote(t.text)
}

// lexer splits a text into tokens.
type lexer struct {
	text []rune
	at   int // index of the next rune to read
}

// peek returns the rune at the index l.at + n, or 0 behind the end of the text.
func (l *lexer) peek(n int) rune {
	if l.at+n < len(l.text) {
		return l.text[l.at+n]
	}
	return 0
}

func (l *lexer) space() {
	for l.at < len(l.text) && unicode.IsSpace(l.text[l.at]) {
		l.at++
	}
}

func isLetter(r rune) bool { return r == '_' || unicode.IsLetter(r) }

func isPart(r rune) bool { return isLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func (l *lexer) next() (token, error) {
	l.space()
	start := l.at
	switch r := l.peek(0); {
	case l.at == len(l.text):
		return token{sort: sortEnd, Span: Span{start, 0}}, nil
	case isLetter(r):
		for isPart(l.peek(0)) {
			l.at++
		}
		return l.token(sortWord, start), nil
	case r == '"':
		return l.quoted()
	case r == '#' && isDigit(l.peek(1)):
		for l.at++; isDigit(l.peek(0)); l.at++ {
		}
		return l.token(sortColumn, start), nil
	case isDigit(r), r == '.' && isDigit(l.peek(1)), (r == '+' || r == '-') &&
		(isPart(l.peek(1)) || l.peek(1) == '.'):
		return l.number(), nil
	}
	l.at++
	switch string([]rune{l.text[start], l.peek(0)}) {
	case "==", "!=", "<=", ">=", "!~", "&&", "||":
		l.at++
	}
	return l.token(sortSign, start), nil
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func (l *lexer) token(s sort, start int) token {
	return token{s, string(l.text[start:l.at]), Span{start, l.at - start}}
}

// number reads the characters of a number. It does not check that they form a valid number.
func (l *lexer) number() token {
	start := l.at
	l.at++
	for {
		r, last := l.peek(0), l.text[l.at-1]
		if !isPart(r) && r != '.' && ((r != '+' && r != '-') || last != 'e' && last != 'E') {
			return l.token(sortNumber, start)
		}
		l.at++
	}
}

func (l *lexer) quoted() (token, error) {
	start := l.at
	for l.at++; l.at < len(l.text); l.at++ {
		switch l.text[l.at] {
		case '\\':
			l.at++
		case '"':
			l.at++
			whole := Span{start, l.at - start}
			text, err := strconv.Unquote(string(l.text[start:l.at]))
			if err != nil {
				return token{}, whole.errorf("a quoted text must be on one line, with escapes such as " +
					"\\\" and \\\\")
			}
			return token{sortQuoted, text, whole}, nil
		}
	}
	l.at = len(l.text)
	return token{}, Span{start, len(l.text) - start}.errorf("the closing quote is missing: add \"")
}

// notInNames are the characters that only a quoted name may contain.
const notInNames = `()[]",|<>=~!?*\`

// name reads the unquoted name of a target. Unlike the name of a component, this name may contain spaces.
func (l *lexer) name() token {
	l.space()
	start := l.at
	for l.at < len(l.text) && !strings.ContainsRune(notInNames, l.text[l.at]) &&
		!unicode.IsControl(l.text[l.at]) {
		l.at++
	}
	end := l.at
	for end > start && unicode.IsSpace(l.text[end-1]) {
		end--
	}
	return token{sortWord, string(l.text[start:end]), Span{start, end - start}}
}
