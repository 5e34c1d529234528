package bench

import (
	"io"
	"strings"
	"testing"
)

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
				t.Error("the error has no text")
			}
		case o.n < 1 || o.n > maxElements || o.rounds < 1:
			t.Errorf("%q is accepted, but a value is out of bounds: %+v", args, o)
		}
	})
}
