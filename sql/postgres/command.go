package postgres

import (
	"fmt"
	"strings"
)

// commands are the verbs of statements that the server performs itself, except SHOW and FETCH, which return
// rows.
var commands = map[string]bool{
	"begin": true, "start": true, "commit": true, "end": true, "rollback": true, "abort": true,
	"savepoint": true,
	"release":   true, "set": true, "reset": true, "discard": true, "deallocate": true, "declare": true,
	"close": true, "copy": true, "unlisten": true, "checkpoint": true,
}

// The states of a transaction, as ReadyForQuery names them.
const (
	transactionNone   byte = 'I'
	transactionOpen   byte = 'T'
	transactionFailed byte = 'E'
)

// checkTransaction returns an error if the transaction failed, except for empty statements, COMMIT, ROLLBACK,
// and their synonyms.
func (x *session) checkTransaction(st *statement) error {
	switch st.verb {
	case "commit", "end", "rollback", "abort", "":
		return nil
	}
	if x.transaction == transactionFailed {
		return failWithHint(codeFailedTransaction,
			"current transaction is aborted, commands ignored until end of transaction block",
			"Send ROLLBACK.")
	}
	return nil
}

// command performs a statement without rows and returns its command tag.
func (x *session) command(st *statement) (string, error) {
	tokens := significant(scan(st.text, dialectSQLite))
	switch st.verb {
	case "begin", "start":
		return x.begin(st.verb, tokens)
	case "commit", "end":
		return x.endTransaction("COMMIT"), nil
	case "rollback", "abort":
		return x.rollback(tokens)
	case "savepoint", "release":
		return x.savepoint(st.verb)
	case "set", "reset":
		return x.setCommand(tokens)
	case "discard":
		return x.discard(tokens)
	case "deallocate":
		return x.deallocate(tokens)
	case "declare":
		return x.declare(st)
	case "close":
		return x.closeCursor(tokens)
	case "unlisten", "checkpoint":
		return strings.ToUpper(st.verb), nil
	}
	return "", fail(codeSyntax, fmt.Sprintf("syntax error at or near %q", st.verb))
}

// begin starts a transaction. SQLite does not see the transaction: every statement reads the newest data.
func (x *session) begin(verb string, tokens []token) (string, error) {
	if err := x.checkModes(tokens[1:]); err != nil {
		return "", err
	}
	tag := "BEGIN"
	if verb == "start" {
		tag = "START TRANSACTION"
	}
	if x.transaction != transactionNone {
		x.warn(codeActiveTransaction, "there is already a transaction in progress")
	}
	x.transaction = transactionOpen
	return tag, nil
}

// checkModes returns an error for READ WRITE if the server is read-only.
func (x *session) checkModes(tokens []token) error {
	for i := 1; i < len(tokens); i++ {
		if !x.server.options.Write && tokens[i].is("write") && tokens[i-1].is("read") {
			return failWithHint(codeReadOnly, "cannot set transaction read-write mode",
				"The server is read-only.")
		}
	}
	return nil
}

// endTransaction ends a transaction and returns the command tag. The tag of a failed transaction is ROLLBACK.
func (x *session) endTransaction(tag string) string {
	switch x.transaction {
	case transactionNone:
		x.warn(codeNoTransaction, "there is no transaction in progress")
	case transactionFailed:
		tag = "ROLLBACK"
	}
	x.transaction = transactionNone
	x.closePortals()
	return tag
}

// rollback performs ROLLBACK and ROLLBACK TO savepoint.
func (x *session) rollback(tokens []token) (string, error) {
	for _, t := range tokens[1:] {
		if t.is("to") {
			if x.transaction == transactionNone {
				return "", fail(codeNoTransaction,
					"ROLLBACK TO SAVEPOINT can only be used in transaction blocks")
			}
			x.transaction = transactionOpen
			return "ROLLBACK", nil
		}
	}
	return x.endTransaction("ROLLBACK"), nil
}

func (x *session) savepoint(verb string) (string, error) {
	if x.transaction == transactionNone {
		return "", failWithHint(codeNoTransaction, "savepoints can only be used in transaction blocks",
			"Send BEGIN first.")
	}
	return strings.ToUpper(verb), nil
}

func (x *session) discard(tokens []token) (string, error) {
	if len(tokens) < 2 {
		return "", failWithHint(codeSyntax, "DISCARD without a kind", "Write DISCARD ALL.")
	}
	if tokens[1].is("all") {
		if x.transaction != transactionNone {
			return "", fail(codeActiveTransaction, "DISCARD ALL cannot run inside a transaction block")
		}
		x.closePortals()
		x.statements = map[string]*statement{}
		x.resetAll()
	}
	return "DISCARD " + strings.ToUpper(tokens[1].text), nil
}

// deallocate performs DEALLOCATE [PREPARE] name and DEALLOCATE ALL.
func (x *session) deallocate(tokens []token) (string, error) {
	tokens = tokens[1:]
	if len(tokens) > 1 && tokens[0].is("prepare") {
		tokens = tokens[1:]
	}
	switch {
	case len(tokens) == 0:
		return "", failWithHint(codeSyntax, "DEALLOCATE without a name", "Write DEALLOCATE ALL.")
	case tokens[0].is("all"):
		x.statements = map[string]*statement{}
		return "DEALLOCATE ALL", nil
	}
	name := tokens[0].name()
	if _, ok := x.statements[name]; !ok {
		return "", fail(codeNoStatement, fmt.Sprintf("prepared statement %q does not exist", name))
	}
	delete(x.statements, name)
	return "DEALLOCATE", nil
}
