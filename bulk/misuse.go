package bulk

import "fmt"

// Short paths panic with values that make their text on demand: a text made in place would keep the paths
// from being inlined.

// closedError says that a container was used after Close.
type closedError struct{ name string }

// Error says what to do.
func (e *closedError) Error() string {
	return "bulk: " + e.name + " is used after Close: keep it open as long as its elements are in use"
}

// indexError says that a container has no such element.
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
