// Package value shows values of any Go type as trees of fields for a browser, and makes edits of them from JSON.
//
// [Tree] reads a value. An [Edit] is made from a type, a path and a JSON text, and checked against the type before it is
// applied to a value: so what is wrong with it is found without the value, outside of the time in which a world stands
// still, and applying it is little work.
//
// # Terminology
//
// A field is a value or a part of it. Its path leads there from the whole, which has the empty path: at.X, grid[1][2].Y.
// A leaf is a field that is edited as a whole: a number, a bool, a string, an enum, an entity, a time.
//
// # What is edited
//
// Exported fields, elements of arrays, and elements of slices: of a slice the edited value has a copy, so that others who
// share the slice do not see the change. Unexported fields are shown, and edited only where the whole value is plain memory
// without Go pointers, as everything off the heap is: there nothing but the value itself can depend on them in ways that
// the garbage collector would mind. What lies behind a pointer, in a map or in an interface is shown only, because others
// may share it. Nothing is read of a struct that holds a lock or an atomic value: its owner guards it.
//
// # What is called
//
// String methods of users' types, on whatever goroutine asks for the tree. What they panic with is shown as text; what they
// return is cut short.
package value
