package shell

import (
	"bufio"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestPaste(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a\tb\x03", "a\tb\x03"},
		{"\x1b[A\x1b[200~SELECT\t1;\r\n\x03\x1b[31m\x7fé\x1b[201~\t",
			"\x1b[A\x1b[200~SELECT 1;\r\n[31mé\x1b[201~\t"},
		{"\x1b[200~\x1b[20\x1b[201~", "\x1b[200~[20\x1b[201~"},
		{"\x1b[200~\x1b\x1b\x1b[201~\t", "\x1b[200~\x1b[201~\t"},
		{"\x1b[20\x1b[200~\t", "\x1b[20\x1b[200~ "},
	} {
		for name, in := range map[string]io.Reader{
			"whole": strings.NewReader(c.in), "in bytes": iotest.OneByteReader(strings.NewReader(c.in)),
		} {
			got, err := io.ReadAll(bufio.NewReader(&pasteReader{in: in}))
			if string(got) != c.want || err != nil {
				t.Errorf("%q %s becomes %q, %v; want %q", c.in, name, got, err, c.want)
			}
		}
	}
}

func FuzzPaste(f *testing.F) {
	f.Add("\x1b[200~a\tb\x1b[20\x1b[201~c\t")
	f.Fuzz(func(t *testing.T, text string) {
		whole, _ := io.ReadAll(bufio.NewReader(&pasteReader{in: strings.NewReader(text)}))
		slow := iotest.OneByteReader(strings.NewReader(text))
		bytes, _ := io.ReadAll(bufio.NewReader(&pasteReader{in: slow}))
		if string(whole) != string(bytes) {
			t.Errorf("%q becomes %q as a whole, %q in bytes", text, whole, bytes)
		}
		if _, pasted, ok := strings.Cut(string(whole), pasteStart); ok {
			pasted, _, _ = strings.Cut(pasted, pasteEnd)
			if strings.ContainsAny(pasted, "\x1b\t\x03") {
				t.Errorf("%q leaves control keys in the pasted text %q", text, pasted)
			}
		}
	})
}
