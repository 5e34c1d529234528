package vastsql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
)

// session is the state of one connection.
type session struct {
	reader *reader
	db     *sqlite3.Conn
	schema *schema // the tables of this connection

	ctx     context.Context
	needs   map[*table]need // what the statement in preparation or execution uses of each table
	misfit  int64           // mark of a table of aggregates to which SQLite did not pass all conditions
	text    string          // the statement in preparation
	kept    int             // bytes of the values that percentile and median keep
	point   bool            // whether the running statement reads only the row, or the edges, of one entity
	moment  *moment         // the copy for the running statement; nil until it reads a table
	err     error           // the statement's error from this package; SQLite keeps only the text of an error
	write   *write          // what the statement writes; nil if it only reads
	dropped string          // table that the statement in preparation drops
}

const aggregateSuffix = "$aggregates"

func newSession(r *reader, db *sqlite3.Conn) (*session, error) {
	s := &session{reader: r, db: db, ctx: context.Background(), schema: &schema{temp: map[string]*table{}}}
	rows := func(_ *sqlite3.Conn, _, _, name string, _ ...string) (*vtab, error) {
		t := s.schema.find(name)
		if t == nil {
			return nil, fmt.Errorf("the world has no table %q", name)
		}
		return &vtab{session: s, table: t}, db.DeclareVTab(t.declaration())
	}
	aggregates := func(_ *sqlite3.Conn, _, _, name string, _ ...string) (*vtab, error) {
		t := s.schema.find(strings.TrimSuffix(name, aggregateSuffix))
		if t == nil {
			return nil, fmt.Errorf("the world has no table %q", name)
		}
		v := &vtab{session: s, table: t, aggregates: newAggregates(t)}
		return v, db.DeclareVTab(aggregateDeclaration(t, v.aggregates))
	}
	joined := func(_ *sqlite3.Conn, _, _, name string, args ...string) (*vtab, error) {
		t, err := s.join(name, args)
		if err != nil {
			return nil, err
		}
		return &vtab{session: s, table: t}, db.DeclareVTab(t.declaration())
	}
	for name, f := range map[string]sqlite3.VTabConstructor[*vtab]{
		"vast_rows": rows, "vast_aggregates": aggregates, "vast": joined,
	} {
		//lint:ignore SA1019 the function that replaces it needs Go 1.27
		if err := sqlite3.CreateModule(db, name, f, f); err != nil {
			return nil, err
		}
	}
	return s, errors.Join(registerFunctions(db), registerTimes(db), s.registerTree(db),
		s.registerPercentiles(db))
}

// refresh makes the tables that the connection lacks, for example those of new columns and archetypes of the
// world. It also estimates the number of rows of each table.
func (s *session) refresh(ctx context.Context, db *sqlite3.Conn) (err error) {
	if err := s.reader.update(ctx, s.schema); err != nil {
		return err
	}
	if err := db.SetAuthorizer(nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.SetAuthorizer(s.authorize)) }()
	return s.makeTables(db)
}

// join makes the table of CREATE VIRTUAL TABLE temp.name USING vast(table, ...).
func (s *session) join(name string, args []string) (*table, error) {
	var columns []vast.AnyColumn
	for _, arg := range args {
		of := strings.Trim(strings.TrimSpace(arg), `"`)
		t := s.schema.find(of)
		switch {
		case t == nil:
			return nil, fmt.Errorf("no such table: %s", of)
		case t.column == nil:
			return nil, fmt.Errorf("%s is not the table of a component, tag or relation", of)
		}
		if slices.Contains(columns, t.column) {
			return nil, fmt.Errorf("%s is named twice", of)
		}
		columns = append(columns, t.column)
	}
	switch {
	case len(columns) == 0:
		return nil, errors.New("name the tables to join: USING vast(position, velocity)")
	case strings.HasSuffix(name, aggregateSuffix):
		return nil, fmt.Errorf("names that end in %s are reserved", aggregateSuffix)
	}
	t := s.schema.temp[strings.ToLower(name)]
	same := func(p part, c vast.AnyColumn) bool { return p.column == c }
	if t != nil && slices.EqualFunc(t.parts, columns, same) {
		return t, nil // SQLite connects to the table again
	}
	err := s.reader.world.Visit(s.ctx, func() bool {
		t = newTable(s.reader.world, name, columns...)
		t.rows.Store(int64(t.query.Count()))
		return true
	})
	if err != nil {
		return nil, err
	}
	s.schema.temp[strings.ToLower(name)] = t
	return t, nil
}

