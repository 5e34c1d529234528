package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// servedEarth starts `vast earth -sql` on a free port. It returns the host and the port.
func servedEarth(t *testing.T) (host, port string) {
	t.Helper()
	c := vast(t, nil, "earth", "-plain", "-travellers", "100000", "-sql", "127.0.0.1:0")
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt)
		_ = c.Wait() // an interrupt ends the command with exit status 130
	})
	address := regexp.MustCompile(`^# sql: psql -h (\S+) -p (\d+)$`)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := address.FindStringSubmatch(lines.Text()); m != nil {
			go func() {
				for lines.Scan() {
				}
			}()
			return m[1], m[2]
		}
	}
	t.Fatal("the command printed no address of the SQL server")
	return "", ""
}

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
	host, port := servedEarth(t)
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

// TestSQLForOtherMachines serves other machines without a password.
func TestSQLForOtherMachines(t *testing.T) {
	t.Parallel()
	out, err := vast(t, nil, "earth", "-plain", "-travellers", "1000", "-ticks", "1", "-sql",
		"0.0.0.0:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "VAST_SQL_PASSWORD sets the password") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestSQLOfARunningProgram runs `vast sql` against a running Earth and against the folder of another one.
func TestSQLOfARunningProgram(t *testing.T) {
	t.Parallel()
	host, port := servedEarth(t)
	const statement = "SELECT count(*) > 90000 AS many, count(DISTINCT entity) = count(*) AS once FROM life"
	out, err := vast(t, nil, "sql", "-addr", host+":"+port, "-format", "csv", statement).CombinedOutput()
	if err != nil || string(out) != "many,once\ntrue,true\n" {
		t.Errorf("%v\n%s", err, out)
	}
	folder := filepath.Join(t.TempDir(), "world")
	if out, err := vast(t, nil, "earth", "-plain", "-travellers", "100000", "-ticks", "60", "-data",
		folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err = vast(t, nil, "sql", "-data", folder, "-format", "csv", statement).CombinedOutput()
	if err != nil || string(out) != "many,once\n1,1\n" {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = vast(t, nil, "sql", "-data", folder, "SELECT absent FROM life").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "no such column: absent") {
		t.Errorf("%v\n%s", err, out)
	}
}
