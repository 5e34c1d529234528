package postgres

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
)

// TestValues encodes values in both formats and decodes them again.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		value any
		o     oid
		text  string
	}{
		{true, oidBool, "t"},
		{int64(-3), oidInt2, "-3"},
		{int64(math.MinInt32), oidInt4, "-2147483648"},
		{int64(math.MaxInt64), oidInt8, "9223372036854775807"},
		{int64(math.MaxUint32), oidOID, "4294967295"},
		{1.5, oidFloat4, "1.5"},
		{999999.0, oidFloat4, "999999"},
		{1234567.0, oidFloat4, "1.234567e+06"},
		{1234567.0, oidFloat8, "1234567"},
		{0.1, oidFloat8, "0.1"},
		{1e300, oidFloat8, "1e+300"},
		{math.Inf(-1), oidFloat8, "-Infinity"},
		{"it's", oidText, "it's"},
		{"", oidVarchar, ""},
		{[]byte{0, 255}, oidBytea, `\x00ff`},
	} {
		for _, format := range []int16{formatText, formatBinary} {
			data, err := appendValue([]byte{}, test.value, test.o, format)
			if err != nil {
				t.Errorf("%v: %v", test.value, err)
				continue
			}
			if format == formatText && string(data) != test.text {
				t.Errorf("%v: got text %q, want %q", test.value, data, test.text)
			}
			got, err := decodeParameter(data, test.o, format)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(test.value) {
				t.Errorf("%v in format %d: got %v and error %v", test.value, format, got, err)
			}
		}
	}
	moment := time.Date(1999, 12, 31, 23, 59, 58, 7000, time.UTC)
	for o, want := range map[oid]string{
		oidDate: "1999-12-31", oidTimestamp: "1999-12-31 23:59:58.000007",
		oidTimestampTZ: "1999-12-31 23:59:58.000007+00",
	} {
		if got, err := appendValue(nil, moment, o, formatText); err != nil || string(got) != want {
			t.Errorf("got %q and error %v, want %q", got, err, want)
		}
		data, err := appendValue(nil, moment, o, formatBinary)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeParameter(data, o, formatBinary)
		if err != nil || fmt.Sprint(got) != map[bool]string{true: want,
			false: fmt.Sprint(moment)}[o == oidDate] {
			t.Errorf("got %v and error %v, want %v", got, err, want)
		}
	}
}

// TestMismatch encodes values, and decodes texts, that a type cannot hold.
func TestMismatch(t *testing.T) {
	for _, test := range []struct {
		value any
		o     oid
	}{
		{"x", oidInt8}, {1.5, oidInt8}, {math.NaN(), oidInt8}, {1e19, oidInt8}, {int64(40000), oidInt2},
		{"x", oidBool},
		{[]byte{1}, oidFloat8}, {int64(-1), oidOID}, {"x", oidDate},
	} {
		if got, err := appendValue(nil, test.value, test.o, formatText); err == nil {
			t.Errorf("%v as %s: got %q, want an error", test.value, typeName(test.o), got)
		}
	}
	for _, test := range []struct {
		text string
		o    oid
	}{
		{"x", oidInt8}, {"", oidFloat8}, {"maybe", oidBool}, {`\x0`, oidBytea}, {`\9`, oidBytea}, {"\xff",
			oidText},
		{"x", oidNumeric},
	} {
		if got, err := decodeParameter([]byte(test.text), test.o, formatText); err == nil {
			t.Errorf("%q as %s: got %v, want an error", test.text, typeName(test.o), got)
		}
	}
}

// TestGuess checks which parameters without a type count as numbers.
func TestGuess(t *testing.T) {
	for text, want := range map[string]any{
		"12": int64(12), "-1.5": -1.5, "012": "012", "1e5": "1e5", "": "", "1.50": "1.50", "0x1": "0x1",
		"a1": "a1", "0.0001": 0.0001, "0.00001": "0.00001", "0.3": 0.3,
		"1.0": 1.0, "1.0e+20": 1e20, "1.00": "1.00", "1.": "1.", "100.0": 100.0,
		"100000000000000000000": "100000000000000000000",
		"123456789012345.5":     "123456789012345.5", "-0": "-0", "1e+20": "1e+20",
		"-1234.5678901": -1234.5678901, "1000000000000000.5": "1000000000000000.5",
	} {
		if got := guess(text); got != want {
			t.Errorf("%q: got %v (%T), want %v", text, got, got, want)
		}
	}
}

