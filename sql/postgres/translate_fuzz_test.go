package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3/driver"
)

// A fixedSession stands for a client in tests of the translation.
type fixedSession struct{}

func (fixedSession) user() string                  { return "vast" }
func (fixedSession) processID() uint32             { return 7 }
func (fixedSession) setting(string) (string, bool) { return "on", true }

func TestTranslateQuery(t *testing.T) {
	for _, test := range []struct{ from, want string }{
		{"SELECT $1, '$2', \"$3\", -- $4\n$12", "SELECT ?1, '$2', \"$3\", -- $4\n?12"},
		{"SELECT a::int", "SELECT CAST(a AS INTEGER)"},
		{"SELECT t.a :: double precision, b", "SELECT CAST(t.a AS REAL), b"},
		{"SELECT (a + b)::text::int8", "SELECT CAST(CAST((a + b) AS TEXT) AS INTEGER)"},
		{"SELECT f(a, 'b')::numeric(10, 2) AS c", "SELECT CAST(f(a, 'b') AS NUMERIC) AS c"},
		{"SELECT CASE WHEN a THEN b END::varchar(3)", "SELECT CAST(CASE WHEN a THEN b END AS TEXT)"},
		{"SELECT $1::text[]", "SELECT ?1"},
		{"SELECT 't'::bool, 'no'::boolean", "SELECT TRUE, FALSE"},
		{`SELECT '\x0aff'::bytea`, "SELECT x'0aff'"},
		{"SELECT a::timestamp with time zone FROM b", "SELECT a FROM b"},
		{`SELECT E'a\n''b\'', $x$it's$x$`, "SELECT 'a\n''b''', 'it''s'"},
		{"SELECT * FROM public.t, [a::b], `c::d`", "SELECT * FROM t, [a::b], `c::d`"},
		{"SELECT * FROM public .t, public . u", "SELECT * FROM t, u"},
		{"SELECT a::pg_catalog . int4", "SELECT CAST(a AS INTEGER)"},
		{`SELECT E'\x41\102\u0043\U00000044\uD83D\uDE00\q\xg'`, "SELECT 'ABCD😀qxg'"},
		{"SELECT extract(epoch FROM (a::text)) / 60, Extract ( 'Year' from\nf(b) ), extract(eon FROM c), " +
			"extract(d)",
			"SELECT unixepoch((CAST(a AS TEXT)), 'subsec') / 60, CAST(strftime('%Y', f(b) ) AS INTEGER), " +
				"extract(eon FROM c), extract(d)"},
		{"SELECT extract(epoch from a)::int, extract(hour from (SELECT extract(day from b)))",
			"SELECT CAST(unixepoch(a, 'subsec') AS INTEGER), " +
				"CAST(strftime('%H', (SELECT CAST(strftime('%d', b) AS INTEGER))) AS INTEGER)"},
		{"SELECT time_bucket(INTERVAL '5 min', a), interval, b AS interval, interval 'c'",
			"SELECT time_bucket('5 min', a), interval, b AS interval, 'c'"},
		{"SELECT now ( ), now, a.now FROM now", "SELECT " + nowCall + ", now, a.now FROM now"},
		{"SELECT /* a::int /* */ ::", "SELECT /* a::int /* */ ::"},
	} {
		if got := translateQuery(test.from); got != test.want {
			t.Errorf("%s: got %s, want %s", test.from, got, test.want)
		}
	}
}

func TestTranslateCatalog(t *testing.T) {
	for _, test := range []struct{ from, want string }{
		{"SELECT a FROM pg_catalog.pg_class c", "SELECT a FROM pg_class c"},
		{"a OPERATOR(pg_catalog.~) '^(b)$' COLLATE pg_catalog.default", "a  REGEXP  '^(b)$' "},
		{"a !~* 'b'", "a  NOT REGEXP '(?i)' ||  'b'"},
		{"FROM information_schema.tables t", "FROM information_schema_tables t"},
		{"FROM pg_catalog . pg_class, f . user", "FROM  pg_class, f . user"},
		{"FROM information_schema . tables t", "FROM information_schema_tables t"},
		{"FROM lateral f(a) WITH ORDINALITY AS x(y, z), pg_catalog . g(b) y",
			"FROM  (SELECT f(a) AS y, 1 AS z) AS x,  (SELECT g(b) AS y) AS y"},
		{"SELECT f(a), g(b) FROM c", "SELECT f(a), g(b) FROM c"},
		{"a = ANY (b)", "a  IN (SELECT value FROM json_each(pg_array_json(b)))"},
		{"a = ANY (SELECT b FROM c)", "a  IN (SELECT b FROM c)"},
		{"SELECT ALL (a) EXCEPT ALL (b)", "SELECT ALL (a) EXCEPT ALL (b)"},
		{"ARRAY[1, 2]", "pg_array(1, 2)"},
		{"ARRAY(SELECT a)", "(WITH pg_items(item) AS (SELECT a) SELECT array_agg(item) FROM pg_items)"},
		{"'t'::pg_catalog.regclass", "pg_regclass('t')"},
		{"a[1]", "pg_subscript(a,1)"},
		{"current_user, pg_backend_pid(), current_setting('x')", "'vast', 7, 'on'"},
	} {
		if got := translateCatalog(test.from, fixedSession{}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.from, got, test.want)
		}
	}
}

