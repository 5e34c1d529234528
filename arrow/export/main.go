// Command export writes the result of an SQL statement about a stored world or a running program into a file
// that other programs read as columns. Run it in the folder of the repository:
//
//	go run ./arrow/export (-data FOLDER | -addr ADDRESS) [-format FORMAT] [-out FILE] 'STATEMENT'
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	vastarrow "github.com/vastgo/vast/arrow"
	vastsql "github.com/vastgo/vast/sql"
)

// formats are the values of -format.
var formats = map[string]vastarrow.Format{
	"parquet": vastarrow.Parquet, "arrow": vastarrow.ArrowFile, "stream": vastarrow.ArrowStream,
	"csv": vastarrow.CSV, "jsonl": vastarrow.JSONLines,
}

type options struct {
	folder    string
	moment    uint64
	address   string
	format    string
	out       string
	statement string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(2)
	}
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "export:", err)
		os.Exit(1)
	}
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	f := flag.NewFlagSet("export", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.folder, "data", "", "ask a stored moment in the `folder` of a store")
	f.Uint64Var(&o.moment, "moment", 0,
		"with -data: `number` in the name of the checkpoint's file; 0 is the newest")
	f.StringVar(&o.address, "addr", "", "ask a running program that serves PostgreSQL's protocol, such as\n"+
		"vast earth -sql, at this `address`; the variable PGPASSWORD holds the password")
	f.StringVar(&o.format, "format", "parquet", "parquet, arrow (a file), stream (Arrow IPC), csv or jsonl")
	f.StringVar(&o.out, "out", "", "write into this new `file` instead of standard output")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	_, known := formats[o.format]
	switch {
	case (o.folder == "") == (o.address == ""):
		return o, errors.New("name either a folder with -data or a running program with -addr")
	case !known:
		return o, fmt.Errorf("-format %q: want parquet, arrow, stream, csv or jsonl", o.format)
	case f.NArg() != 1:
		return o, errors.New("name one statement, between quotes, after the flags")
	}
	o.statement = f.Arg(0)
	return o, nil
}

// run writes the result. It removes an unfinished file.
func run(ctx context.Context, o options, stdout io.Writer) (err error) {
	db, err := open(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.QueryContext(ctx, o.statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	source, err := vastarrow.Rows(rows)
	if err != nil {
		return err
	}
	if o.out == "" {
		return vastarrow.Write(ctx, stdout, formats[o.format], source)
	}
	file, err := os.OpenFile(o.out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(vastarrow.Write(ctx, file, formats[o.format], source), file.Close()); err != nil {
		return errors.Join(err, os.Remove(o.out))
	}
	return nil
}

func open(o options) (*sql.DB, error) {
	if o.folder != "" {
		db, report, err := vastsql.OpenStored(o.folder, o.moment, vastsql.Options{})
		if err == nil && len(report.Dropped) > 0 {
			fmt.Fprintf(os.Stderr, "# left out, because only the program that saved them can read them: %s\n",
				strings.Join(report.Dropped, ", "))
		}
		return db, err
	}
	host, port, err := net.SplitHostPort(o.address)
	if err != nil {
		return nil, fmt.Errorf("-addr %s: %w", o.address, err)
	}
	source := url.URL{Scheme: "postgres", User: url.User("vast"), Host: net.JoinHostPort(host, port),
		Path: "/vast"}
	return sql.Open("pgx", source.String())
}
