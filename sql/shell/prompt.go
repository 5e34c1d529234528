package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// prompt runs the statements and commands that a user types.
type prompt struct {
	*session
	reader    lineReader
	completer *completer
	history   *history
	timing    bool
	last      string // the last entry that this prompt added to the history

	pending splitter
	lines   []string // typed lines that are not in the history yet
	apart   bool     // whether lines must stay apart: one ends within a string or comment, for example
}

// Texts before the first and the other lines of a statement.
const (
	firstPrompt       = "sql> "
	transactionPrompt = "sql*> " // before the first line, while a transaction is open
	nextPrompt        = "...> "
)

// runPrompt runs statements until the user leaves, and returns the exit status.
func (s *session) runPrompt(ctx context.Context, o Options, in, out *os.File,
	interrupts <-chan os.Signal) int {
	p := &prompt{session: s, history: &history{path: o.HistoryFile}}
	p.completer = &completer{ctx: ctx, load: s.loadSchema, before: func() string {
		return strings.Join(p.lines, "\n")
	}}
	var err error
	switch {
	case o.NoHistory:
		p.history.path = ""
	case o.HistoryFile == "":
		if p.history.path, err = defaultHistory(); err != nil {
			p.message("the history is not kept: %v", err)
		}
	}
	entries, err := p.history.load()
	if err != nil {
		p.message("the history is not kept: %v", err)
		p.history.path = ""
	}
	if os.Getenv("TERM") == "dumb" {
		p.reader = newPlainReader(ctx, in, out, interrupts)
	} else {
		if p.reader, err = newEditor(ctx, in, out, entries, p.completer); err != nil {
			p.message("the terminal cannot be used: %v", err)
			return Failure
		}
	}
	defer p.reader.close()
	fmt.Fprintln(s.stderr, `Statements end with ; and \? shows the commands.`)
	if err := p.loop(ctx, interrupts); err != errLeft {
		p.report(ctx, err)
		return Failure
	}
	return Success
}

// errLeft says that the user left the prompt.
var errLeft = errors.New("the user left")

// loop reads and runs lines until the user leaves (errLeft), ctx ends, or the terminal or the output fails.
func (p *prompt) loop(ctx context.Context, interrupts <-chan os.Signal) error {
	for {
		text := firstPrompt
		if p.pending.unfinished() {
			text = nextPrompt
		} else {
			p.discard()
			if p.inTransaction() {
				text = transactionPrompt
			}
		}
		line, err := p.reader.readLine(text)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, errDiscarded):
			p.discard()
			continue
		case err == io.EOF:
			return errLeft
		case err != nil:
			return err
		}
		select {
		case <-interrupts: // drops an interrupt from before the statement
		default:
		}
		interruptibly, stop := interruptible(ctx, interrupts)
		err = p.line(interruptibly, line)
		stop()
		if gone := new(outputError); err == errLeft || errors.As(err, &gone) {
			return err
		}
		if err != nil {
			p.discard() // an unfinished statement may rely on the failed one
			if errors.Is(context.Cause(interruptibly), errInterrupted) {
				fmt.Fprintln(p.stderr) // ends the line on which the terminal shows ^C
				p.message("the statement was stopped")
			} else {
				p.report(ctx, err)
			}
		}
	}
}

// line runs a line: a command, or the statements that end on this line.
func (p *prompt) line(ctx context.Context, line string) error {
	trimmed := strings.TrimSpace(line)
	if !p.pending.unfinished() {
		switch {
		case strings.HasPrefix(trimmed, `\`):
			p.remember(trimmed)
			return p.command(ctx, trimmed)
		case trimmed == "exit", trimmed == "quit", trimmed == "help":
			p.message(`\q leaves, \? shows the commands`)
			return nil
		}
	}
	if trimmed != "" {
		p.lines = append(p.lines, line)
	}
	p.pending.add([]byte(line))
	var statements []statement
	for st, ok := p.pending.next(); ok; st, ok = p.pending.next() {
		statements = append(statements, st)
	}
	p.apart = p.apart || p.pending.state != inText
	p.pending.add([]byte("\n"))
	p.pending.next() // reads the line end
	if len(p.pending.text) > maxStatement {
		return fmt.Errorf("the statement is longer than %d MiB", maxStatement>>20)
	}
	if len(statements) == 0 {
		return nil
	}
	if !p.pending.unfinished() {
		p.rememberLines()
	}
	for _, st := range statements {
		if err := p.runStatement(ctx, st); err != nil {
			return err
		}
	}
	return nil
}

func (p *prompt) runStatement(ctx context.Context, st statement) error {
	start := time.Now()
	done, err := p.run(ctx, statement{st.text, 1}, strings.Contains(st.text, "\n"))
	took := time.Since(start)
	p.completer.forget()
	if err != nil {
		return err
	}
	switch {
	case done.verb != "": // run has shown the number of rows
	case done.table && p.format == Table:
		fmt.Fprintf(p.stderr, "(%s)\n", counted(done.rows, "row"))
	case !done.table:
		fmt.Fprintln(p.stderr, "(done)")
	}
	if p.timing {
		fmt.Fprintf(p.stderr, "%.3f ms\n", float64(took.Nanoseconds())/1e6)
	}
	return nil
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// query runs a query of a command, and shows its result as a table.
func (p *prompt) query(ctx context.Context, text string) error {
	format := p.format
	defer func() { p.format = format }()
	p.format = Table
	_, err := p.run(ctx, statement{text, 1}, false)
	return err
}

// discard drops the unfinished statement.
func (p *prompt) discard() { p.pending, p.lines, p.apart = splitter{}, nil, false }

// rememberLines adds the typed lines to the history, as one entry where this does not change their meaning.
func (p *prompt) rememberLines() {
	if !p.apart {
		p.remember(strings.Join(p.lines, " "))
	} else {
		for _, line := range p.lines {
			p.remember(line)
		}
	}
	p.lines, p.apart = nil, false
}

// maxEntry is the largest length of an entry of the history, in bytes.
const maxEntry = 64 << 10

// remember adds an entry to the history.
func (p *prompt) remember(entry string) {
	if entry == p.last || len(entry) > maxEntry {
		return
	}
	p.last = entry
	p.reader.remember(entry)
	if err := p.history.add(entry); err != nil {
		p.message("the history is no longer kept: %v", err)
		p.history.path = ""
	}
}
