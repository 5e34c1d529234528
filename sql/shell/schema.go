package shell

import (
	"context"
	"regexp"
	"slices"
	"strings"
)

// schema has the names of tables and columns, for completion.
type schema struct {
	tables  []string
	columns map[string][]string // by the name of the table in lower case
}

// listed is the condition for tables in pragma_table_list that are for users. It leaves out shadow tables,
// which hold the data of virtual tables, and virtual tables in the temporary schema, which programs make for
// their own use.
const listed = "type <> 'shadow' AND NOT (schema = 'temp' AND type = 'virtual')"

// loadSchema reads the names of tables, views and virtual tables, and of their columns. It goes on after a
// table whose columns cannot be read.
func (s *session) loadSchema(ctx context.Context) (schema, error) {
	known := schema{columns: make(map[string][]string)}
	names, err := s.list(ctx, "SELECT DISTINCT name FROM pragma_table_list WHERE "+listed+" ORDER BY name")
	if err != nil {
		return known, err
	}
	known.tables = names
	for _, name := range names {
		columns, err := s.list(ctx, "SELECT name FROM pragma_table_xinfo("+literal(name)+
			") WHERE hidden <> 1")
		if err != nil && ctx.Err() != nil {
			return known, err
		}
		known.columns[strings.ToLower(name)] = columns
	}
	return known, nil
}

// list returns the texts in the result of a query with one column.
func (s *session) list(ctx context.Context, query string) (texts []string, err error) {
	rows, err := s.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return texts, err
		}
		texts = append(texts, text)
	}
	return texts, rows.Err()
}

// literal returns a text as a literal of SQL, because some databases take no parameters.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

var word = regexp.MustCompile(`[\pL_][\pL\pN_$]*`)

// columnsOf returns the columns of the tables that text names, or of all tables if text names none.
func (k schema) columnsOf(text string) (columns []string) {
	for _, name := range word.FindAllString(strings.ToLower(text), -1) {
		columns = append(columns, k.columns[name]...)
	}
	if len(columns) == 0 {
		for _, name := range k.tables {
			columns = append(columns, k.columns[strings.ToLower(name)]...)
		}
	}
	slices.Sort(columns)
	return slices.Compact(columns)
}