// TestReadsCatalog checks which statements read the catalog if a user's table has the name of a column of the
// catalog.
func TestReadsCatalog(t *testing.T) {
	user := &schema{byName: map[string]int{"name": 0, "position": 1}}
	for text, want := range map[string]bool{
		"SELECT setting, name FROM pg_settings":                           true,
		"SELECT a.name FROM pg_catalog.pg_settings a":                     true,
		"SELECT table_name FROM information_schema.tables":                true,
		"SELECT version()":                                                true,
		"SELECT version, name FROM position":                              false,
		"SELECT version() FROM public.position":                           false,
		"SELECT * FROM pg_class, name":                                    false,
		"SELECT * FROM position p JOIN \"name\" USING (entity)":           false,
		"SELECT * FROM pg_class JOIN (SELECT 1) a ON TRUE, public . name": false,
		"SELECT (SELECT 1 FROM pg_class), name":                           true,
		"SELECT * FROM pg_class ORDER BY 1, name":                         true,
		"SELECT 'pg_class'":                                               false,
		"SELECT 1 -- pg_class":                                            false,
		"SELECT relname FROM pg_class WHERE relname IN ('a', 'position')": true,
	} {
		if got := readsCatalog(text, user); got != want {
			t.Errorf("%s: got %t, want %t", text, got, want)
		}
	}
}

// TestEscapes refuses sequences that give no valid text.
func TestEscapes(t *testing.T) {
	for _, text := range []string{
		`E'\0'`, `E'\x00'`, `E'\xff'`, `E'\u12'`, `E'\uD83D'`, `E'\uDE00\uD83D'`,
		`E'\U00110000'`, `E'\u'`,
	} {
		if newStatement("SELECT "+text).check() == nil {
			t.Errorf("%s: got no error", text)
		}
		if s, _ := unescape(text); strings.ContainsRune(s, 0) || !utf8.ValidString(s) {
			t.Errorf("%s: got %q, want valid text", text, s)
		}
	}
	for _, text := range []string{`E'\uFFFD'`, `E'\xc3\xa4'`, `E'\\0'`} {
		if err := newStatement("SELECT " + text).check(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLongStatements translates statements of the highest length. It takes minutes if a step takes time in
// proportion to the square of the length.
func TestLongStatements(t *testing.T) {
	repeat := func(part string) string { return strings.Repeat(part, maxStatementBytes/len(part)) }
	if n := len(joinTokens(scan(repeat("["), dialectSQLite))); n != maxStatementBytes {
		t.Errorf("got %d bytes, want %d", n, maxStatementBytes)
	}
	if !readsCatalog("SELECT pg_class"+repeat(",a"), &schema{byName: map[string]int{"a": 0}}) {
		t.Error("the columns count as tables")
	}
	translateCatalog("SELECT 1"+repeat(",f()"), fixedSession{})
	var values strings.Builder
	for n := range maxParameters {
		fmt.Fprintf(&values, ", $%d", n+1)
	}
	for _, before := range []string{"VALUES (0", "SELECT a IN (0"} {
		types, err := inferParameters(before+values.String()+")", nil, func(string) oid { return oidText })
		if err != nil || len(types) != maxParameters {
			t.Errorf("got %d types and error %v, want %d", len(types), err, maxParameters)
		}
	}
}

// FuzzTranslate checks that no text makes the translation panic, that text without the syntax of PostgreSQL
// stays as it is, and that no translated text makes SQLite panic.
func FuzzTranslate(f *testing.F) {
	for _, text := range []string{
		"SELECT $1::int, 'a' FROM t WHERE a ~ ANY(ARRAY[1,2])", "COPY (SELECT 1) TO STDOUT CSV",
		"SELECT x[1]::text[]",
		"DECLARE c CURSOR FOR SELECT 1", "SELECT E'\\", "$a$",
		"SELECT trim(both 'x' from y) FROM unnest(a) AS b(c)",
		"SELECT a FROM generate_series(1, 3) i, f(x) y", "[[[",
		`E'\uD83D\u0041\777\x`, "case case end end::int",
		"SELECT (((1)))::bool",
	} {
		f.Add(text)
	}
	db, err := driver.Open(":memory:")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	none := func(string) oid { return oidText }
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1000 {
			return
		}
		tokens := scan(text, dialectSQLite)
		if joined := joinTokens(tokens); joined != text {
			t.Fatalf("tokens are %q, want %q", joined, text)
		}
		translated := translateQuery(text)
		own := func(syntax string) bool { return strings.Contains(strings.ToLower(text), syntax) }
		if translated != text && !slices.ContainsFunc([]string{"$", ":", "public", "e'", "now", "interval",
			"extract"}, own) {
			t.Fatalf("%q became %q", text, translated)
		}
		translateCatalog(text, fixedSession{})
		for count := range 4 {
			for _, item := range columnItems(text, count) {
				inferType(withoutAlias(item), none, 0)
				columnName(item)
			}
		}
		inferParameters(text, nil, none)
		parseCopy(text)
		parseDeclare(text)
		if statement, err := db.PrepareContext(context.Background(), translated); err == nil {
			statement.Close()
		}
		for _, statement := range splitStatements(text) {
			newStatement(statement).check()
		}
	})
}

// FuzzArray checks that the text of an array gives the elements back.
func FuzzArray(f *testing.F) {
	f.Add("a", `b"\`, "{,}")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		got := elementsOf(arrayText([]any{a, b, nil, c}))
		if len(got) != 4 || got[0] != a || got[1] != b || got[2] != nil || got[3] != c {
			t.Errorf("got %q, want %q, %q, nil, %q", got, a, b, c)
		}
		elementsOf(a)
		like(a, b)
		parseBytea(a)
	})
}
