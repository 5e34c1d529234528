package main

import (
	"context"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	vastworld "github.com/vastgo/vast"
	"github.com/vastgo/vast/inspect"
	"github.com/vastgo/vast/sched"
)

// inspected returns the address of a running world's inspector.
func inspected(t *testing.T) string {
	t.Helper()
	w := vastworld.NewWorld(vastworld.Options{Name: "town"})
	person := vastworld.NewTag(w, "Person\x1b[31m")
	w.Archetype(person).NewN(1234, func(vastworld.Run) {})
	s := sched.New(w, sched.Options{Workers: 1, Rate: 100})
	s.Add(sched.System{Name: "walk", Run: func(*sched.Context) {}})
	ctx, cancel := context.WithCancel(context.Background())
	in, err := inspect.Serve(ctx, w, inspect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		in.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		s.Close()
		w.Close()
	})
	return in.URL()
}

// startTop runs `vast top` of an inspector.
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
			// The name is no sequence that the terminal obeys.
			p.await(t, "Person␛[31m")
			if err := unix.IoctlSetWinsize(int(p.program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 160, Row: 50}); err != nil {
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
				t.Errorf("modes of the terminal %+v, before %+v", now, before)
			}
			p.await(t, enterScreen, leaveScreen)
			if _, after, _ := strings.Cut(p.text(), leaveScreen); strings.Contains(after, enterScreen) || strings.Contains(after, "goroutine ") {
				t.Errorf("after the screen was left: %q", after)
			}
		})
	}
}

func TestTopOfARealProgram(t *testing.T) {
	address := inspected(t)
	var text string
	for range 20 { // a busy machine may not let the inspector look in time
		output, err := vast(t, nil, "top", "-once", address).CombinedOutput()
		if text = string(output); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if strings.Contains(text, "entities 1,234") && strings.Contains(text, "Person") {
			break
		}
	}
	for _, want := range []string{"town", "live", "entities 1,234", "budget 10.0 ms", "walk", "Person␛[31m"} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks %q:\n%s", want, text)
		}
	}
}
