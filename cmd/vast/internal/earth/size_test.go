package earth

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64 // 0: parseSize must refuse the text
	}{
		{"1", 1},
		{"1048576", 1 << 20},
		{"1048576B", 1 << 20},
		{"512MiB", 512 << 20},
		{"512mib", 512 << 20},
		{"2GB", 2e9},
		{"3TiB", 3 << 40},
		{"7kb", 7000},
		{"1.5GiB", 3 << 29},
		{".5KiB", 512},
		{"0.3B", 0},
		{"9223372036854775807", math.MaxInt64},
		{"9223372036854775808", 0},
		{"9007199254740993", 1<<53 + 1},
		{"8388608TiB", 0},
		{"8388607TiB", 8388607 << 40},
		{"99999999999.9TiB", 0},
		{"0", 0},
		{"0GiB", 0},
		{"", 0},
		{"B", 0},
		{"MiB", 0},
		{".", 0},
		{"1.2.3MB", 0},
		{"-1", 0},
		{"-1MiB", 0},
		{"+1", 0},
		{"1 MiB", 0},
		{"1e9", 0},
		{"0x10", 0},
		{"1_000", 0},
		{"NaN", 0},
		{"InfB", 0},
		{"12M", 0},
		{"12PiB", 0},
	} {
		want := c.want
		if want > math.MaxInt {
			want = 0
		}
		got, err := parseSize(c.text)
		if int64(got) != want || (err == nil) != (want > 0) {
			t.Errorf("parseSize(%q) = %d, %v, want %d", c.text, got, err, want)
		}
	}
}

// FuzzParseSize checks that each accepted size is a positive number of bytes, and that its unit is plausible.
func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"1", "512MiB", "2GB", "1.5GiB", "", "-3kB", "9223372036854775807",
		"0.000001TiB", "1e5", "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseSize(s)
		if err != nil {
			if n != 0 {
				t.Fatalf("parseSize(%q) = %d with the error %v", s, n, err)
			}
			return
		}
		if n < 1 {
			t.Fatalf("parseSize(%q) = %d", s, n)
		}
		if again, err := parseSize(strconv.Itoa(n)); again != n || err != nil {
			t.Fatalf("parseSize(%q) = %d, but parseSize of this number = %d, %v", s, n, again, err)
		}
		digits := strings.TrimRight(strings.ToLower(s), "kmgtib")
		value, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			t.Fatalf("parseSize(%q) accepts a text that is not a number", s)
		}
		if unit := float64(n) / value; unit < 0.5 || unit > 1.01*(1<<40) {
			t.Fatalf("parseSize(%q) = %d: its unit would be %g bytes", s, n, unit)
		}
	})
}
