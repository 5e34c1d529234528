package postgres

import "strings"

// A tokenKind tells how a token takes part in a statement.
type tokenKind uint8

const (
	tokenSpace  tokenKind = iota // spaces and comments
	tokenWord                    // unquoted names and keywords
	tokenQuoted                  // "name", in dialectSQLite also `name` and [name]
	tokenString                  // for example 'text', E'text', x'blob', $tag$text$tag$
	tokenNumber                  // 1, 1.5e3, 0x1f
	tokenParam                   // $1
	tokenSymbol                  // operators and punctuation
)

// A token is a piece of a statement. The texts of all tokens, one after the other, are the statement.
type token struct {
	kind tokenKind
	text string
}

// is reports whether t is the keyword or the symbol that text names. Case does not matter.
func (t token) is(text string) bool {
	return (t.kind == tokenWord || t.kind == tokenSymbol) && strings.EqualFold(t.text, text)
}

// name returns the name that t stands for, without quotes, or "" if t is no name. An unquoted name is in
// lower case.
func (t token) name() string {
	switch t.kind {
	case tokenWord:
		return strings.ToLower(t.text)
	case tokenQuoted:
		if len(t.text) < 2 {
			return t.text
		}
		quote := t.text[len(t.text)-1:]
		return strings.ReplaceAll(t.text[1:len(t.text)-1], quote+quote, quote)
	}
	return ""
}

// isName reports whether t may name a table, a column or a function.
func (t token) isName() bool { return t.kind == tokenWord || t.kind == tokenQuoted }

// A dialect tells what square brackets and backquotes mean, and whether block comments nest.
type dialect uint8

const (
	dialectSQLite   dialect = iota // [name] and `name` are quoted names
	dialectPostgres                // a[1] is a subscript, and comments nest
)

// scan cuts a text into tokens. Unfinished strings, quoted names and comments reach to the end of the text.
// scan takes time in proportion to the length of the text.
func scan(text string, d dialect) []token {
	var tokens []token
	for at := 0; at < len(text); {
		kind, n := scanOne(text[at:], d)
		tokens = append(tokens, token{kind, text[at : at+n]})
		at += n
	}
	return tokens
}

// scanOne returns the kind and the length of the first token.
func scanOne(s string, d dialect) (tokenKind, int) {
	c := s[0]
	switch {
	case isSpace(c):
		return tokenSpace, lengthWhile(s, isSpace)
	case strings.HasPrefix(s, "--"):
		if n := strings.IndexByte(s, '\n'); n >= 0 {
			return tokenSpace, n + 1
		}
		return tokenSpace, len(s)
	case strings.HasPrefix(s, "/*"):
		return tokenSpace, commentLength(s, d)
	case c == '\'':
		return tokenString, quotedLength(s, '\'', false)
	case c == '"' || c == '`' && d == dialectSQLite:
		return tokenQuoted, quotedLength(s, c, false)
	case c == '[' && d == dialectSQLite:
		if n := strings.IndexByte(s, ']'); n >= 0 {
			return tokenQuoted, n + 1
		}
		return tokenQuoted, len(s)
	case len(s) > 1 && s[1] == '\'' && strings.IndexByte("eEbBxXnN", c) >= 0:
		return tokenString, 1 + quotedLength(s[1:], '\'', c|0x20 == 'e')
	case isWordStart(c):
		return tokenWord, lengthWhile(s, isWordPart)
	case isDigit(c) || c == '.' && len(s) > 1 && isDigit(s[1]):
		return tokenNumber, numberLength(s)
	case c == '$':
		return scanDollar(s)
	}
	return tokenSymbol, symbolLength(s)
}

// scanDollar returns the kind and the length of a parameter ($1), a string ($tag$text$tag$), or a parameter
// of SQLite ($name), which counts as a symbol.
func scanDollar(s string) (tokenKind, int) {
	if n := lengthWhile(s[1:], isDigit); n > 0 {
		return tokenParam, 1 + n
	}
	n := 1 + lengthWhile(s[1:], func(c byte) bool { return isWordPart(c) && c != '$' })
	if n == len(s) || s[n] != '$' {
		return tokenSymbol, n
	}
	tag := s[:n+1]
	if end := strings.Index(s[len(tag):], tag); end >= 0 {
		return tokenString, len(tag) + end + len(tag)
	}
	return tokenString, len(s)
}

