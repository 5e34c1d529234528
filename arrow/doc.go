// Package vastarrow reads the components of a world as columns of Apache Arrow, writes entities and results
// of SQL statements as Arrow, Parquet, CSV or JSON lines, and makes entities from files in these formats.
//
// # Types
//
//   - Records yields the runs of a query as Arrow records. The numbers in a record share the memory of the
//     world where possible; Records copies all other values.
//   - Write writes the rows of a Source in a Format: Arrow, Parquet, CSV or JSON lines. Entities makes a
//     Source of the entities of a query, and Rows makes one of the rows of a SQL statement.
//   - Read makes entities from a file in any Format. Its Report lists the values that did not fit.
//   - Handler answers SQL statements over HTTP, with Arrow streams.
//
// # Terminology
//
//   - record: a batch of rows, as columns; an arrow.RecordBatch
//   - field: a component, or a part of one, that has a column of its own; the name of the column is the path
//     to the field, such as position.x
//   - run: as in package vast, a range of consecutive slots whose entities all match a query
//
// # Rules
//
// Records, a Source made by Entities, and Read follow the rules of vast.World about goroutines: reading
// entities is a query, and Read changes the structure. A goroutine that does not own the world calls these
// functions in vast.World.Visit.
//
// No file makes Read panic. Read returns an error if it cannot decode a file. The size of the file bounds the
// memory that decoding takes. A small file can have many rows of repeated values, so ReadOptions.MaxRows
// bounds the entities that Read makes.
package vastarrow
