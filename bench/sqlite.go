//go:build sqlite

package main

import (
	"errors"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// The peer sqlite writes a table with a row for each entity and a column for each field of the components. It
// uses one transaction, a prepared statement and the default settings: SQLite keeps a rollback journal, and
// syncs all files before the transaction ends. The peer has a build tag, because SQLite takes longer to
// compile than all other packages of the module.

const peerSQLite = "sqlite"

func init() {
	peers = append(peers, peer{name: peerSQLite})
	for i := range workloads {
		switch w := &workloads[i]; w.name {
		case "save":
			w.matches = append(w.matches, match{peerSQLite, newSaveVast, newSaveSQLite, nil})
		case "load":
			w.matches = append(w.matches, match{peerSQLite, newLoadVast, newLoadSQLite, nil})
		}
	}
}

const (
	sqliteTable = `CREATE TABLE entity (id INTEGER PRIMARY KEY, x REAL, y REAL, z REAL,
		now REAL, most REAL, rate REAL, class INTEGER, flags INTEGER)`
	sqliteInsert = `INSERT INTO entity VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqliteSelect = `SELECT x, y, z, now, most, rate, class, flags FROM entity ORDER BY id`
)

func saveSQLite(path string, r *records) (err error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	db, err := sqlite3.Open("file:" + path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := errors.Join(db.Exec(sqliteTable), db.Exec("BEGIN")); err != nil {
		return err
	}
	insert, _, err := db.Prepare(sqliteInsert)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for i := range r.Kind {
		m, c, k := &r.Momentum[i], &r.Charge[i], &r.Kind[i]
		err := insert.BindInt64(1, int64(i+1))
		for j, v := range [...]float64{m.X, m.Y, m.Z, c.Now, c.Most, c.Rate} {
			if err == nil {
				err = insert.BindFloat(j+2, v)
			}
		}
		if err == nil {
			err = insert.BindInt64(8, int64(k.Class))
		}
		if err == nil {
			err = insert.BindInt64(9, int64(k.Flags))
		}
		if err == nil {
			err = insert.Exec()
		}
		if err != nil {
			return err
		}
	}
	return db.Exec("COMMIT")
}

// loadSQLite reads all records. n is their expected number.
func loadSQLite(path string, n int) (r *records, err error) {
	db, err := sqlite3.OpenFlags("file:"+path, sqlite3.OPEN_READONLY)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	all, _, err := db.Prepare(sqliteSelect)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, all.Close()) }()
	r = &records{make([]momentum, 0, n), make([]charge, 0, n), make([]kind, 0, n)}
	for all.Step() {
		r.Momentum = append(r.Momentum, momentum{all.ColumnFloat(0), all.ColumnFloat(1), all.ColumnFloat(2)})
		r.Charge = append(r.Charge, charge{all.ColumnFloat(3), all.ColumnFloat(4), all.ColumnFloat(5)})
		r.Kind = append(r.Kind, kind{uint32(all.ColumnInt64(6)), uint32(all.ColumnInt64(7))})
	}
	return r, all.Err()
}

func newSaveSQLite(n int) side {
	r := newRecords(n)
	return newFiled(n, nil, func(path string) error { return saveSQLite(path, r) }, func(path string) error {
		saved, err := loadSQLite(path, n)
		return errors.Join(err, saved.same(r))
	}, nil)
}

func newLoadSQLite(n int) side {
	var loaded *records
	return newFiled(n, func(path string) error { return saveSQLite(path, newRecords(n)) },
		func(path string) (err error) {
			loaded, err = loadSQLite(path, n)
			return err
		}, func(string) error { return loaded.same(newRecords(n)) }, nil)
}
