package soak

import (
	"io"
	"strings"
	"testing"
)

// FuzzFlags parses arbitrary command lines. It checks that accepted values are within their bounds, and that
// the error of a rejected command line has a text.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{"-for 1h -seed 7 -workers 3 -json", "-for -1s", "-workers 0", "-h", "x"} {
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
		case o.length <= 0 || o.workers < 1 || o.workers > maxWorkers:
			t.Errorf("%q is accepted, with values out of bounds: %+v", args, o)
		}
	})
}
