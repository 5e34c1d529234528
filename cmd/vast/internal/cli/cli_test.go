package cli

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestFlagsAnywhere(t *testing.T) {
	for _, c := range []struct{ args, rest, want string }{
		{"a b", "a b", "0 false"},
		{"-n 3 a -x b", "a b", "3 true"},
		{"a -n=4", "a", "4 false"},
		{"a -- -n 4", "a -n 4", "0 false"},
		{"-x -- -x", "-x", "0 true"},
		{"", "", "0 false"},
	} {
		f := flag.NewFlagSet("test", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		n, x := f.Int("n", 0, ""), f.Bool("x", false, "")
		rest, err := Parse(f, strings.Fields(c.args))
		if got := fmt.Sprint(*n, *x); err != nil || strings.Join(rest, " ") != c.rest || got != c.want {
			t.Errorf("Parse(%q): arguments %q, flags %s, error %v; want arguments %q and flags %s", c.args,
				rest, got, err, c.rest, c.want)
		}
		if _, err := Parse(f, []string{"a", "-nonsense"}); err == nil {
			t.Error("Parse accepts an unknown flag after an argument")
		}
	}
}

// foreign is a signal that has no number.
type foreign struct{}

func (foreign) String() string { return "foreign" }
func (foreign) Signal()        {}

func TestStatus(t *testing.T) {
	for s, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143, foreign{}: 1} {
		if got := Status(s); got != want {
			t.Errorf("signal %v: status %d, want %d", s, got, want)
		}
	}
}