// TestGuessText: if guess returns a number for a parameter, SQLite writes the number exactly as the parameter
// has it.
func TestGuessText(t *testing.T) {
	db, err := driver.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, text := range []string{"0.1", "0.0001", "0.00001", "1.5e-05", "1.5e+20", "1.0",
		"1.0e+20", "99999999999999.5",
		"999999999999999.5", "100000000000000000000", "0.123456789012345", "0.1234567890123456", "-0.5",
		"-0.0", "-0", "7"} {
		var equal bool
		err := db.QueryRow("SELECT CAST(?1 AS TEXT) = ?2", guess(text), text).Scan(&equal)
		if err != nil || !equal {
			t.Errorf("guess(%q) as text differs from the parameter, error %v", text, err)
		}
	}
}

func TestSplitText(t *testing.T) {
	for _, test := range []struct {
		text, separator any
		want            any
	}{
		{"a,b", ",", "{a,b}"}, {"ab", "", "{ab}"}, {"", ",", "{}"}, {"", "", "{}"}, {"aä", nil, "{a,ä}"},
		{nil, ",", nil}, {",", ",", `{"",""}`},
	} {
		if got := splitText([]any{test.text, test.separator}); got != test.want {
			t.Errorf("%v with separator %v: got %v, want %v", test.text, test.separator, got, test.want)
		}
	}
}

// TestFunctions calls each function of the catalog with values of all types. No function may panic.
func TestFunctions(t *testing.T) {
	d := describeSchema(&schema{byName: map[string]int{}})
	values := []any{nil, int64(0), int64(-1), int64(16384), 1.5, "", "{a,NULL,\"b\"}", "pg_class", "nothing",
		[]byte{255}}
	for _, f := range append(append([]function{}, catalogFunctions...), d.functions()...) {
		for _, n := range f.arguments {
			count := max(n, 0)
			if n < 0 {
				count = 3
			}
			arguments := make([]any, count)
			var call func(at int)
			call = func(at int) {
				if at == count {
					f.call(arguments)
					return
				}
				for _, value := range values {
					arguments[at] = value
					call(at + 1)
				}
			}
			call(0)
		}
	}
}

func TestLike(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"a%", "abc", true}, {"A%", "abc", false}, {"_b_", "abc", true}, {`pg\_%`, "pg_class", true},
		{`pg\_%`, "pgxclass", false}, {"%b%c", "abbc", true}, {"%ä_", "xäß", true}, {"", "", true}, {"%", "",
			true},
		{`a\`, `a\`, true}, {"_", "", false},
	} {
		if got := like(test.pattern, test.text); got != test.want {
			t.Errorf("%q like %q: got %t, want %t", test.text, test.pattern, got, test.want)
		}
	}
}

func TestInferParameters(t *testing.T) {
	columns := func(name string) oid {
		return map[string]oid{"i": oidInt8, "r": oidFloat8,
			"s": oidText}[name]
	}
	for text, want := range map[string][]oid{
		"SELECT * FROM t WHERE i = $1 AND r < $2":            {oidInt8, oidFloat8},
		"SELECT * FROM t WHERE i IN ($1, $2, $3) OR s = $4":  {oidInt8, oidInt8, oidInt8, oidText},
		"SELECT * FROM t WHERE r BETWEEN $1 AND $2 LIMIT $3": {oidFloat8, oidFloat8, oidInt8},
		"SELECT $1::text, CAST($2 AS INTEGER), $3":           {oidText, oidInt8, oidUnspecified},
		"SELECT * FROM t WHERE $1 > t.r * 2 AND s LIKE $2":   {oidFloat8, oidText},
		"SELECT * FROM t WHERE i = $2":                       {oidUnspecified, oidInt8},
		"SELECT * FROM t WHERE i IN (1, $1, 2, $2)":          {oidInt8, oidInt8},
		"VALUES ($1, 'a', $2::int, $3)":                      {oidUnspecified, oidInt8, oidUnspecified},
	} {
		got, err := inferParameters(text, nil, columns)
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: got %v and error %v, want %v", text, got, err, want)
		}
	}
}

// TestInferTimes checks the result types of the time functions.
func TestInferTimes(t *testing.T) {
	columns := func(name string) oid {
		return map[string]oid{"i": oidInt4, "r": oidFloat8, "s": oidText, "t": oidTimestampTZ}[name]
	}
	for text, want := range map[string]oid{
		"to_timestamp(i)":                              oidTimestampTZ,
		"date_trunc('hour', i)":                        oidInt8,
		"date_trunc('hour', r)":                        oidFloat8,
		"date_trunc('hour', s)":                        oidTimestampTZ,
		"date_trunc('hour', t)":                        oidTimestampTZ,
		"date_trunc('hour', u)":                        oidUnspecified,
		"time_bucket(coalesce(i, r), to_timestamp(i))": oidTimestampTZ,
		"time_bucket('1h', date_trunc('hour', 5 * i))": oidInt8,
		"date_trunc('hour', u::text)":                  oidTimestampTZ,
		"date_trunc()":                                 oidUnspecified,
	} {
		items := columnItems("SELECT "+text, 1)
		if got := inferColumns(items, columns); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
