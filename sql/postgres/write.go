package postgres

import (
	"fmt"
	"strings"
)

// writeVerbs are the verbs of statements that write rows.
var writeVerbs = map[string]bool{"insert": true, "update": true, "delete": true, "replace": true}

// writes reports whether the statement writes rows.
func (st *statement) writes() bool { return writeVerbs[st.verb] }

// returningClause returns the tokens after RETURNING in a statement that writes. It returns nil if the
// statement has no such clause.
func returningClause(tokens []token) []token {
	for i := 0; i < len(tokens); i++ {
		switch {
		case tokens[i].is("("):
			i = closing(tokens, i)
		case tokens[i].is("returning"):
			return tokens[i+1:]
		}
	}
	return nil
}

// check returns an error for a statement that the server does not perform for this client.
func (x *session) check(st *statement) error {
	if err := st.check(); err != nil || !st.writes() {
		return err
	}
	message := fmt.Sprintf("cannot execute %s in a read-only transaction", strings.ToUpper(st.verb))
	switch {
	case !x.server.options.Write:
		return failWithHint(codeReadOnly, message,
			"The server is read-only. The program that serves the data can set Options.Write.")
	case x.readOnly():
		return failWithHint(codeReadOnly, message, "Send SET default_transaction_read_only = off.")
	}
	return nil
}

// readOnly reports whether the client must not write.
func (x *session) readOnly() bool {
	if !x.server.options.Write {
		return true
	}
	on, err := parseBool(x.settings["default_transaction_read_only"])
	return err == nil && on
}

// readOnlySetting returns the value of default_transaction_read_only and transaction_read_only.
func (x *session) readOnlySetting() string {
	if x.readOnly() {
		return "on"
	}
	return "off"
}

// setReadOnly performs SET default_transaction_read_only = value.
func (x *session) setReadOnly(value string) error {
	if value == "default" {
		x.reset("default_transaction_read_only")
		return nil
	}
	on, err := parseBool(value)
	switch {
	case err != nil:
		return fail(codeInvalidParameter,
			fmt.Sprintf("default_transaction_read_only needs a Boolean, not %q", value))
	case !on && !x.server.options.Write:
		return failWithHint(codeReadOnly, "the server is read-only",
			"Leave default_transaction_read_only on.")
	}
	x.settings["default_transaction_read_only"] = value
	x.report("default_transaction_read_only")
	return nil
}

// setModes performs SET SESSION CHARACTERISTICS AS TRANSACTION modes. For SET TRANSACTION modes, it only
// returns an error if they ask a read-only server for READ WRITE.
func (x *session) setModes(tokens []token) error {
	if err := x.checkModes(tokens); err != nil || !tokens[0].is("characteristics") {
		return err
	}
	for i := 1; i < len(tokens); i++ {
		switch {
		case !tokens[i-1].is("read"):
		case tokens[i].is("only"):
			return x.setReadOnly("on")
		case tokens[i].is("write"):
			return x.setReadOnly("off")
		}
	}
	return nil
}

// write performs a statement that writes rows and has no RETURNING clause. It returns the command tag.
func (x *session) write(p *portal) (tag string, err error) {
	st := p.statement
	if p.ran {
		return "", fail(codeNotInState, "the portal has run already")
	}
	p.ran = true
	ctx, cancel := x.operation()
	defer x.finish(cancel)
	from := st.user
	if from == nil {
		found, err := x.sourceOf(ctx, st.text)
		if err != nil {
			return "", err
		}
		from = &found
	}
	if from.release != nil {
		from.release()
		return "", failWithHint(codeReadOnly, "a statement that writes cannot read the catalog",
			"Read the catalog in another statement.")
	}
	result, err := from.db.ExecContext(ctx, from.text, p.arguments...)
	if err != nil {
		return "", failureOf(ctx, err)
	}
	n, err := result.RowsAffected()
	if err != nil {
		return "", failureOf(ctx, err)
	}
	return writeTag(st.verb, n), nil
}

// writeTag returns the command tag of a statement that has written n rows.
func writeTag(verb string, n int64) string {
	if verb == "insert" || verb == "replace" {
		return fmt.Sprint("INSERT 0 ", n)
	}
	return fmt.Sprint(strings.ToUpper(verb), " ", n)
}

// checkWrites returns an error for a message with several statements that write.
func checkWrites(statements []*statement) error {
	n := 0
	for _, st := range statements {
		if st.writes() {
			n++
		}
	}
	if n < 2 {
		return nil
	}
	return failWithHint(codeNotSupported,
		fmt.Sprintf("a message with %d statements that write cannot be performed as one transaction", n),
		"Send the statements one by one, for example each with its own option -c of psql.")
}

// checkWriteTransaction returns an error for a statement that writes in a transaction.
func (x *session) checkWriteTransaction(st *statement) error {
	if !st.writes() || x.transaction != transactionOpen {
		return nil
	}
	return failWithHint(codeActiveTransaction,
		strings.ToUpper(st.verb)+" cannot run inside a transaction block",
		"Send the statement without BEGIN, because ROLLBACK could not undo it. In a driver, switch "+
			"autocommit on.")
}

// defaultToText gives the type text to the columns of a RETURNING clause whose type is unknown. The server
// must not read a row to infer the type, because the statement writes when its first row is read.
func defaultToText(columns []column) {
	for i := range columns {
		if columns[i].oid == oidUnspecified {
			columns[i].oid = oidText
		}
	}
}
