// Package postgres serves a database of SQLite by the protocol of PostgreSQL, so that psql, pgx, Grafana, and
// other clients of PostgreSQL can read it. One line starts a server:
//
//	server, err := postgres.Listen("localhost:5432", db, postgres.Options{})
//
// Then psql -h localhost connects. Clients may give any names for the user and the database.
//
// # Types
//
//   - [Server] serves a database until Close. [Listen] makes a Server from [Options].
//
// # SQL
//
// SQLite performs the statements of clients, so they must be in the dialect of SQLite. The server translates
// what clients of PostgreSQL cannot avoid: parameters ($1), casts (x::text), strings of the forms E'text' and
// $$text$$, the schema public, INTERVAL before a string, now(), and extract(field FROM time). Unless
// [Options.Write] is set, the server refuses statements that change data, even if the database allows them.
//
// Statements that name tables of pg_catalog or of information_schema, or functions such as version(), read a
// catalog that describes the database's tables. The server translates the syntax of PostgreSQL in these
// statements, for example regular expressions (~), ANY, ARRAY, and subscripts. Each statement reads either
// the catalog or the user's tables.
//
// BEGIN, COMMIT, ROLLBACK and savepoints start no transaction of SQLite. They change the state that the
// server reports to the client, and the end of a transaction closes the client's cursors. Each statement
// reads the newest data, also inside a transaction. SET stores the value of a setting for SHOW, unless the
// server fixes the setting, as it does for TimeZone. Only statement_timeout and default_transaction_read_only
// have an effect. Cursors (DECLARE, FETCH, CLOSE) and COPY … TO STDOUT work. PREPARE and EXECUTE do not work;
// drivers use the extended protocol instead.
//
// # Writes
//
// With [Options.Write], clients may send INSERT, UPDATE and DELETE, also with RETURNING if the database
// allows it. The server performs each of these statements outside of transactions. Inside a transaction, the
// statement is an error with the code 25001, because ROLLBACK could not undo it. A message with several
// statements that write is an error, too. In a pipeline, an error does not undo the statements before it. A
// string that a statement assigns to a column, such as SET x = '1.5', is a value of the column's type. SET
// default_transaction_read_only = on forbids a client to write. If an error of the database has a method
// SQLState, the client gets the code that this method returns.
//
// # Types of columns
//
// A column of a table has the type that follows from its declaration:
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
//	TIME                              text, such as 12:30:00
//
// Other declarations, such as NUMERIC, tell no type. The type of an expression follows from its text if the
// text consists of columns, literals, casts, operators, and common functions. If no rule tells the type of a
// column, the column has the type of the first row's value. If this value is NULL or not known yet, the type
// is text. For example, the value is not known if the client asks for the types before it gives the
// parameters. A later value that does not fit is an error with the code 42804; a cast in the statement avoids
// the error.
//
// A parameter has the type that the client gives. If the client gives none, the type follows from the text
// beside the parameter: a cast, or the column that the statement compares with the parameter or sets to it.
// Any other parameter counts as a number if it looks like one.
//
// # Safety
//
// Without a password the server accepts clients of this machine only. With a password clients authenticate by
// SCRAM-SHA-256, and if [Options.TLS] is set, clients of other machines must encrypt.
//
// A client that vanishes, a cancel request, and [Server.Close] cancel the statement that runs. A client that
// does not read its result for a minute is disconnected. Until then it holds its own connection and one
// connection to SQLite. There are limits for the number of clients, the sizes of messages and statements, and
// each client's numbers of prepared statements and of cursors.
//
// # Costs
//
// A client costs two goroutines. A query of the user's tables holds one connection of db until the client has
// read the result or closes it. The server reads the schema of the database before each query. It reads the
// schema for a prepared query of the user's tables only once, when the client prepares the query. After a
// change of the schema the server rebuilds the catalog. This takes time in proportion to the number of
// columns.
package postgres
