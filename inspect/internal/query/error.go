package query

import "fmt"

// Error is a mistake in a query.
type Error struct {
	Message  string // the mistake, and in most cases how to correct it
	Position int    // index of the first wrong character, in runes
	Length   int    // number of wrong characters, in runes; may be 0 at the end of the text
}

func (e *Error) Error() string { return e.Message }

// Span is a part of a text, in runes.
type Span struct {
	Position, Length int
}

func (s Span) errorf(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Position: s.Position, Length: s.Length}
}

// to returns the span from the start of s to the end of last.
func (s Span) to(last Span) Span {
	return Span{s.Position, last.Position + last.Length - s.Position}
}
