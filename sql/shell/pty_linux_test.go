package shell

import (
	"os/exec"
	"testing"

	"github.com/vastgo/vast/internal/ptytest"
)

// pseudoTerminal is a terminal on which the test acts as the user.
type pseudoTerminal struct {
	*ptytest.Terminal
	seen int // number of bytes of the output that await has passed
}

func openPseudoTerminal(t *testing.T, columns, rows uint16) *pseudoTerminal {
	t.Helper()
	return &pseudoTerminal{Terminal: ptytest.Open(t, columns, rows)}
}

// await waits until the program has written the text, after the texts that earlier calls found.
func (p *pseudoTerminal) await(t *testing.T, text string) {
	t.Helper()
	p.seen = p.AwaitAfter(t, p.seen, text)
}

func (p *pseudoTerminal) typed(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.User.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// start runs the shell on the terminal.
func (p *pseudoTerminal) start(t *testing.T, env string, args ...string) *exec.Cmd {
	t.Helper()
	c := program(t, args...)
	c.Env = append(c.Env, "TERM=xterm-256color", "XDG_CACHE_HOME="+t.TempDir(), env)
	p.Start(t, c)
	return c
}

// ended waits for the end of the shell and checks the exit status.
func ended(t *testing.T, c *exec.Cmd, status int) {
	t.Helper()
	c.Wait()
	if got := c.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d", got, status)
	}
}
