package top

import (
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/uniseg"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// replaceGlyphs gives terminals without blocks a sign for each, the fuller the higher it is.
func replaceGlyphs(screen tcell.Screen) {
	if tty.IsUnicode(screen) {
		return
	}
	for i, r := range eighths[1:] {
		screen.RegisterRuneFallback(r, "._-=+*%#"[i:i+1])
	}
	screen.RegisterRuneFallback('░', ".")
	screen.RegisterRuneFallback('…', "~")
	screen.RegisterRuneFallback('µ', "u")
}

// watchScreen shows the state on a screen until a key or a signal ends it. The terminal is then as it was. It gives the exit
// status.
func watchScreen(f *feed, s *state, screen tcell.Screen, signals <-chan os.Signal) int {
	// Deferred, so that a panic leaves the terminal in order, too.
	defer screen.Fini()

	events, quit := make(chan tcell.Event), make(chan struct{})
	go screen.ChannelEvents(events, quit)
	defer close(quit)

	v := &view{screen: screen, state: s, styles: newStyles(os.Getenv("NO_COLOR") != "")}
	v.paint()
	second := time.NewTicker(time.Second) // for times that pass while nothing comes
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
		case e, open := <-events:
			if !open {
				return failure
			}
			if status, ended := v.handle(e); ended {
				return status
			}
		case s := <-signals:
			return tty.Status(s)
		}
	}
}

// view paints the state on a screen.
type view struct {
	screen tcell.Screen
	state  *state
	styles [bad + 1]tcell.Style
}

// newStyles gives the tones colours that can be read on a dark and on a light ground.
func newStyles(noColor bool) (styles [bad + 1]tcell.Style) {
	styles[strong] = tcell.StyleDefault.Bold(true)
	if noColor {
		styles[warn], styles[bad] = tcell.StyleDefault.Bold(true), tcell.StyleDefault.Reverse(true)
		return styles
	}
	styles[dim] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(128, 144, 162))
	styles[accent] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(64, 156, 216))
	styles[good] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(70, 168, 104))
	styles[warn] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(214, 138, 30))
	styles[bad] = tcell.StyleDefault.Foreground(tcell.NewRGBColor(226, 80, 66)).Bold(true)
	return styles
}

// handle gives the exit status if the event ends the command.
func (v *view) handle(e tcell.Event) (status int, ended bool) {
	switch e := e.(type) {
	case *tcell.EventResize:
		v.screen.Sync()
		v.paint()
	case *tcell.EventError: // the terminal is gone
		return failure, true
	case *tcell.EventKey:
		switch {
		case e.Key() == tcell.KeyCtrlC:
			return interrupted, true
		case e.Key() == tcell.KeyEscape, e.Key() == tcell.KeyRune && (e.Rune() == 'q' || e.Rune() == 'Q'):
			return success, true
		}
	}
	return 0, false
}

// paint puts the page on the screen, which sends what has changed.
func (v *view) paint() {
	columns, rows := v.screen.Size()
	v.screen.Clear()
	// A cell is left free at either side where there is room.
	margin := 0
	if columns > minColumns+2 {
		margin = 1
	}
	for y, l := range compose(v.state, columns-2*margin, rows, time.Now()) {
		x := margin
		for _, s := range l {
			for state, rest := -1, s.text; rest != ""; {
				var cluster string
				var width int
				cluster, rest, width, state = uniseg.FirstGraphemeClusterInString(rest, state)
				runes := []rune(cluster)
				v.screen.SetContent(x, y, runes[0], runes[1:], v.styles[s.tone])
				x += width
			}
		}
	}
	v.screen.Show()
}
