package shell

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// shown is the largest number of characters that a message shows on each side of the place of an error.
const shown = 50

// show writes the message for the error of a statement. If SQLite names the place of the error, show also
// writes the statement's line with this place, and marks the place.
func (e *statementError) show(w io.Writer, name string) {
	text := strings.TrimPrefix(e.err.Error(), "sqlite3: ")
	text = clean(strings.TrimPrefix(text, "SQL logic error: "))
	place := e.place()
	line := e.line
	if place >= 0 {
		line += strings.Count(e.text[:place], "\n")
	}
	if e.showLine {
		text = fmt.Sprintf("line %d: %s", line, text)
	}
	fmt.Fprintf(w, "%s: %s\n", name, text)
	if place < 0 {
		return
	}
	before := e.text[strings.LastIndexByte(e.text[:place], '\n')+1 : place]
	after, _, _ := strings.Cut(e.text[place:], "\n")
	left, right := []rune(clean(before)), []rune(clean(after))
	if len(left) > shown {
		left = append([]rune("…"), left[len(left)-shown:]...)
	}
	if len(right) > shown {
		right = append(right[:shown:shown], '…')
	}
	fmt.Fprintf(w, "\n    %s%s\n    %s^\n", string(left), string(right),
		strings.Repeat(" ", width(string(left))))
}

// place returns the position of the error in the statement, in bytes, or -1 if the position is unknown. The
// method SQL of SQLite's errors returns the text from the error on.
func (e *statementError) place() int {
	var failed interface{ SQL() string }
	if !errors.As(e.err, &failed) || failed.SQL() == "" || !strings.HasSuffix(e.text, failed.SQL()) {
		return -1
	}
	return len(e.text) - len(failed.SQL())
}
