// Package value shows values of any Go type as trees of fields for a browser, and edits them from JSON.
//
// [Tree] reads a value. [NewEdit] makes an [Edit] from a type, a path and a JSON text, and checks the text
// against the type, without the value. [Edit.Apply] applies the edit later, and is cheap. Apply checks the
// entities and the indices of slice elements.
//
// # Terminology
//
// A field is a value or a part of a value. A path, such as at.X or grid[1][2].Y, leads from the whole value
// to a field. The path of the whole value is empty. A leaf is a field that is edited as a whole: a number, a
// bool, a string, an enum, an entity, a time.
//
// # Edits
//
// Exported fields, elements of arrays and elements of slices can be edited. An edit of a slice's element
// copies the slice, so that other holders of the slice do not see the change. Unexported fields can be edited
// only if the whole value holds no Go pointers. Off-heap values hold no Go pointers. Values behind pointers,
// in maps and in interfaces are read-only, because they may be shared. If a struct has a field whose type is
// in package sync or sync/atomic, Tree does not read the struct, because other goroutines may write to it.
//
// # Calls into the program
//
// Tree and NewEdit call String methods of the program's types on the caller's goroutine. If a method panics,
// Field.Text reports the panic. Long results are cut.
package value
