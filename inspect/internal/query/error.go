package query

import "fmt"

// Error is what is wrong with a text.
type Error struct {
	Message  string // says what to do
	Position int    // of the first character that is meant, counted in runes
	Length   int    // how many are meant; 0 where something is missing
}

func (e *Error) Error() string { return e.Message }

// Span is a part of a text, counted in runes.
type Span struct {
	Position, Length int
}

func (s Span) errorf(format string, args ...any) error {
	return &Error{Message: fmt.Sprintf(format, args...), Position: s.Position, Length: s.Length}
}

// to returns the span from the beginning of one to the end of another.
func (s Span) to(end Span) Span {
	return Span{s.Position, end.Position + end.Length - s.Position}
}
