package postgres

import (
	"strings"
	"testing"
)

// columnsOfTest returns the columns of table t, which the tests of assignments use.
func columnsOfTest(name string) []string {
	if name == "t" {
		return []string{"i", "f", "b", "raw", "text"}
	}
	return nil
}

func typesOfTest(name string) oid {
	return map[string]oid{"i": oidInt8, "f": oidFloat8, "b": oidBool, "raw": oidBytea, "text": oidText}[name]
}

func TestTypeStrings(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"INSERT INTO t VALUES ('1', '2.5', 't', '\\x00ff', '3')",
			"INSERT INTO t VALUES (1, 2.5, TRUE, x'00ff', '3')"},
		{"INSERT INTO t(f, i) VALUES (2, '-5'), (('1'), $1)",
			"INSERT INTO t(f, i) VALUES (2, -5), (('1'), $1)"},
		{"REPLACE INTO public.t (raw, b) SELECT 'ab', 'off' FROM t WHERE i = '1'",
			"REPLACE INTO public.t (raw, b) SELECT x'6162', FALSE FROM t WHERE i = '1'"},
		{"WITH c(i) AS (SELECT '1') INSERT INTO t(i) SELECT '2'",
			"WITH c(i) AS (SELECT '1') INSERT INTO t(i) SELECT 2"},
		{"UPDATE t SET i = '7', f = f || '8', text = '9', b = E'yes' WHERE i = '1'",
			"UPDATE t SET i = 7, f = f || '8', text = '9', b = TRUE WHERE i = '1'"},
		{`UPDATE t SET "I" = '7', "F" = '1e3'`, `UPDATE t SET "I" = 7, "F" = 1000`},
		{"UPDATE t SET i = (SELECT '1'), f = '1e3' FROM t AS u",
			"UPDATE t SET i = (SELECT '1'), f = 1000 FROM t AS u"},
		{"UPDATE t SET i = 'x', f = 'NaN', b = 'perhaps', raw = x'00'",
			"UPDATE t SET i = 'x', f = 'NaN', b = 'perhaps', raw = x'00'"},
		{"DELETE FROM t WHERE i = '1'", "DELETE FROM t WHERE i = '1'"},
	} {
		if got := typeStrings(test.text, typesOfTest, columnsOfTest); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
	}
}

func TestInferAssigned(t *testing.T) {
	from := source{columns: typesOfTest, columnsOf: columnsOfTest}
	for _, test := range []struct {
		text string
		want []oid
	}{
		{"INSERT INTO t VALUES ($2, $1, $3 + 1)", []oid{oidFloat8, oidInt8, oidUnspecified}},
		{"INSERT INTO t(raw, b) VALUES ($1, TRUE), (x'00', $2)", []oid{oidBytea, oidBool, oidUnspecified}},
		{"INSERT INTO t(text) SELECT $1 WHERE $2", []oid{oidText, oidUnspecified, oidUnspecified}},
		{"INSERT INTO other VALUES ($1)", []oid{oidUnspecified, oidUnspecified, oidUnspecified}},
		{"UPDATE t SET text = $1, raw = $3", []oid{oidText, oidUnspecified, oidBytea}},
	} {
		got := make([]oid, 3)
		inferAssigned(test.text, got, from)
		for i := range got {
			if got[i] != test.want[i] {
				t.Errorf("%s: got %v, want %v", test.text, got, test.want)
				break
			}
		}
	}
}

// FuzzTypeStrings checks that typeStrings keeps all tokens except strings and spaces. It also checks that
// inferAssigned and statement.check do not panic.
func FuzzTypeStrings(f *testing.F) {
	for _, text := range []string{"INSERT INTO t(i) VALUES ('1'", "UPDATE t SET i = '1', (f) = '2'",
		"INSERT INTO",
		"UPDATE t SET", "REPLACE INTO t.", "INSERT INTO t SELECT '1', (", "UPDATE t SET i = '1' = '2'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := scan(text, dialectSQLite)
		after := typeStrings(text, typesOfTest, columnsOfTest)
		for _, token := range before {
			if token.kind != tokenString && token.kind != tokenSpace && !strings.Contains(after, token.text) {
				t.Fatalf("%q becomes %q, which lacks %q", text, after, token.text)
			}
		}
		inferAssigned(text, make([]oid, 5), source{columns: typesOfTest, columnsOf: columnsOfTest})
		newStatement(text).check()
	})
}
