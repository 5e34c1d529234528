package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestSQLPrompt asks an inspector at the prompt of `vast sql`.
func TestSQLPrompt(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 100, 30)
	c := vast(t, []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "XDG_CACHE_HOME=" + t.TempDir()}, "sql",
		"-addr", inspected(t))
	c.Stdin, c.Stdout, c.Stderr = p.program, p.program, p.program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	p.await(t, "sql> ")
	for _, step := range []struct {
		typed string
		shown []string
	}{
		{"SELECT count(*) + 1000 AS n FROM bo\t;\r", []string{"FROM body", "2234", "(1 row)"}},
		{"\\d BODY\r", []string{"entity", "INTEGER", "x", "REAL", "y", "REAL"}},
		{"\\d\r", []string{"body", "ill"}},
		{"SELECT absent FROM body;\r", []string{"no such column: absent", "SELECT absent FROM body", "^"}},
		{"SELECT name FROM name WHERE entity IN (SELECT entity FROM ill) ORDER BY entity;\r",
			[]string{"a␛[2J␊<b>"}},
	} {
		begun := len(p.text())
		if err := typed(step.typed)(p, nil); err != nil {
			t.Fatal(err)
		}
		p.awaitAfter(t, begun, append(step.shown, "sql> ")...)
	}
	if err := typed("\\q\r")(p, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if strings.Contains(p.text(), "goroutine ") {
		t.Errorf("the program wrote %q", p.text())
	}
}
