package main

import (
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/ptytest"
)

// TestSQLPrompt asks an inspector at the prompt of `vast sql`.
func TestSQLPrompt(t *testing.T) {
	t.Parallel()
	p := ptytest.Open(t, 100, 30)
	c := vast(t, []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "XDG_CACHE_HOME=" + t.TempDir()}, "sql",
		"-addr", inspected(t))
	p.Start(t, c)
	p.Await(t, "sql> ")
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
		begun := len(p.Text())
		if err := typed(step.typed)(p, nil); err != nil {
			t.Fatal(err)
		}
		p.AwaitAfter(t, begun, append(step.shown, "sql> ")...)
	}
	if err := typed("\\q\r")(p, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if strings.Contains(p.Text(), "goroutine ") {
		t.Errorf("the program wrote %q", p.Text())
	}
}
