package inspect

import (
	"slices"
	"testing"
)

func TestSQLKinds(t *testing.T) {
	for _, text := range []string{
		"SELECT 1", " \n\tselect 1;", "-- a\n/* b */ ;; Select 1 ; -- c", "VALUES (1)",
		"EXPLAIN QUERY PLAN DELETE FROM t", "PRAGMA table_list",
		"SELECT 'a; DELETE FROM t'",
		`SELECT "a;b", [c;d], ` + "`e;f`",
		"SELECT 'it''s; fine' -- ; x",
		"WITH t AS (SELECT replace(a, 'INSERT', b)) SELECT \"delete\" FROM t", "SELECT /* ; DELETE",
	} {
		if got, err := sqlKindOf(text); got != sqlReads || err != nil {
			t.Errorf("%q: %v, %v, want a statement that only reads", text, got, err)
		}
	}
	for _, text := range []string{"INSERT INTO t VALUES (1) RETURNING a", "delete from t returning *",
		"WITH a AS (SELECT 1) UPDATE t SET b = 1 /* x */ RETURNING b"} {
		if got, err := sqlKindOf(text); got != sqlReturns || err != nil {
			t.Errorf("%q: %v, %v, want a statement that writes and returns rows", text, got, err)
		}
	}
	for _, text := range []string{"INSERT INTO t VALUES ('returning')", "delete from t",
		"REPLACE INTO t VALUES (1)",
		"CREATE TABLE t (a)", "DROP TABLE t", "ATTACH 'x' AS y", "VACUUM", "selectx", "1", "\x00SELECT 1",
		"\ufeffSELECT 1", "(SELECT 1)",
		"WITH t AS (SELECT 1) INSERT INTO u SELECT * FROM t", "WITH t AS (SELECT 1)DELETE FROM u",
		"with t as (select ';') /* select */ update u set a = 1",
		"WITH t AS (SELECT 1) REPLACE INTO u SELECT 1"} {
		if got, err := sqlKindOf(text); got != sqlWrites || err != nil {
			t.Errorf("%q: %v, %v, want a statement that may write", text, got, err)
		}
	}
	for _, text := range []string{"", " ;; -- x", "/* x", "SELECT 1; SELECT 2", "SELECT 1;DELETE FROM t",
		"SELECT 1; x", "BEGIN", "commit;", "END", "rollback", "SAVEPOINT a", "RELEASE a"} {
		if got, err := sqlKindOf(text); err == nil {
			t.Errorf("%q: %v, %v, want an error", text, got, err)
		}
	}
}

// FuzzSQLTokens checks that the tokens, white space and comments of a text make up the text.
func FuzzSQLTokens(f *testing.F) {
	for _, text := range []string{"SELECT 'a''b' FROM [t] -- x\n/* y */;", "'", "--", "/*", "é\x00\xff`",
		"["} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for at := 0; at < len(text); {
			size, _ := tokenSize(text[at:])
			if size < 1 || size > len(text)-at {
				t.Fatalf("a token of %d bytes in %q", size, text[at:])
			}
			at += size
		}
		if tokens := slices.Collect(sqlTokens(text)); len(tokens) == 0 {
			if _, err := sqlKindOf(text); err == nil {
				t.Errorf("%q has no tokens and no error", text)
			}
		}
	})
}
