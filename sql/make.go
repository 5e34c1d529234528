package vastsql

import (
	"errors"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// makeTables makes the tables that SQLite lacks. A CREATE VIRTUAL TABLE takes much longer than the row that it
// adds to the table sqlite_schema. So makeTables adds the rows itself, and SQLite calls the constructor of the
// virtual table when a statement first uses the table.
func (s *session) makeTables(db *sqlite3.Conn) (err error) {
	rows, err := s.lacking(db, "main", "")
	if err != nil {
		return err
	}
	aggregates, err := s.lacking(db, "temp", aggregateSuffix)
	if err != nil || len(rows)+len(aggregates) == 0 {
		return err
	}
	if err := db.Exec("PRAGMA writable_schema=ON"); err != nil {
		return err
	}
	// RESET also makes SQLite read the schema again.
	defer func() { err = errors.Join(err, db.Exec("PRAGMA writable_schema=RESET")) }()
	return errors.Join(enter(db, "main", rows, "vast_rows"), enter(db, "temp", aggregates, "vast_aggregates"))
}

// lacking returns the names of the tables that a schema of SQLite lacks. It may lack tables of an earlier
// call of makeTables, because a transaction was rolled back.
func (s *session) lacking(db *sqlite3.Conn, schema, suffix string) (names []string, err error) {
	there := map[string]bool{}
	statement, _, err := db.Prepare("SELECT name FROM " + schema + ".sqlite_schema")
	if err != nil {
		return nil, err
	}
	for statement.Step() {
		there[strings.ToLower(statement.ColumnText(0))] = true
	}
	if err := statement.Close(); err != nil {
		return nil, err
	}
	for _, t := range s.schema.tables {
		name := t.name + suffix
		if suffix != "" && t.noAggregates || len(t.fields) > maxColumns || there[strings.ToLower(name)] {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// enter adds virtual tables to a schema of SQLite.
func enter(db *sqlite3.Conn, schema string, names []string, module string) error {
	statement, _, err := db.Prepare("INSERT INTO " + schema +
		".sqlite_schema VALUES ('table', ?1, ?1, 0, ?2)")
	if err != nil {
		return err
	}
	for _, name := range names {
		err = errors.Join(err, statement.BindText(1, name),
			statement.BindText(2, "CREATE VIRTUAL TABLE "+quote(name)+" USING "+module))
		statement.Step()
		err = errors.Join(err, statement.Reset())
	}
	return errors.Join(err, statement.Close())
}
