// Package vastsql answers SQL statements about a [vast.World]. [Open] returns a database/sql.DB whose tables
// are the components, tags, relations and names of the world. SQLite executes the statements; the tables are
// virtual tables over copies of the columns.
//
// # Tables
//
//   - Each component has a table with the column entity and a column for each field: position(entity, x, y).
//     Fields of nested structs have dotted names ("home.x"), elements of arrays of up to 16 numbers have
//     numbered names ("history.0"). Longer arrays, slices, maps and pointers are JSON text. A component that
//     is not a struct has the column value.
//   - A tag has a table with the column entity, a relation has source and target, and the names of a world
//     have entity and name.
//   - Table entities has a row for each entity: entity, slot and generation.
//   - CREATE VIRTUAL TABLE temp.moving USING vast(position, velocity) makes a table of the entities that have
//     all listed components. Its columns are "position.x" and so on. It lives as long as the connection.
//     [Options.Tables] makes such tables for all connections.
//
// Table names are the names of columns in snake case. The column entity is the ID of the entity
// ([vast.Entity.ID]) as a signed integer.
//
// # Moments
//
// A statement sees the world as it was at one moment between two ticks. When the statement starts, the
// columns that it uses are copied, in a single [vast.World.Visit]. The statement then runs on the copy, beside
// the world's next ticks.
//
// # Speed
//
// Comparisons of a number field with numbers, and comparisons of entity, are evaluated on the copied columns
// before SQLite sees a row. Joins look entities up. count, sum, total, avg, min and max over one table are
// computed on the columns if the conditions are such comparisons. EXPLAIN QUERY PLAN shows all of this.
package vastsql
