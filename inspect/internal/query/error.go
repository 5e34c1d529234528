package query

import "fmt"

// Error is a mistake in a query.
type Error struct {
	Message  string // the mistake, and in most cases how to correct it
	Position int    // of the first wrong character, in runes
	Length   int    // in runes; 0 if something is missing
}

func (e *Error) Error() string { return e.Message }

// Span is a part of a text, in runes.
type Span struct {
	Position, Length int
}

func (s Span) errorf(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Position: s.Position, Length: s.Length}
}

// to returns the span from the start of s to the end of another span.
func (s Span) to(end Span) Span {
	return Span{s.Position, end.Position + end.Length - s.Position}
}
