package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/vastgo/vast/internal/sqlnote"
)

// A statement is a statement of a client that may be executed several times.
type statement struct {
	text    string
	verb    string // first word in lower case, or the verb that verbAfterWith finds; "" without words
	params  []oid
	columns []column // columns of the rows that a prepared statement returns
	user    *source  // source of a prepared statement on the user's tables; nil for other statements
	invalid bool     // the escape sequences of a string give no valid text

	returning bool // the statement writes rows and returns rows
}

// The verbs of statements that return rows of SQLite.
var queryVerbs = map[string]bool{"select": true, "values": true, "with": true, "explain": true,
	"pragma": true}

// The verbs of statements that the server refuses with the error 25006. Most of them change the schema.
var refusedVerbs = map[string]bool{
	"create": true, "drop": true, "alter": true, "attach": true, "detach": true, "vacuum": true,
	"analyze": true, "reindex": true, "truncate": true,
	"grant": true, "revoke": true, "comment": true, "merge": true, "refresh": true, "cluster": true,
	"lock": true,
}

// readingPragmas are the PRAGMA statements that the server performs. They change nothing.
var readingPragmas = map[string]bool{
	"table_info": true, "table_xinfo": true, "table_list": true, "index_list": true, "index_info": true,
	"index_xinfo": true, "foreign_key_list": true, "database_list": true, "collation_list": true,
	"function_list": true, "module_list": true, "pragma_list": true, "compile_options": true,
}

// newStatement returns a statement that is not prepared yet.
func newStatement(text string) *statement {
	st := &statement{text: text}
	tokens := significant(scan(text, dialectSQLite))
	for _, t := range tokens {
		if t.kind == tokenString && t.text[0]|0x20 == 'e' {
			if _, ok := unescape(t.text); !ok {
				st.invalid = true
			}
		}
	}
	for len(tokens) > 0 && (tokens[0].is("(") || tokens[0].is(";")) {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 {
		return st
	}
	st.verb = strings.ToLower(tokens[0].text)
	if st.verb == "with" {
		if writing := verbAfterWith(tokens); writing != "" {
			st.verb = writing
		}
	}
	st.returning = st.writes() && returningClause(tokens) != nil
	return st
}

// verbAfterWith returns the verb of a statement that starts with WITH and changes data, or "" for other
// statements. It skips the common table expressions, because SQLite does not admit such a verb in
// parentheses.
func verbAfterWith(tokens []token) string {
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case t.is("("):
			i = closing(tokens, i)
		case t.is("select") || t.is("values"):
			return ""
		case t.is("insert") || t.is("update") || t.is("delete"),
			t.is("replace") && i+1 < len(tokens) && tokens[i+1].is("into"):
			return t.name()
		}
	}
	return ""
}

// isQuery reports whether the statement is a query that SQLite runs.
func (st *statement) isQuery() bool { return queryVerbs[st.verb] }

// returnsRows reports whether the statement returns rows.
func (st *statement) returnsRows() bool {
	return st.isQuery() || st.returning || st.verb == "show" || st.verb == "fetch"
}

// checkSize returns an error for a text that is too long. It comes before any other work with the text.
func checkSize(text string) error {
	if len(text) <= maxStatementBytes {
		return nil
	}
	return failWithHint(codeLimit, fmt.Sprintf("the text has %d bytes, at most %d are possible", len(text),
		maxStatementBytes), "Send values as parameters, and statements one by one.")
}

// check returns an error for a statement that the server never performs.
func (st *statement) check() error {
	switch {
	case st.invalid:
		return failWithHint("22025", "invalid escape sequence in a string",
			"Write valid UTF-8 without zero bytes, and four digits after \\u.")
	case refusedVerbs[st.verb]:
		return failWithHint(codeReadOnly, fmt.Sprintf("cannot execute %s in a read-only transaction",
			strings.ToUpper(st.verb)),
			"The server changes no table definitions. Change them in the program that serves the data.")
	case st.verb == "pragma":
		tokens := significant(scan(st.text, dialectSQLite))
		if len(tokens) < 2 || !readingPragmas[tokens[1].name()] || len(tokens) > 2 && tokens[2].is("=") {
			return failWithHint(codeReadOnly, "this PRAGMA may change the database",
				"Use a PRAGMA that lists tables, columns or indexes, such as PRAGMA table_info(name).")
		}
	case st.verb == "" || st.returnsRows() || commands[st.verb] || st.writes():
	case st.verb == "prepare" || st.verb == "execute":
		return failWithHint(codeNotSupported, strings.ToUpper(st.verb)+" is not supported",
			"Use the extended protocol for prepared statements. Most drivers do so by themselves.")
	case st.verb == "listen" || st.verb == "notify" || st.verb == "do" || st.verb == "call" ||
		st.verb == "move":
		return fail(codeNotSupported, strings.ToUpper(st.verb)+" is not supported")
	default:
		return fail(codeSyntax, fmt.Sprintf("syntax error at or near %q", st.verb))
	}
	return nil
}

