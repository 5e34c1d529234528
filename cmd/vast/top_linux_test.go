package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vastgo/vast/internal/ptytest"
)

func startTop(t *testing.T, p *ptytest.Terminal, address string) *exec.Cmd {
	t.Helper()
	c := vast(t, []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR="}, "top", address)
	p.Start(t, c)
	return c
}

func TestTopInATerminal(t *testing.T) {
	address := inspected(t)
	for _, c := range []struct {
		name string
		end  func(*ptytest.Terminal, *exec.Cmd) error
		want int
	}{
		{"q", typed("q"), 0},
		{"Ctrl-C", typed("\x03"), 130},
		{"terminated", signalled(syscall.SIGTERM), 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := ptytest.Open(t, 80, 24)
			before := p.Modes(t)
			command := startTop(t, p, address)
			p.Await(t, enterScreen, "town", "1,234", "walk", "quit")
			// The command replaces the escape character, because the terminal would obey it.
			p.Await(t, "Person␛[31m")
			if err := unix.IoctlSetWinsize(int(p.Program.Fd()), unix.TIOCSWINSZ,
				&unix.Winsize{Col: 160, Row: 50}); err != nil {
				t.Fatal(err)
			}
			p.Await(t, "processors") // does not fit into 80 columns
			if err := c.end(p, command); err != nil {
				t.Fatal(err)
			}
			command.Wait()
			if got := command.ProcessState.ExitCode(); got != c.want {
				t.Errorf("exit status %d, want %d", got, c.want)
			}
			if now := p.Modes(t); now != before {
				t.Errorf("the terminal modes changed from %+v to %+v", before, now)
			}
			p.Await(t, enterScreen, leaveScreen)
			if _, after, _ := strings.Cut(p.Text(), leaveScreen); strings.Contains(after, enterScreen) ||
				strings.Contains(after, "goroutine ") {
				t.Errorf("the program wrote %q after it left the screen", after)
			}
		})
	}
}
