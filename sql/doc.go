// Package vastsql executes SQL statements about a [vast.World]. [Open] returns a database/sql.DB whose tables
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
//   - Edges ([vast.Edges]) have a table with source, target and the fields of their values.
//   - Table entities has a row for each entity: entity, slot, generation, name, and components: the tables of
//     its components, tags and links, separated by commas.
//   - Each archetype of the world has a table of the entities that were born with it and still have all its
//     components, such as archetype_position_velocity, with the columns entity, "position.x" and so on. If
//     this name is longer than 63 bytes or taken, the table is named after the number of the archetype:
//     archetype_7.
//   - CREATE VIRTUAL TABLE temp.moving USING vast(position, velocity) makes a table of the entities that have
//     all listed components. Its columns are "position.x" and so on. It lives as long as the connection.
//     [Options.Tables] makes such tables for all connections.
//
// Table names are the names of the world's columns in snake case. The column entity is the ID of the entity
// ([vast.Entity.ID]) as a signed integer.
//
// Three tables are read fresh for each statement. They are not part of its moment:
//
//   - vast_systems has a row for each system of the schedules of the world ([sched.Of]): schedule (its ID),
//     position in the order of a run with one worker, name, phase, exclusive, reads, writes, calls,
//     total_seconds, mean_seconds, last_seconds, p50_seconds, p99_seconds and max_seconds. Durations count
//     from the first statement, or other call of [sched.Schedule.Stats], that reads them.
//   - vast_memory has a row for each array of the world ([probe.Areas]): name of the table, or NULL for an
//     array of the world itself, area, number, reserved_bytes, committed_bytes and resident_bytes, which is
//     NULL for arrays outside of the world's reservations.
//   - vast_checkpoints has a row for each checkpoint in the folder Options.Store: number, tick, taken, base
//     (the checkpoint that this one continues), bytes, file, and error if the file is damaged. Without
//     Options.Store it is empty.
//
// # Functions
//
//   - parent(entity) is the target of an entity in the world's only relation, and depth(entity) the number of
//     its ancestors: targets, their targets, and so on. descendants(entity) is a table with entity and depth:
//     the sources of the entity (depth 1), their sources, and so on. If the world has several relations, the
//     last argument names one: parent(entity, 'child_of'). Each of the relations that the text of a statement
//     names in this way is copied, or all of them if the name is a parameter.
//   - percentile(x, p) is the value below which p percent of the values lie, interpolated as in SQLite's
//     percentile extension. median(x) is percentile(x, 50).
//   - distance(x1, y1, x2, y2) and within(x, y, x0, y0, radius) compare places.
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
// # Writes
//
// With [Options.Write], statements change the world. SQLite computes the rows of a statement from the copies.
// Then all rows are checked and applied between two ticks, as a whole: if one row does not fit, or if there
// is no memory, the statement changes nothing and returns a [WriteError]. Callbacks and trackers see the
// changes.
//
//   - UPDATE sets the fields that the statement names. Other fields keep the values that they have when the
//     statement is applied. The new values come from the moment that the statement has read.
//   - INSERT adds the component, tag, link or name to the entity that the row names. If entity (or source) is
//     left out or NULL, the row makes a new entity. Fields that the statement leaves out are zero. INSERT
//     INTO entities DEFAULT VALUES makes an entity. INSERT into a table of several components adds all of
//     them; the table of an archetype only gets new entities.
//   - DELETE removes the component, tag, link or name. DELETE FROM entities deletes entities; the
//     [vast.OnDelete] of relations applies, and a refused deletion is an error.
//   - INSERT is an error if the entity has the component, or if another entity has the name. With OR REPLACE,
//     the row replaces what is there; with OR IGNORE, the row is left out.
//   - If an entity has been deleted or has lost the component since the statement has read it, the statement
//     changes nothing, and the code of the WriteError is "40001": repeat the statement.
//
// A value must fit its field: 300 does not fit an int8, a text does not fit a number, 1.5 does not fit an
// integer, and NULL only fits an entity (the zero Entity) and a []byte. The columns entity, source, slot and
// generation cannot be set by UPDATE. Edges, [Options.Lists] and the tables that begin with vast_ are
// read-only.
//
// The result of a statement has the number of rows, and the ID of the entity of the last inserted row. INSERT
// … RETURNING entity returns the IDs of all rows.
//
// Statements are not combined: a statement that writes inside of a transaction or a savepoint is an error,
// because ROLLBACK could not undo it. Without [Options.Edit], a cancelled statement changes nothing. If it
// was applied already, it succeeds.
//
// If a journal records the inputs of a program, statements must be inputs, too: see [Options.Edit] and
// [Apply].
//
// # Speed
//
// Conditions such as x > 3, which compare a number field with a value, and the condition entity = ? are
// evaluated on the copied columns before SQLite sees a row. Joins by a column that holds entities look rows
// up. A SELECT over one table without GROUP BY can compute count, sum, total, avg, min and max on the copied
// columns, if all its conditions are of this kind. It may be a subquery, and its conditions may name columns
// of the outer SELECT. EXPLAIN QUERY PLAN shows which of these ways a statement takes.
//
// Sums and averages are those of SQLite, to the last bit, for values in the order of the rows. SQLite itself
// may add the rows of a join or of a GROUP BY in another order.
package vastsql
