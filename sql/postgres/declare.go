package postgres

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// innerQuery returns the query of DECLARE name CURSOR FOR query, or of a COPY statement.
func innerQuery(st *statement) (string, bool) {
	switch st.verb {
	case "declare":
		_, query, err := parseDeclare(st.text)
		return query, err == nil
	case "copy":
		c, err := parseCopy(st.text)
		return c.query, err == nil
	}
	return "", false
}

// parseDeclare returns the name and the query of a DECLARE statement.
func parseDeclare(text string) (name, query string, err error) {
	tokens := scan(text, dialectSQLite)
	at := nextSignificant(tokens, nextSignificant(tokens, 0)+1)
	if at < len(tokens) {
		name = tokens[at].name()
	}
	for i := at; i < len(tokens); i++ {
		if tokens[i].is("for") {
			query = joinTokens(trimTokens(tokens[i+1:]))
			break
		}
	}
	if name == "" || query == "" {
		return "", "", failWithHint(codeSyntax, "malformed DECLARE",
			"Write DECLARE name CURSOR FOR SELECT …")
	}
	return name, query, nil
}

// declare opens a cursor that FETCH reads.
func (x *session) declare(st *statement) (string, error) {
	name, query, err := parseDeclare(st.text)
	if err != nil {
		return "", err
	}
	if x.transaction == transactionNone {
		return "", failWithHint(codeNoTransaction, "DECLARE CURSOR can only be used in transaction blocks",
			"Send BEGIN first.")
	}
	inner := newStatement(query)
	if err := x.check(inner); err != nil {
		return "", err
	}
	if !inner.isQuery() {
		return "", failWithHint(codeSyntax, "a cursor needs a query",
			"Write DECLARE name CURSOR FOR SELECT …")
	}
	if _, ok := x.portals[name]; ok {
		return "", fail(codeDuplicateCursor, fmt.Sprintf("cursor %q already exists", name))
	}
	c, err := x.open(inner, nil)
	if err != nil {
		return "", err
	}
	if err := x.addPortal(name, &portal{statement: inner, cursor: c}); err != nil {
		c.close()
		return "", err
	}
	return "DECLARE CURSOR", nil
}

// fetch parses a statement FETCH [FORWARD] [count | ALL | NEXT | RELATIVE count] [FROM | IN] name. It returns
// the portal that the statement reads, the number of rows to skip, and the number of rows to return.
func (x *session) fetch(tokens []token) (p *portal, skip, count uint32, err error) {
	count = 1
	name := ""
	relative := false
	for i := 1; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.is("forward") || t.is("next") || t.is("from") || t.is("in"):
		case t.is("relative"):
			relative = true
		case t.is("all"):
			count = math.MaxUint32
		case t.kind == tokenNumber:
			n, err := strconv.ParseUint(t.text, 10, 32)
			if err != nil {
				return nil, 0, 0, fail(codeSyntax, "malformed number of rows: "+t.text)
			}
			count = uint32(n)
		case t.isName() && i == len(tokens)-1:
			name = t.name()
		default:
			return nil, 0, 0, failForward()
		}
	}
	if relative {
		if count == 0 {
			return nil, 0, 0, failForward() // RELATIVE 0 reads the current row again
		}
		skip, count = count-1, 1
	}
	p, ok := x.portals[name]
	if !ok || p.cursor == nil {
		return nil, 0, 0, fail(codeNoCursor, fmt.Sprintf("cursor %q does not exist", name))
	}
	return p, skip, count, nil
}

func failForward() error {
	return failWithHint(codeNotSupported, "cursors only move forward", "Write FETCH 100 FROM name.")
}

// openFetch sets the cursor of p, the portal of a FETCH statement, to the declared cursor that the statement
// reads.
func (x *session) openFetch(p *portal) error {
	declared, skip, count, err := x.fetch(significant(scan(p.statement.text, dialectSQLite)))
	if err != nil {
		return err
	}
	p.cursor, p.shared, p.skip, p.limit = declared.cursor, true, skip, count
	x.setRunning(p.cursor.cancel)
	defer x.setRunning(nil)
	return p.cursor.describe()
}

// closeCursor performs CLOSE name and CLOSE ALL.
func (x *session) closeCursor(tokens []token) (string, error) {
	if len(tokens) < 2 {
		return "", failWithHint(codeSyntax, "CLOSE without a name", "Write CLOSE ALL.")
	}
	if tokens[1].is("all") {
		x.closePortals()
		return "CLOSE CURSOR ALL", nil
	}
	name := tokens[1].name()
	p, ok := x.portals[name]
	if !ok || strings.TrimSpace(name) == "" {
		return "", fail(codeNoCursor, fmt.Sprintf("cursor %q does not exist", name))
	}
	p.close()
	delete(x.portals, name)
	return "CLOSE CURSOR", nil
}
