// Package vastarrow reads the components of a world as columns of Apache Arrow, writes entities and results
// of SQL statements to files of other programs, and makes entities from such files.
//
// # Types
//
//   - Records yields the runs of a query as Arrow records. Numbers share their memory with the world.
//   - Write writes the rows of a Source in a Format: Arrow, Parquet, CSV or JSON lines. Entities makes a
//     Source of the entities of a query, and Rows makes one of the rows of a SQL statement.
//   - Read makes entities from a file in any Format. Its Report lists the values that did not fit.
//
// # Terminology
//
//   - record: a batch of rows, as columns; an arrow.RecordBatch
//   - field: a part of a component with a column of its own, named by its path, such as position.x
//
// # Rules
//
// Records, a Source made by Entities, and Read follow the rules of vast.World about goroutines: reading
// entities is a query, and Read changes the structure. A goroutine that does not own the world calls these
// functions in vast.World.Visit.
//
// Input never panics: a damaged or hostile file is an error, and takes memory in proportion to its size. A
// column of a repeated value takes little space in a file, so ReadOptions.MaxRows bounds the rows.
package vastarrow
