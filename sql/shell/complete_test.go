package shell

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/ncruces/go-sqlite3/ext/csv"
)

func newCompleter(t testing.TB) *completer {
	t.Helper()
	db, err := driver.Open(":memory:", csv.Register)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(strings.ReplaceAll(`
CREATE TABLE Town (id INTEGER PRIMARY KEY, name TEXT, "two words", "badESC");
CREATE TABLE "Odd table" (x);
CREATE TABLE "évilESC[31m" (y);
CREATE VIEW people AS SELECT id AS person FROM town;
CREATE VIRTUAL TABLE letters USING csv (data = '1', schema = 'CREATE TABLE x (body)');
CREATE VIRTUAL TABLE temp.helper USING csv (data = '1', schema = 'CREATE TABLE x (body)')`,
		"ESC", "\x1b")); err != nil {
		t.Fatal(err)
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &session{conn: conn}
	return &completer{ctx: context.Background(), load: s.loadSchema, before: func() string { return "" }}
}

func TestComplete(t *testing.T) {
	c := newCompleter(t)
	for _, x := range []struct{ before, line, want string }{ // | is the cursor
		{"", "sel|", "select"},
		{"", "SELE|", "SELECT"},
		{"", "Sele|", "SeleCT"},
		{"", "SELECT * FROM |", "Town letters people sqlite_schema sqlite_temp_schema"},
		{"", "SELECT * FROM tO|", "tOwn"},
		{"", `SELECT * FROM "o|`, `"odd table"`},
		{"", `SELECT "tw|`, `"two words"`},
		{"", "SELECT na| FROM town", "name natural"},
		{"", "SELECT town.|", "id name"},
		{"", "SELECT (town.n|", "name"},
		{"", "SELECT main.t|", "town"},
		{"SELECT * FROM town", "WHERE in|", "in index indexed inner insert instead intersect into"},
		{"SELECT * FROM town", "WHERE id|", "id"},
		{"SELECT * FROM people", "WHERE per|", "person"},
		{"", "SELECT bo| FROM letters", "body"},
		{"", "SELECT |", ""},
		{"", `\|`, `\? \d \format \q \timing`},
		{"", `\d to|`, "town"},
		{"", `\format j|`, "json jsonl"},
		{"", `\d "od|`, `"odd table"`},
		{"", "SELECT 'é|", ""},
	} {
		c.before = func() string { return x.before }
		left, right, _ := strings.Cut(x.line, "|")
		ends, n := c.Do([]rune(left+right), len([]rune(left)))
		beginning := string([]rune(left)[len([]rune(left))-n:])
		var got []string
		for _, end := range ends {
			got = append(got, beginning+string(end))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: %q, want %q", x.line, got, x.want)
		}
	}
}

// TestCompleteChanges checks that completion knows new tables after a call of forget, and completes keywords
// if the schema cannot be loaded.
func TestCompleteChanges(t *testing.T) {
	c := &completer{ctx: t.Context(), before: func() string { return "" }}
	c.load = func(context.Context) (schema, error) { return schema{}, errors.New("busy") }
	if ends, _ := c.Do([]rune("SELEC"), 5); len(ends) != 1 || string(ends[0]) != "T" {
		t.Errorf("after an error: %q", ends)
	}
	for _, name := range []string{"xa", "xb"} {
		c.load = func(context.Context) (schema, error) { return schema{tables: []string{name}}, nil }
		c.forget()
		if ends, _ := c.Do([]rune("FROM x"), 6); len(ends) != 1 || "x"+string(ends[0]) != name {
			t.Errorf("%q, want %s", ends, name)
		}
	}
}

func FuzzComplete(f *testing.F) {
	for _, line := range []string{"SELECT na", `SELECT "`, `\d x`, "a.b.c", ".", "é.ſ", "\xff", `"."`} {
		f.Add(line, uint(len(line)))
	}
	c := newCompleter(f)
	f.Fuzz(func(t *testing.T, text string, at uint) {
		line := []rune(text)
		pos := int(at % uint(len(line)+1))
		c.before = func() string { return text }
		ends, n := c.Do(line, pos)
		if n > pos {
			t.Fatalf("the word before %d has %d characters", pos, n)
		}
		for _, end := range ends {
			if strings.ContainsFunc(string(end), unsafeRune) {
				t.Errorf("the completion %q is not safe", string(end))
			}
		}
	})
}

func TestSplitName(t *testing.T) {
	for text, want := range map[string][2]string{
		`a`: {"", "a"}, `a.b`: {"a", "b"}, `"a.b"`: {"", "a.b"}, `"a""b"`: {"", `a"b`},
		`"x".".y"""`: {"x", `.y"`},
	} {
		if schema, name := splitName(text); schema != want[0] || name != want[1] {
			t.Errorf("%s: %q and %q, want %q", text, schema, name, want)
		}
	}
}
