package inspect

import (
	"iter"
	"net/http"
	"strings"
)

// sqlKind is what a statement may do.
type sqlKind int

const (
	sqlReads   sqlKind = iota // only reads
	sqlWrites                 // may write, and returns no rows
	sqlReturns                // may write, and returns rows
)

// sqlKindOf returns the kind of a statement. It returns an error for a text that is not exactly one
// statement, and for a statement that begins or ends a transaction. The kind only decides which permissions a
// request needs: the database still checks the statement.
func sqlKindOf(text string) (sqlKind, error) {
	first, previous := "", ""
	ended, changes, kind := false, false, sqlWrites
	for token := range sqlTokens(text) {
		word := strings.ToUpper(token)
		switch {
		case token == ";":
			ended = first != ""
		case ended:
			return 0, badRequest("the text has several statements: send one statement at a time")
		case first == "":
			first = word
		case word == "RETURNING":
			kind = sqlReturns
		default:
			// REPLACE counts only before INTO, because replace is also a function.
			changes = changes || word == "INSERT" || word == "UPDATE" || word == "DELETE" ||
				previous == "REPLACE" && word == "INTO"
		}
		previous = word
	}
	switch first {
	case "":
		return 0, badRequest("the statement is empty: send a statement such as SELECT count(*) FROM entities")
	case "SELECT", "VALUES", "EXPLAIN", "PRAGMA":
		return sqlReads, nil
	case "WITH":
		if !changes {
			return sqlReads, nil
		}
	case "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE":
		return 0, badRequest("%s is not supported: leave it out, because each statement is a transaction "+
			"of its own", first)
	}
	return kind, nil
}

// sqlTokens yields the tokens of a text, without white space and comments. A token is a word, a quoted text
// or any other single byte. A quoted text or a comment without an end reaches to the end of the text.
func sqlTokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; at < len(text); {
			size, blank := tokenSize(text[at:])
			if !blank && !yield(text[at:at+size]) {
				return
			}
			at += size
		}
	}
}

// tokenSize returns the size of the first part of a text that is not empty: a token, a comment or a byte of
// white space. blank reports whether the part is a comment or white space.
func tokenSize(text string) (size int, blank bool) {
	until := func(end string, from int) int {
		if i := strings.Index(text[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(text)
	}
	switch c := text[0]; {
	case strings.IndexByte(" \t\n\v\f\r", c) >= 0:
		return 1, true
	case strings.HasPrefix(text, "--"):
		return until("\n", 2), true
	case strings.HasPrefix(text, "/*"):
		return until("*/", 2), true
	case c == '\'' || c == '"' || c == '`':
		return until(string(c), 1), false // a doubled quote begins the next quoted text
	case c == '[':
		return until("]", 1), false
	case isWordByte(c):
		for size < len(text) && isWordByte(text[size]) {
			size++
		}
		return size, false
	}
	return 1, false
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' ||
		'a' <= c && c <= 'z'
}

// mayRun returns the kind of a statement, or an error if the request must not run the statement. Only POST
// requests may write.
func (in *Inspector) mayRun(r *http.Request, statement string) (sqlKind, error) {
	kind, err := sqlKindOf(statement)
	switch {
	case err != nil || kind == sqlReads:
		return kind, err
	case r.Method != http.MethodPost && in.options.ReadWrite:
		return kind, &problem{Status: http.StatusForbidden, Code: "method",
			Message: "a GET request must only read: send a statement that may write with POST " + prefix +
				"sql"}
	}
	return kind, in.mayAsk(route{write: true}, r)
}
