package vastsql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	sqlite "github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/vfs"
	"github.com/vastgo/vast"
)

// Open returns a database whose tables are those of a world: see the package documentation. Statements read
// the world in [vast.World.Visit], so they wait until the owner of the world calls [vast.World.Admit] or
// [vast.World.Idle]; a schedule does so between its ticks. The owner itself must not run statements, because
// it would wait for itself.
//
// Open does not read the world. Each new connection of the database makes tables for the columns that the
// world then has. For a column that the world gets later, the connection makes the table when a statement
// names an unknown table. Close the database before the world. Open panics if a limit in Options is negative,
// if a name in Options.Tables or Options.Lists is empty, taken or reserved, or if a value of Options.Lists is
// not a slice of the documented form.
func Open(w *vast.World, o Options) (*sql.DB, error) {
	c, err := newConnector(w, o)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

// connector makes connections to a world. Each connection has an SQLite database of its own in memory.
type connector struct {
	inner  driver.Connector
	reader *reader
	spill  *spill
	stop   func() error // closes the world of a stored moment; nil for a running world
	users  atomic.Int32 // number of connections, plus 1 until Close
}

func newConnector(w *vast.World, o Options) (*connector, error) {
	o = o.withDefaults()
	spill := newSpill(o.MaxMemoryBytes)
	inner, err := (&sqlite.SQLite{}).OpenConnector("file::memory:?vfs=" + spill.name)
	if err != nil {
		vfs.Unregister(spill.name)
		return nil, err
	}
	kept := 2 * min(o.MaxCopyBytes, maxKept)
	r := &reader{world: w, o: o, buffers: buffers{most: kept}, past: newPast(o)}
	r.tooLong = &LimitError{"MaxTime", fmt.Sprintf("the statement took %v: raise the limit, or ask for less",
		o.MaxTime)}
	if !o.Write {
		r.readOnly = errReadOnly
	}
	for _, name := range slices.Sorted(maps.Keys(o.Lists)) {
		r.lists = append(r.lists, newList(name, o.Lists[name]))
	}
	c := &connector{inner: inner, reader: r, spill: spill}
	c.users.Store(1)
	return c, nil
}

const (
	minMemory = 8 << 20   // bytes that suffice to open a connection to a world of many columns
	maxMemory = 1<<32 - 1 // largest memory in bytes that SQLite can address
)

// maxKept limits the memory that stays allocated between statements: at most 2*maxKept bytes.
const maxKept = 256 << 20

// Close closes the stored moments. sql.DB.Close calls this method, possibly while connections are still open.
func (c *connector) Close() error { return errors.Join(c.reader.past.close(), c.leave()) }

// leave ends the use of the connector by a connection or by the database. After the last use, it removes the
// file system of temporary files, and closes the world of a stored moment.
func (c *connector) leave() error {
	if c.users.Add(-1) > 0 {
		return nil
	}
	vfs.Unregister(c.spill.name)
	if c.stop == nil {
		return nil
	}
	return c.stop()
}

// Driver returns the driver of SQLite.
func (c *connector) Driver() driver.Driver { return c.inner.Driver() }

// Connect makes a connection.
func (c *connector) Connect(ctx context.Context) (_ driver.Conn, err error) {
	c.users.Add(1)
	defer func() {
		if err != nil {
			err = errors.Join(err, c.leave())
		}
	}()
	limit := min(max(int64(c.reader.o.MaxMemoryBytes), minMemory), maxMemory)
	n := &conn{connector: c}
	err = n.within(func() error {
		inner, err := c.inner.Connect(sqlite3.WithMaxMemory(ctx, limit))
		if err != nil {
			return err
		}
		n.inner = inner.(sqlite.Conn)
		if n.session, err = newSession(c.reader, n.inner.Raw()); err != nil {
			return err
		}
		return n.session.refresh(ctx, n.inner.Raw())
	})
	if err != nil {
		if n.inner != nil {
			n.free()
		}
		return nil, err
	}
	return n, nil
}

type conn struct {
	connector *connector
	inner     sqlite.Conn
	session   *session
	broken    bool // a call panicked, so SQLite did not finish its work
}

// Close closes the connection.
func (c *conn) Close() (err error) {
	if c.broken {
		c.free()
	} else {
		err = c.within(c.inner.Close)
	}
	return errors.Join(err, c.connector.leave())
}

// Begin begins a transaction.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx begins a transaction. Statements of one transaction may see different moments of the world.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (tx driver.Tx, err error) {
	// For a read-only transaction, the driver would run a PRAGMA that the authorizer denies. In every
	// transaction, statements that write return an error.
	o.ReadOnly = false
	err = c.within(func() (err error) {
		tx, err = c.inner.BeginTx(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &transaction{c, tx}, nil
}

// Prepare prepares a statement.
func (c *conn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

// Raw returns SQLite's connection, as the connections of SQLite's driver do.
func (c *conn) Raw() *sqlite3.Conn { return c.inner.Raw() }

// transaction is a transaction of SQLite.
type transaction struct {
	conn  *conn
	inner driver.Tx
}

// Commit ends the transaction.
func (t *transaction) Commit() error { return t.conn.within(t.inner.Commit) }

// Rollback ends the transaction.
func (t *transaction) Rollback() error { return t.conn.within(t.inner.Rollback) }
