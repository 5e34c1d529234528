package shell

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
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
	seen  int          // number of bytes of shown that await has passed
}

// askCursor is the sequence by which a program asks for the position of the cursor.
const askCursor = "\x1b[6n"

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
	var number int
	var errControl error
	if err := raw.Control(func(fd uintptr) {
		number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		errControl = errors.Join(err, unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0),
			unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}))
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

// await waits until the program has written the text, after the texts that earlier calls found.
func (p *pseudoTerminal) await(t *testing.T, text string) {
	t.Helper()
	for range 2000 {
		rest := p.text()[p.seen:]
		if before, _, found := strings.Cut(rest, text); found {
			p.seen += len(before) + len(text)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the program did not write %q in time; it wrote %q", text, p.text()[p.seen:])
}

func (p *pseudoTerminal) typed(t *testing.T, keys string) {
	t.Helper()
	if _, err := p.user.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func (p *pseudoTerminal) modes(t *testing.T) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(p.program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// start runs the shell on the terminal.
func (p *pseudoTerminal) start(t *testing.T, env string, args ...string) *exec.Cmd {
	t.Helper()
	c := program(t, args...)
	c.Env = append(c.Env, "TERM=xterm-256color", "XDG_CACHE_HOME="+t.TempDir(), env)
	c.Stdin, c.Stdout, c.Stderr = p.program, p.program, p.program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
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
