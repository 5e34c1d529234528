package shell

import (
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// unsuitable matches statements that take long or write files.
var unsuitable = regexp.MustCompile(`(?i)recursive|attach|vacuum|pragma|zeroblob|printf|format`)

// FuzzSplit compares the splitter with SQLite: where SQLite accepts a statement, both must see the same end.
// The splitter must find the same statements in single bytes as in the whole text. FuzzSplit also runs the
// statements: the shell must not panic.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		"SELECT 1;SELECT 2", "SELECT ';', \";\", `;`, [;] -- ;\n/* ; */; SELECT 'a''b;'", "/*/;*/SELECT 1;",
		"\ufeff;SELECT 1", "SELECT ?;", "\x00;", "-", "/", "EXPLAIN;", "SELECT 1 - -1;",
		"VALUES(x'00ff;'),(1e999)", "CREATE TABLE t(a, b); INSERT INTO t VALUES (1, 2)",
	} {
		f.Add(text)
	}
	conn, err := sqlite3.Open(":memory:")
	if err != nil {
		f.Fatal(err)
	}
	defer conn.Close()
	f.Fuzz(func(t *testing.T, text string) {
		whole := split(text, max(len(text), 1))
		if pieces := split(text, 1); !slices.Equal(pieces, whole) {
			t.Fatalf("%q in pieces is %+v, as a whole %+v", text, pieces, whole)
		}
		for _, st := range whole {
			if !strings.Contains(text, st.text) {
				t.Fatalf("%q has no statement %q", text, st.text)
			}
			// SQLite ends the text at a NUL, and allows ; in parameters that begin with $, @, # or :.
			if strings.ContainsAny(st.text, "$@#:\x00") {
				continue
			}
			prepared, tail, err := conn.Prepare(st.text)
			if err != nil || prepared == nil {
				continue
			}
			prepared.Close()
			if hasContent(tail) {
				t.Errorf("SQLite ends %q before %q", st.text, tail)
			}
		}
		if len(text) > 4096 || unsuitable.MatchString(text) {
			return
		}
		for _, format := range []Format{Table, CSV, JSON, JSONLines} {
			s := &session{out: newOutput(io.Discard), stderr: io.Discard, format: format}
			if s.conn, err = open(t).Conn(context.Background()); err != nil {
				t.Fatal(err)
			}
			err := s.runScript(context.Background(), strings.NewReader(text), true)
			if failed := new(statementError); errors.As(err, &failed) {
				failed.show(io.Discard, "test")
			}
			s.conn.Close()
		}
	})
}
