package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// A schema is what SQLite tells about the tables of a database.
type schema struct {
	tables []table
	byName map[string]int // by name in lower case
}

// A table is a table, a virtual table or a view.
type table struct {
	name       string
	kind       string // table, virtual, or view
	definition string // the CREATE statement
	columns    []tableColumn
	indexes    []index
	references []reference
}

type tableColumn struct {
	name         string
	declared     string
	defaultValue sql.NullString
	notNull      bool
	generated    bool
	primary      int // position in the primary key, from 1 on; 0 for other columns
}

type index struct {
	name       string
	definition string
	unique     bool
	origin     string // c: CREATE INDEX, u: UNIQUE, pk: PRIMARY KEY
	columns    []string
	positions  []int // of columns in the table, from 1 on; 0 for expressions
}

// A reference is a foreign key.
type reference struct {
	table string
	from  []string
	to    []string
}

// A queryer runs queries.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// selectSchema selects what the database defines: tables, views, indexes and triggers.
const selectSchema = `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
	UNION ALL SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_temp_schema`

// An entry is a row of the schema table of SQLite.
type entry struct{ kind, name, table, definition string }

// readEntries returns the entries of a database. Two equal lists describe the same schema.
func readEntries(ctx context.Context, q queryer) ([]entry, error) {
	return queryAll(ctx, q, selectSchema, func(e *entry) []any {
		return []any{&e.kind, &e.name, &e.table, &e.definition}
	})
}

// queryAll returns all rows of a query. fields returns pointers to the parts of a row, one for each column.
func queryAll[T any](ctx context.Context, q queryer, query string, fields func(*T) []any, args ...any,
) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var row T
		if err := rows.Scan(fields(&row)...); err != nil {
			return nil, err
		}
		all = append(all, row)
	}
	return all, rows.Err()
}

// readSchema reads the tables and views that entries name. It skips internal tables, the shadow tables of
// virtual tables, and tables that cannot be read, for example a view of a table that does not exist.
func readSchema(ctx context.Context, q queryer, entries []entry) (*schema, error) {
	s := &schema{byName: map[string]int{}}
	shadows, err := shadowTables(ctx, q)
	if err != nil {
		return nil, err
	}
	definitions := map[string]string{}
	for _, e := range entries {
		if e.kind == "index" {
			definitions[e.name] = e.definition
		}
	}
	for _, e := range entries {
		if e.kind != "table" && e.kind != "view" || isInternal(e.name) || shadows[e.name] {
			continue
		}
		t := table{name: e.name, kind: e.kind, definition: e.definition}
		if strings.HasPrefix(strings.ToUpper(e.definition), "CREATE VIRTUAL") {
			t.kind = "virtual"
		}
		if err := t.read(ctx, q, definitions); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		s.byName[strings.ToLower(t.name)] = len(s.tables)
		s.tables = append(s.tables, t)
	}
	return s, nil
}

// isInternal reports whether SQLite or package vastsql made a table for itself. Package vastsql makes tables
// with a dollar in the name, such as position$aggregates.
func isInternal(name string) bool {
	return strings.HasPrefix(name, "sqlite_") || strings.Contains(name, "$")
}

// shadowTables returns the tables in which virtual tables keep their data.
func shadowTables(ctx context.Context, q queryer) (map[string]bool, error) {
	names, err := queryAll(ctx, q, `SELECT name FROM pragma_table_list WHERE type = 'shadow'`,
		func(name *string) []any { return []any{name} })
	shadows := map[string]bool{}
	for _, name := range names {
		shadows[name] = true
	}
	return shadows, err
}

func (t *table) read(ctx context.Context, q queryer, definitions map[string]string) (err error) {
	type row struct {
		tableColumn
		hidden int
	}
	columns, err := queryAll(ctx, q,
		`SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1)`,
		func(r *row) []any {
			return []any{&r.name, &r.declared, &r.notNull, &r.defaultValue, &r.primary, &r.hidden}
		}, t.name)
	if err != nil {
		return err
	}
	const hiddenColumn = 1 // 2 and 3 are generated columns
	for _, column := range columns {
		if column.hidden != hiddenColumn {
			column.generated = column.hidden > hiddenColumn
			t.columns = append(t.columns, column.tableColumn)
		}
	}
	if t.kind != "table" {
		return nil
	}
	if err := t.readIndexes(ctx, q, definitions); err != nil {
		return err
	}
	return t.readReferences(ctx, q)
}

