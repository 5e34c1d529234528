package places

import "fmt"

// Error says why a list of places could not be loaded or written.
type Error struct {
	File   string // as given to Open or Read
	Line   int    // counted from 1; 0 where lines mean nothing: packed files, files that cannot be opened
	Reason string // what is wrong, in words that suggest what to do
	Err    error  // the cause where there is one, for errors.Is; its text is part of Reason
}

// Error reads "file:line: reason", or "file: reason" where Line is 0.
func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Reason)
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Reason)
}

// Unwrap gives the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error { return e.Err }
