package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pseudoTerminal is a terminal on which the test acts as the user.
type pseudoTerminal struct {
	user, program *os.File // the two ends of the terminal

	mu    sync.Mutex
	shown bytes.Buffer // output of the program
}

func openPseudoTerminal(t *testing.T, columns, rows uint16) *pseudoTerminal {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this system has no pseudo terminals: %v", err)
	}
	// user.Fd would make the file blocking, and Close would wait for Read.
	raw, err := user.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number uint32
	var errControl error
	if err := raw.Control(func(fd uintptr) {
		errControl = errors.Join(
			unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}),
		)
		var n int
		if n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); err == nil {
			number = uint32(n)
		}
		errControl = errors.Join(errControl, err)
	}); err != nil || errControl != nil {
		t.Fatal(err, errControl)
	}
	program, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &pseudoTerminal{user: user, program: program}
	read := make(chan struct{})
	go func() {
		defer close(read)
		chunk := make([]byte, 1<<16)
		answered := 0
		for {
			n, err := user.Read(chunk)
			p.mu.Lock()
			p.shown.Write(chunk[:n])
			questions := strings.Count(p.shown.String(), askCursor)
			p.mu.Unlock()
			for ; answered < questions; answered++ {
				user.WriteString("\x1b[1;1R") // as a terminal answers, with line and column
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		program.Close()
		user.Close()
		<-read
	})
	return p
}

func (p *pseudoTerminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

// await waits until the program has written all texts, in this order.
func (p *pseudoTerminal) await(t *testing.T, texts ...string) {
	t.Helper()
	p.awaitAfter(t, 0, texts...)
}

// awaitAfter is like await, but ignores the first skip bytes of the output.
func (p *pseudoTerminal) awaitAfter(t *testing.T, skip int, texts ...string) {
	t.Helper()
	for range 2000 {
		rest, found := p.text()[skip:], true
		for _, text := range texts {
			if _, rest, found = strings.Cut(rest, text); !found {
				break
			}
		}
		if found {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the program did not write %q in time; it wrote %q", texts, p.text())
}

func (p *pseudoTerminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(p.program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// start runs `vast earth` with three places and 1000 travellers.
func (p *pseudoTerminal) start(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	places := filepath.Join(t.TempDir(), "places.csv")
	if err := os.WriteFile(places,
		[]byte("name,lat,lon,population\nRoma,41.9,12.5,2700000\n"+
			"Tokyo,35.7,139.7,9700000\nQuito,-0.2,-78.5,1600000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := vast(t, append([]string{"TERM=xterm-256color", "LC_ALL=C.UTF-8", "NO_COLOR="}, env...),
		"earth", "-places", places, "-travellers", "1000")
	c.Stdin, c.Stdout, c.Stderr = p.program, p.program, p.program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
	return c
}

// Escape sequences of xterm for the alternate screen and the cursor. askCursor asks for the position of the
// cursor.
const (
	enterScreen = "\x1b[?1049h"
	leaveScreen = "\x1b[?1049l"
	showCursor  = "\x1b[?25h"
	hideCursor  = "\x1b[?25l"
	askCursor   = "\x1b[6n"
)

func TestTerminalIsLeftAsItWas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		end  func(*pseudoTerminal, *exec.Cmd) error
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
			p := openPseudoTerminal(t, 80, 24)
			before := p.modes(t)
			command := p.start(t)
			p.await(t, "infected")
			if p.modes(t).Lflag&unix.ICANON != 0 {
				t.Error("the terminal still passes input line by line, not key by key")
			}
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
			p.await(t, enterScreen, leaveScreen, " entities") // the command prints the last figures as text
			_, during, _ := strings.Cut(p.text(), enterScreen)
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

func typed(keys string) func(*pseudoTerminal, *exec.Cmd) error {
	return func(p *pseudoTerminal, _ *exec.Cmd) error {
		_, err := p.user.WriteString(keys)
		return err
	}
}

func signalled(s os.Signal) func(*pseudoTerminal, *exec.Cmd) error {
	return func(_ *pseudoTerminal, c *exec.Cmd) error { return c.Process.Signal(s) }
}

// colour begins each escape sequence that sets a text colour, from 256 colours or in 24 bits.
const colour = "\x1b[38;"

func TestTerminalColours(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 80, 24)
	command := p.start(t)
	p.await(t, "infected")
	p.await(t, colour)
	typed("q")(p, command)
	command.Wait()

	p = openPseudoTerminal(t, 80, 24)
	command = p.start(t, "NO_COLOR=1")
	p.await(t, "infected")
	typed("q")(p, command)
	command.Wait()
	if strings.Contains(p.text(), colour) || strings.Contains(p.text(), "\x1b[48;") {
		t.Errorf("the program uses colours despite NO_COLOR: %q", p.text())
	}
}

func TestDumbTerminalGetsLines(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 80, 24)
	command := p.start(t, "TERM=dumb")
	p.await(t, "tick=")
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	command.Wait()
	if got := command.ProcessState.ExitCode(); got != 130 || strings.Contains(p.text(), enterScreen) {
		t.Errorf("exit status %d, output %q; want 130 and lines", got, p.text())
	}
}

func TestUnknownTerminalGetsLines(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 80, 24)
	command := p.start(t, "TERM=no-such-terminal")
	p.await(t, "no live screen, printing lines")
	p.await(t, "tick=")
	command.Process.Signal(os.Interrupt)
	command.Wait()
	if got := command.ProcessState.ExitCode(); got != 130 {
		t.Errorf("exit status %d, want 130", got)
	}
}

func TestTerminalFollowsResizing(t *testing.T) {
	t.Parallel()
	p := openPseudoTerminal(t, 80, 24)
	command := p.start(t)
	p.await(t, "infected")
	for _, size := range []unix.Winsize{{Col: 10, Row: 3}, {Col: 200, Row: 60}} {
		if err := unix.IoctlSetWinsize(int(p.program.Fd()), unix.TIOCSWINSZ, &size); err != nil {
			t.Fatal(err)
		}
		if size.Col == 10 {
			p.await(t, "too")
		} else {
			p.await(t, "recovered") // does not fit into 80 columns
		}
	}
	typed("q")(p, command)
	command.Wait()
	if got := command.ProcessState.ExitCode(); got != 0 {
		t.Errorf("exit status %d, want 0", got)
	}
}
