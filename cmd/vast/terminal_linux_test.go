package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vastgo/vast/internal/ptytest"
)

// startEarth runs `vast earth` with three places and 1000 travellers.
func startEarth(t *testing.T, p *ptytest.Terminal, env ...string) *exec.Cmd {
	t.Helper()
	places := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(places,
		[]byte("name,lat,lon,population\nRoma,41.9,12.5,2700000\n"+
			"Tokyo,35.7,139.7,9700000\nQuito,-0.2,-78.5,1600000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := vast(t, append([]string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR="}, env...),
		"earth", "-places", places, "-travellers", "1000")
	p.Start(t, c)
	return c
}

// Escape sequences of xterm for the alternate screen and the cursor.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
	hideCursor  = "\x1b[?25l"
)

func TestTerminalIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*ptytest.Terminal, *exec.Cmd) error
		want int
	}{
		{"q", typed("q"), 0},
		{"Esc", typed("\x1b"), 0},
		{"Ctrl-C", typed("\x03"), 130},
		{"interrupted", signalled(syscall.SIGINT), 130},
		{"terminated", signalled(syscall.SIGTERM), 143},
		{"hung up", signalled(syscall.SIGHUP), 129},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := ptytest.Open(t, 80, 24)
			before := p.Modes(t)
			command := startEarth(t, p)
			p.Await(t, "infected")
			if p.Modes(t).Lflag&unix.ICANON != 0 {
				t.Error("the terminal still passes input line by line, not key by key")
			}
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
			p.Await(t, enterScreen, leaveScreen, " entities") // the command prints the last figures as text
			_, during, _ := strings.Cut(p.Text(), enterScreen)
			during, after, _ := strings.Cut(during, leaveScreen)
			if strings.LastIndex(during+after, showCursor) < strings.LastIndex(during+after, hideCursor) {
				t.Errorf("the cursor stays hidden: %q", after)
			}
			if strings.Contains(after, enterScreen) || strings.Contains(after, "goroutine ") {
				t.Errorf("the program wrote %q after it left the screen", after)
			}
		})
	}
}

func typed(keys string) func(*ptytest.Terminal, *exec.Cmd) error {
	return func(p *ptytest.Terminal, _ *exec.Cmd) error {
		_, err := p.User.WriteString(keys)
		return err
	}
}

func signalled(s os.Signal) func(*ptytest.Terminal, *exec.Cmd) error {
	return func(_ *ptytest.Terminal, c *exec.Cmd) error { return c.Process.Signal(s) }
}

// colour begins each escape sequence that sets a text colour, from 256 colours or in 24 bits.
const colour = "\x1b[38;"

func TestTerminalColours(t *testing.T) {
	t.Parallel()
	p := ptytest.Open(t, 80, 24)
	command := startEarth(t, p)
	p.Await(t, "infected")
	p.Await(t, colour)
	typed("q")(p, command)
	command.Wait()

	p = ptytest.Open(t, 80, 24)
	command = startEarth(t, p, "NO_COLOR=1")
	p.Await(t, "infected")
	typed("q")(p, command)
	command.Wait()
	if strings.Contains(p.Text(), colour) || strings.Contains(p.Text(), "\x1b[48;") {
		t.Errorf("the program uses colours despite NO_COLOR: %q", p.Text())
	}
}

func TestDumbTerminalGetsLines(t *testing.T) {
	t.Parallel()
	p := ptytest.Open(t, 80, 24)
	command := startEarth(t, p, "TERM=dumb")
	p.Await(t, "tick=")
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	command.Wait()
	if got := command.ProcessState.ExitCode(); got != 130 || strings.Contains(p.Text(), enterScreen) {
		t.Errorf("exit status %d, output %q; want 130 and lines", got, p.Text())
	}
}

func TestUnknownTerminalGetsLines(t *testing.T) {
	t.Parallel()
	p := ptytest.Open(t, 80, 24)
	command := startEarth(t, p, "TERM=no-such-terminal")
	p.Await(t, "no live screen, printing lines")
	p.Await(t, "tick=")
	command.Process.Signal(os.Interrupt)
	command.Wait()
	if got := command.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
}

func TestTerminalFollowsResizing(t *testing.T) {
	t.Parallel()
	p := ptytest.Open(t, 80, 24)
	command := startEarth(t, p)
	p.Await(t, "infected")
	for _, size := range []unix.Winsize{{Col: 10, Row: 3}, {Col: 200, Row: 60}} {
		if err := unix.IoctlSetWinsize(int(p.Program.Fd()), unix.TIOCSWINSZ, &size); err != nil {
			t.Fatal(err)
		}
		if size.Col == 10 {
			p.Await(t, "too")
		} else {
			p.Await(t, "recovered") // does not fit into 80 columns
		}
	}
	typed("q")(p, command)
	command.Wait()
	if got := command.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
}
