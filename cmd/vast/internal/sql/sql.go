// Package sql is the command `vast sql`. The command runs SQL statements about a running program or about a
// stored moment, and prints the results.
package sql

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/database"
	"github.com/vastgo/vast/sql/shell"
)

// options are the flags and arguments of the command line.
type options struct {
	source    database.Source
	format    string
	statement string
}

func flags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("vast sql", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	o.source.Declare(f)
	f.StringVar(&o.format, "format", "",
		"table, csv, json or jsonl (default: table on a terminal, csv elsewhere)")
	return f
}

func parse(args []string) (options, error) {
	var o options
	rest, err := cli.Parse(flags(&o), args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return o, err
	case err != nil:
	case len(rest) > 1:
		err = fmt.Errorf("unexpected argument %q: put the statement between quotes", rest[1])
	default:
		if len(rest) == 1 {
			o.statement = rest[0]
		}
		if _, err = shell.ParseFormat(o.format); err == nil {
			err = o.source.Check()
		}
	}
	if err != nil {
		return o, &cli.UsageError{Command: "sql", Err: err}
	}
	return o, nil
}

func usage(w io.Writer) {
	var b bytes.Buffer
	f := flags(new(options))
	f.SetOutput(&b)
	f.PrintDefaults()
	fmt.Fprintf(w, `usage: vast sql (-data FOLDER | -addr ADDRESS) [flags] ['STATEMENT']

Runs SQL statements, such as 'SELECT count(*) FROM position WHERE x > 0', about a stored
world or a running program. Without a statement, the command reads statements from standard
input; on a terminal, it shows a prompt, where \d lists the tables.

%s
The dialect is SQLite's. A PostgreSQL server that is not a Vast program has its own dialect.
Statements about a stored world only read; a running program decides whether statements may
write. The command cmd/vast/vastarrow writes results into files of Parquet and Arrow.
`, b.String())
}

// Run runs the command with the arguments after `vast sql`, and returns the exit status.
func Run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		usage(stdout)
		return cli.Success
	case err != nil:
		return cli.Fail(stderr, "sql", err, cli.Misuse)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	db, err := o.source.Open(stderr)
	if err != nil {
		return cli.Fail(stderr, "sql", err, cli.Failure)
	}
	settings := shell.Options{Statement: o.statement, Format: shell.Format(o.format)}
	status := shell.Run(ctx, db, settings, os.Stdin, stdout, stderr)
	if err := db.Close(); err != nil && status == cli.Success {
		return cli.Fail(stderr, "sql", err, cli.Failure)
	}
	return status
}
