package shell

import (
	"context"
	"fmt"
	"iter"
	"strings"
)

// change describes a statement that inserts, updates or deletes rows.
type change struct {
	verb    string // INSERT (also for REPLACE), UPDATE, DELETE or MERGE; empty for another statement
	returns bool   // whether the statement has a RETURNING clause, and so returns rows
}

// changeOf reads the words of a statement. The verb is the first word, or follows the WITH clause.
func changeOf(text string) (c change) {
	previous, depth := "", 0
	for word := range words(text) {
		switch {
		case word == "(":
			depth++
		case word == ")":
			depth--
		case depth > 0:
		case c.verb != "":
			c.returns = c.returns || word == "RETURNING"
		case previous == "" && word == "WITH", word == "AS", word == ",":
		case previous == "" || previous == ")":
			switch word {
			case "INSERT", "REPLACE":
				c.verb = "INSERT"
			case "UPDATE", "DELETE", "MERGE":
				c.verb = word
			default:
				return c
			}
		}
		previous = word
	}
	return c
}

// words yields the words of a statement in upper case, and its parentheses and commas. It leaves out quoted
// texts and comments.
func words(text string) iter.Seq[string] {
	return func(yield func(word string) bool) {
		var s splitter
		start := -1 // of the current word
		for i := range len(text) + 1 {
			b := byte(' ')
			if i < len(text) {
				b = text[i]
			}
			s.step(b)
			inWord := s.state == inText && (b == '_' || b == '$' || b >= 0x80 || '0' <= b && b <= '9' ||
				'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z')
			switch {
			case inWord && start < 0:
				start = i
			case !inWord && start >= 0:
				if !yield(strings.ToUpper(text[start:i])) {
					return
				}
				start = -1
			}
			if s.state == inText && (b == '(' || b == ')' || b == ',') && !yield(string(b)) {
				return
			}
		}
	}
}

// execute runs a statement that changes rows and returns none.
func (s *session) execute(ctx context.Context, text string) (changed int64, err error) {
	done, err := s.conn.ExecContext(ctx, text)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// showChange writes the number of rows that a statement has changed.
func (s *session) showChange(c change, rows int64) {
	if s.counts && c.verb != "" {
		fmt.Fprintf(s.stderr, "%s %d\n", c.verb, rows)
	}
}
