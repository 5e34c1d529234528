package postgres

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3/driver"
	_ "github.com/ncruces/go-sqlite3/vfs/memdb" // the databases in memory
)

// A catalog is a database in memory with the tables of PostgreSQL's catalog: pg_class, pg_attribute, and so
// on. Its rows describe the tables of the user's database. The tables of information_schema are there under
// names such as information_schema_columns. A catalog does not change after its creation: another schema of
// the user's database needs another catalog.
type catalog struct {
	entries []entry
	user    *schema
	own     *schema // the tables of the catalog
	db      *sql.DB
	keep    *sql.Conn // the database in memory exists while this connection is open
}

// catalogTables defines the tables of the catalog with the columns that PostgreSQL 15 gives them. Columns of
// names, arrays and expressions have the type TEXT.
//
//go:embed catalog/tables.sql
var catalogTables string

// catalogRows inserts the rows that do not depend on the user's database. From the tables of pg_catalog,
// catalogRows then derives two other kinds of rows: those of PostgreSQL's views, such as pg_tables, and those
// of the tables of information_schema.
//
//go:embed catalog/rows.sql
var catalogRows string

// catalogs holds the newest catalog of a server.
type catalogs struct {
	db     *sql.DB
	making chan struct{} // holds an element while a session makes a catalog
	mutex  sync.Mutex
	newest *catalogUse
}

func newCatalogs(db *sql.DB) *catalogs { return &catalogs{db: db, making: make(chan struct{}, 1)} }

// A catalogUse counts the users of a catalog: statements, and the server while the catalog is the newest.
// When the last user calls drop, the catalog closes.
type catalogUse struct {
	*catalog
	users int
}

// acquire returns a catalog of the present schema. The caller calls release after its last use.
func (c *catalogs) acquire(ctx context.Context) (use *catalog, release func(), err error) {
	entries, err := readEntries(ctx, c.db)
	if err != nil {
		return nil, nil, err
	}
	if use, release := c.share(entries); use != nil {
		return use, release, nil
	}
	// Another session may need long for its catalog. Unlike the wait for a mutex, this wait ends with ctx.
	select {
	case c.making <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	defer func() { <-c.making }()
	if use, release := c.share(entries); use != nil {
		return use, release, nil
	}
	made, err := newCatalog(ctx, c.db, entries)
	if err != nil {
		return nil, nil, err
	}
	c.mutex.Lock()
	c.dropNewest()
	c.newest = &catalogUse{made, 1}
	c.mutex.Unlock()
	use, release = c.share(entries) // not nil: no other session replaces c.newest before <-c.making
	return use, release, nil
}

// share returns the newest catalog if it describes the entries, or nil.
func (c *catalogs) share(entries []entry) (*catalog, func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.newest == nil || !slices.Equal(c.newest.entries, entries) {
		return nil, nil
	}
	used := c.newest
	used.users++
	return used.catalog, sync.OnceFunc(func() {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		used.drop()
	})
}

// close drops the newest catalog, which closes after its last use.
func (c *catalogs) close() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.dropNewest()
}

func (c *catalogs) dropNewest() {
	if c.newest != nil {
		c.newest.drop()
		c.newest = nil
	}
}

func (u *catalogUse) drop() {
	u.users--
	if u.users == 0 {
		u.catalog.close()
	}
}

// catalogsMade numbers the databases, whose names are global in the process.
var catalogsMade atomic.Uint64

func newCatalog(ctx context.Context, from *sql.DB, entries []entry) (*catalog, error) {
	user, err := readSchema(ctx, from, entries)
	if err != nil {
		return nil, err
	}
	described := describeSchema(user)
	name := fmt.Sprintf("file:/vast-postgres-catalog-%d?vfs=memdb", catalogsMade.Add(1))
	db, err := driver.Open(name, described.register)
	if err != nil {
		return nil, err
	}
	c := &catalog{entries: entries, user: user, db: db}
	if err := c.fill(ctx, described); err != nil {
		c.close()
		return nil, fmt.Errorf("filling the catalog: %w", err)
	}
	return c, nil
}

func (c *catalog) fill(ctx context.Context, described *description) (err error) {
	if c.keep, err = c.db.Conn(ctx); err != nil {
		return err
	}
	tx, err := c.keep.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, text := range []string{catalogTables, described.sql.String(), catalogRows} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	entries, err := readEntries(ctx, c.keep)
	if err != nil {
		return err
	}
	c.own, err = readSchema(ctx, c.keep, entries)
	return err
}

func (c *catalog) close() {
	if c.keep != nil {
		c.keep.Close()
	}
	c.db.Close()
}
