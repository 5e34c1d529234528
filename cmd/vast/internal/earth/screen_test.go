package earth

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/earth/places"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty/ttytest"
)

const inspectorURL = "http://127.0.0.1:54321/#token=ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// terminal is a simulated screen and the driver of the world that the screen shows.
type terminal struct {
	*ttytest.Screen
	driver *driver
}

// show runs a world on a simulated screen. The caller must end the run.
func show(t *testing.T, columns, rows int, charset string) *terminal {
	t.Helper()
	w := &fakeWorld{}
	w.counts.Travellers, w.counts.Infectious, w.counts.Recovered, w.counts.Entities = 1_000_000, 4_321, 77,
		1_199_568
	o := options{hz: 1000}
	d := newDriver(w, o)
	return &terminal{ttytest.Show(t, columns, rows, charset, fallbacks(), func(s *ttytest.Screen) int {
		status := watchScreen(d, newReader(w.counts), notes{o.credits(), inspectorURL, false}, s, s.Signals)
		d.halt()
		return status
	}), d}
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
		dots                   int // the minimum number of cells with dots
		shown                  []string
	}{
		{20, 6, 4, 15, []string{"tick p50 ", "day 1 "}},
		{80, 24, 17, 240, []string{
			"tick p50 ", "ticks/s", "worst", "1,000,000 travellers", "4,321 infected", "1,199,568 entities",
			"changes of structure/s",
			"resident", "committed", "reserved", "Go heap", "collections", "longest pause", "inspector " +
				inspectorURL, "q quit   space pause", places.Attribution,
		}},
		{200, 60, 53, 1450, []string{"% inside 1.0 ms", " late", "77 recovered", " places"}},
	} {
		t.Run(fmt.Sprintf("%d×%d", c.columns, c.rows), func(t *testing.T) {
			t.Setenv("NO_COLOR", "")
			p := show(t, c.columns, c.rows, "UTF-8")
			lines := p.Lines(t, c.columns, c.rows, "tick p50")
			for i, line := range lines {
				if n := len([]rune(line)); n != c.columns {
					t.Errorf("line %d has %d columns, want %d: %q", i, n, c.columns, line)
				}
			}
			if got := braille(lines[:c.mapRows]); got < c.dots {
				t.Errorf("%d cells of the map have dots, want %d or more:\n%s", got, c.dots,
					strings.Join(lines, "\n"))
			}
			if !strings.Contains(lines[c.mapRows], "tick p50") || braille(lines[c.mapRows:]) > 0 {
				t.Errorf("the map does not end at row %d:\n%s", c.mapRows, strings.Join(lines, "\n"))
			}
			text := strings.Join(lines, "\n")
			for _, want := range c.shown {
				if !strings.Contains(text, want) {
					t.Errorf("the screen lacks %q:\n%s", want, text)
				}
			}
			if p.Coloured() == 0 {
				t.Error("the screen has no colours")
			}
			p.End(t, tcell.KeyRune, 'q', cli.Success)
		})
	}
}

func TestScreenTooSmall(t *testing.T) {
	for _, size := range [][2]int{{19, 24}, {80, 5}, {3, 1}, {1, 1}} {
		p := show(t, size[0], size[1], "UTF-8")
		p.Lines(t, size[0], size[1], "too small"[:min(9, size[0])])
		p.End(t, tcell.KeyEscape, 0, cli.Success)
	}
}

func TestScreenWithoutColour(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	p := show(t, 80, 24, "UTF-8")
	lines := p.Lines(t, 80, 24, "travellers")
	if got := p.Coloured(); got > 0 {
		t.Errorf("%d cells have colours, want 0", got)
	}
	if got := braille(lines); got < 250 {
		t.Errorf("%d cells of the map have dots, want at least 250:\n%s", got, strings.Join(lines, "\n"))
	}
	p.End(t, tcell.KeyRune, 'Q', cli.Success)
}

func TestScreenWithoutBraille(t *testing.T) {
	p := show(t, 80, 24, "US-ASCII")
	lines := p.Lines(t, 80, 24, "travellers")
	shapes := 0
	for i, line := range lines {
		for _, r := range line {
			if r > '~' || r == '?' {
				t.Fatalf("line %d has %q: %q", i, r, line)
			}
			if i < 17 && r != ' ' {
				shapes++
			}
		}
	}
	if shapes < 250 {
		t.Errorf("%d cells of the map are not blank, want at least 250:\n%s", shapes,
			strings.Join(lines, "\n"))
	}
	p.End(t, tcell.KeyRune, 'q', cli.Success)
}

func TestScreenFollowsResizing(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.Lines(t, 80, 24, "travellers")
	for _, size := range [][2]int{{120, 40}, {40, 12}, {10, 3}, {200, 60}, {20, 6}} {
		p.ResizeTo(size[0], size[1])
		text := "tick p50"
		if size[0] < minColumns {
			text = "too small"
		}
		lines := p.Lines(t, size[0], size[1], text)
		if text == "tick p50" {
			mapRows := newLayout(size[0], size[1], notes{"credits", inspectorURL, false}).mapRows
			if braille(lines[:mapRows]) < mapRows || braille(lines[mapRows:]) > 0 {
				t.Errorf("at size %v, the map has too few dots, or dots below its last row:\n%s", size,
					strings.Join(lines, "\n"))
			}
		}
	}
	p.End(t, tcell.KeyRune, 'q', cli.Success)
}

func TestScreenPauses(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.Lines(t, 80, 24, "space pause")
	p.Type(tcell.KeyRune, ' ')
	lines := p.Lines(t, 80, 24, "paused")
	if !strings.Contains(strings.Join(lines, "\n"), "space go on") {
		t.Errorf("the screen does not show the key that ends the pause:\n%s", strings.Join(lines, "\n"))
	}
	p.Type(tcell.KeyRune, ' ')
	p.Lines(t, 80, 24, "ticks/s")
	p.End(t, tcell.KeyCtrlC, 0, cli.Interrupted)
}

func TestScreenEnds(t *testing.T) {
	p := show(t, 80, 24, "UTF-8")
	p.Signals <- syscall.SIGTERM
	p.Ended(t, 143)

	p = show(t, 80, 24, "UTF-8")
	p.PostEvent(tcell.NewEventError(os.ErrClosed))
	p.Ended(t, cli.Failure)

	p = show(t, 80, 24, "UTF-8")
	p.driver.halt() // the driver ends, as after the last tick of -ticks
	p.Ended(t, cli.Success)
}
