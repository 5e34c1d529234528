// Package query is the command `vast query`. The command sends a query to the inspector of a running program.
// It prints the entities that match the query as a table, as JSON or as CSV.
package query

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// usualLimit is the default of -limit for a table.
const usualLimit = 1000

// maxRows is the largest number of rows that an inspector sends.
const maxRows = 1 << 20

// maxAnswer bounds the inspector's response to a count, in bytes.
const maxAnswer = 1 << 20

// options are the flags and arguments of the command line.
type options struct {
	address string
	text    string
	token   string
	format  string // table, json or csv
	limit   int    // 0: all rows
	sample  int    // 0: the first rows instead of a sample
	columns string
	count   bool
}

// amount is a flag for a number of rows.
type amount int

// Set implements flag.Value.
func (a *amount) Set(text string) error {
	n, err := strconv.ParseInt(text, 0, 0)
	if err != nil || n < 0 {
		return errors.New("want a whole number of 0 or more")
	}
	*a = amount(n)
	return nil
}

// String implements flag.Value.
func (a *amount) String() string { return strconv.Itoa(int(*a)) }

// flags declares the flags. It discards the output of package flag, so that an error is printed only once.
func flags(o *options) *flag.FlagSet {
	*o = options{limit: -1}
	f := flag.NewFlagSet("vast query", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVar(&o.token, "token", "", attach.AboutToken)
	f.StringVar(&o.format, "format", "", "table, json (an object a line) or csv, as a `word`\n"+
		"(default: table on a terminal, csv elsewhere)")
	f.Func("limit", "show at most this number of `rows`; 0: all rows, up to 1,048,576\n"+
		"(default: 1000 for a table, 0 for json and csv)",
		(*amount)(&o.limit).Set)
	f.Var((*amount)(&o.sample), "sample",
		"show this `number` of rows picked at random; 0: the first rows")
	f.StringVar(&o.columns, "columns", "",
		"the columns to show, as a `list` with commas (default: the columns that the query names)")
	f.BoolVar(&o.count, "count", false, "show only the number of matching entities")
	return f
}

func parse(args []string, terminal bool) (options, error) {
	var o options
	rest, err := cli.Parse(flags(&o), args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
		return o, &cli.UsageError{Command: "query", Err: err}
	case len(rest) == 0:
		return o, &cli.UsageError{Command: "query",
			Err: errors.New("the inspector's address and the query are missing: give both, such as " +
				"127.0.0.1:8080 'Position, !Dead'")}
	case len(rest) == 1:
		return o, &cli.UsageError{Command: "query",
			Err: errors.New("the query is missing, such as 'Position, !Dead'")}
	case len(rest) > 2:
		return o, &cli.UsageError{Command: "query",
			Err: fmt.Errorf("unexpected argument %q: put the query between quotes", rest[2])}
	}
	o.address, o.text = rest[0], rest[1]
	switch o.format {
	case "":
		o.format = "csv"
		if terminal {
			o.format = "table"
		}
	case "table", "json", "csv":
	default:
		return o, &cli.UsageError{Command: "query",
			Err: fmt.Errorf("-format %q: want table, json or csv", o.format)}
	}
	if o.limit < 0 {
		o.limit = 0
		if o.format == "table" {
			o.limit = usualLimit
		}
	}
	return o, nil
}

func usage(w io.Writer) {
	var b bytes.Buffer
	f := flags(new(options))
	f.SetOutput(&b)
	f.PrintDefaults()
	fmt.Fprintf(w, `usage: vast query ADDRESS 'QUERY' [flags]

Shows the entities of a running program that match a query, such as
'Position, Infected, !Dead, ChildOf(Paris)'. The program must serve an inspector. ADDRESS
is the inspector's HOST:PORT, or the URL that the program printed.

%s
If the query has an error, the command marks the place of the error and exits with status 2.
`, b.String())
}

// Run runs the command with the arguments after `vast query`, and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	columns, terminal := tty.Columns(stdout)
	o, err := parse(args, terminal)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return cli.Success
	case err != nil:
		return fail(stderr, err, cli.Misuse)
	}
	program, err := attach.New(o.address, o.token)
	if err != nil {
		return fail(stderr, &cli.UsageError{Command: "query", Err: err}, cli.Misuse)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	go func() {
		select {
		case s := <-signals:
			cancel(&interruption{s})
		case <-ctx.Done():
		}
	}()
	err = ask(ctx, program, o, &output{stdout, stderr, columns, terminal})
	var stopped *interruption
	var refused *attach.Error
	switch {
	case errors.As(context.Cause(ctx), &stopped):
		return cli.Status(stopped.signal)
	case err == nil:
		return cli.Success
	case errors.As(err, &refused) && refused.Position >= 0:
		showPlace(stderr, o.text, refused)
		return cli.Misuse
	}
	return fail(stderr, err, cli.Failure)
}

