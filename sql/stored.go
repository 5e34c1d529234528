package vastsql

import (
	"database/sql"
	"errors"
	"math"
	"sync"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
)

// OpenStored returns a database whose tables are those of a checkpoint. dir is the folder of a [store.Store],
// which a program may have open at the same time. number is the number of a checkpoint in the folder
// ([store.File.Number]); 0 stands for the newest one. The files must not change while the database is open:
// see [store.LoadMoment], whose errors OpenStored returns.
//
// A column that only the program can read, for example with a codec of the program, has no table. The report
// names such columns. By default, Options.MaxCopyBytes and Options.MaxPause are unlimited, because no program
// waits for the copies. If the rows of a table lie in consecutive slots, a statement reads the table's dense
// columns (vast.Column) in place. It copies all other columns. Options.Tables must be nil, because the
// columns of the checkpoint do not exist before the call. Options.Write must be false. OpenStored sets
// Options.Store to dir.
func OpenStored(dir string, number uint64, o Options) (*sql.DB, *store.Report, error) {
	if o.Tables != nil {
		panic("vastsql: OpenStored: Options.Tables names columns of another world: use CREATE VIRTUAL " +
			"TABLE temp.name USING vast(table, ...)")
	}
	if o.Write {
		panic("vastsql: OpenStored: Options.Write is set, but a stored moment does not change: open the " +
			"running world with Open")
	}
	setDefault(&o.MaxCopyBytes, math.MaxInt/4)
	setDefault(&o.MaxPause, math.MaxInt64)
	o.Store = dir
	o = o.withDefaults()
	w, report, err := store.LoadMoment(dir, number, vast.Options{})
	if err != nil {
		return nil, nil, err
	}
	c, err := newStoredConnector(w, o)
	if err != nil {
		return nil, nil, err
	}
	return sql.OpenDB(c), report, nil
}

// newStoredConnector returns a connector for a stored world. The world is closed when the connector and all
// of its connections are closed.
func newStoredConnector(w *vast.World, o Options) (*connector, error) {
	c, err := newConnector(w, o)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	c.reader.readOnly, c.stop = errStoredMoment, sync.OnceValue(own(w))
	return c, nil
}

// own starts a goroutine that owns the world and lets visitors in. stop ends the goroutine and closes the
// world. Call stop once.
func own(w *vast.World) (stop func() error) {
	end, ended := make(chan struct{}), make(chan error)
	go func() {
		w.Idle(func() { <-end })
		ended <- w.Close()
	}()
	return func() error {
		close(end)
		return <-ended
	}
}
