package sampling

import (
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for value, want := range map[string]int{"": 0, "0": 0, "off": 0, "1/1": 1, "1/1000": 1000,
		"1/2147483647": 1<<31 - 1, "1/007": 7} {
		var says strings.Builder
		if n := read(value, &says); n != want || says.Len() != 0 {
			t.Errorf("%q is %d, want %d; read prints %q", value, n, want, says.String())
		}
	}
	for _, value := range []string{"1000", "1/0", "2/1000", "1/", "/", "1/-1", "1/+5", "1/ 5", "1/2147483648",
		"1/1e3", "0.001",
		"1/99999999999999999999999", "\x00\xff", "on", "1/5\n"} {
		var says strings.Builder
		if n := read(value, &says); n != 0 || strings.Count(says.String(), "\n") != 1 ||
			!strings.Contains(says.String(),
				"is ignored: write VAST_GUARD=1/1000 to guard one in a thousand allocations") {
			t.Errorf("%q is %d; read prints %q", value, n, says.String())
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, value := range []string{"", "off", "1/1000", "1/0", "1/-3", "x"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var says strings.Builder
		n := read(value, &says)
		if n < 0 || int64(n) >= 1<<31 || n > 0 != strings.HasPrefix(value, "1/") && n > 0 ||
			n > 0 && says.Len() > 0 {
			t.Errorf("%q is %d; read prints %q", value, n, says.String())
		}
	})
}
