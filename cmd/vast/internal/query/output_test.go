package query

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// TestTerminalIsSafe checks that no format writes control characters to a terminal, and that the lines of a
// table fit into the window.
func TestTerminalIsSafe(t *testing.T) {
	hostile := "\x1b]0;title\x07\u202e\u009b31m" + strings.Repeat("日本", 50)
	csv := "id,\"" + hostile + "\"\n1.1,\"" + hostile + "\"\n2.1,\"a\nb\"\n"
	json := `{"id":"1.1","name":"` + strings.ReplaceAll(hostile, "\x1b", "") + "\"}\n"
	for _, c := range []struct {
		name  string
		write func(*output) (int, bool, error)
		rows  int
	}{
		{"csv", func(o *output) (int, bool, error) { return o.csv(strings.NewReader(csv), 0) }, 2},
		{"table", func(o *output) (int, bool, error) { return o.table(strings.NewReader(csv), 0) }, 2},
		{"json", func(o *output) (int, bool, error) { return o.lines(strings.NewReader(json), 0) }, 1},
	} {
		var b strings.Builder
		n, more, err := c.write(&output{to: &b, terminal: true, columns: 60})
		if n != c.rows || more || err != nil {
			t.Errorf("%s: %d rows, more %v, %v; want %d, false, nil", c.name, n, more, err, c.rows)
		}
		for _, r := range b.String() {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u202e') {
				t.Errorf("%s: %q reaches the terminal", c.name, r)
			}
		}
		for line := range strings.Lines(b.String()) {
			if w := tty.Width(strings.TrimSuffix(line, "\n")); c.name == "table" && w > 60 {
				t.Errorf("a line has %d cells, want at most 60: %q", w, line)
			}
		}
		if c.name != "json" && !strings.Contains(b.String(), "a␊b") {
			t.Errorf("%s: the line break within a value is lost: %q", c.name, b.String())
		}
	}
}

func TestTable(t *testing.T) {
	long := strings.Repeat("x", 100)
	rows := "name,n,note\na,1,\nbb,-2.5e3," + long + "\n,,\nccc,10\nd,7,,extra\n"
	var b strings.Builder
	if n, _, err := (&output{to: &b}).table(strings.NewReader(rows), 0); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	want := "name       n  note\na          1\nbb    -2.5e3  " + long + "\n\nccc       10\nd          7  " +
		strings.Repeat(" ", 100) + "  extra\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if _, _, err := (&output{to: &b, terminal: true, columns: 40}).table(strings.NewReader(rows),
		0); err != nil {
		t.Fatal(err)
	}
	if want := "bb    -2.5e3  " + strings.Repeat("x", 25) + "…\n"; !strings.Contains(b.String(), want) {
		t.Errorf("on a terminal of 40 columns:\n%s\nlacks %q", b.String(), want)
	}
}

// TestTableOfManyRows checks that a table does not cut later values that are wider than the first values.
func TestTableOfManyRows(t *testing.T) {
	var in strings.Builder
	in.WriteString("n,text\n")
	for i := range 5000 {
		fmt.Fprintf(&in, "%d,%s\n", i, strings.Repeat("y", i/100))
	}
	for _, terminal := range []bool{false, true} {
		var b strings.Builder
		n, more, err := (&output{to: &b, terminal: terminal,
			columns: 200}).table(strings.NewReader(in.String()), 4000)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if n != 4000 || !more || err != nil || len(lines) != 4001 {
			t.Fatalf("%d rows, more %v, %v, %d lines; want 4000, true, nil, 4001", n, more, err, len(lines))
		}
		want := "3999  " + strings.Repeat("y", 39)
		if lines[4000] != want {
			t.Errorf("the last line is %q, want %q", lines[4000], want)
		}
	}
}

// TestTableDoesNotWait checks that a table shows a row even if the next row does not arrive.
func TestTableDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, from := io.Pipe()
		out := make(chan string, 10)
		done := make(chan error)
		go func() {
			_, _, err := (&output{to: writer(out), terminal: true, columns: 80}).table(in, 0)
			done <- err
		}()
		io.WriteString(from, "id,name\n")
		time.Sleep(10 * time.Second) // no row arrives
		io.WriteString(from, "1.1,Paris\n")
		time.Sleep(measuredTime)
		synctest.Wait()
		if got := <-out; got != " id  name\n1.1  Paris\n" {
			t.Errorf("the first write is %q", got)
		}
		io.WriteString(from, "2.1,London\n")
		synctest.Wait()
		if got := <-out; got != "2.1  London\n" {
			t.Errorf("the second write is %q", got)
		}
		from.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

type writer chan string

func (w writer) Write(b []byte) (int, error) {
	w <- string(b)
	return len(b), nil
}
