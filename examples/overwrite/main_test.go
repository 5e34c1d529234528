package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/vastgo/vast/vm"
)

var lineNumber = regexp.MustCompile(`\.go:\d+`)

func TestHunt(t *testing.T) {
	want := `With bulk.NewPool:
The merchant was launched with hull 40 and never repaired. It has hull 65.

With guard.NewPool:
use after free of ship, byte 16 of 32
  accessed by  (*yard).work (main.go) from voyage (main.go)
  allocated by launch (main.go) from voyage (main.go)
  freed by     sink (main.go) from voyage (main.go)
`
	if vm.HeapStandIn() {
		t.Log("blocks are Go heap memory in this build, which does not fault")
		want, _, _ = strings.Cut(want, "use after")
		want += "The merchant was launched with hull 40 and never repaired. It has hull 40.\n"
	}
	var out bytes.Buffer
	if err := hunt(&out); err != nil {
		t.Fatal(err)
	}
	if got := lineNumber.ReplaceAllString(out.String(), ".go"); got != want {
		t.Errorf("the program prints\n%s\nwant\n%s", got, want)
	}
}
