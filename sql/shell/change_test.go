package shell

import (
	"slices"
	"testing"
)

func TestChangeOf(t *testing.T) {
	for text, want := range map[string]change{
		"INSERT INTO t VALUES (1)":                                                      {"INSERT", false},
		"replace into t select 1":                                                       {"INSERT", false},
		" /* UPDATE */ Delete FROM t -- RETURNING":                                      {"DELETE", false},
		"UPDATE t SET a = 'RETURNING', b = (SELECT 1) RETURNING a":                      {"UPDATE", true},
		"MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE":                        {"MERGE", false},
		"WITH x(a, b) AS (VALUES (1, 2)) INSERT INTO t SELECT * FROM x returning\"a\"":  {"INSERT", true},
		"WITH delete AS (SELECT 1), x AS MATERIALIZED (SELECT ')') UPDATE t SET a = 1;": {"UPDATE", false},
		"WITH gone AS (DELETE FROM t RETURNING a) SELECT * FROM gone":                   {},
		"WITH x AS (SELECT 1) SELECT replace('a', 'b', 'c') FROM x":                     {},
		"WITH replace AS (SELECT 1) SELECT * FROM replace":                              {},
		"SELECT 1 -- ; INSERT":                                                          {},
		"EXPLAIN UPDATE t SET a = 1":                                                    {},
		"(SELECT 1) UNION (SELECT 2)":                                                   {},
		"CREATE TABLE t AS SELECT 1":                                                    {},
		"[INSERT] INTO t":                                                               {},
		"insertion":                                                                     {},
		"":                                                                              {},
		"/* unfinished INSERT INTO t":                                                   {},
		"BEGIN; INSERT INTO t SELECT 1":                                                 {},
	} {
		if got := changeOf(text); got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	want := []string{"SELECT", "A1", ",", "(", "É", ")", "_X"}
	if got := slices.Collect(words("select a1,'b'(é)-_x--y\n")); !slices.Equal(got, want) {
		t.Errorf("the words are %q, want %q", got, want)
	}
}

// TestChangedRows checks which runs show the number of changed rows.
func TestChangedRows(t *testing.T) {
	const statements = "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), (2), (3); UPDATE t SET " +
		"a = a + 5; DELETE FROM t WHERE a = 7; " +
		"WITH x AS (SELECT 9 AS b) INSERT INTO t SELECT b FROM x RETURNING a; " +
		"INSERT OR IGNORE INTO t VALUES (9); SELECT count(*) AS n FROM t"
	const rows = "a\n9\nn\n3\n"
	status, got, messages := run(t, Options{Statement: statements}, "")
	if want := "INSERT 3\nUPDATE 3\nDELETE 1\nINSERT 1\nINSERT 0\n"; status != Success || got != rows ||
		messages != want {
		t.Errorf("status %d, %q and the messages %q, want %q and %q", status, got, messages, rows, want)
	}
	status, got, messages = run(t, Options{}, statements)
	if status != Success || got != rows || messages != "" {
		t.Errorf("from stdin: status %d, %q and the messages %q, want %q", status, got, messages, rows)
	}
	status, _, messages = run(t, Options{Statement: "CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1), " +
		"(1)"}, "")
	if status != Failure || messages != "vast sql: constraint failed: UNIQUE constraint failed: t.a\n" {
		t.Errorf("status %d and the messages %q, want the error only", status, messages)
	}
	status, _, messages = run(t, Options{Statement: "INSERT INTO x VALUES (?)"}, "")
	if status != Failure {
		t.Errorf("status %d and the messages %q, want an error", status, messages)
	}
}
