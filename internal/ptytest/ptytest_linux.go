// Package ptytest runs programs on pseudo terminals, on which a test acts as the user.
package ptytest

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

// askCursor is the sequence by which a program asks for the position of the cursor.
const askCursor = "\x1b[6n"

// Terminal is a pseudo terminal. It answers the program's questions about the cursor.
type Terminal struct {
	User, Program *os.File // the two ends of the terminal

	mu    sync.Mutex
	shown bytes.Buffer // output of the program
}

// Open returns a terminal. It skips the test if the system has no pseudo terminals.
func Open(t testing.TB, columns, rows uint16) *Terminal {
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
	p := &Terminal{User: user, Program: program}
	read := make(chan struct{})
	go func() {
		defer close(read)
		p.read()
	}()
	t.Cleanup(func() {
		program.Close()
		user.Close()
		<-read
	})
	return p
}

// read collects the output until User is closed.
func (p *Terminal) read() {
	chunk := make([]byte, 1<<16)
	answered := 0
	for {
		n, err := p.User.Read(chunk)
		p.mu.Lock()
		p.shown.Write(chunk[:n])
		questions := strings.Count(p.shown.String(), askCursor)
		p.mu.Unlock()
		for ; answered < questions; answered++ {
			p.User.WriteString("\x1b[1;1R") // line and column
		}
		if err != nil {
			return
		}
	}
}

// Text returns the output of the program so far.
func (p *Terminal) Text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

// Await waits until the program has written all texts, in this order.
func (p *Terminal) Await(t testing.TB, texts ...string) {
	t.Helper()
	p.AwaitAfter(t, 0, texts...)
}

// AwaitAfter is like Await, but ignores the first skip bytes of the output. It returns the number of bytes up
// to the end of the last text.
func (p *Terminal) AwaitAfter(t testing.TB, skip int, texts ...string) int {
	t.Helper()
	for range 4000 {
		all := p.Text()
		rest, found := all[skip:], true
		for _, text := range texts {
			if _, rest, found = strings.Cut(rest, text); !found {
				break
			}
		}
		if found {
			return len(all) - len(rest)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the program did not write %q in time; it wrote %q", texts, p.Text()[skip:])
	return 0
}

// Modes returns the modes of the terminal.
func (p *Terminal) Modes(t testing.TB) unix.Termios {
	t.Helper()
	m, err := unix.IoctlGetTermios(int(p.Program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// Start starts a program on the terminal. The end of the test kills the program.
func (p *Terminal) Start(t testing.TB, c *exec.Cmd) {
	t.Helper()
	c.Stdin, c.Stdout, c.Stderr = p.Program, p.Program, p.Program
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill() })
}
