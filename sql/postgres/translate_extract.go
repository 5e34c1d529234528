package postgres

import "strings"

// extracts maps the field of extract(field FROM time) to SQL of SQLite: the text before the time, and the
// text after the time. SQLite's functions take a time as text or as the number of a Julian day.
var extracts = map[string][2]string{
	"epoch":  {"unixepoch(", ", 'subsec')"},
	"year":   {"CAST(strftime('%Y', ", ") AS INTEGER)"},
	"month":  {"CAST(strftime('%m', ", ") AS INTEGER)"},
	"day":    {"CAST(strftime('%d', ", ") AS INTEGER)"},
	"hour":   {"CAST(strftime('%H', ", ") AS INTEGER)"},
	"minute": {"CAST(strftime('%M', ", ") AS INTEGER)"},
	"second": {"CAST(strftime('%f', ", ") AS REAL)"},
	"dow":    {"CAST(strftime('%w', ", ") AS INTEGER)"},
	"doy":    {"CAST(strftime('%j', ", ") AS INTEGER)"},
	"isodow": {"CAST(strftime('%u', ", ") AS INTEGER)"},
	"week":   {"CAST(strftime('%V', ", ") AS INTEGER)"},
}

// findExtract reads extract(field FROM time) at position i. call is the element of extracts. from is the
// position of the token FROM, and end is the position of the closing parenthesis. ok is false for other
// tokens.
func findExtract(tokens []token, i int) (call [2]string, from, end int, ok bool) {
	open := nextSignificant(tokens, i+1)
	field := nextSignificant(tokens, open+1)
	from = nextSignificant(tokens, field+1)
	if from >= len(tokens) || !tokens[open].is("(") || !tokens[from].is("from") {
		return call, 0, 0, false
	}
	name := tokens[field].name()
	if tokens[field].kind == tokenString {
		name = strings.ToLower(stringValue(tokens[field]))
	}
	call, ok = extracts[name]
	end = closing(tokens, open)
	return call, from, end, ok && end < len(tokens)
}

// isNow reports whether the call now() begins at position i. end is the position of the closing parenthesis.
func isNow(tokens []token, i int) (end int, ok bool) {
	open := nextSignificant(tokens, i+1)
	end = nextSignificant(tokens, open+1)
	return end, end < len(tokens) && tokens[i].is("now") && tokens[open].is("(") && tokens[end].is(")")
}

// nowCall replaces now(). The replacement returns an RFC 3339 text in UTC with milliseconds.
const nowCall = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