// commentLength returns the length of a block comment. Block comments of PostgreSQL nest.
func commentLength(s string, d dialect) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch {
		case s[i] == '/' && s[i+1] == '*' && (d == dialectPostgres || depth == 0):
			depth++
			i++
		case s[i] == '*' && s[i+1] == '/':
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// quotedLength returns the length of a quoted text. Two quotes stand for one. If escapes is true, a backslash
// with a quote also stands for one quote.
func quotedLength(s string, quote byte, escapes bool) int {
	for i := 1; i < len(s); i++ {
		switch {
		case escapes && s[i] == '\\':
			i++
		case s[i] != quote:
		case i+1 < len(s) && s[i+1] == quote:
			i++
		default:
			return i + 1
		}
	}
	return len(s)
}

func numberLength(s string) int {
	if len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x' {
		return 2 + lengthWhile(s[2:], isWordPart)
	}
	n := lengthWhile(s, func(c byte) bool { return isDigit(c) || c == '.' || c == '_' })
	if n < len(s) && s[n]|0x20 == 'e' {
		sign := n + 1
		if sign < len(s) && (s[sign] == '+' || s[sign] == '-') {
			sign++
		}
		if digits := lengthWhile(s[sign:], isDigit); digits > 0 {
			return sign + digits
		}
	}
	return n
}

// symbols are the operators of several characters, the longest first.
var symbols = []string{
	"!~~*", "->>", "!~*", "!~~", "~~*", "::", "||", "<=", ">=", "<>", "!=", "==", "<<", ">>", "->", "!~",
	"~*",
	"~~", "@>", "<@", "&&", ":=", "=>", "..",
}

func symbolLength(s string) int {
	for _, symbol := range symbols {
		if strings.HasPrefix(s, symbol) {
			return len(symbol)
		}
	}
	return 1
}

func lengthWhile(s string, holds func(byte) bool) int {
	n := 0
	for n < len(s) && holds(s[n]) {
		n++
	}
	return n
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'
}
func isDigit(c byte) bool     { return '0' <= c && c <= '9' }
func isWordStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isWordPart(c byte) bool  { return isWordStart(c) || isDigit(c) || c == '$' }

// joinTokens returns the text of tokens.
func joinTokens(tokens []token) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteString(t.text)
	}
	return b.String()
}

// trimTokens removes spaces and comments at both ends.
func trimTokens(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].kind == tokenSpace {
		tokens = tokens[1:]
	}
	for len(tokens) > 0 && tokens[len(tokens)-1].kind == tokenSpace {
		tokens = tokens[:len(tokens)-1]
	}
	return tokens
}

// significant returns the tokens that are neither spaces nor comments.
func significant(tokens []token) []token {
	kept := make([]token, 0, len(tokens))
	for _, t := range tokens {
		if t.kind != tokenSpace {
			kept = append(kept, t)
		}
	}
	return kept
}

// splitStatements cuts a text at the semicolons outside of strings, quoted names and comments. It removes
// spaces and comments at both ends of each statement, and leaves out statements that are then empty.
func splitStatements(text string) []string {
	var statements []string
	start := 0
	tokens := scan(text, dialectSQLite)
	add := func(end int) {
		if part := trimTokens(tokens[start:end]); len(part) > 0 {
			statements = append(statements, joinTokens(part))
		}
	}
	for i, t := range tokens {
		if t.is(";") {
			add(i)
			start = i + 1
		}
	}
	add(len(tokens))
	return statements
}

// stringValue returns the text that a string token stands for. Other forms, such as blobs, stay as they are.
func stringValue(t token) string {
	s := t.text
	switch {
	case strings.HasPrefix(s, "$"):
		tag := s[:strings.IndexByte(s[1:], '$')+2]
		return strings.TrimSuffix(s[len(tag):], tag)
	case s[0]|0x20 == 'e':
		text, _ := unescape(s)
		return text
	case s[0] == '\'':
		return strings.ReplaceAll(strings.TrimSuffix(s[1:], "'"), "''", "'")
	}
	return s
}

// quoteString returns text as a string of SQL.
func quoteString(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
