package bench

import (
	"io"
	"strings"
	"testing"
)

// FuzzFlags checks that parse accepts only values within their bounds, and that the error of a rejected
// command line has a text.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{"-n 1000 -rounds 2 pool heap", "-json growth -svg x.svg", "-n -1",
		"nothing", "pool -n 0x10"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		o, err := parse(args, io.Discard)
		switch {
		case err != nil:
			if err.Error() == "" {
				t.Error("an error without text")
			}
		case o.n < 1 || o.n > maxElements || o.rounds < 1:
			t.Errorf("%q is accepted: %+v", args, o)
		}
	})
}
