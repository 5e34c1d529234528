package top

import (
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// fallbacks returns ASCII replacements for terminals that cannot show block characters, an ellipsis or µ. A
// higher block has a denser replacement.
func fallbacks() map[rune]string {
	glyphs := map[rune]string{'░': ".", '…': "~", 'µ': "u"}
	for i, r := range eighths[1:] {
		glyphs[r] = "._-=+*%#"[i : i+1]
	}
	return glyphs
}

// watchScreen shows the state on a screen. The command ends with q, Esc, Ctrl-C, a signal or the loss of the
// terminal. Then watchScreen restores the terminal and returns the exit status.
func watchScreen(f *feed, s *state, screen tcell.Screen, signals <-chan os.Signal) int {
	defer screen.Fini() // restores the terminal, also after a panic

	events, stop := tty.Events(screen)
	defer stop()

	v := &view{screen: screen, state: s, styles: newStyles(tty.NoColor())}
	v.paint()
	second := time.NewTicker(time.Second) // updates the displayed time since the connection was lost
	defer second.Stop()
	for {
		select {
		case u := <-f.updates:
			s.apply(u)
			v.paint()
		case <-second.C:
			if s.lost != nil {
				v.paint()
			}
		case e := <-events:
			if status, ended := tty.Handle(e, screen, v.paint, func(rune) {}); ended {
				return status
			}
		case s := <-signals:
			return cli.Status(s)
		}
	}
}

type view struct {
	screen tcell.Screen
	state  *state
	styles [tty.Tones]tcell.Style
}

// newStyles returns the styles of the tones. The colours are legible on dark and on light backgrounds.
func newStyles(noColor bool) (styles [tty.Tones]tcell.Style) {
	styles[tty.Strong] = tcell.StyleDefault.Bold(true)
	if noColor {
		styles[tty.Warn], styles[tty.Bad] = tcell.StyleDefault.Bold(true), tcell.StyleDefault.Reverse(true)
		return styles
	}
	styles[tty.Dim] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(128, 144, 162))
	styles[tty.Accent] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(64, 156, 216))
	styles[tty.Good] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(70, 168, 104))
	styles[tty.Warn] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(214, 138, 30))
	styles[tty.Bad] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(226, 80, 66)).Bold(true)
	return styles
}

// paint puts the page on the screen. The screen sends only the changed cells to the terminal.
func (v *view) paint() {
	columns, rows := v.screen.Size()
	v.screen.Clear()
	// A wide window has one free column on each side.
	margin := 0
	if columns > minColumns+2 {
		margin = 1
	}
	for y, l := range compose(v.state, columns-2*margin, rows, time.Now()) {
		x := margin
		for _, s := range l {
			for state, rest := -1, s.Text; rest != ""; {
				var cluster string
				var width int
				cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
				runes := []rune(cluster)
				v.screen.SetContent(x, y, runes[0], runes[1:], v.styles[s.Tone])
				x += width
			}
		}
	}
	v.screen.Show()
}
