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
//   - A tag has a table with the column entity. A relation has a table with source and target. The names of a
//     world have a table with entity and name.
//   - Edges ([vast.Edges]) have a table with source, target and the fields of their values.
//   - Table entities has a row for each entity, with entity, slot, generation, name and components. Column
//     components lists the tables of the entity's components, tags and links, separated by commas.
//   - Each archetype of the world has a table of the entities that were born with the archetype and still
//     have all its components. An example is archetype_position_velocity, with the columns entity,
//     "position.x" and so on. If the archetype has no components, or if this name is taken or longer than 63
//     bytes, the table is named after the number of the archetype: archetype_7.
//   - CREATE VIRTUAL TABLE temp.moving USING vast(position, velocity) makes a table of the entities that have
//     all listed components. The columns of the table are entity, "position.x" and so on. The table lasts as
//     long as the connection. [Options.Tables] makes such tables for all connections.
//   - Each slice in [Options.Lists] has a table of values that the program keeps outside of the world.
//
// Table names are the names of the world's columns in snake case. The column entity is the ID of the entity
// ([vast.Entity.ID]) as a signed integer.
//
// There are three more tables. A statement that reads one of them makes the rows of the table anew. These
// rows do not belong to the moment that the statement sees (see Moments below):
//
//   - vast_systems has a row for each system of the schedules of the world ([sched.Of]): schedule (its ID),
//     position in the order of a run with one worker, name, phase, exclusive, reads, writes, calls,
//     total_seconds, mean_seconds, last_seconds, p50_seconds, p99_seconds and max_seconds. A schedule
//     measures durations only after the first call of [sched.Schedule.Stats]. A statement that reads
//     vast_systems makes such a call.
//   - vast_memory has a row for each array of the world ([probe.Areas]): name, area, number, reserved_bytes,
//     committed_bytes and resident_bytes. name is the name of the table, or NULL for an array of the world
//     itself. resident_bytes is NULL for arrays outside of the world's reservations.
//   - vast_checkpoints has a row for each checkpoint in the folder Options.Store: number, tick, taken, base
//     (the checkpoint that this one continues), bytes, file and error. If the file is damaged, error says
//     why, and tick is NULL. Without Options.Store, vast_checkpoints is empty.
//
// # Functions
//
//   - parent(entity) is the target of an entity in the world's only relation. depth(entity) is the number of
//     the entity's ancestors: its target, the target of that target, and so on. descendants(entity) is a
//     table with the columns entity and depth: the sources of the entity (depth 1), the sources of these
//     sources (depth 2), and so on. If the world has several relations, the last argument names one:
//     parent(entity, 'child_of'). A statement copies the relations that its text names in this way. If the
//     text names none, for example because the name is a parameter, the statement copies all relations.
//   - percentile(x, p) is the value below which p percent of the values lie. SQLite's percentile extension
//     interpolates in the same way. median(x) is percentile(x, 50). NULL is left out; an infinite value is an
//     error.
//   - date_trunc(field, t) is the beginning of the hour, day, week and so on that contains the time t.
//     time_bucket(width, t) is the beginning of the bucket that contains t. The width is a number of seconds,
//     or a text such as '5 minutes' or '1 month'. If both arguments are numbers, buckets begin at multiples
//     of the width. Otherwise buckets are counted from Monday, 2000-01-03, and buckets of months from
//     2000-01-01. t is an ISO-8601 text or a number of seconds since 1970. The result has the same form, in
//     UTC. to_timestamp(seconds) is the text of such a number.
//   - distance(x1, y1, x2, y2) is the distance of two places. within(x, y, x0, y0, radius) reports whether
//     this distance is at most radius.
//
// # Moments
//
// A statement sees the world as it was at one moment between two ticks. When the program asks for the first
// row, all columns that the statement uses are copied in a single [vast.World.Visit]. The statement then runs
// on the copy while the world goes on.
//
// If Options.Store names the folder of a store, a statement that ends in AS OF TICK n reads the checkpoint
// of that tick. A statement that would exceed MaxCopyBytes or MaxPause reads the newest checkpoint. Both
// statements see the tables of the checkpoint, but not the tables that the connection has made in schema
// temp.
//
// # Writes
//
// With [Options.Write], statements change the world. SQLite computes the rows of a statement from the
// copies. Then all rows are checked and applied together between two ticks. If one row does not fit, or if
// memory runs out, the statement changes nothing and returns a [WriteError]. Callbacks and trackers see the
// changes.
//
//   - UPDATE sets the fields that the statement names. Other fields keep the values that they have when the
//     statement is applied. The new values come from the moment that the statement has read.
//   - INSERT adds the component, tag, link, edge or name to the entity that the row names. If entity (or
//     source) is left out or NULL, the row makes a new entity. Fields that the statement leaves out are zero.
//     INSERT INTO entities DEFAULT VALUES makes an entity. INSERT into a table of several components adds all
//     these components. INSERT into the table of an archetype always makes new entities.
//   - DELETE removes the component, tag, link, edge or name. DELETE FROM entities deletes entities; the
//     [vast.OnDelete] of relations applies, and a refused deletion is an error.
//   - UPDATE of target moves a link or an edge to another target. An edge keeps its value, and becomes the
//     last edge of its source.
//   - INSERT is an error if the entity already has the component, tag, link or name, or an edge to the same
//     target. It is also an error if another entity has the name. With OR REPLACE, the row replaces the
//     existing component, link, edge or name. With OR IGNORE, the statement skips the row. The same holds for
//     an UPDATE that moves an edge or sets a name.
//   - After a statement has read an entity, the entity may be deleted, or may lose the component or the edge.
//     The statement then changes nothing, and the code of the WriteError is "40001": repeat the statement.
//
// A value must fit its field: 300 does not fit an int8, a text does not fit a number, 1.5 does not fit an
// integer, and NULL only fits an entity (the zero Entity) and a []byte. The columns entity, source, slot and
// generation cannot be set by UPDATE. [Options.Lists] and the tables that begin with vast_ are read-only.
//
// The result of a statement has the number of rows, and the entity ID of the last inserted row. INSERT …
// RETURNING entity returns the IDs of all rows.
//
// A transaction cannot combine writes: a statement that writes in a transaction or a savepoint is an error,
// because ROLLBACK could not undo the write. Without [Options.Edit], a statement that is cancelled before it
// is applied changes nothing. A statement that is cancelled later succeeds.
//
// If a journal records the inputs of a program, statements must be inputs, too: see [Options.Edit] and
// [Apply].
//
// # Speed
//
// Conditions such as x > 3, which compare a number field with a value, and the condition entity = ? are
// evaluated on the copied columns before SQLite sees a row. A join by a column of entities looks rows up by
// their entity. A SELECT over one table without GROUP BY can compute count, sum, total, avg, min and max on
// the copied columns if all its conditions are of these kinds. Such a SELECT may be a subquery, and its
// conditions may name columns of the outer SELECT. EXPLAIN QUERY PLAN shows which of these methods a
// statement uses.
//
// Sums and averages equal those of SQLite to the last bit if SQLite adds the values in the order of the rows.
// In a join or a GROUP BY, SQLite may add the values in another order.
package vastsql
