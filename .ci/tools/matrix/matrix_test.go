package main

import (
	"strings"
	"testing"
)

const log = `{"Action":"start","Package":"github.com/vastgo/vast"}
{"Action":"run","Package":"github.com/vastgo/vast","Test":"TestA"}
{"Action":"pass","Package":"github.com/vastgo/vast","Test":"TestA"}
{"Action":"pass","Package":"github.com/vastgo/vast","Test":"TestA/part"}
{"Action":"output","Package":"github.com/vastgo/vast/vm","Test":"TestB",` +
	`"Output":"    b_test.go:7: no pages here\n"}
{"Action":"output","Package":"github.com/vastgo/vast/vm","Test":"TestB","Output":"--- SKIP: TestB (0.00s)\n"}
{"Action":"skip","Package":"github.com/vastgo/vast/vm","Test":"TestB"}
{"Action":"pass","Package":"github.com/vastgo/vast/vm","Test":"FuzzC"}
{"Action":"pass","Package":"github.com/vastgo/vast/vm"}
`

func parse(t *testing.T, log string) *results {
	t.Helper()
	r, err := parseResults(strings.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	r.platform = "p"
	return r
}

func TestLine(t *testing.T) {
	want := "p: 2 tests passed, 1 skipped, 0 failed in 2 packages\n  skipped 1: no pages here"
	if got := parse(t, log).line(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTable(t *testing.T) {
	other := parse(t, `{"Action":"fail","Package":"github.com/vastgo/vast","Test":"TestA"}`)
	other.platform = "q"
	page, err := replaceTable("above\n"+begins+"\nold\n"+ends+"\nbelow\n",
		table([]*results{parse(t, log), other}))
	if err != nil {
		t.Fatal(err)
	}
	want := "above\n" + begins + `

| package | p | q |
|:--|--:|--:|
| ` + "`.`" + ` | 1 | 0 |
| ` + "`./vm`" + ` | 1 (1) | – |
| all | 2 (1) | 0 |

Skipped on p:

* 1: no pages here

` + ends + "\nbelow\n"
	if page != want {
		t.Errorf("got %s\nwant %s", page, want)
	}
	if got := strings.Join(platformsOf(page), " "); got != "p q" {
		t.Errorf("platforms %q, want \"p q\"", got)
	}
	if _, err := replaceTable("nothing", ""); err == nil {
		t.Error("no error for a page without a place for the table")
	}
}

func TestBrokenLog(t *testing.T) {
	if _, err := parseResults(strings.NewReader("not JSON\n")); err == nil {
		t.Error("no error for a log that is not JSON")
	}
}
