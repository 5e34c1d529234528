package vast

// The compiler makes hundreds of functions for each component type and each storage. So tests share the types
// of this file and of storage_test.go. A test declares another type only if it needs another shape.

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }

// kilobyte is a component that takes much memory. It is an alias, because a world may have several columns
// of a type without a name.
type kilobyte = [1 << 10]byte
