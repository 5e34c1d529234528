package query

import (
	"strings"
	"testing"
)

// FuzzFlags parses arbitrary command lines. It checks that accepted values are within their bounds, and that
// the error of a rejected command line has a text.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{"127.0.0.1:80 Body -count",
		":1 x -format json -limit 0 -sample 3 -columns a,b", "1 2 3", "-token t a b -limit -1",
		"-format xml a b"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		o, err := parse(args, true)
		switch {
		case err != nil:
			if err.Error() == "" {
				t.Error("the error has no text")
			}
		case o.limit < 0 || o.sample < 0 || o.format != "table" && o.format != "json" && o.format != "csv":
			t.Errorf("%q is accepted, with values out of bounds: %+v", args, o)
		}
	})
}
