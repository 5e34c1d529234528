package shell

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/ergochat/readline"
	"golang.org/x/term"
)

// errDiscarded says that the user pressed Ctrl-C instead of ending the line.
var errDiscarded = errors.New("the line is discarded")

// lineReader reads the lines that a user types.
type lineReader interface {
	// readLine shows a prompt and returns a line without its end. The error is io.EOF, an error of
	// the terminal, or an error that wraps errDiscarded.
	readLine(prompt string) (string, error)

	// remember adds an entry to the history in memory, if the reader has one.
	remember(entry string)

	close()
}

// editor is a lineReader with line editing.
type editor struct {
	instance *readline.Instance
	out      *os.File
	stop     func() bool // detaches the editor from its context
}

// newEditor returns an editor that takes over the terminal whenever it reads a line. The end of ctx closes
// the editor.
func newEditor(ctx context.Context, in, out *os.File, entries []string, c readline.AutoCompleter) (*editor,
	error) {
	var cooked *term.State
	instance, err := readline.NewFromConfig(&readline.Config{
		HistoryLimit:           historyLines,
		DisableAutoSaveHistory: true, // the prompt saves whole statements
		HistorySearchFold:      true,
		AutoComplete:           c,
		FuncFilterInputRune:    key,
		Undo:                   true,
		EOFPrompt:              `\q`,
		Stdin:                  &pasteReader{in: in},
		Stdout:                 lineEnds{out},
		Stderr:                 lineEnds{out},
		FuncIsTerminal:         func() bool { return true },
		FuncGetSize: func() (int, int) {
			columns, rows, err := term.GetSize(int(out.Fd()))
			if err != nil || columns <= 0 || rows <= 0 {
				return 80, 24
			}
			return columns, rows
		},
		FuncMakeRaw: func() (err error) {
			cooked, err = term.MakeRaw(int(in.Fd()))
			return err
		},
		FuncExitRaw: func() error {
			if cooked == nil {
				return nil
			}
			return term.Restore(int(in.Fd()), cooked)
		},
	})
	if err != nil {
		return nil, err
	}
	e := &editor{instance: instance, out: out}
	for _, entry := range entries {
		e.remember(entry)
	}
	e.stop = context.AfterFunc(ctx, func() { instance.Close() })
	return e, nil
}

// lineEnds writes to a terminal that term.MakeRaw has switched to raw mode, where \n alone does not return to
// the first column.
type lineEnds struct{ to io.Writer }

func (w lineEnds) Write(b []byte) (int, error) {
	if _, err := w.to.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// keys are the control characters that are keys of the editor. The editor would insert other control
// characters into the line.
const keys = "\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x10\x12\x13\x14\x15\x17\x19\x1a\x1f"

// key drops characters that are neither keys of the editor nor safe to show.
func key(r rune) (rune, bool) {
	switch {
	case r < 0: // a key with Alt, or a key such as Delete
		return r, true
	case r < ' ':
		return r, strings.ContainsRune(keys, r)
	}
	return r, r == readline.CharBackspace || !unsafeRune(r)
}

// Sequences that switch the marks of paste.go on and off (bracketed paste).
const (
	markPastes  = "\x1b[?2004h"
	leavePastes = "\x1b[?2004l"
)

func (e *editor) readLine(prompt string) (string, error) {
	e.instance.SetPrompt(prompt)
	if _, err := e.out.WriteString(markPastes); err != nil {
		return "", err
	}
	line, err := e.instance.ReadLine()
	if _, errOut := e.out.WriteString(leavePastes); err == nil {
		err = errOut
	}
	if errors.Is(err, readline.ErrInterrupt) {
		err = errDiscarded
	}
	return line, err
}

func (e *editor) remember(entry string) { _ = e.instance.SaveToHistory(entry) } // writes no file

func (e *editor) close() {
	e.stop()
	e.instance.Close()
}

// plainReader is a lineReader for terminals that cannot move the cursor.
type plainReader struct {
	ctx        context.Context
	input      <-chan chunk
	interrupts <-chan os.Signal
	out        io.Writer
	text       []byte // read, but not returned
	err        error  // the error that ended the input
}

func newPlainReader(ctx context.Context, in io.Reader, out io.Writer,
	interrupts <-chan os.Signal) *plainReader {
	return &plainReader{ctx: ctx, input: chunks(ctx, in), interrupts: interrupts, out: out}
}

func (p *plainReader) readLine(prompt string) (string, error) {
	if _, err := io.WriteString(p.out, prompt); err != nil {
		return "", err
	}
	for {
		line, rest, found := strings.Cut(string(p.text), "\n")
		if found || p.err != nil && line != "" {
			p.text = []byte(rest)
			return strings.TrimSuffix(line, "\r"), nil
		}
		if p.err != nil {
			return "", p.err
		}
		select {
		case c := <-p.input:
			p.text, p.err = append(p.text, c.text...), c.err
		case <-p.interrupts:
			p.text = nil
			_, err := io.WriteString(p.out, "\n")
			return "", errors.Join(errDiscarded, err)
		case <-p.ctx.Done():
			return "", io.EOF
		}
	}
}

func (p *plainReader) remember(string) {}

func (p *plainReader) close() {}
