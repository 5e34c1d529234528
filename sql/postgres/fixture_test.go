package postgres_test

import (
	"context"
	"database/sql"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast/sql/postgres"
)

// databases numbers the databases in memory, whose names are global in the process.
var databases atomic.Int64

// newDatabase returns a database with two tables, a view of both, and a table with columns of several types.
func newDatabase(t testing.TB) *sql.DB {
	t.Helper()
	db, err := driver.Open(fmt.Sprintf("file:/postgres-test-%d?vfs=memdb", databases.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	keep, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keep.Close() })
	for _, statement := range []string{
		`CREATE TABLE position(entity INTEGER, x REAL, y REAL)`,
		`CREATE TABLE name(entity INTEGER, name TEXT)`,
		`CREATE VIEW named AS SELECT name, x, y FROM name JOIN position USING (entity)`,
		`CREATE TABLE kind(id INTEGER PRIMARY KEY, ok BOOLEAN NOT NULL DEFAULT TRUE, data BLOB,
			label TEXT UNIQUE, parent INTEGER REFERENCES kind(id), born TIMESTAMP)`,
		`CREATE INDEX kind_parent ON kind(parent, label)`,
		`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
			INSERT INTO position SELECT i, i * 1.5, i / 4.0 FROM n`,
		`INSERT INTO name VALUES (1, 'one'), (2, 'two'), (3, NULL)`,
		`INSERT INTO kind VALUES (1, TRUE, x'00ff', 'a,"b"', NULL, '2026-01-02T03:04:05Z')`,
	} {
		if _, err := keep.ExecContext(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return db
}

// listen serves a database until the test ends.
func listen(t testing.TB, o postgres.Options) *postgres.Server {
	t.Helper()
	s, err := postgres.Listen("127.0.0.1:0", newDatabase(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// address returns the host and the port of a server.
func address(s *postgres.Server) (host, port string) {
	host, port, err := net.SplitHostPort(s.Addr().String())
	if err != nil {
		panic(err)
	}
	return host, port
}

// url returns the address of a server for drivers.
func url(s *postgres.Server, parameters string) string {
	return fmt.Sprintf("postgres://vast@%s/main?%s", s.Addr(), parameters)
}

// needPsql skips the test if the program psql is absent. With VAST_SQL_REQUIRED=1 the test fails instead.
func needPsql(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("psql"); err != nil {
		if os.Getenv("VAST_SQL_REQUIRED") == "1" {
			t.Fatal("psql is not installed: install postgresql-client")
		}
		t.Skip("psql is not installed")
	}
}

// psql runs psql with a connection string and arguments. It returns what psql prints.
func psql(t *testing.T, connection string, environment []string, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "psql", append([]string{"-X", "-d", connection},
		arguments...)...)
	command.Env = append(os.Environ(), append([]string{"PGPASSWORD=", "PAGER=", "LC_ALL=C.UTF-8"},
		environment...)...)
	out, err := command.CombinedOutput()
	return string(out), err
}

// connection returns the connection string of a server for psql.
func connection(s *postgres.Server, more string) string {
	host, port := address(s)
	return fmt.Sprintf("host=%s port=%s user=vast dbname=main %s", host, port, more)
}

// pemOf returns a certificate in the form of a PEM file.
func pemOf(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
