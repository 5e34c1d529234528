package shell

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestPrompt(t *testing.T) {
	t.Parallel()
	const bye = leavePastes
	p := openPseudoTerminal(t, 80, 24)
	before := p.Modes(t)
	path := filepath.Join(t.TempDir(), "history")
	c := p.start(t, "", "-history", path)
	p.await(t, firstPrompt)
	for _, x := range []struct{ keys, shown string }{
		{"CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);\r", "(done)"},
		{"INSERT INTO town VALUES (7, 'Roma'), (8, char(27) || '[31m');\r", "INSERT 2\r\n"},
		{"SELECT *\r", nextPrompt},
		{"FROM town;\r", "id  name\r\n 7  Roma\r\n 8  ␛[31m\r\n(2 rows)\r\n"},
		{"SELECT * FORM town;\r",
			"near \"FORM\": syntax error\r\n\r\n    SELECT * FORM town;\r\n             ^"},
		{`\d` + "\r", "town"},
		{`\d town` + "\r", "id      INTEGER  yes   NULL               1"},
		{"CREATE TABLE \"it's\" (drawer TEXT);\r", "(done)"},
		{`\d main."it's"` + "\r", "drawer  TEXT  yes"},
		{`\d nosuch` + "\r", `there is no table or view nosuch; \d lists them`},
		{`\timing` + "\r", "timing is on"},
		{"SELECT 1;\r", " ms"},
		{`\format json` + "\r", firstPrompt},
		{"SELECT 1 AS a;\r", "[\r\n{\"a\":1}\r\n]\r\n"},
		{`\nosuch` + "\r", `there is no command \nosuch`},
		{`\format xml` + "\r", "want table, csv, json or jsonl"},
		{`\?` + "\r", `\timing`},
		{"SELECT 'unfinished\r", nextPrompt},
		{"\x03", firstPrompt}, // Ctrl-C discards the statement
		{"SELE\t NAM\t FR\t to\t;\r", "{\"name\":\"Roma\"}"},
		{"\x1b[A\x1b[A\r", `\timing`}, // the second entry from the end
		{pasteStart + "SELECT\t2\tAS\tpasted;\r" + pasteEnd, "{\"pasted\":2}"},
		{"\x12Roma\r", "constraint failed: UNIQUE constraint failed: town.id"}, // Ctrl-R searches
		{`\q` + "\r", bye},
	} {
		p.typed(t, x.keys)
		p.await(t, x.shown)
		if x.shown != firstPrompt && x.shown != nextPrompt && x.shown != bye {
			// Before the prompt, the terminal itself would handle keys such as Ctrl-C.
			p.await(t, firstPrompt)
		}
	}
	ended(t, c, Success)
	if now := p.Modes(t); now != before {
		t.Errorf("the terminal modes changed from %+v to %+v", before, now)
	}
	if strings.Contains(p.Text(), "\x1b[31m") {
		t.Error("an escape sequence of the database reached the terminal")
	}
	if at := regexp.MustCompile(`[^\r]\n`).FindStringIndex(p.Text()); at != nil {
		t.Errorf("a line ends without a return to the first column: %.40q", p.Text()[max(at[0]-20, 0):])
	}
	checkMode(t, path)
	entries, err := (&history{path: path}).load()
	if err != nil || !slices.Contains(entries, "SELECT * FROM town;") ||
		slices.Contains(entries, "FROM town;") {
		t.Errorf("the history is %q, %v", entries, err)
	}
}

// TestPromptRemembers checks that a second shell reads the history of the first from the default file.
func TestPromptRemembers(t *testing.T) {
	t.Parallel()
	cache := "XDG_CACHE_HOME=" + t.TempDir()
	p := openPseudoTerminal(t, 80, 24)
	c := p.start(t, cache)
	p.await(t, firstPrompt)
	p.typed(t, "SELECT 'first' || 'shell' AS a;\r")
	p.await(t, "firstshell")
	p.await(t, firstPrompt)
	p.typed(t, "\x04") // Ctrl-D
	ended(t, c, Success)

	c = p.start(t, cache)
	p.await(t, firstPrompt)
	p.typed(t, "\x1b[A\r")
	p.await(t, "firstshell")
	p.await(t, firstPrompt)
	p.typed(t, "\x04")
	ended(t, c, Success)
}

