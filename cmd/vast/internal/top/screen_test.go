package top

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty/ttytest"
	"github.com/vastgo/vast/inspect"
)

type terminal struct {
	*ttytest.Screen
	*program
}

// show runs `vast top` for a simulated program on a simulated screen. The test must end the command.
func show(t *testing.T, columns, rows int, charset string) *terminal {
	t.Helper()
	p := newProgram(t)
	f, state := p.feed(t), newState("127.0.0.1:1")
	if err := f.begin(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	go f.follow(t.Context())
	return &terminal{ttytest.Show(t, columns, rows, charset, fallbacks(), func(s *ttytest.Screen) int {
		return watchScreen(f, state, s, s.Signals)
	}), p}
}

func TestScreenFollowsTheProgram(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	p := show(t, 80, 24, "UTF-8")
	p.Lines(t, 80, 24, "entities 1,199,568")
	p.next(func(s *inspect.Sample) { s.Entities = 77 })
	p.Lines(t, 80, 24, "entities 77 ")
	p.next(func(s *inspect.Sample) { s.Paused = true })
	p.Lines(t, 80, 24, "ticks paused")
	p.change(func() { p.costs.Systems[0].Name = "another" })
	p.next(func(s *inspect.Sample) { s.Paused = false })
	p.Lines(t, 80, 24, "another")
	if p.Coloured() == 0 {
		t.Error("the screen has no colours")
	}
	p.End(t, tcell.KeyRune, 'q', cli.Success)
}

func TestScreenAttachesAgain(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.Lines(t, 80, 24, "live")
	p.change(func() { p.refuse = 503 })
	p.cut <- struct{}{}
	p.Lines(t, 80, 24, "trying again")
	p.change(func() {
		p.refuse = 0
		p.sample.At++
		p.sample.Entities = 4321
	})
	p.Lines(t, 80, 24, "entities 4,321")
	p.Lines(t, 80, 24, "live")
	p.next(func(s *inspect.Sample) { s.Entities = 4322 })
	p.Lines(t, 80, 24, "entities 4,322")
	p.change(func() { p.refuse = 401 })
	p.cut <- struct{}{}
	p.Lines(t, 80, 24, "refused: a token is required")
	p.End(t, tcell.KeyEscape, 0, cli.Success)
}

func TestScreenFollowsResizing(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.Lines(t, 80, 24, "and 8 more")
	for _, size := range [][2]int{{150, 45}, {40, 12}, {10, 3}, {200, 60}, {20, 6}, {1, 1}, {80, 24}} {
		p.ResizeTo(size[0], size[1])
		want := "q quit"
		if size[0] < minColumns {
			want = "too small"[:min(9, size[0])]
			if size[0] == 1 {
				want = "…"
			}
		}
		for i, line := range p.Lines(t, size[0], size[1], want) {
			if n := len([]rune(line)); n != size[0] {
				t.Errorf("line %d has %d columns, want %d: %q", i, n, size[0], line)
			}
		}
	}
	p.End(t, tcell.KeyRune, 'Q', cli.Success)
}

func TestScreenWithoutColour(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	p := show(t, 80, 24, "UTF-8")
	p.Lines(t, 80, 24, "live")
	if got := p.Coloured(); got > 0 {
		t.Errorf("%d cells in colour", got)
	}
	p.End(t, tcell.KeyCtrlC, 0, cli.Interrupted)
}

func TestScreenWithoutBlocks(t *testing.T) {
	p := show(t, 80, 24, "US-ASCII")
	p.change(func() { p.costs.Systems[0].Name = "syst\u00e8me\x1b[31m" })
	p.next(nil)
	lines := p.Lines(t, 80, 24, "syst")
	bars := 0
	for _, line := range lines {
		for _, r := range line {
			if r > '~' || r < ' ' {
				t.Fatalf("the screen shows %q: %q", r, line)
			}
			if r == '#' {
				bars++
			}
		}
	}
	if bars < 20 {
		t.Errorf("the bars have %d cells:\n%s", bars, strings.Join(lines, "\n"))
	}
	p.End(t, tcell.KeyRune, 'q', cli.Success)
}

func TestScreenEnds(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.Signals <- syscall.SIGTERM
	p.Ended(t, 143)

	p = show(t, 80, 24, "UTF-8")
	p.PostEvent(tcell.NewEventError(os.ErrClosed))
	p.Ended(t, cli.Failure)
}