func (t *table) readIndexes(ctx context.Context, q queryer, definitions map[string]string) (err error) {
	t.indexes, err = queryAll(ctx, q, `SELECT name, "unique", origin FROM pragma_index_list(?1)`,
		func(x *index) []any { return []any{&x.name, &x.unique, &x.origin} }, t.name)
	if err != nil {
		return err
	}
	type member struct {
		position int
		name     sql.NullString
	}
	for i := range t.indexes {
		x := &t.indexes[i]
		x.definition = definitions[x.name]
		members, err := queryAll(ctx, q, `SELECT cid, name FROM pragma_index_info(?1)`,
			func(m *member) []any { return []any{&m.position, &m.name} }, x.name)
		if err != nil {
			return err
		}
		for _, m := range members {
			x.positions = append(x.positions, max(0, m.position+1))
			x.columns = append(x.columns, m.name.String)
		}
	}
	return nil
}

func (t *table) readReferences(ctx context.Context, q queryer) error {
	type row struct {
		id    int
		table string
		from  string
		to    sql.NullString
	}
	rows, err := queryAll(ctx, q, `SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?1)`,
		func(r *row) []any { return []any{&r.id, &r.table, &r.from, &r.to} }, t.name)
	if err != nil {
		return err
	}
	last := -1
	for _, r := range rows {
		if r.id != last {
			t.references = append(t.references, reference{table: r.table})
			last = r.id
		}
		f := &t.references[len(t.references)-1]
		f.from = append(f.from, r.from)
		if r.to.Valid {
			f.to = append(f.to, r.to.String)
		}
	}
	return nil
}

// primaryKey returns the columns of the primary key in the order of the key.
func (t *table) primaryKey() (names []string, positions []int) {
	for n := 1; ; n++ {
		found := false
		for i, column := range t.columns {
			if column.primary == n {
				names, positions, found = append(names, column.name), append(positions, i+1), true
			}
		}
		if !found {
			return names, positions
		}
	}
}

// columnsOf returns the types of the columns of all tables that a statement names. If columns of one name
// have different types, the type of the name is oidUnspecified.
func (s *schema) columnsOf(text string) columnTypes {
	types := map[string]oid{}
	for _, t := range scan(text, dialectSQLite) {
		at, ok := s.byName[strings.ToLower(t.name())]
		if !ok {
			continue
		}
		for _, column := range s.tables[at].columns {
			name, o := strings.ToLower(column.name), ofDeclared(column.declared)
			if old, ok := types[name]; ok && old != o {
				o = oidUnspecified
			}
			types[name] = o
		}
	}
	return func(name string) oid { return types[name] }
}

// namesOf returns the names of a table's columns, or nil if there is no such table.
func (s *schema) namesOf(table string) (names []string) {
	if at, ok := s.byName[strings.ToLower(table)]; ok {
		for _, column := range s.tables[at].columns {
			names = append(names, column.name)
		}
	}
	return names
}

// quoteName returns a name as PostgreSQL writes it: with quotes only where a name needs them.
func quoteName(name string) string {
	plain := name != "" && (isWordStart(name[0]) && name[0] < 0x80)
	for i := 0; i < len(name); i++ {
		c := name[i]
		plain = plain && (c == '_' || isDigit(c) || 'a' <= c && c <= 'z')
	}
	if plain && !endsSelect[name] && !operandKeywords[name] {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quoteName(name)
	}
	return strings.Join(quoted, ", ")
}

// indexDefinition returns the CREATE INDEX statement of an index.
func indexDefinition(t *table, x *index) string {
	if x.definition != "" {
		// psql shows what follows USING: the columns as the statement has them, such as (a DESC, lower(b)).
		tokens := significant(scan(x.definition, dialectSQLite))
		for i, token := range tokens {
			if token.is("(") {
				var b strings.Builder
				for j, token := range tokens[i:] {
					if j > 1 && (token.kind != tokenSymbol && !tokens[i+j-1].is("(")) {
						b.WriteByte(' ')
					}
					b.WriteString(token.text)
				}
				return fmt.Sprintf("CREATE %sINDEX %s ON public.%s USING btree %s",
					uniqueWord(x.unique), quoteName(x.name), quoteName(t.name), b.String())
			}
		}
	}
	return fmt.Sprintf("CREATE %sINDEX %s ON public.%s USING btree (%s)",
		uniqueWord(x.unique), quoteName(x.name), quoteName(t.name), quoteNames(x.columns))
}

func uniqueWord(unique bool) string {
	if unique {
		return "UNIQUE "
	}
	return ""
}
