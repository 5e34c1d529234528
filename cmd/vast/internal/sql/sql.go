// Package sql is the command `vast sql`. The command runs SQL statements about a running program or about a
// stored moment, and prints the results.
package sql

import (
	"bytes"
	"context"
	databasesql "database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	vastsql "github.com/vastgo/vast/sql"
	"github.com/vastgo/vast/sql/shell"
)

// options are the flags and arguments of the command line.
type options struct {
	folder    string
	moment    uint64
	address   string
	format    string
	statement string
}

func flags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("vast sql", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.StringVar(&o.folder, "data", "", "ask a stored moment in the `folder` of a store")
	f.Uint64Var(&o.moment, "moment", 0,
		"with -data: `number` in the name of the checkpoint's file; 0 is the newest")
	f.StringVar(&o.address, "addr", "", "ask a running program that serves PostgreSQL's protocol, such as\n"+
		"vast earth -sql, at this `address`; the variable PGPASSWORD holds the password")
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
	case (o.folder == "") == (o.address == ""):
		err = errors.New("name either a folder with -data or a running program with -addr")
	case o.address != "" && o.moment != 0:
		err = errors.New("-moment needs -data")
	default:
		if len(rest) == 1 {
			o.statement = rest[0]
		}
		_, err = shell.ParseFormat(o.format)
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
The dialect is SQLite's. The statements only read.
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
	db, err := open(o, stderr)
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

func open(o options, stderr io.Writer) (*databasesql.DB, error) {
	if o.address != "" {
		host, port, err := net.SplitHostPort(o.address)
		if err != nil {
			return nil, fmt.Errorf("-addr %s: %w", o.address, err)
		}
		source := url.URL{Scheme: "postgres", User: url.User("vast"), Host: net.JoinHostPort(host, port),
			Path: "/vast"}
		return databasesql.Open("pgx", source.String())
	}
	db, report, err := vastsql.OpenStored(o.folder, o.moment, vastsql.Options{})
	if err != nil {
		return nil, err
	}
	for _, name := range report.Dropped {
		fmt.Fprintf(stderr, "# %q is left out: only the program that saved it can read it\n", name)
	}
	return db, nil
}
