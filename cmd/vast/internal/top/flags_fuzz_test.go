package top

import (
	"strings"
	"testing"
)

func FuzzFlags(f *testing.F) {
	for _, line := range []string{"127.0.0.1:80 -once -json", ":1 -plain -token x", "-h", "a b",
		"-json -plain a"} {
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
		case o.json && o.plain:
			t.Errorf("%q has -json and -plain, but is accepted: %+v", args, o)
		}
	})
}
