package top

import (
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/vastgo/vast/inspect"
)

// simulated is a screen that keeps what it showed last: the cells of tcell's simulation are for the goroutine that draws.
type simulated struct {
	tcell.SimulationScreen
	mu       sync.Mutex
	lines    []string
	columns  int
	coloured int // cells painted in a colour of their own
}

func (s *simulated) Show() {
	s.SimulationScreen.Show()
	s.mu.Lock()
	defer s.mu.Unlock()
	cells, columns, rows := s.GetContents()
	s.columns, s.coloured, s.lines = columns, 0, nil
	for row := range rows {
		var line strings.Builder
		for _, c := range cells[row*columns : (row+1)*columns] {
			line.Write(c.Bytes)
			if fg, bg, _ := c.Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				s.coloured++
			}
		}
		s.lines = append(s.lines, line.String())
	}
}

// terminal is a simulated screen that shows a program.
type terminal struct {
	*program
	screen  *simulated
	signals chan os.Signal
	status  chan int
}

// show shows a program on a screen of a size. The test ends it.
func show(t *testing.T, columns, rows int, charset string) *terminal {
	t.Helper()
	s := &simulated{SimulationScreen: tcell.NewSimulationScreen(charset)}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	replaceGlyphs(s)
	s.SetSize(columns, rows)
	p := &terminal{newProgram(t), s, make(chan os.Signal, 1), make(chan int, 1)}
	f, state := p.feed(t), newState("127.0.0.1:1")
	if err := f.begin(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	go f.follow(t.Context())
	go func() { p.status <- watchScreen(f, state, s, p.signals) }()
	return p
}

// lines waits until the screen shows a text in its size and gives its lines.
func (p *terminal) lines(t *testing.T, columns, rows int, text string) []string {
	t.Helper()
	s := p.screen
	for range 4000 {
		s.mu.Lock()
		lines, found := s.lines, s.columns == columns && len(s.lines) == rows && strings.Contains(strings.Join(s.lines, "\n"), text)
		s.mu.Unlock()
		if found {
			return lines
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.Fatalf("the screen never showed %q at %d×%d; at last:\n%s", text, columns, rows, strings.Join(s.lines, "\n"))
	return nil
}

func (p *terminal) end(t *testing.T, key tcell.Key, r rune, want int) {
	t.Helper()
	p.screen.InjectKey(key, r, tcell.ModNone)
	p.ended(t, want)
}

func (p *terminal) ended(t *testing.T, want int) {
	t.Helper()
	if status := <-p.status; status != want {
		t.Errorf("exit status %d, want %d", status, want)
	}
}

func (p *terminal) coloured() int {
	p.screen.mu.Lock()
	defer p.screen.mu.Unlock()
	return p.screen.coloured
}

func TestScreenFollowsTheProgram(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	p := show(t, 80, 24, "UTF-8")
	p.lines(t, 80, 24, "entities 1,199,568")
	p.next(func(s *inspect.Sample) { s.Entities = 77 })
	p.lines(t, 80, 24, "entities 77 ")
	p.next(func(s *inspect.Sample) { s.Paused = true })
	p.lines(t, 80, 24, "ticks paused")
	p.change(func() { p.costs.Systems[0].Name = "another" })
	p.next(func(s *inspect.Sample) { s.Paused = false })
	p.lines(t, 80, 24, "another")
	if p.coloured() == 0 {
		t.Error("no colours")
	}
	p.end(t, tcell.KeyRune, 'q', success)
}

func TestScreenAttachesAgain(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.lines(t, 80, 24, "live")
	p.change(func() { p.refuse = 503 })
	p.cut <- struct{}{}
	p.lines(t, 80, 24, "trying again")
	p.change(func() {
		p.refuse = 0
		p.sample.At++
		p.sample.Entities = 4321
	})
	p.lines(t, 80, 24, "entities 4,321")
	p.lines(t, 80, 24, "live")
	p.next(func(s *inspect.Sample) { s.Entities = 4322 })
	p.lines(t, 80, 24, "entities 4,322")
	p.change(func() { p.refuse = 401 })
	p.cut <- struct{}{}
	p.lines(t, 80, 24, "refused: this takes the token")
	p.end(t, tcell.KeyEscape, 0, success)
}

func TestScreenFollowsResizing(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.lines(t, 80, 24, "and 8 more")
	for _, size := range [][2]int{{150, 45}, {40, 12}, {10, 3}, {200, 60}, {20, 6}, {1, 1}, {80, 24}} {
		p.screen.SetSize(size[0], size[1])
		p.screen.PostEvent(tcell.NewEventResize(size[0], size[1])) // which a terminal sends itself
		want := "q quit"
		if size[0] < minColumns {
			want = "too small"[:min(9, size[0])]
			if size[0] == 1 {
				want = "…"
			}
		}
		for i, line := range p.lines(t, size[0], size[1], want) {
			if n := len([]rune(line)); n != size[0] {
				t.Errorf("line %d has %d columns, want %d: %q", i, n, size[0], line)
			}
		}
	}
	p.end(t, tcell.KeyRune, 'Q', success)
}

func TestScreenWithoutColour(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	p := show(t, 80, 24, "UTF-8")
	p.lines(t, 80, 24, "live")
	if got := p.coloured(); got > 0 {
		t.Errorf("%d cells in colour", got)
	}
	p.end(t, tcell.KeyCtrlC, 0, interrupted)
}

func TestScreenWithoutBlocks(t *testing.T) {
	p := show(t, 80, 24, "US-ASCII")
	p.change(func() { p.costs.Systems[0].Name = "syst\u00e8me\x1b[31m" })
	p.next(nil)
	lines := p.lines(t, 80, 24, "syst")
	bars := 0
	for _, line := range lines {
		for _, r := range line {
			if r > '~' || r < ' ' {
				t.Fatalf("shows %q: %q", r, line)
			}
			if r == '#' {
				bars++
			}
		}
	}
	if bars < 20 {
		t.Errorf("%d cells of bars:\n%s", bars, strings.Join(lines, "\n"))
	}
	p.end(t, tcell.KeyRune, 'q', success)
}

func TestScreenEnds(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.signals <- syscall.SIGTERM
	p.ended(t, 143)

	p = show(t, 80, 24, "UTF-8")
	p.screen.PostEvent(tcell.NewEventError(os.ErrClosed))
	p.ended(t, failure)
}
