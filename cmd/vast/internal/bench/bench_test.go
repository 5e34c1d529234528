package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

func TestRowsOfAllWorks(t *testing.T) {
	rounds := "2"
	if !longtest.Enabled() {
		rounds = "1"
	}
	var stdout, stderr bytes.Buffer
	if status := Run([]string{"-n", "3000", "-rounds", rounds, "-json"}, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	if stderr.Len() != 0 {
		t.Errorf("with -json, the standard error output is %q, want none", stderr.String())
	}
	var out struct{ Rows []map[string]any }
	d := json.NewDecoder(&stdout)
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	if d.More() {
		t.Error("there is more than one JSON object")
	}
	var want []string
	for _, f := range families {
		for _, w := range f.works() {
			sides, done := w.sides(3000)
			if done != nil {
				done()
			}
			if len(sides) < 2 {
				t.Errorf("%s has %d sides, want at least 2", w.name, len(sides))
			}
			for _, s := range sides[1:] {
				want = append(want, f.name+" "+w.name+" "+s.name)
			}
		}
	}
	if len(out.Rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(out.Rows), len(want))
	}
	for i, row := range out.Rows {
		if name := fmt.Sprint(row["family"], " ", row["work"], " ", row["against"]); name != want[i] {
			t.Errorf("row %d is %s, want %s", i, name, want[i])
		}
		for _, field := range []string{"ours_ms", "theirs_ms", "ratio", "ours_median_ms",
			"theirs_median_ms"} {
			if v, ok := row[field].(float64); !ok || v <= 0 {
				t.Errorf("row %d (%s): %s is %v, want a positive number", i, row["work"], field, row[field])
			}
		}
		ours, theirs := row["ours_ms"].(float64), row["theirs_ms"].(float64)
		if ratio := row["ratio"].(float64); ratio < theirs/ours*0.999 || ratio > theirs/ours*1.001 {
			t.Errorf("row %d: the ratio is %v, want theirs_ms / ours_ms = %v / %v", i, ratio, theirs, ours)
		}
		if row["ours_median_ms"].(float64) < ours || row["theirs_median_ms"].(float64) < theirs {
			t.Errorf("row %d: a median is below the best time", i)
		}
	}
}

func TestMemoryIsWeighed(t *testing.T) {
	if vm.HeapStandIn() {
		t.Skip("regions are Go heap memory in this build, and the memory that earlier rounds left " +
			"is resident already")
	}
	const n = 1_000_000
	rows, err := measureAll(options{n: n, rounds: 1, names: []string{"append"}, json: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if least := 0.9 * n * float64(bytesElement) / 1e6; r.OursMB < least || r.TheirsMB < least {
			t.Errorf("for %d elements, vast has %.1f MB and %s has %.1f MB, want at least %.1f MB", n,
				r.OursMB, r.Against, r.TheirsMB, least)
		}
	}
}

func TestTable(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := Run([]string{"-n", "1000", "-rounds", "1", "refill"}, &stdout, &stderr); status != 0 {
		t.Fatalf("status %d: %s", status, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	if len(lines) != 7 || !strings.HasPrefix(lines[0], "N = 1000, best and median of 1 rounds") ||
		!strings.HasPrefix(lines[2], "bulk.Pool: insert N elements of 40 bytes") {
		t.Fatalf("output:\n%s", stdout.String())
	}
	if len(lines[4]) != len(lines[5]) || len(lines[5]) != len(lines[6]) ||
		!strings.Contains(lines[5], "refill  vast-insert-zero") ||
		!strings.Contains(lines[6], "refill         free-list") {
		t.Errorf("the columns are not aligned:\n%s", stdout.String())
	}
	if !strings.Contains(stderr.String(), "measuring refill") {
		t.Errorf("the standard error output is %q, want the progress", stderr.String())
	}
}

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"-n 0", 2, "-n 0: use 1 to"},
		{"-n -5", 2, "-n -5"},
		{"-n 100000001", 2, "-n 100000001"},
		{"-n many", 2, "invalid value \"many\""},
		{"-n 99999999999999999999", 2, "value out of range"},
		{"-rounds 0", 2, "-rounds 0: at least one round"},
		{"sort", 2, "unknown name \"sort\": use one of array, pool"},
		{"append sort", 2, "unknown name \"sort\": use one of array, pool"},
		{"append -svg x", 2, "-svg draws the growth strategies: add the name growth"},
		{"append -n 0", 2, "-n 0: use 1 to"},
		{"-fast", 2, "-fast"},
		{"-help", 0, "usage: vast bench [flags] [name ...]"},
		{"array -help", 0, "append, append-longest"},
	} {
		var stdout, stderr bytes.Buffer
		status := Run(strings.Fields(c.args), &stdout, &stderr)
		says, silent := &stderr, &stdout
		if c.status == 0 {
			says, silent = &stdout, &stderr
		}
		if status != c.status || !strings.Contains(says.String(), c.says) || silent.Len() != 0 {
			t.Errorf("vast bench %s: status %d, says %q, want %d and %q", c.args, status, says.String(),
				c.status, c.says)
		}
	}
}

