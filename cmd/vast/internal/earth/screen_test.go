package earth

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/earth/places"
)

// simulated is a screen that keeps what it showed last: the cells of tcell's
// simulation are for the goroutine that draws.
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

const inspectorURL = "http://127.0.0.1:54321/#token=ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// terminal is a simulated screen with a driver behind it.
type terminal struct {
	screen  *simulated
	driver  *driver
	world   *fakeWorld
	signals chan os.Signal
	status  chan int
}

// show runs a world on a screen of a size. The test ends it.
func show(t *testing.T, columns, rows int, charset string) *terminal {
	t.Helper()
	s := &simulated{SimulationScreen: tcell.NewSimulationScreen(charset)}
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	replaceGlyphs(s)
	s.SetSize(columns, rows)
	w := &fakeWorld{}
	w.counts.Travellers, w.counts.Infectious, w.counts.Recovered, w.counts.Entities = 1_000_000, 4_321, 77, 1_199_568
	o := options{hz: 1000}
	d := newDriver(w, o)
	p := &terminal{s, d, w, make(chan os.Signal, 1), make(chan int, 1)}
	go func() {
		status := watchScreen(d, newReader(w.counts), notes{o.credits(), inspectorURL}, s, p.signals)
		d.halt()
		p.status <- status
	}()
	return p
}

// lines waits until the screen shows a text in its size and gives its lines.
func (p *terminal) lines(t *testing.T, columns, rows int, text string) []string {
	t.Helper()
	s := p.screen
	for range 1000 {
		s.mu.Lock()
		lines, found := s.lines, s.columns == columns && len(s.lines) == rows && strings.Contains(strings.Join(s.lines, "\n"), text)
		s.mu.Unlock()
		if found {
			return lines
		}
		time.Sleep(5 * time.Millisecond)
	}
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

func braille(lines []string) (n int) {
	for _, r := range strings.Join(lines, "") {
		if r > '\u2800' && r <= '\u28ff' {
			n++
		}
	}
	return n
}

func TestScreenSizes(t *testing.T) {
	for _, c := range []struct {
		columns, rows, mapRows int
		dots                   int // cells with dots, at least
		shown                  []string
	}{
		{20, 6, 4, 15, []string{"tick p50 ", "day 1 "}},
		{80, 24, 17, 240, []string{
			"tick p50 ", "ticks/s", "worst", "1,000,000 travellers", "4,321 infected", "1,199,568 entities", "changes of structure/s",
			"resident", "committed", "reserved", "Go heap", "collections", "longest pause", "inspector " + inspectorURL, "q quit   space pause", places.Attribution,
		}},
		{200, 60, 53, 1450, []string{"% inside 16.7 ms", " late", "77 recovered", " places"}},
	} {
		t.Run(fmt.Sprintf("%d×%d", c.columns, c.rows), func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			p := show(t, c.columns, c.rows, "UTF-8")
			lines := p.lines(t, c.columns, c.rows, "tick p50")
			for i, line := range lines {
				if n := len([]rune(line)); n != c.columns {
					t.Errorf("line %d has %d columns, want %d: %q", i, n, c.columns, line)
				}
			}
			if got := braille(lines[:c.mapRows]); got < c.dots {
				t.Errorf("%d cells of the map have dots, want %d or more:\n%s", got, c.dots, strings.Join(lines, "\n"))
			}
			if !strings.Contains(lines[c.mapRows], "tick p50") || braille(lines[c.mapRows:]) > 0 {
				t.Errorf("the map does not end at row %d:\n%s", c.mapRows, strings.Join(lines, "\n"))
			}
			text := strings.Join(lines, "\n")
			for _, want := range c.shown {
				want = strings.ReplaceAll(want, "16.7", "1.0") // the rate of this test
				if !strings.Contains(text, want) {
					t.Errorf("lacks %q:\n%s", want, text)
				}
			}
			if p.coloured() == 0 {
				t.Error("no colours")
			}
			p.end(t, tcell.KeyRune, 'q', success)
		})
	}
}

func TestScreenTooSmall(t *testing.T) {
	for _, size := range [][2]int{{19, 24}, {80, 5}, {3, 1}, {1, 1}} {
		p := show(t, size[0], size[1], "UTF-8")
		p.lines(t, size[0], size[1], "too small"[:min(9, size[0])])
		p.end(t, tcell.KeyEscape, 0, success)
	}
}

func TestScreenWithoutColour(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	p := show(t, 80, 24, "UTF-8")
	lines := p.lines(t, 80, 24, "travellers")
	if got := p.coloured(); got > 0 {
		t.Errorf("%d cells in colour", got)
	}
	if got := braille(lines); got < 250 {
		t.Errorf("%d cells of the map have dots:\n%s", got, strings.Join(lines, "\n"))
	}
	p.end(t, tcell.KeyRune, 'Q', success)
}

func TestScreenWithoutBraille(t *testing.T) {
	p := show(t, 80, 24, "US-ASCII")
	lines := p.lines(t, 80, 24, "travellers")
	shapes := 0
	for i, line := range lines {
		for _, r := range line {
			if r > '~' || r == '?' {
				t.Fatalf("line %d has %q: %q", i, r, line)
			}
			if i < 18 && r != ' ' {
				shapes++
			}
		}
	}
	if shapes < 250 {
		t.Errorf("%d cells of the map are not blank:\n%s", shapes, strings.Join(lines, "\n"))
	}
	p.end(t, tcell.KeyRune, 'q', success)
}

func TestScreenFollowsResizing(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.lines(t, 80, 24, "travellers")
	for _, size := range [][2]int{{120, 40}, {40, 12}, {10, 3}, {200, 60}, {20, 6}} {
		p.screen.SetSize(size[0], size[1])
		p.screen.PostEvent(tcell.NewEventResize(size[0], size[1])) // which a terminal sends itself
		text := "tick p50"
		if size[0] < minColumns {
			text = "too small"
		}
		lines := p.lines(t, size[0], size[1], text)
		if text == "tick p50" {
			mapRows := newLayout(size[0], size[1], notes{"credits", inspectorURL}).mapRows
			if braille(lines[:mapRows]) < mapRows || braille(lines[mapRows:]) > 0 {
				t.Errorf("at %v the map is torn:\n%s", size, strings.Join(lines, "\n"))
			}
		}
	}
	p.end(t, tcell.KeyRune, 'q', success)
}

func TestScreenPauses(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.lines(t, 80, 24, "space pause")
	p.screen.InjectKey(tcell.KeyRune, ' ', tcell.ModNone)
	lines := p.lines(t, 80, 24, "paused")
	if !strings.Contains(strings.Join(lines, "\n"), "space go on") {
		t.Errorf("does not say how to go on:\n%s", strings.Join(lines, "\n"))
	}
	p.screen.InjectKey(tcell.KeyRune, ' ', tcell.ModNone)
	p.lines(t, 80, 24, "ticks/s")
	p.end(t, tcell.KeyCtrlC, 0, interrupted)
}

func TestScreenEnds(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.signals <- syscall.SIGTERM
	p.ended(t, 143)

	p = show(t, 80, 24, "UTF-8")
	p.screen.PostEvent(tcell.NewEventError(os.ErrClosed))
	p.ended(t, failure)

	p = show(t, 80, 24, "UTF-8")
	p.driver.halt() // as after the last tick
	p.ended(t, success)
}
