// Package database opens the database that a command line names: a checkpoint in the folder of a store, the
// inspector of a running program, or a PostgreSQL server.
package database

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver pgx

	"github.com/vastgo/vast/cmd/vast/internal/attach"
	"github.com/vastgo/vast/cmd/vast/internal/remote"
	vastsql "github.com/vastgo/vast/sql"
)

// Source holds the flags that name a database.
type Source struct {
	folder  string
	moment  uint64
	address string
	token   string
	program *attach.Program // the program at the address of an inspector, or nil
}

// Declare adds the flags to f.
func (s *Source) Declare(f *flag.FlagSet) {
	f.StringVar(&s.folder, "data", "", "ask a checkpoint in this `folder` of a store")
	f.Uint64Var(&s.moment, "moment", 0,
		"with -data: `number` in the name of the checkpoint's file; 0 is the newest")
	f.StringVar(&s.address, "addr", "", "ask the running program whose inspector has this `address`:\n"+
		"HOST:PORT, or the URL that the program printed. postgres://HOST:PORT asks a\n"+
		"PostgreSQL server, such as vast earth -sql; set PGPASSWORD to its password")
	f.StringVar(&s.token, "token", "", attach.AboutToken)
}

// Check returns an error if the flags do not name exactly one database, contradict each other, or have an
// invalid address. Call Check before Open.
func (s *Source) Check() (err error) {
	switch {
	case (s.folder == "") == (s.address == ""):
		return errors.New("name either a folder with -data or a running program with -addr")
	case s.address != "" && s.moment != 0:
		return errors.New("-moment needs -data")
	case s.token != "" && (s.address == "" || s.postgres()):
		return errors.New("-token needs the address of an inspector in -addr")
	case s.address != "" && !s.postgres():
		s.program, err = attach.New(s.address, s.token)
	}
	return err
}

func (s *Source) postgres() bool {
	return strings.HasPrefix(s.address, "postgres://") || strings.HasPrefix(s.address, "postgresql://")
}

// Open opens the database. For a checkpoint, Open writes to stderr which data only the program can read.
func (s *Source) Open(stderr io.Writer) (*sql.DB, error) {
	switch {
	case s.postgres():
		return sql.Open("pgx", s.address)
	case s.program != nil:
		return remote.Open(s.program), nil
	}
	db, report, err := vastsql.OpenStored(s.folder, s.moment, vastsql.Options{})
	if err != nil {
		return nil, err
	}
	for _, name := range report.Dropped {
		fmt.Fprintf(stderr, "# %q is left out: only the program that saved it can read it\n", name)
	}
	return db, nil
}
