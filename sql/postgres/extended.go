package postgres

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
)

// parse prepares a statement.
func (x *session) parse(m *pgproto3.Parse) error {
	if _, ok := x.statements[m.Name]; ok && m.Name != "" {
		return fail(codeDuplicateStatement, fmt.Sprintf("prepared statement %q already exists", m.Name))
	}
	if m.Name != "" && len(x.statements) >= maxStatements {
		return failWithHint(codeLimit, fmt.Sprintf("%d statements are prepared, more are not possible",
			maxStatements),
			"Close statements, or send DEALLOCATE ALL.")
	}
	if err := checkSize(m.Query); err != nil {
		return err
	}
	x.logStatement(m.Query)
	parts := splitStatements(m.Query)
	if len(parts) > 1 {
		return failWithHint(codeSyntax, "cannot insert multiple commands into a prepared statement",
			"Prepare each statement by itself, or send them with the simple protocol.")
	}
	text := ""
	if len(parts) == 1 {
		text = parts[0]
	}
	if err := x.checkTransaction(newStatement(text)); err != nil {
		return err
	}
	st, err := x.prepare(text, m.ParameterOIDs)
	if err != nil {
		return err
	}
	x.statements[m.Name] = st
	x.backend.Send(&pgproto3.ParseComplete{})
	return nil
}

func (x *session) statementNamed(name string) (*statement, error) {
	st, ok := x.statements[name]
	if !ok {
		return nil, fail(codeNoStatement, fmt.Sprintf("prepared statement %q does not exist", name))
	}
	return st, nil
}

func (x *session) portalNamed(name string) (*portal, error) {
	p, ok := x.portals[name]
	if !ok {
		return nil, fail(codeNoCursor, fmt.Sprintf("portal %q does not exist", name))
	}
	return p, nil
}

// bind makes a portal of a statement and its parameters.
func (x *session) bind(m *pgproto3.Bind) error {
	st, err := x.statementNamed(m.PreparedStatement)
	if err != nil {
		return err
	}
	if err := x.checkTransaction(st); err != nil {
		return err
	}
	if len(m.Parameters) != len(st.params) {
		return fail(codeProtocolViolation, fmt.Sprintf(
			"bind message supplies %d parameters, but prepared statement %q requires %d", len(m.Parameters),
			m.PreparedStatement, len(st.params)))
	}
	if n := len(m.ParameterFormatCodes); n > 1 && n != len(m.Parameters) {
		return fail(codeProtocolViolation, fmt.Sprintf("bind message has %d formats for %d parameters", n,
			len(m.Parameters)))
	}
	p := &portal{statement: st, formats: append([]int16{}, m.ResultFormatCodes...)}
	for _, format := range p.formats {
		if format != formatText && format != formatBinary {
			return fail(codeProtocolViolation, fmt.Sprintf("unknown format %d of a column", format))
		}
	}
	for i, data := range m.Parameters {
		format := formatText
		switch {
		case len(m.ParameterFormatCodes) == 1:
			format = m.ParameterFormatCodes[0]
		case i < len(m.ParameterFormatCodes):
			format = m.ParameterFormatCodes[i]
		}
		argument, err := decodeParameter(data, st.params[i], format)
		if err != nil {
			return err
		}
		p.arguments = append(p.arguments, argument)
	}
	if err := x.addPortal(m.DestinationPortal, p); err != nil {
		return err
	}
	x.backend.Send(&pgproto3.BindComplete{})
	return nil
}

// describe tells the types of the parameters and columns of a statement, or of the columns of a portal.
func (x *session) describe(m *pgproto3.Describe) error {
	if m.ObjectType == 'S' {
		st, err := x.statementNamed(m.Name)
		if err != nil {
			return err
		}
		return x.describePrepared(st)
	}
	p, err := x.portalNamed(m.Name)
	if err != nil {
		return err
	}
	if err := x.checkTransaction(p.statement); err != nil {
		return err
	}
	if !p.statement.returnsRows() {
		x.backend.Send(&pgproto3.NoData{})
		return nil
	}
	if err := x.openPortal(p); err != nil {
		return err
	}
	x.backend.Send(rowDescription(p.cursor.columns, p.format))
	return nil
}

func (x *session) describePrepared(st *statement) error {
	var description *pgproto3.RowDescription
	text := func(int) int16 { return formatText }
	switch {
	case st.isQuery() || st.returning:
		if err := x.describeStatement(st); err != nil {
			return err
		}
		description = rowDescription(st.columns, text)
	case st.returnsRows():
		p := &portal{statement: st}
		if err := x.openPortal(p); err != nil {
			return err
		}
		description = rowDescription(p.cursor.columns, text)
	}
	parameters := &pgproto3.ParameterDescription{}
	for _, o := range st.params {
		parameters.ParameterOIDs = append(parameters.ParameterOIDs, uint32(o))
	}
	x.backend.Send(parameters)
	if description == nil {
		x.backend.Send(&pgproto3.NoData{})
	} else {
		x.backend.Send(description)
	}
	return nil
}

func (x *session) execute(m *pgproto3.Execute) error {
	p, err := x.portalNamed(m.Portal)
	if err != nil {
		return err
	}
	return x.perform(p, m.MaxRows)
}

// closeObject closes a statement or a portal, if it exists.
func (x *session) closeObject(m *pgproto3.Close) {
	if m.ObjectType == 'S' {
		delete(x.statements, m.Name)
	} else if p, ok := x.portals[m.Name]; ok {
		p.close()
		delete(x.portals, m.Name)
	}
	x.backend.Send(&pgproto3.CloseComplete{})
}

// simpleQuery serves a Query message.
func (x *session) simpleQuery(text string) error {
	if err := x.simpleStatements(text); err != nil {
		if err := x.reportError(err); err != nil {
			return err
		}
	}
	if x.transaction == transactionNone {
		x.closePortals()
	}
	x.ready()
	return x.flush()
}

// simpleStatements performs statements one after the other, up to the first error.
func (x *session) simpleStatements(text string) error {
	if err := checkSize(text); err != nil {
		return err
	}
	x.logStatement(text)
	parts := splitStatements(text)
	if len(parts) == 0 {
		x.backend.Send(&pgproto3.EmptyQueryResponse{})
	}
	statements := make([]*statement, len(parts))
	for i, part := range parts {
		statements[i] = newStatement(part)
	}
	if err := checkWrites(statements); err != nil {
		return err
	}
	for _, st := range statements {
		if err := x.simpleStatement(st); err != nil {
			return err
		}
	}
	return nil
}

func (x *session) simpleStatement(st *statement) error {
	if err := x.checkTransaction(st); err != nil {
		return err
	}
	if err := x.check(st); err != nil {
		return err
	}
	if err := x.checkWriteTransaction(st); err != nil {
		return err
	}
	p := &portal{statement: st}
	defer p.close()
	if st.returnsRows() {
		if err := x.openPortal(p); err != nil {
			return err
		}
		x.backend.Send(rowDescription(p.cursor.columns, p.format))
	}
	return x.perform(p, 0)
}

func (x *session) logStatement(text string) {
	x.server.options.Logger.Debug("postgres: statement", "session", x.id, "text", text)
}
