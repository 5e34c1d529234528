package vastsql

import (
	"errors"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// makeTables makes the tables that SQLite lacks. CREATE VIRTUAL TABLE adds a row to the table sqlite_schema,
// and takes much longer than an INSERT of that row. So makeTables inserts the rows. SQLite calls the
// constructor of a virtual table when a statement first uses the table.
func (s *session) makeTables(db *sqlite3.Conn) (err error) {
	tables, err := s.missingTables(db, "main", "")
	if err != nil {
		return err
	}
	aggregates, err := s.missingTables(db, "temp", aggregateSuffix)
	if err != nil || len(tables)+len(aggregates) == 0 {
		return err
	}
	if err := db.Exec("PRAGMA writable_schema=ON"); err != nil {
		return err
	}
	// Besides ending the mode, RESET makes SQLite read the schema again.
	defer func() { err = errors.Join(err, db.Exec("PRAGMA writable_schema=RESET")) }()
	return errors.Join(insertTables(db, "main", tables, "vast_rows"),
		insertTables(db, "temp", aggregates, "vast_aggregates"))
}

// missingTables returns the names of the tables that a schema of SQLite lacks. After the rollback of a
// transaction, the schema may also lack tables that an earlier call of makeTables made.
func (s *session) missingTables(db *sqlite3.Conn, schema, suffix string) (names []string, err error) {
	present := map[string]bool{}
	statement, _, err := db.Prepare("SELECT name FROM " + schema + ".sqlite_schema")
	if err != nil {
		return nil, err
	}
	for statement.Step() {
		present[strings.ToLower(statement.ColumnText(0))] = true
	}
	if err := statement.Close(); err != nil {
		return nil, err
	}
	for _, t := range s.schema.tables {
		name := t.name + suffix
		if suffix != "" && t.noAggregates || len(t.fields) > maxColumns || present[strings.ToLower(name)] {
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// insertTables adds virtual tables to a schema of SQLite.
func insertTables(db *sqlite3.Conn, schema string, names []string, module string) error {
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
