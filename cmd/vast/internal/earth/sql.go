package earth

import (
	"database/sql"
	"fmt"
	"net"
	"os"

	"github.com/vastgo/vast"
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

// sqlServer answers SQL statements about the Earth by PostgreSQL's protocol.
type sqlServer struct {
	db         *sql.DB
	server     *postgres.Server
	host, port string
}

// serveSQL starts the server, and makes the driver admit statements to the world between ticks.
func serveSQL(l loaded, d *driver, o options) (*sqlServer, error) {
	rows := make([]place, l.list.Len())
	for i := range rows {
		p := l.list.At(i)
		rows[i] = place{l.earth.Place(i), p.Name, p.Country, p.Lat, p.Lon, p.Population}
	}
	db, err := vastsql.Open(l.earth.World(), vastsql.Options{Lists: map[string]any{"places": rows}})
	if err != nil {
		return nil, err
	}
	server, err := postgres.Listen(o.sql, db, postgres.Options{Password: os.Getenv("VAST_SQL_PASSWORD")})
	if err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("-sql %s: %w; the variable VAST_SQL_PASSWORD sets the password", o.sql, err)
	}
	d.visited = l.earth.World()
	s := &sqlServer{db: db, server: server}
	if s.host, s.port, err = net.SplitHostPort(server.Addr().String()); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *sqlServer) close() {
	_ = s.server.Close()
	_ = s.db.Close()
}
