package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vastgo/vast/cmd/vast/internal/vasttest"
)

func TestMain(m *testing.M) { vasttest.Main(m) }

// runTask runs the command. It returns the exit status, the standard output and the standard error.
func runTask(t *testing.T, args ...string) (status int, stdout, notes string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(t.Context(), args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-h"}, {"export", "-h"}, {"import", "-h"}} {
		if status, out, notes := runTask(t, args...); status != 0 || notes != "" ||
			!strings.HasPrefix(out, "usage: vastarrow ") {
			t.Errorf("%q: exit status %d\n%s%s", args, status, out, notes)
		}
	}
}

func TestMisuse(t *testing.T) {
	csv := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(csv, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"", "usage: vastarrow COMMAND"},
		{"exprot", `unknown command "exprot"`},
		{"export SELECT", "name either a folder with -data or"},
		{"export -data a -addr :1 SELECT", "name either a folder with -data or"},
		{"export -data a", "name one statement"},
		{"export -data a SELECT 1", "name one statement"},
		{"export -data a -nonsense SELECT", "-nonsense"},
		{"export -data a -format xml SELECT", `-format "xml": want parquet`},
		{"export -data a -out b.txt SELECT", `the extension of "b.txt" names no format`},
		{"export -addr :1 -moment 3 SELECT", "-moment needs -data"},
		{"export -addr x:y SELECT", "want the address of an inspector"},
		{"export -addr postgres://:1 -token a SELECT", "-token needs the address of an inspector"},
		{"import -out a.world " + csv, "name a saved world with -data"},
		{"import -data a " + csv, "name the new file with -out"},
		{"import -data a -out b", "name one file"},
		{"import -data a -out b -format x " + csv, `-format "x"`},
		{"import -data a -out b x.txt", "names no format"},
	} {
		status, out, notes := runTask(t, strings.Fields(c.args)...)
		if status != 2 || out != "" || !strings.Contains(notes, c.want) {
			t.Errorf("%s: exit status %d, want 2 and %q\n%s%s", c.args, status, c.want, out, notes)
		}
	}
	absent := filepath.Join(t.TempDir(), "absent")
	for _, args := range [][]string{{"export", "-data", absent, "SELECT 1"},
		{"export", "-addr", "127.0.0.1:1", "SELECT 1"}, {"import", "-data", absent, "-out", absent, csv},
		{"import", "-data", csv, "-out", absent, csv},
		{"import", "-data", csv, "-out", absent, absent + ".csv"}} {
		if status, out, notes := runTask(t, args...); status != 1 || out != "" || notes == "" {
			t.Errorf("%q: exit status %d, want 1\n%s%s", args, status, out, notes)
		}
	}
	if _, err := os.Stat(absent); err == nil {
		t.Error("a failed command leaves a file")
	}
}
