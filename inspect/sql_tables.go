package inspect

import (
	"context"
	"net/http"
)

// sqlTable is a table of the database, for the completion of statements.
type sqlTable struct {
	Name    string      `json:"name"`
	Columns []sqlColumn `json:"columns"`
}

// columnsStatement lists the columns of all tables. It leaves out hidden columns, shadow tables, SQLite's own
// tables, and all virtual tables in the schema temp: tables that vastsql makes for its own use, and tables of
// a single connection. functionsStatement lists the functions, without operators and SQLite's internal
// functions.
const (
	columnsStatement = `SELECT t.name, c.name, c.type FROM pragma_table_list AS t
		JOIN pragma_table_xinfo(t.name) AS c
		WHERE t.type <> 'shadow' AND NOT (t.schema = 'temp' AND t.type = 'virtual')
		AND t.name NOT LIKE 'sqlite~_%' ESCAPE '~' AND c.hidden <> 1 ORDER BY t.name, c.cid`
	functionsStatement = `SELECT DISTINCT name FROM pragma_function_list
		WHERE name GLOB '[a-z]*' AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name`
)

// sqlTables answers with the tables and functions of the database.
func (in *Inspector) sqlTables(r *http.Request) (any, error) {
	answer := struct {
		Tables    []sqlTable `json:"tables"`
		Functions []string   `json:"functions"`
	}{[]sqlTable{}, []string{}}
	var table, name, kind string
	err := in.each(r.Context(), columnsStatement, func() {
		if n := len(answer.Tables); n == 0 || answer.Tables[n-1].Name != table {
			answer.Tables = append(answer.Tables, sqlTable{Name: table})
		}
		last := &answer.Tables[len(answer.Tables)-1]
		last.Columns = append(last.Columns, sqlColumn{name, kind})
	}, &table, &name, &kind)
	if err != nil {
		return nil, err
	}
	err = in.each(r.Context(), functionsStatement, func() {
		answer.Functions = append(answer.Functions, name)
	}, &name)
	return answer, err
}

// each runs a statement and calls f for each row. The argument into has pointers to variables. Before a call
// of f, these variables get the values of the row.
func (in *Inspector) each(ctx context.Context, statement string, f func(), into ...any) error {
	s, err := in.begin(ctx, statement)
	if err != nil {
		return err
	}
	defer s.end()
	for ; s.more; s.next() {
		if err := s.rows.Scan(into...); err != nil {
			return err
		}
		f()
	}
	return s.err()
}
