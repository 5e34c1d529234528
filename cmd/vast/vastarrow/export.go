package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	vastarrow "github.com/vastgo/vast/arrow"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/database"
	vastsql "github.com/vastgo/vast/sql"
)

var exporting = task{
	name:  "export",
	usage: "(-data FOLDER | -addr ADDRESS) [-format FORMAT] [-out FILE] 'STATEMENT'",
	about: "write the result of an SQL statement into a file",
	flags: func(f *flag.FlagSet) func(context.Context, streams, []string) error {
		var e exporter
		e.source.Declare(f)
		e.format = formatFlag(f, "by the extension of FILE; parquet on standard output")
		f.StringVar(&e.out, "out", "", "write into this new `file` instead of standard output")
		return e.run
	},
}

// exporter holds the flags of the command.
type exporter struct {
	source database.Source
	format *string
	out    string
}

func (e *exporter) run(ctx context.Context, s streams, args []string) (err error) {
	if err := e.source.Check(); err != nil {
		return misuse{err}
	}
	if len(args) != 1 {
		return misuse{errors.New("name one statement, between quotes")}
	}
	format := vastarrow.Parquet
	if *e.format != "" || e.out != "" {
		if format, err = formatOf(*e.format, e.out); err != nil {
			return err
		}
	}
	db, err := e.source.Open(s.notes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	ctx = vastsql.WithNotes(ctx, func(note string) { fmt.Fprintf(s.notes, "# %s\n", note) })
	rows, err := db.QueryContext(ctx, args[0])
	if err != nil {
		return err
	}
	defer rows.Close()
	source, err := vastarrow.Rows(rows)
	if err != nil {
		return err
	}
	return cli.Create(e.out, s.out, func(to io.Writer) error {
		return vastarrow.Write(ctx, to, format, source)
	})
}
