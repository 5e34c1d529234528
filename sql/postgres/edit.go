package postgres

import "strings"

// An editor writes the tokens of a translated statement. It keeps tokens instead of text, because a cast
// encloses an operand that is already written.
type editor struct {
	out   []token
	casts int
}

// maxCasts bounds the casts and subscripts that an editor writes. Each of them copies its operand, so a chain
// of casts copies the first operand many times.
const maxCasts = 2000

func (e *editor) add(t token) { e.out = append(e.out, t) }

func (e *editor) word(text string) { e.add(token{tokenWord, text}) }

func (e *editor) symbol(text string) { e.add(token{tokenSymbol, text}) }

// write adds the tokens of a text of SQLite.
func (e *editor) write(text string) { e.out = append(e.out, scan(text, dialectSQLite)...) }

func (e *editor) text() string { return joinTokens(e.out) }

// dropSpace removes spaces at the end.
func (e *editor) dropSpace() {
	for len(e.out) > 0 && e.out[len(e.out)-1].kind == tokenSpace {
		e.out = e.out[:len(e.out)-1]
	}
}

// enclose puts tokens before and after the operand at the end of the output. It writes nothing if the output
// does not end with an operand, and after maxCasts calls.
func (e *editor) enclose(before, after []token) {
	e.dropSpace()
	e.casts++
	start := operandStart(e.out)
	if start < 0 || e.casts > maxCasts {
		return
	}
	operand := append([]token{}, e.out[start:]...)
	e.out = append(append(append(e.out[:start], before...), operand...), after...)
}

// call makes the operand at the end of the output the argument of a function.
func (e *editor) call(function string) {
	e.enclose([]token{{tokenWord, function}, {tokenSymbol, "("}}, []token{{tokenSymbol, ")"}})
}

// cast makes the operand at the end of the output the operand of a CAST.
func (e *editor) cast(to string) {
	e.enclose([]token{{tokenWord, "CAST"}, {tokenSymbol, "("}},
		[]token{{tokenSpace, " "}, {tokenWord, "AS"}, {tokenSpace, " "}, {tokenWord, to}, {tokenSymbol, ")"}})
}

// operandKeywords are keywords that may stand before a parenthesis without being the name of a function.
var operandKeywords = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "select": true, "where": true, "then": true,
	"else": true,
	"when": true, "case": true, "on": true, "having": true, "by": true, "values": true, "from": true,
	"as": true, "like": true, "is": true, "between": true, "any": true, "all": true, "limit": true,
	"offset": true, "distinct": true, "union": true, "join": true, "using": true, "end": true, "glob": true,
	"regexp": true, "escape": true, "over": true, "filter": true, "set": true, "returning": true,
}

// operandStart returns the position at which the operand at the end of tokens starts. An operand is a
// literal, a parameter, a name with qualifiers, a call of a function, an expression in parentheses, an
// operand with a subscript, or CASE … END. It returns -1 if tokens do not end with an operand.
func operandStart(tokens []token) int {
	end := len(tokens) - 1
	if end < 0 {
		return -1
	}
	last := tokens[end]
	switch {
	case last.is(")"):
		open := matching(tokens, end, "(", ")")
		if open < 0 {
			return -1
		}
		return nameStart(tokens, open)
	case last.is("]"):
		open := matching(tokens, end, "[", "]")
		if open < 1 {
			return -1
		}
		if start := operandStart(tokens[:open]); start >= 0 {
			return start
		}
		return open
	case last.is("end"):
		return matching(tokens, end, "case", "end")
	case last.kind == tokenWord && operandKeywords[last.name()]:
		return -1
	case last.isName():
		return nameStart(tokens, len(tokens))
	case last.kind == tokenString, last.kind == tokenNumber, last.kind == tokenParam:
		return end
	}
	return -1
}

// nameStart returns the start of the name that ends before end. The qualifiers of the name belong to it. It
// returns end if there is no name.
func nameStart(tokens []token, end int) int {
	at := end - 1
	for at >= 0 && end < len(tokens) && tokens[at].kind == tokenSpace {
		at--
	}
	if at < 0 || !tokens[at].isName() || tokens[at].kind == tokenWord && operandKeywords[tokens[at].name()] {
		return end
	}
	for at >= 2 && tokens[at-1].is(".") && tokens[at-2].isName() {
		at -= 2
	}
	return at
}

// matching returns the position of the opening token that belongs to the closing token at position end, or
// -1.
func matching(tokens []token, end int, opening, closing string) int {
	depth := 0
	for i := end; i >= 0; i-- {
		switch {
		case tokens[i].is(closing):
			depth++
		case tokens[i].is(opening):
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// closing returns the position of the parenthesis or bracket that closes the one at start, or len(tokens).
func closing(tokens []token, start int) int {
	depth := 0
	for i := start; i < len(tokens); i++ {
		switch {
		case tokens[i].is("(") || tokens[i].is("["):
			depth++
		case tokens[i].is(")") || tokens[i].is("]"):
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return len(tokens)
}

// nextSignificant returns the position of the first token in tokens[at:] that is neither space nor comment,
// or len(tokens).
func nextSignificant(tokens []token, at int) int {
	for at < len(tokens) && tokens[at].kind == tokenSpace {
		at++
	}
	return at
}

// A typeReference is the name of a type in a statement.
type typeReference struct {
	name  string // in lower case, without the schema
	array bool
}

// parseType reads the name of a type that begins at tokens[at], and returns the position after the name. It
// returns ok false if no name is there.
func parseType(tokens []token, at int) (t typeReference, next int, ok bool) {
	at = nextSignificant(tokens, at)
	if at < len(tokens) && tokens[at].name() == "pg_catalog" {
		if name, ok := qualifiedName(tokens, at); ok {
			at = name
		}
	}
	if at >= len(tokens) || !tokens[at].isName() || strings.HasPrefix(tokens[at].text, "[") {
		return t, at, false
	}
	t.name = tokens[at].name()
	at = skipWords(tokens, at+1, typeSuffixes[t.name])
	if open := nextSignificant(tokens, at); open < len(tokens) && tokens[open].is("(") {
		at = min(closing(tokens, open)+1, len(tokens))
		at = skipWords(tokens, at, typeSuffixes[t.name])
	}
	for at < len(tokens) {
		switch {
		case tokens[at].text == "[]":
			at++
		case tokens[at].is("[") && at+1 < len(tokens) && tokens[at+1].is("]"):
			at += 2
		default:
			return t, at, true
		}
		t.array = true
	}
	return t, at, true
}

// typeSuffixes are the words that may follow the first word of a type.
var typeSuffixes = map[string][]string{
	"double":    {"precision"},
	"character": {"varying"},
	"timestamp": {"with", "without", "time", "zone"},
	"time":      {"with", "without", "time", "zone"},
}

func skipWords(tokens []token, at int, words []string) int {
	for {
		next := nextSignificant(tokens, at)
		found := false
		for _, word := range words {
			found = found || next < len(tokens) && tokens[next].is(word)
		}
		if !found {
			return at
		}
		at = next + 1
	}
}

// castType returns the type of SQLite for a cast to a type of PostgreSQL. It returns "" for a cast that
// leaves the value as it is.
func castType(t typeReference) string {
	if t.array {
		return ""
	}
	switch typeNames[t.name] {
	case oidInt2, oidInt4, oidInt8, oidOID:
		return "INTEGER"
	case oidFloat4, oidFloat8:
		return "REAL"
	case oidNumeric:
		return "NUMERIC"
	case oidText, oidVarchar, oidBpchar:
		return "TEXT"
	case oidBytea:
		return "BLOB"
	}
	return ""
}
