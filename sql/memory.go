package vastsql

import (
	"fmt"

	"github.com/vastgo/vast/vm"
)

// outOfMemory is the text of the panic with which SQLite's driver reports that SQLite has no memory left.
const outOfMemory = "sqlite3: out of memory"

// within calls f. If f panics because SQLite has no memory left, within returns a LimitError. database/sql
// then discards the connection (see IsValid), because SQLite did not finish its work.
func (c *conn) within(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case error:
			if p.Error() != outOfMemory {
				panic(p)
			}
			c.broken = true
			err = &LimitError{"MaxMemoryBytes", fmt.Sprintf("SQLite needs more than %s: sort or group fewer "+
				"rows, or raise the limit", vm.Bytes(c.session.reader.o.MaxMemoryBytes))}
		default:
			panic(p)
		}
	}()
	return f()
}

// IsValid reports whether the connection may be used again.
func (c *conn) IsValid() bool { return !c.broken }
