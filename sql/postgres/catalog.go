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
	_ "github.com/ncruces/go-sqlite3/vfs/memdb" // keeps the tables of a catalog
)

// A catalog is a database in memory with the tables of PostgreSQL's catalog: pg_class, pg_attribute, and so
// on. Its rows describe one schema of the user's database. The tables of information_schema are there under
// names such as information_schema_columns. A catalog does not change after its creation.
type catalog struct {
	entries []entry
	user    *schema
	own     *schema // the tables of the catalog
	db      *sql.DB
	keep    *sql.Conn // keeps the database in memory
}

// tables defines the tables of the catalog with the columns that PostgreSQL 15 gives them. Columns of names,
// arrays and expressions have the type TEXT.
//
//go:embed catalog/tables.sql
var catalogTables string

// catalogRows fills the tables that do not depend on the user's database, and derives the tables of
// information_schema from the tables of pg_catalog.
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

// A catalogUse counts the users of a catalog. The last one closes it.
type catalogUse struct {
	*catalog
	users int
}

// acquire returns a catalog of the present schema. The caller calls release once.
func (c *catalogs) acquire(ctx context.Context) (use *catalog, release func(), err error) {
	entries, err := readEntries(ctx, c.db)
	if err != nil {
		return nil, nil, err
	}
	if use, release := c.share(entries); use != nil {
		return use, release, nil
	}
	// Making a catalog waits for the database, so the wait for another session ends with ctx.
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
	use, release = c.share(entries)
	return use, release, nil
}

// share returns the newest catalog if it describes the entries, or nil. Only the session that makes a catalog
// replaces the newest one, so that share finds it directly after that.
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

// close closes the newest catalog after its last user.
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