func TestContainersOfOtherSides(t *testing.T) {
	const n = 5000
	g, f := &geometricBlocks{}, &fixedBlocks{}
	g.fill(n)
	f.fill(n)
	if total := g.total; total < n || len(g.current) == 0 || g.current[len(g.current)-1] != numbered(n-1) {
		t.Errorf("geometric blocks with room for %d elements do not end with element %d", total, n-1)
	}
	if f.current[f.filled-1] != numbered(n-1) || (len(f.all)-1)*len(f.current)+f.filled != n {
		t.Errorf("fixed blocks hold %d elements and end with %v; want %d, which end with %v",
			(len(f.all)-1)*len(f.current)+f.filled, f.current[f.filled-1], n, numbered(n-1))
	}
	p := filledPacked(100)
	p.remove(7)
	p.remove(99) // the removal of element 7 has moved element 99 to position 7
	if len(p.elements) != 98 || p.elements[7] != numbered(98) || p.positions[98] != 7 || p.ids[7] != 98 {
		t.Errorf("swap-and-pop with ids has %v at position 7 of %d", p.elements[7], len(p.elements))
	}
	if a, b := p.insert(numbered(1)), p.insert(numbered(2)); a != 99 || b != 7 || *p.get(99) != numbered(1) ||
		*p.get(7) != numbered(2) {
		t.Errorf("swap-and-pop with ids: the new ids are %d and %d, want 99 and 7, or an element is wrong", a,
			b)
	}
	m := filledMapped(100)
	m.remove(7)
	m.remove(99)
	if id := m.insert(numbered(1)); id != 100 || *m.get(100) != numbered(1) || *m.get(98) != numbered(98) ||
		m.elements[7] != numbered(98) {
		t.Errorf("the map has %v at position 7 of %d", m.elements[7], len(m.elements))
	}
	l := filledFreeList(100)
	l.remove(7)
	l.remove(90)
	if l.live() != 98 {
		t.Errorf("the free list has %d elements, want 98", l.live())
	}
	if a, b := l.insert(numbered(1)), l.insert(numbered(2)); a != 90 || b != 7 {
		t.Errorf("the free list gives slots %d and %d, want 90 and 7", a, b)
	}
	if i := l.insert(numbered(3)); i != 100 || l.elements[7] != numbered(2) {
		t.Errorf("the free list continues at slot %d, want 100; slot 7 has %v", i, l.elements[7])
	}
}

func TestNames(t *testing.T) {
	for names, want := range map[string]string{
		"array":             "append append-longest",
		"refill":            "refill",
		"iterate-half pool": "insert insert-again remove refill iterate-full iterate-half",
	} {
		o := options{names: strings.Fields(names)}
		var got []string
		for _, f := range families {
			for _, w := range f.works() {
				if o.wants(f, w) {
					got = append(got, w.name)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("vast bench %s measures %s, want %s", names, got, want)
		}
	}
	seen := make(map[string]bool)
	for _, f := range families {
		for _, w := range f.works() {
			if seen[w.name] || w.name == f.name {
				t.Errorf("two works, or a work and its family, have the name %s", w.name)
			}
			seen[w.name] = true
		}
	}
}
