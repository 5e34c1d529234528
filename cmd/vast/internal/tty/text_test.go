package tty

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Paris", "Paris"},
		{"日本 é 🙂", "日本 é 🙂"},
		{"\x1b[31mred\x07", "␛[31mred␇"},
		{"a\nb\tc\r", "a␊b␉c␍"},
		{"\x7f\u009b31m", "\ufffd\ufffd31m"},
		{"\u202eright to left\u2066", "\ufffdright to left\ufffd"},
		{"\u2028\u2029\u200b\ufeff\ue000", "\ufffd\ufffd\ufffd\ufffd\ufffd"},
		{"bad\xff\xfebytes", "bad\ufffd\ufffdbytes"},
		{`<img src=x onerror=alert(1)>`, `<img src=x onerror=alert(1)>`},
	} {
		got := Clean(c.text)
		if got != c.want || utf8.RuneCountInString(got) != utf8.RuneCountInString(c.text) {
			t.Errorf("Clean(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

func TestCutAndPad(t *testing.T) {
	for _, c := range []struct {
		text        string
		cells       int
		cut, padded string // results of Cut and PadLeft
	}{
		{"Paris", 9, "Paris", "    Paris"},
		{"Paris", 5, "Paris", "Paris"},
		{"Paris", 4, "Par…", "Par…"},
		{"Paris", 1, "…", "…"},
		{"Paris", 0, "", ""},
		{"Paris", -1, "", ""},
		{"日本語", 6, "日本語", "日本語"},
		{"日本語", 5, "日本…", "日本…"},
		{"日本語", 4, "日…", " 日…"},
		{"e\u0301\u0301x", 2, "e\u0301\u0301x", "e\u0301\u0301x"},
		{"", 2, "", "  "},
	} {
		if got := Cut(c.text, c.cells); got != c.cut {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.cells, got, c.cut)
		}
		if got := PadLeft(c.text, c.cells); got != c.padded {
			t.Errorf("PadLeft(%q, %d) = %q, want %q", c.text, c.cells, got, c.padded)
		}
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	alphabet := []rune("abc日本é\u0301🙂 -")
	for range 2000 {
		var b strings.Builder
		for range random.IntN(12) {
			b.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		text, cells := Clean(b.String()), 1+random.IntN(12)
		if got := Pad(text, cells); Width(got) != cells {
			t.Fatalf("seed %d: Pad(%q, %d) = %q takes %d cells", seed, text, cells, got, Width(got))
		}
		if got := Cut(text, cells); Width(got) > cells || Width(text) <= cells && got != text {
			t.Fatalf("seed %d: Cut(%q, %d) = %q takes %d cells; the text takes %d cells", seed, text, cells,
				got, Width(got), Width(text))
		}
	}
}
