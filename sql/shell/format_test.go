package shell

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
)

const sample = `SELECT 1 AS n, 'one' AS name, 1.0 AS r, x'00ff' AS b, NULL AS empty UNION ALL
SELECT 9223372036854775807, 'two, "2"', -2.5e300, NULL, 'x' UNION ALL
SELECT NULL, 'a' || char(10) || char(27) || '[31mb', 0.1, x'', ''`

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format Format
		want   string
	}{
		{Table, `                  n  name              r  b        empty
                  1  one             1.0  x'00ff'  NULL
9223372036854775807  two, "2"  -2.5e+300  NULL     x
               NULL  a␊␛[31mb        0.1  x''
`},
		{CSV, "n,name,r,b,empty\n1,one,1.0,AP8=,\n9223372036854775807,\"two, \"\"2\"\"\",-2.5e+300,,x\n" +
			",\"a\n\x1b[31mb\",0.1,,\n"},
		{JSON, `[
{"n":1,"name":"one","r":1.0,"b":"AP8=","empty":null},
{"n":9223372036854775807,"name":"two, \"2\"","r":-2.5e+300,"b":null,"empty":"x"},
{"n":null,"name":"a\n\u001b[31mb","r":0.1,"b":"","empty":""}
]
`},
		{JSONLines, `{"n":1,"name":"one","r":1.0,"b":"AP8=","empty":null}
{"n":9223372036854775807,"name":"two, \"2\"","r":-2.5e+300,"b":null,"empty":"x"}
{"n":null,"name":"a\n\u001b[31mb","r":0.1,"b":"","empty":""}
`},
	} {
		status, got, messages := run(t, Options{Statement: sample, Format: c.format}, "")
		if status != Success || got != c.want || messages != "" {
			t.Errorf("%s: status %d, %q,\n%s\nwant\n%s", c.format, status, messages, got, c.want)
		}
	}
}

func TestResultsWithoutRows(t *testing.T) {
	for format, want := range map[Format]string{
		Table: "a  b\n", CSV: "a,b\n", JSON: "[]\n", JSONLines: "",
	} {
		const statements = "CREATE TABLE t (a, b); SELECT * FROM t; DROP TABLE t"
		status, got, _ := run(t, Options{Statement: statements, Format: format}, "")
		if status != Success || got != want {
			t.Errorf("%s: status %d, %q, want %q", format, status, got, want)
		}
	}
}

