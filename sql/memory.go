package vastsql

import (
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/vastgo/vast/vm"
)

// outOfMemory is the text of the panic with which SQLite's driver reports that SQLite has no memory left.
const outOfMemory = "sqlite3: out of memory"

// within calls f. If f panics because SQLite has no memory left, within returns a LimitError. within returns
// other panics as errors, because the text of a statement can make SQLite's driver panic. After a panic,
// database/sql discards the connection (see IsValid), because SQLite did not finish its work.
func (c *conn) within(f func() error) (err error) {
	if c.broken {
		return driver.ErrBadConn
	}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		c.broken = true
		err = fmt.Errorf("vastsql: SQLite failed: %v", p)
		if e, ok := p.(error); ok && e.Error() == outOfMemory {
			err = tooMuchMemory(c.connector.reader.o)
		}
	}()
	return f()
}

func tooMuchMemory(o Options) error {
	return &LimitError{"MaxMemoryBytes", fmt.Sprintf("SQLite needs more than %s: sort or group fewer rows, "+
		"or raise the limit", vm.Bytes(o.MaxMemoryBytes))}
}

// IsValid reports whether the connection may be used again.
func (c *conn) IsValid() bool { return !c.broken }

// free closes a connection whose SQLite did not finish its work. SQLite's driver may panic again meanwhile,
// because each statement still has the error that stopped it. The garbage collector would not free SQLite's
// memory, which lies outside of Go's heap.
func (c *conn) free() {
	quietly := func(f func() error) {
		defer func() { _ = recover() }()
		_ = f()
	}
	for _, s := range slices.Collect(c.inner.Raw().Stmts()) {
		quietly(s.Close)
	}
	quietly(c.inner.Close)
}
