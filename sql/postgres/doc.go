// Package postgres serves a database of SQLite by the protocol of PostgreSQL, so that psql, pgx, Grafana, and
// other clients of PostgreSQL read it. One line starts a server:
//
//	server, err := postgres.Listen("localhost:5432", db, postgres.Options{})
//
// Then psql -h localhost connects. The names of the user and of the database are free.
//
// # Types
//
//   - [Server] serves a database until Close. [Listen] makes a Server from [Options].
//
// # SQL
//
// SQLite performs the statements of clients, so that its dialect applies. The server translates what clients
// of PostgreSQL cannot avoid: parameters ($1), casts (x::text), strings of the forms E'text' and $$text$$,
// and the schema public. The server refuses statements that change data, also if the database is not
// read-only.
//
// Statements that name tables of pg_catalog or of information_schema, or functions such as version(), read a
// catalog that describes the database's tables. The server translates the syntax of PostgreSQL in these
// statements, for example regular expressions (~), ANY, ARRAY, and subscripts. One statement reads either the
// catalog or the user's tables.
//
// BEGIN, COMMIT, ROLLBACK and savepoints change the state that clients see, nothing else. Each statement
// reads the data of its own moment, also inside of a transaction. SET stores values that SHOW returns; only
// statement_timeout has an effect. Cursors (DECLARE, FETCH, CLOSE) and COPY … TO STDOUT work. PREPARE and
// EXECUTE do not; drivers use the extended protocol for them.
//
// # Types of columns
//
// A column of a table has the type that its declaration says:
//
//	declaration                       type
//	INTEGER, BIGINT, and so on        int8
//	SMALLINT                          int2
//	REAL, DOUBLE, FLOAT               float8
//	TEXT, VARCHAR, CLOB               text
//	BLOB                              bytea
//	BOOLEAN                           bool
//	DATE                              date
//	DATETIME, TIMESTAMP               timestamptz
//
// The type of an expression follows from its text if it consists of columns, literals, casts, operators, and
// common functions. Otherwise it is the type of the first row's value, or text if that is NULL or if there
// are parameters. A later value that does not fit is an error with the code 42804; a cast in the statement
// avoids it.
//
// The type of a parameter is the one that the client gives, or that of the column or expression that the
// statement compares it with. Any other parameter counts as a number if it looks like one.
//
// # Safety
//
// Without a password the server accepts clients of this machine only. With a password clients authenticate by
// SCRAM-SHA-256, and if [Options.TLS] is set, clients of other machines must encrypt.
//
// A client that vanishes, a cancel request, and Close cancel the statement that runs. A client that does not
// read its result for a minute is disconnected. Until then it holds its own connection and one connection to
// SQLite. The number of clients, and the sizes and numbers of messages, statements and portals are bounded.
//
// # Costs
//
// A client costs two goroutines. A statement holds one connection of db while it runs. Statements that are
// not prepared read the schema of the database first. The server rebuilds the catalog when the schema
// changes, in a time in proportion to the number of columns.
package postgres