// interruption is a signal that ended the command.
type interruption struct{ signal os.Signal }

func (i *interruption) Error() string { return i.signal.String() }

// fail prints the error that ends the command, without control characters, and returns status.
func fail(stderr io.Writer, err error, status int) int {
	return cli.Fail(stderr, "query", errors.New(tty.Clean(err.Error())), status)
}

// output is the destination of the rows.
type output struct {
	to       io.Writer
	notes    io.Writer // receives messages that are not rows
	columns  int       // the terminal's width in cells; 0 without a terminal
	terminal bool
}

func ask(ctx context.Context, p *attach.Program, o options, out *output) error {
	if o.count {
		var count struct {
			Count int  `json:"count"`
			Exact bool `json:"exact"`
		}
		if err := p.Get(ctx, "count", url.Values{"query": {o.text}}, maxAnswer, &count); err != nil {
			return err
		}
		return out.count(count.Count, count.Exact, o.format)
	}
	query := url.Values{"query": {o.text}, "format": {"csv"}}
	if o.format == "json" {
		query.Set("format", "ndjson")
	}
	if o.columns != "" {
		query.Set("columns", o.columns)
	}
	limit := o.limit
	if limit <= 0 || limit > maxRows {
		limit = maxRows
	}
	if o.sample > 0 {
		query.Set("sample", strconv.Itoa(o.sample))
	} else if limit < maxRows {
		limit++ // one row more shows whether the limit cuts off rows
	}
	query.Set("limit", strconv.Itoa(limit))
	rows, err := p.Open(ctx, "rows", query)
	if err != nil {
		return err
	}
	defer rows.Close()
	write := map[string]func(io.Reader, int) (int, bool, error){"table": out.table, "json": out.lines,
		"csv": out.csv}[o.format]
	n, more, err := write(rows, o.limit)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the response ended early, after %d rows: the query takes too long, or the "+
			"program has ended", n)
	}
	if err != nil {
		return err
	}
	switch {
	case more:
		fmt.Fprintf(out.notes, "vast query: these are the first %d rows; raise -limit to see more\n", n)
	case n == maxRows:
		fmt.Fprintf(out.notes, "vast query: these are %d rows, the maximum that an inspector sends\n", n)
	case n == 0 && o.format == "table":
		fmt.Fprintln(out.notes, "vast query: no entity matches")
	}
	return nil
}

// showPlace prints an error and the query, and marks the part of the query that caused the error.
func showPlace(w io.Writer, text string, e *attach.Error) {
	clean := []rune(tty.Clean(text))
	at := min(e.Position, len(clean))
	length := min(e.Length, max(len(clean)-at, 1))
	before := tty.Width(string(clean[:at]))
	marked := max(tty.Width(string(clean[at:min(at+length, len(clean))])), 1)
	fmt.Fprintf(w, "vast query: %s\n\n    %s\n    %s%s\n", tty.Clean(e.Message), string(clean),
		strings.Repeat(" ", before), strings.Repeat("^", marked))
}
