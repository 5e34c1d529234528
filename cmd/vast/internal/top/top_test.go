package top

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/inspect"
)

func runTop(args ...string) (status int, stdout, stderr string) {
	var out, errs strings.Builder
	status = Run(args, &out, &errs)
	return status, out.String(), errs.String()
}

func TestMisuse(t *testing.T) {
	for args, want := range map[string]string{
		"":                     "address is missing",
		"127.0.0.1:1 x":        `unexpected argument "x"`,
		"-nonsense":            "-nonsense",
		"ftp://x":              "HOST:PORT",
		"x:1 -json -plain":     "contradict",
		"-token 127.0.0.1:1":   "address is missing",
		"127.0.0.1:1 -token é": "a token",
	} {
		status, stdout, stderr := runTop(strings.Fields(args)...)
		if status != cli.Misuse || stdout != "" || !strings.Contains(stderr, want) ||
			!strings.Contains(stderr, "`vast top -h`") ||
			strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit status %d, stdout %q, stderr %q; want %d and %q", args, status, stdout, stderr,
				cli.Misuse, want)
		}
	}
	if status, stdout, stderr := runTop("-h"); status != cli.Success || stderr != "" ||
		!strings.Contains(stdout, "usage: vast top ADDRESS") ||
		!strings.Contains(stdout, "-token") {
		t.Errorf("-h: exit status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestNoAnswer(t *testing.T) {
	p := newProgram(t)
	p.Close()
	status, stdout, stderr := runTop(p.URL)
	if status != cli.Failure || stdout != "" || !strings.Contains(stderr, "no answer from 127.0.0.1:") ||
		strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit status %d, stdout %q, stderr %q", status, stdout, stderr)
	}
}

func TestRefused(t *testing.T) {
	p := newProgram(t)
	p.refuse = 401
	if status, _, stderr := runTop(p.URL, "-once"); status != cli.Failure ||
		!strings.Contains(stderr, "-token") {
		t.Errorf("exit status %d, stderr %q", status, stderr)
	}
}

func TestOnce(t *testing.T) {
	p := newProgram(t)
	status, stdout, stderr := runTop(p.URL, "-once")
	if status != cli.Success || stderr != "" || !strings.HasPrefix(stdout, "vast top   demo   127.0.0.1:") ||
		!strings.Contains(stdout, "system11") ||
		!strings.Contains(stdout, "Column11") || strings.Contains(stdout, "quit") ||
		strings.Contains(stdout, "\x1b") {
		t.Errorf("exit status %d, stderr %q:\n%s", status, stderr, stdout)
	}
	for line := range strings.Lines(stdout) {
		if strings.HasSuffix(line, " \n") || len([]rune(line)) > onceColumns+1 {
			t.Errorf("the line %q ends in a blank, or is too long", line)
		}
	}

	status, stdout, _ = runTop("-json", "-once", p.URL)
	var got struct {
		Now     inspect.Sample
		History []inspect.Sample
		Costs   inspect.Costs
	}
	if err := json.Unmarshal([]byte(stdout), &got); status != cli.Success || err != nil ||
		got.Now.Tick != 86_400 || len(got.History) != 1 ||
		len(got.Costs.Systems) != 12 {
		t.Errorf("exit status %d, %v: %s", status, err, stdout)
	}
}

// piped is an output that is not a terminal.
type piped struct {
	mu   sync.Mutex
	text strings.Builder
	fail bool
}

func (p *piped) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail {
		return 0, io.ErrClosedPipe
	}
	return p.text.Write(b)
}

func (p *piped) await(t *testing.T, n int) []string {
	t.Helper()
	for range 4000 {
		p.mu.Lock()
		lines := strings.SplitAfter(p.text.String(), "\n")
		p.mu.Unlock()
		if len(lines) > n {
			return lines[:n]
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("the command did not write %d lines in time; it wrote %q", n, p.text.String())
	return nil
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     options
		check func(line string) bool
	}{
		{"not on a terminal", options{}, func(line string) bool {
			return strings.Contains(line, " tps=60.0 p50=4.200ms ") &&
				strings.Contains(line, " entities=1199568 ") &&
				strings.Contains(line, " resident=201326592 ")
		}},
		{"as JSON", options{json: true}, func(line string) bool {
			var s inspect.Sample
			return json.Unmarshal([]byte(line), &s) == nil && s.Entities == 1_199_568 && s.Pace != nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProgram(t)
			var out, errs piped
			signals, status := make(chan os.Signal, 1), make(chan int, 1)
			go func() { status <- run(p.feed(t), c.o, signals, &out, &errs) }()
			out.await(t, 1)
			p.next(nil)
			out.await(t, 2)
			p.next(nil)
			lines := out.await(t, 3)
			seen := make(map[string]bool)
			for _, line := range lines {
				if !c.check(line) || seen[line] {
					t.Errorf("the line %q is wrong, or came twice", line)
				}
				seen[line] = true
			}
			p.cut <- struct{}{}
			if got := errs.await(t, 2); !strings.HasPrefix(got[0],
				"vast top: connection lost, trying again: ") || got[1] != "vast top: attached again\n" {
				t.Errorf("stderr is %q", got)
			}
			p.next(nil)
			out.await(t, 4)
			signals <- os.Interrupt
			if got := <-status; got != cli.Interrupted {
				t.Errorf("exit status %d, want %d", got, cli.Interrupted)
			}
		})
	}
}

func TestLinesEnd(t *testing.T) {
	p := newProgram(t)
	var errs piped
	if status := run(p.feed(t), options{plain: true}, nil, &piped{fail: true}, &errs); status != cli.Failure {
		t.Errorf("output that cannot be written: exit status %d, want %d", status, cli.Failure)
	}
	var out piped
	status := make(chan int, 1)
	go func() { status <- run(p.feed(t), options{plain: true}, nil, &out, &errs) }()
	out.await(t, 1)
	p.change(func() { p.refuse = 403 })
	p.cut <- struct{}{}
	if got := <-status; got != cli.Failure {
		t.Errorf("refused: exit status %d, want %d", got, cli.Failure)
	}
}
