package shell

import (
	"io"
	"os"

	"golang.org/x/term"
)

// output is the destination of results.
type output struct {
	io.Writer
	terminal bool
	file     *os.File // the terminal, or nil
}

func newOutput(w io.Writer) *output {
	o := &output{Writer: w, terminal: isTerminal(w)}
	if o.terminal {
		o.file = w.(*os.File)
	}
	return o
}

// columns returns the width of the terminal in cells, or 80 if the width is unknown. Without a terminal, it
// returns 0.
func (o *output) columns() int {
	if o.file == nil {
		return 0
	}
	columns, _, err := term.GetSize(int(o.file.Fd()))
	if err != nil || columns <= 0 {
		return 80
	}
	return columns
}

// isTerminal reports whether a reader or writer is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && f != nil && term.IsTerminal(int(f.Fd()))
}
