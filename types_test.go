package vast

// The compiler makes hundreds of functions for each component type and each storage. Tests therefore share
// the types of this file and of storage_test.go, unless a test is about a type of another shape.

type position struct{ X, Y float64 }
type velocity struct{ X, Y float64 }

// kilobyte is a component that takes much memory. It is an alias, because a world may have several columns
// of a type without a name.
type kilobyte = [1 << 10]byte