// need notes what the statement in preparation uses of a table.
func (s *session) need(t *table, n need) {
	all := s.needs[t]
	all.add(n)
	if s.needs == nil {
		s.needs = map[*table]need{}
	}
	s.needs[t] = all
}

func (s *session) estimate(t *table) int64 { return t.rows.Load() }

// image returns the copy of a table for the running statement. The first call for a statement copies the
// tables that the statement uses. If the statement reads only the rows with the entity id in the given
// column, image copies only these rows. column is negative if the caller does not look for an entity.
func (s *session) image(t *table, column int, id int64) (*image, error) {
	if s.moment == nil {
		var err error
		// Functions such as parent follow links to rows of other entities.
		if s.point && len(s.needs) == 1 && !s.needs[t].links &&
			(column == 0 || column > 0 && t.edges != nil) {
			s.moment, err = s.reader.takeOne(s.ctx, t, column, id, s.needs[t])
		} else {
			s.moment, err = s.reader.take(s.ctx, s.needs)
		}
		if err != nil {
			s.err = err
			return nil, err
		}
	}
	m := s.moment.images[t]
	if one := s.moment.one; one != nil && one.table == t {
		m = one
	}
	if m == nil {
		return nil, fmt.Errorf("vastsql: the statement uses table %s, which was not copied", t.name)
	}
	return m, nil
}

// authorize records the use of functions that follow links, and what the statement writes. authorizeWrite or
// the function authorize makes the decision.
func (s *session) authorize(action sqlite3.AuthorizerActionCode, name, other, schema,
	inner string) sqlite3.AuthorizerReturnCode {
	if action == sqlite3.AUTH_FUNCTION && isTreeFunction(other) {
		s.needRelations()
	}
	if code, ok := s.authorizeWrite(action, name, other, schema); ok {
		return code
	}
	return authorize(action, name, other, schema, inner)
}

// authorize allows statements that read, transactions, some PRAGMAs that read, and CREATE VIRTUAL TABLE and
// DROP TABLE in schema temp.
func authorize(action sqlite3.AuthorizerActionCode, name, module, schema,
	_ string) sqlite3.AuthorizerReturnCode {
	switch action {
	case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_FUNCTION, sqlite3.AUTH_RECURSIVE,
		sqlite3.AUTH_TRANSACTION, sqlite3.AUTH_SAVEPOINT, sqlite3.AUTH_DROP_VTABLE:
		return sqlite3.AUTH_OK
	case sqlite3.AUTH_CREATE_VTABLE:
		if strings.EqualFold(module, "vast") {
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_PRAGMA:
		switch strings.ToLower(name) {
		case "table_info", "table_xinfo", "table_list", "database_list", "function_list", "module_list",
			"collation_list", "pragma_list", "compile_options", "encoding":
			return sqlite3.AUTH_OK
		}
	case sqlite3.AUTH_INSERT, sqlite3.AUTH_UPDATE, sqlite3.AUTH_DELETE:
		// CREATE VIRTUAL TABLE and DROP TABLE in schema temp need these. session.authorizeWrite decides
		// others.
		if schema == "temp" && (strings.HasPrefix(name, "sqlite_") || action == sqlite3.AUTH_DELETE) {
			return sqlite3.AUTH_OK
		}
	}
	return sqlite3.AUTH_DENY
}