func TestDefaultFormatIsCSV(t *testing.T) {
	_, got, _ := run(t, Options{Statement: "SELECT 1 AS a, 2 AS b; SELECT '' AS c"}, "")
	if want := "a,b\n1,2\nc\n\"\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestJSONKeysAreUnique(t *testing.T) {
	const statement = `SELECT 1 AS a, 2 AS a, 3 AS "a:1", 4 AS a`
	_, got, _ := run(t, Options{Statement: statement, Format: JSONLines}, "")
	if want := `{"a":1,"a:2":2,"a:1":3,"a:3":4}` + "\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestExactValues checks that CSV and JSON keep all values.
func TestExactValues(t *testing.T) {
	db := open(t)
	text := "\x00\x1b]0;t\x07\u009b\u202e\U000e0001\"\\\r\n☃"
	blob := []byte{0, 1, 0xfe, 0xff}
	if _, err := db.Exec("CREATE TABLE t AS SELECT ? AS text, ? AS blob, ? AS least, ? AS f", text, blob,
		int64(math.MinInt64), math.Nextafter(0.1, 1)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if status := Run(t.Context(), db, Options{Statement: "SELECT * FROM t", Format: JSON}, nil, &out,
		&out); status != Success {
		t.Fatal(status, out.String())
	}
	for _, r := range out.String() {
		if r != '\n' && unsafeRune(r) {
			t.Errorf("JSON has the character %U", r)
		}
	}
	var rows []struct {
		Text, Blob string
		Least      int64
		F          float64
	}
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	encoded := base64.StdEncoding.EncodeToString(blob)
	if len(rows) != 1 || rows[0].Text != text || rows[0].Blob != encoded || rows[0].Least != math.MinInt64 ||
		rows[0].F != math.Nextafter(0.1, 1) {
		t.Errorf("JSON has %+v", rows)
	}
	out.Reset()
	Run(t.Context(), db, Options{Statement: "SELECT * FROM t", Format: CSV}, nil, &out, &out)
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	// csv.Reader turns \r\n within a field into \n.
	want := fmt.Sprint([]string{strings.ReplaceAll(text, "\r\n", "\n"), encoded, "-9223372036854775808",
		"0.10000000000000002"})
	if len(records) != 2 || fmt.Sprint(records[1]) != want {
		t.Errorf("CSV has %q, want %q", records, want)
	}
}

func TestInfinity(t *testing.T) {
	for format, want := range map[Format]string{CSV: "f\nInf\n", JSONLines: `{"f":9e999}` + "\n"} {
		if _, got, _ := run(t, Options{Statement: "SELECT 1e999 AS f", Format: format}, ""); got != want {
			t.Errorf("%s: %q, want %q", format, got, want)
		}
	}
}

// TestTableOfManyRows checks that a table does not cut later values that are wider than the first values.
func TestTableOfManyRows(t *testing.T) {
	const statement = `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 5000)
SELECT n, printf('%.*c', n / 100, 'y') AS text FROM i`
	_, got, _ := run(t, Options{Statement: statement, Format: Table}, "")
	lines := strings.Split(got, "\n")
	if want := "5000  " + strings.Repeat("y", 50); len(lines) != 5002 || lines[5000] != want {
		t.Errorf("%d lines, the last is %q, want %q", len(lines), lines[5000], want)
	}
}

// TestTableOnTerminal checks that lines fit, that long values are cut, and that the room is used.
func TestTableOnTerminal(t *testing.T) {
	long, hostile := strings.Repeat("x", 100), "\x1b]0;title\x07\u202e\u009b31m"+strings.Repeat("日本", 50)
	for _, c := range []struct {
		columns int
		head    []string
		rows    [][]any
		want    string
	}{
		{40, []string{"n", "text"}, [][]any{{int64(1), long}},
			"n  text\n1  " + strings.Repeat("x", 36) + "…\n"},
		{40, []string{"a", "b"}, [][]any{{long, long}},
			"a                    b\n" + strings.Repeat("x", 18) + "…  " + strings.Repeat("x", 18) + "…\n"},
		{20, []string{"a\x1b", "b", "c"}, [][]any{{nil, "x", []byte{1}}}, "a␛    b  c\nNULL  x  x'01'\n"},
		{30, []string{"a", "b", "c", "d"}, [][]any{{long, long, long, long}},
			"a             b             c…\n" + strings.Repeat(strings.Repeat("x", 11)+"…  ", 2) + "x…\n"},
		{20, []string{"h"}, [][]any{{hostile}}, "h\n␛]0;title␇\ufffd\ufffd31m日本…\n"},
	} {
		var b bytes.Buffer
		w := newTable(bufio.NewWriter(&b), c.columns, c.head)
		for _, r := range c.rows {
			if err := w.row(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.end(); err != nil {
			t.Fatal(err)
		}
		w.flush()
		for line := range strings.Lines(b.String()) {
			if n := width(strings.TrimSuffix(line, "\n")); n > c.columns {
				t.Errorf("a line has %d cells, want at most %d: %q", n, c.columns, line)
			}
		}
		if b.String() != c.want {
			t.Errorf("%q in %d columns:\n%s\nwant\n%s", c.head, c.columns, b.String(), c.want)
		}
	}
}

// TestUnknownFormat checks what Run does with a wrong option, and without a database.
func TestUnknownFormat(t *testing.T) {
	status, _, message := run(t, Options{Statement: "SELECT 1", Format: "xml"}, "")
	want := "vast sql: format \"xml\": want table, csv, json or jsonl\n"
	if status != Misuse || message != want {
		t.Errorf("status %d, %q, want %d, %q", status, message, Misuse, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("Run does not panic if db is nil")
		}
	}()
	Run(context.Background(), nil, Options{}, nil, nil, nil)
}
