package earth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"syscall"

	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/inspect"
)

// serve starts the inspector of the driver's world, and makes the driver admit the inspector to the world
// between ticks. db answers the statements of the inspector's page SQL.
func serve(l loaded, d *driver, o options, db *sql.DB) (*inspect.Inspector, error) {
	credits := []string{atlas.Attribution}
	if c := o.credits(); c != "" {
		credits = append([]string{c}, credits...)
	}
	settings := inspect.Options{
		Addr: o.inspect, ReadWrite: o.inspectAll, Names: names{l.index, l.earth}, Control: d.control,
		Views: []inspect.View{newMap(l, credits)}, Attribution: credits, SQL: db,
	}
	if d.saves != nil {
		settings.Edit = d.saves.store.Submit
	}
	in, err := inspect.Serve(context.Background(), l.earth.World(), settings)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken by another program: choose another address with -inspect, "+
			"such as %s for any free port, or off", o.inspect, "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: try another address with -inspect, such as 127.0.0.1:0, or off", err)
	}
	d.visited = l.earth.World()
	return in, nil
}
