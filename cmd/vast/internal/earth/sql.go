package earth

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
	vastsql "github.com/vastgo/vast/sql"
	"github.com/vastgo/vast/sql/postgres"
)

// place is a row of the table places.
type place struct {
	Entity        vast.Entity
	Name, Country string
	Lat, Lon      float64 // degrees
	Population    int
}

// openSQL returns a database whose tables are the world's columns and the table places. With -inspect-write,
// its statements may write.
func openSQL(l loaded, o options) (*sql.DB, error) {
	rows := make([]place, l.list.Len())
	for i := range rows {
		p := l.list.At(i)
		rows[i] = place{l.earth.Place(i), p.Name, p.Country, p.Lat, p.Lon, p.Population}
	}
	settings := vastsql.Options{Store: o.data, Write: o.inspectAll, Lists: map[string]any{"places": rows}}
	if l.saves != nil {
		settings.Edit = l.saves.store.Submit
	}
	return vastsql.Open(l.earth.World(), settings)
}

// applyEdit applies an edit of an SQL statement or of another client of the inspector.
func applyEdit(w *vast.World, edit []byte) error {
	if err := vastsql.Apply(w, edit); !errors.Is(err, vastsql.ErrNotEdit) {
		return err
	}
	return inspect.Apply(w, edit)
}

// serveSQL starts a server that answers SQL statements in PostgreSQL's protocol, and makes the driver admit
// statements to the world between ticks. The server is read-only. command is a shell command that connects to
// the server.
func serveSQL(db *sql.DB, l loaded, d *driver, o options) (s *postgres.Server, command string, err error) {
	s, err = postgres.Listen(o.sql, db, postgres.Options{Password: os.Getenv("VAST_SQL_PASSWORD")})
	if err != nil {
		return nil, "", fmt.Errorf("-sql %s: %w; the variable VAST_SQL_PASSWORD sets the password", o.sql,
			err)
	}
	d.visited = l.earth.World()
	host, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		_ = s.Close()
		return nil, "", err
	}
	return s, fmt.Sprintf("psql -h %s -p %s", host, port), nil
}
