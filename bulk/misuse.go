package bulk

import "fmt"

// Functions that the compiler should inline panic with one of these errors. The method Error formats the text
// later: formatting in the functions would prevent the inlining.

// closedError is the panic of a method that was called after Close.
type closedError struct{ name string }

func (e *closedError) Error() string {
	return "bulk: " + e.name + " is used after Close: keep it open as long as its elements are in use"
}

// indexError is the panic of a method that was called with an index out of range.
type indexError struct {
	method        string
	index, length int
	name          string
	ended         error // the closedError of a closed container, else nil
}

func (e *indexError) Error() string {
	if e.ended != nil {
		return e.ended.Error()
	}
	return fmt.Sprintf("bulk: %s(%d) on %s of length %d", e.method, e.index, e.name, e.length)
}
