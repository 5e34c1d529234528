package vastsql

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestPercentiles(t *testing.T) {
	f := newFixture(t, 20, Options{})
	values := func(list string) string { return "FROM (SELECT column1 AS x FROM (VALUES " + list + "))" }
	// The values 1, 4, 6 and so on, and their median, are from the documentation of SQLite's extension.
	for _, c := range []struct{ text, want string }{
		{"SELECT median(x), percentile(x, 50) " + values("(1), (4), (6), (7), (8), (9), (11), (11), "+
			"(11), (13)"), "8.5|8.5"},
		{"SELECT percentile(x, 0), percentile(x, 100), percentile(x, 25) " + values("(3), (1), (2), (NULL)"),
			"1|3|1.5"},
		{"SELECT median(x), percentile(x, 10) " + values("(NULL)"), "|"},
		{"SELECT median(x) IS NULL " + values("(1)") + " WHERE x > 5", "1"},
		{"SELECT median(age), percentile(mass, 75) FROM traveller", "10|21.75"},
		{"SELECT median(x) FROM (SELECT DISTINCT age % 3 AS x FROM traveller)", "1"},
		{"SELECT group_concat(m) FROM (SELECT median(x) OVER (ORDER BY x ROWS 1 PRECEDING) AS m " +
			values("(1), (2), (4), (9)") + ")", "1.0,1.5,3.0,6.5"},
	} {
		if got := read(t, f.db, c.text); !reflect.DeepEqual(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", c.text, got, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"SELECT percentile(x, 101) " + values("(1)"), "p must be the same number from 0 to 100"},
		{"SELECT percentile(x, -1) " + values("(1)"), "p must be the same number from 0 to 100"},
		{"SELECT percentile(x, 9e999) " + values("(1)"), "p must be the same number from 0 to 100"},
		{"SELECT percentile(x, -9e999) " + values("(1)"), "p must be the same number from 0 to 100"},
		{"SELECT percentile(x, 9e999 - 9e999) " + values("(1)"), "p must be the same number from 0 to 100"},
		{"SELECT median(x) " + values("(1), (9e999)"), "must be finite"},
		{"SELECT percentile(x, 50) " + values("(-9e999)"), "must be finite"},
		{"SELECT percentile(x, 'p') " + values("(1)"), "p must be the same number from 0 to 100"},
		{"SELECT percentile(x, x) " + values("(1), (2)"), "p must be the same number from 0 to 100"},
		{"SELECT median(x) " + values("(1), ('two')"), "must be a number"},
		{"SELECT percentile(x) " + values("(1)"), "wrong number of arguments"},
		{"SELECT age FROM traveller WHERE median(age) > 3", "misuse of aggregate"},
		{"SELECT percentile(x, 50) " + values("(1), (x'00ff')"), "must be a number"},
	} {
		if _, err := tryRead(f.db, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

// TestPercentileOfManyGroups compares the percentiles of groups with those of sorted slices.
func TestPercentileOfManyGroups(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	f := newFixture(t, 500, Options{})
	p := rng.Float64() * 100
	groups := map[string][]float64{}
	for _, row := range read(t, f.db, "SELECT age % 7, mass FROM traveller") {
		key, value, _ := strings.Cut(row, "|")
		var v float64
		if _, err := fmt.Sscan(value, &v); err != nil {
			t.Fatal(err)
		}
		groups[key] = append(groups[key], v)
	}
	for _, row := range read(t, f.db, "SELECT age % 7, percentile(mass, ?), count(*) FROM traveller "+
		"GROUP BY 1", p) {
		key, value, _ := strings.Cut(row, "|")
		list := groups[key]
		slices.Sort(list)
		at := p / 100 * float64(len(list)-1)
		want := list[int(at)]*(1-at+float64(int(at))) + list[int(at)+1]*(at-float64(int(at)))
		var got float64
		var n int
		if _, err := fmt.Sscanf(value, "%g|%d", &got, &n); err != nil || n != len(list) {
			t.Fatal(row, err)
		}
		if got < want-1e-9 || got > want+1e-9 {
			t.Errorf("group %s: %v, want %v", key, got, want)
		}
	}
}

// TestPercentileMemory runs a statement that needs more than MaxMemoryBytes. A later statement that needs a
// little less than MaxMemoryBytes must succeed.
func TestPercentileMemory(t *testing.T) {
	f := newFixture(t, 5, Options{MaxMemoryBytes: 256 << 10})
	f.db.SetMaxOpenConns(1)
	const numbers = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < %d) "
	many := fmt.Sprintf(numbers, 40_000)
	const median = numbers + "SELECT median(i) FROM c"
	for range 2 {
		var limit *LimitError
		if _, err := tryRead(f.db, many+"SELECT median(i) FROM c"); !errors.As(err, &limit) ||
			limit.Option != "MaxMemoryBytes" {
			t.Fatal(err)
		}
		if got := read(t, f.db, fmt.Sprintf(median, 30_001)); !reflect.DeepEqual(got, []string{"15001"}) {
			t.Fatal(got)
		}
	}
}
