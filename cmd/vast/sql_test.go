package main

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	library "github.com/vastgo/vast"
	"github.com/vastgo/vast/cmd/vast/internal/vasttest"
	"github.com/vastgo/vast/inspect"
	vastsql "github.com/vastgo/vast/sql"
	"github.com/vastgo/vast/sql/postgres"
)

// TestReadmeStatement runs the psql command of README.md against a running Earth.
func TestReadmeStatement(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("psql"); err != nil {
		if os.Getenv("VAST_SQL_REQUIRED") == "1" {
			t.Fatal(err)
		}
		t.Skip("psql is not installed")
	}
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile(`(?s)psql -h 127\.0\.0\.1 -c "([^"]*)"`).FindSubmatch(readme)
	if command == nil {
		t.Fatal("README.md has no psql command")
	}
	_, host, port := vasttest.Earth(t)
	row := regexp.MustCompile(`^[A-Z]{2}\|[1-9][0-9]*$`)
	// The statement has no rows until the first travellers fall ill, in the first simulated hours.
	for began := time.Now(); ; {
		out, err := exec.Command("psql", "-X", "-A", "-t", "-h", host, "-p", port, "-c",
			string(command[1])).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(lines) >= 2 && len(lines) <= 5 {
			for _, line := range lines {
				if !row.MatchString(line) {
					t.Errorf("row %q", line)
				}
			}
			return
		}
		if time.Since(began) > time.Minute {
			t.Fatalf("after a minute, the statement returns %q", out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// TestSQLForOtherMachines checks that `vast earth` refuses to serve SQL to other machines without a password.
func TestSQLForOtherMachines(t *testing.T) {
	t.Parallel()
	out, err := vast(t, nil, "earth", "-plain", "-travellers", "1000", "-ticks", "1", "-sql",
		"0.0.0.0:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "VAST_SQL_PASSWORD sets the password") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSQLOfARunningProgram runs `vast sql` against the inspector and the SQL server of a running Earth, and
// against the folder of another one.
func TestSQLOfARunningProgram(t *testing.T) {
	t.Parallel()
	inspector, host, port := vasttest.Earth(t)
	folder := filepath.Join(t.TempDir(), "world")
	if out, err := vast(t, nil, "earth", "-plain", "-travellers", "100000", "-ticks", "60", "-data",
		folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, source := range [][]string{{"-addr", inspector}, {"-data", folder},
		{"-addr", "postgres://vast@" + net.JoinHostPort(host, port)}} {
		out, err := vast(t, nil, append([]string{"sql", "-format", "csv",
			"SELECT count(*) > 90000 AS many, count(DISTINCT entity) = count(*) AS once FROM life"},
			source...)...).CombinedOutput()
		got := strings.ReplaceAll(string(out), "true", "1") // PostgreSQL's comparisons are booleans
		if err != nil || got != "many,once\n1,1\n" {
			t.Errorf("%q: %v\n%s", source, err, out)
		}
		out, err = vast(t, nil, append([]string{"sql", "SELECT absent FROM life"},
			source...)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "no such column: absent") {
			t.Errorf("%q: %v\n%s", source, err, out)
		}
	}
}

// TestSQLWrites writes through an inspector and through an SQL server. It checks the numbers of changed rows.
func TestSQLWrites(t *testing.T) {
	t.Parallel()
	w := library.NewWorld(library.Options{})
	library.NewColumn[body](w).Named("Body")
	library.NewEdges[int32](w, "Roads", library.EdgesOptions{Capacity: 1 << 10})
	db, err := vastsql.Open(w, vastsql.Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	in, err := inspect.Serve(t.Context(), w, inspect.Options{SQL: db, ReadWrite: true})
	if err != nil {
		t.Fatal(err)
	}
	server, err := postgres.Listen("127.0.0.1:0", db, postgres.Options{Write: true})
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		w.Idle(func() { <-stop })
	}()
	t.Cleanup(func() {
		in.Close()
		if err := errors.Join(server.Close(), db.Close()); err != nil {
			t.Error(err)
		}
		close(stop)
		<-ended
		w.Close()
	})
	const statements = "INSERT INTO body(x) VALUES (1), (2); " +
		"INSERT INTO roads SELECT a.entity, b.entity, 5 " +
		"FROM body a, body b; SELECT sum(value) AS n FROM roads; UPDATE roads SET value = value + 1 WHERE " +
		"source = target; DELETE FROM entities; UPDATE body SET x = 1"
	for _, address := range []string{in.URL(), "postgres://vast@" + server.Addr().String()} {
		var out, messages bytes.Buffer
		c := vast(t, nil, "sql", "-addr", address, "-format", "jsonl", statements)
		c.Stdout, c.Stderr = &out, &messages
		err := c.Run()
		if err != nil || out.String() != "{\"n\":20}\n" ||
			messages.String() != "INSERT 2\nINSERT 4\nUPDATE 2\nDELETE 2\nUPDATE 0\n" {
			t.Errorf("%s: %v, %q, %q", address, err, out.String(), messages.String())
		}
	}
}
