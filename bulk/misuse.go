package bulk

import "fmt"

// Short functions panic with one of these errors, whose method Error makes the text: code that makes a text
// would prevent the inlining of the functions.

// closedError says that a container was used after Close.
type closedError struct{ name string }

// Error says what to do.
func (e *closedError) Error() string {
	return "bulk: " + e.name + " is used after Close: keep it open as long as its elements are in use"
}

// indexError says that a container has no element of an index.
type indexError struct {
	method        string
	index, length int
	name          string
	ended         error // the container's closedError if it is closed, else nil
}

// Error gives the index and the length.
func (e *indexError) Error() string {
	if e.ended != nil {
		return e.ended.Error()
	}
	return fmt.Sprintf("bulk: %s(%d) on %s of length %d", e.method, e.index, e.name, e.length)
}
