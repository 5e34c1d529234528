package shell

import (
	"io"
	"os"
	"strings"
	"testing"
)

// FuzzEditor types random keys. Lines must not have characters that are unsafe to show.
func FuzzEditor(f *testing.F) {
	for _, keys := range []string{
		"SELECT 1;\r", "SEL\t\t\t\x1b[A\r", "\x12abc\r", "é日本\x02\x14\x17\x19\x1f\r", "\x13x\x07\x03",
		"\x1b[200~a\tb\r\x1b[201~\r", "\x00\x0f\u009b\u202e\r", "\x1bb\x1bf\x1b[3~\x1b[1;5D\x0b\x15\r",
	} {
		f.Add(keys)
	}
	c := newCompleter(f)
	f.Fuzz(func(t *testing.T, keys string) {
		in, user := pipe(t)
		screen, out := pipe(t)
		go answer(screen, user)
		go func() {
			// Ctrl-Z would stop the test. The last keys leave each mode, and end the line and the input.
			keys := strings.ReplaceAll(keys, "\x1a", "") + strings.Repeat("\a\x03\r", 4) + "\x04\x04\x04\x04"
			for _, b := range []byte(keys) {
				user.Write([]byte{b})
			}
		}()
		e, err := newEditor(t.Context(), in, out, []string{"SELECT 2;", "x"}, c)
		if err != nil {
			t.Fatal(err)
		}
		defer e.close()
		for {
			line, err := e.readLine(firstPrompt)
			if err == io.EOF {
				return
			}
			for _, r := range line {
				if unsafeRune(r) {
					t.Errorf("%q gives the line %q", keys, line)
				}
			}
			e.remember(line)
		}
	})
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.Close()
		r.Close()
	})
	return r, w
}

// answer reads the output of a program, and answers questions for the position of the cursor.
func answer(screen io.Reader, user io.Writer) {
	const question = "\x1b[6n"
	shown := ""
	for b := make([]byte, 4096); ; {
		n, err := screen.Read(b)
		shown += string(b[:n])
		for strings.Contains(shown, question) {
			_, shown, _ = strings.Cut(shown, question)
			io.WriteString(user, "\x1b[1;1R") // line and column
		}
		if shown = shown[max(0, len(shown)-len(question)):]; err != nil {
			return
		}
	}
}
