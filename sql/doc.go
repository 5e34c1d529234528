// Package vastsql answers SQL statements about a [vast.World]. [Open] returns a database/sql.DB whose tables
// are the components, tags, relations and names of the world. SQLite executes the statements; the tables are
// virtual tables over copies of the world's columns.
//
// # Tables
//
//   - Each component has a table with the column entity and a column for each field: position(entity, x, y).
//     Fields of nested structs have dotted names ("home.x"). The elements of an array of up to 16 elements
//     have numbered names ("history.0"). A []byte is a blob. Longer arrays, other slices, maps and pointers
//     are JSON text. The column of a component that is neither a struct nor such an array is named value.
//   - A tag has a table with the column entity, a relation has source and target, and the names of a world
//     have entity and name.
//   - Table entities has a row for each entity: entity, slot and generation.
//   - CREATE VIRTUAL TABLE temp.moving USING vast(position, velocity) makes a table of the entities that have
//     all listed components. Its columns are "position.x" and so on. It lives as long as the connection.
//     [Options.Tables] makes such tables for all connections.
//
// Table names are the names of the world's columns in snake case. The column entity is the ID of the entity
// ([vast.Entity.ID]) as a signed integer.
//
// # Moments
//
// A statement sees the world as it was at one moment between two ticks. When the program asks for the first
// row, all columns that the statement uses are copied, in a single [vast.World.Visit]. The statement then
// runs on the copy, while the world goes on.
//
// If Options.Store names the folder of a store, a statement that ends in AS OF TICK n reads the checkpoint of
// that tick, and a statement that would copy too much reads the newest checkpoint. Both see the tables of the
// checkpoint, but no tables that the connection has made in schema temp.
//
// # Speed
//
// Conditions such as x > 3, which compare a number field with a number, and the condition entity = ? are
// evaluated on the copied columns before SQLite sees a row. Joins by entity look rows up. A SELECT over one
// table without GROUP BY can compute count, sum, total, avg, min and max on the copied columns, if all its
// conditions are of this kind. EXPLAIN QUERY PLAN shows which of these ways a statement takes.
package vastsql
