package earth

import (
	"strings"
	"testing"
)

// FuzzFlags parses arbitrary command lines. It checks that accepted values are within their bounds, and that
// the error of a rejected command line has a text.
func FuzzFlags(f *testing.F) {
	for _, line := range []string{"-travellers 5 -hz 0 -ticks 100 -for 1m30s -seed 18446744073709551615",
		"-inspect [::1]:0 -inspect-write -memory-limit 512MiB", "-json -plain",
		"-places a.txt -workers 99999999999", "--travellers=1_000 -- x"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		o, err := parse(args)
		switch {
		case err != nil:
			if err.Error() == "" {
				t.Error("the error has no text")
			}
		case o.travellers < 1 || o.travellers > maxTravellers || o.hz < 0 || o.hz > maxHz || o.workers < 0 ||
			o.workers > maxWorkers || o.ticks < 0 || o.length < 0 || o.memoryLimit < 0:
			t.Errorf("%q is accepted, with values out of bounds: %+v", args, o)
		}
	})
}