// sourceOf returns where a statement runs. The caller releases the source, or gives it to openCursor.
func (x *session) sourceOf(ctx context.Context, text string) (source, error) {
	c, release, err := x.server.catalogs.acquire(ctx)
	if err != nil {
		return source{}, failureOf(ctx, err)
	}
	if readsCatalog(text, c.user) {
		types := c.own.columnsOf(catalogNameOf(text))
		return source{c.db, translateCatalog(text, x), types, c.own.namesOf, release}, nil
	}
	user := c.user
	columns := user.columnsOf(text)
	release()
	if newStatement(text).writes() {
		text = typeStrings(text, columns, user.namesOf)
	}
	return source{x.server.db, translateQuery(text), columns, user.namesOf, nil}, nil
}

// catalogNameOf returns a text in which the tables of information_schema have the names that the catalog
// gives them.
func catalogNameOf(text string) string {
	return strings.NewReplacer("information_schema.", "information_schema_", "INFORMATION_SCHEMA.",
		"information_schema_").Replace(text)
}

// prepare checks a statement. It finds the types of the parameters, and the types of those columns whose type
// is known without a row.
func (x *session) prepare(text string, declared []uint32) (*statement, error) {
	st := newStatement(text)
	if err := x.check(st); err != nil {
		return nil, err
	}
	for _, o := range declared {
		st.params = append(st.params, oid(o))
	}
	query := st.text
	if !st.isQuery() && !st.writes() {
		inner, ok := innerQuery(st)
		if !ok {
			return st, nil
		}
		query = inner
	}
	ctx, cancel := x.operation()
	defer x.finish(cancel)
	from, err := x.sourceOf(ctx, query)
	if err != nil {
		return nil, err
	}
	if st.params, err = inferParameters(query, declared, from.columns); err != nil {
		if from.release != nil {
			from.release()
		}
		return nil, err
	}
	if st.writes() {
		inferAssigned(query, st.params, from)
	}
	c, err := openCursor(ctx, cancel, from, query, make([]any, len(st.params)))
	if err != nil {
		return nil, err
	}
	defer c.close()
	if st.isQuery() || st.writes() {
		st.columns = c.columns
		if st.writes() {
			defaultToText(st.columns)
		}
		if from.release == nil {
			st.user = &from
		}
	}
	return st, nil
}

// maxDescribeTime is the time that describeByRow waits for the first row.
const maxDescribeTime = time.Second

// describeStatement gives a type to all columns of a query, before a client gives the parameters. If neither
// SQLite nor the text tells the type of a column, the column has the type of the first row's value. If the
// query has parameters or returns no row in time, the column is text.
func (x *session) describeStatement(st *statement) error {
	for i := range st.columns {
		if st.columns[i].oid == oidUnspecified {
			return x.describeByRow(st)
		}
	}
	return nil
}

func (x *session) describeByRow(st *statement) error {
	if len(st.params) == 0 {
		ctx, cancel := x.operation()
		defer x.finish(cancel)
		limited, stop := context.WithTimeout(ctx, maxDescribeTime)
		defer stop()
		if from, err := x.sourceOf(limited, st.text); err == nil {
			if c, err := openCursor(limited, cancel, from, st.text, nil); err == nil {
				defer c.close()
				if c.describe() == nil && len(c.columns) == len(st.columns) {
					st.columns = c.columns
				}
			}
		}
		if ctx.Err() != nil {
			return failureOf(ctx, ctx.Err())
		}
	}
	for i := range st.columns {
		if st.columns[i].oid == oidUnspecified {
			st.columns[i].oid = oidText
		}
	}
	return nil
}

// open starts a query with its parameters. A prepared query of the user's tables keeps its source when the
// schema changes, so that open need not read the schema.
func (x *session) open(st *statement, arguments []any) (*cursor, error) {
	ctx, cancel := x.operation()
	defer x.finish(nil)
	ctx = sqlnote.With(ctx, func(note string) { x.warn(codeWarning, note) })
	if st.user != nil {
		return openCursor(ctx, cancel, *st.user, st.text, arguments)
	}
	from, err := x.sourceOf(ctx, st.text)
	if err != nil {
		cancel(nil)
		return nil, err
	}
	return openCursor(ctx, cancel, from, st.text, arguments)
}
