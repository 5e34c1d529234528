package main

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func (p *pseudoTerminal) startTop(t *testing.T, address string) *exec.Cmd {
	t.Helper()
	c := vast(t, []string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR="}, "top", address)
	c.Stdin, c.Stdout, c.Stderr = p.program, p.program, p.program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

func TestTopInATerminal(t *testing.T) {
	address := inspected(t)
	for _, c := range []struct {
		name string
		end  func(*pseudoTerminal, *exec.Cmd) error
		want int
	}{
		{"q", typed("q"), 0},
		{"Ctrl-C", typed("\x03"), 130},
		{"terminated", signalled(syscall.SIGTERM), 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := openPseudoTerminal(t, 80, 24)
			before := p.modes(t)
			command := p.startTop(t, address)
			p.await(t, enterScreen, "town", "1,234", "walk", "quit")
			// The command replaces the escape character, because the terminal would obey it.
			p.await(t, "Person␛[31m")
			if err := unix.IoctlSetWinsize(int(p.program.Fd()), unix.TIOCSWINSZ,
				&unix.Winsize{Col: 160, Row: 50}); err != nil {
				t.Fatal(err)
			}
			p.await(t, "processors") // does not fit into 80 columns
			if err := c.end(p, command); err != nil {
				t.Fatal(err)
			}
			command.Wait()
			if got := command.ProcessState.ExitCode(); got != c.want {
				t.Errorf("exit status %d, want %d", got, c.want)
			}
			if now := p.modes(t); now != before {
				t.Errorf("the terminal modes changed from %+v to %+v", before, now)
			}
			p.await(t, enterScreen, leaveScreen)
			if _, after, _ := strings.Cut(p.text(), leaveScreen); strings.Contains(after, enterScreen) ||
				strings.Contains(after, "goroutine ") {
				t.Errorf("the program wrote %q after it left the screen", after)
			}
		})
	}
}