// TestInterruptAtPrompt stops an endless statement with Ctrl-C, and then uses the shell.
func TestInterruptAtPrompt(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"TERM=xterm", "TERM=dumb"} {
		p := openPseudoTerminal(t, 80, 24)
		c := p.start(t, term)
		p.await(t, firstPrompt)
		p.typed(t, "CREATE TABLE t (a); BEGIN; INSERT INTO t VALUES (1);\r")
		p.await(t, "INSERT 1\r\n")
		p.await(t, transactionPrompt)
		p.typed(t, "SELECT 'started'; "+endless+"SELECT count(*) FROM i; SELECT 'never';\r")
		p.await(t, "'never'")
		p.await(t, "'started'\r\nstarted")
		p.typed(t, "\x03")
		p.await(t, "the statement was stopped")
		p.await(t, transactionPrompt)
		p.typed(t, "SELECT count(*) + 41 FROM t;\r")
		p.await(t, "42")
		p.await(t, transactionPrompt)
		p.typed(t, "\x04")
		ended(t, c, Success)
		if strings.Contains(p.Text(), "\nnever") {
			t.Errorf("%s: the statement after the stopped statement ran", term)
		}
	}
}

func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 80, 24)
	c := p.start(t, "TERM=dumb")
	p.await(t, firstPrompt)
	p.typed(t, "SELECT 1\n")
	p.await(t, nextPrompt)
	p.typed(t, "+ 1 AS a;\n")
	p.await(t, "a\r\n2\r\n")
	p.typed(t, "SELECT 'unfinished\n")
	p.await(t, nextPrompt)
	p.typed(t, "\x03") // Ctrl-C
	p.await(t, firstPrompt)
	p.typed(t, "\x04") // Ctrl-D
	ended(t, c, Success)
	if strings.Contains(p.Text(), "\x1b") {
		t.Errorf("the shell wrote an escape sequence: %q", p.Text())
	}
}

// TestResultsOnTerminal checks the default format and the width.
func TestResultsOnTerminal(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 20, 24)
	c := p.start(t, "", "-statement", "SELECT 1 AS a, printf('%.*c', 50, 'x') AS b")
	p.await(t, "a  b\r\n1  "+strings.Repeat("x", 16)+"…\r\n")
	ended(t, c, Success)
}

// TestInterruptOfStatement stops a statement of the command line by a signal.
func TestInterruptOfStatement(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "jsonl"} {
		c := program(t, "-format", format, "-statement", "SELECT 1; "+endless+"SELECT sum(n) FROM i")
		var messages bytes.Buffer
		c.Stderr = &messages
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // the first statement has run
			t.Fatal(err)
		}
		if err := c.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		ended(t, c, Interrupted)
		if messages.Len() > 0 {
			t.Errorf("%s: %q", format, &messages)
		}
	}
}

// TestBrokenPipe closes the pipe that takes an endless result.
func TestBrokenPipe(t *testing.T) {
	t.Parallel()
	c := program(t, "-statement", endless+"SELECT n FROM i")
	var messages bytes.Buffer
	c.Stderr = &messages
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	out.Close()
	c.Wait()
	if messages.Len() > 0 || c.ProcessState.Success() {
		t.Errorf("%v, %q", c.ProcessState, &messages)
	}
}

// TestEndOfContext ends the context of a shell that waits for a line.
func TestEndOfContext(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 80, 24)
	before := p.Modes(t)
	c := p.start(t, "")
	p.await(t, firstPrompt)
	p.typed(t, "SELECT")
	p.await(t, "SELECT")
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ended(t, c, Failure)
	if now := p.Modes(t); now != before {
		t.Errorf("the terminal modes changed from %+v to %+v", before, now)
	}
}
