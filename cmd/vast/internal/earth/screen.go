package earth

import (
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
)

// framesPerSecond bounds drawing; a slow tick makes it rarer.
const framesPerSecond = 15

// replaceGlyphs gives terminals without braille a letter for each glyph, the
// fuller the more dots it has.
func replaceGlyphs(screen tcell.Screen) {
	const first, shades = '\u2800', " .,:;+*%#"
	if tty.IsUnicode(screen) {
		return
	}
	for bits := range 256 {
		dots := 0
		for b := bits; b != 0; b &= b - 1 {
			dots++
		}
		screen.RegisterRuneFallback(first+rune(bits), shades[dots:dots+1])
	}
}

// watchScreen starts the driver and shows it on a screen until it ends, or a key
// or a signal ends it. The terminal is then as it was. It gives the exit status.
func watchScreen(d *driver, r *reader, n notes, screen tcell.Screen, signals <-chan os.Signal) int {
	// Deferred, so that a panic leaves the terminal in order, too.
	defer screen.Fini()
	d.start(screen.Fini)

	events, quit := make(chan tcell.Event), make(chan struct{})
	go screen.ChannelEvents(events, quit)
	defer close(quit)

	v := &view{driver: d, reader: r, screen: screen, notes: n, noColor: os.Getenv("NO_COLOR") != ""}
	v.fit()
	beat := time.NewTicker(time.Second / framesPerSecond)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			v.ask()
		case s := <-d.ready:
			v.show(s)
		case e, open := <-events:
			if !open {
				return failure
			}
			if status, ended := v.handle(e); ended {
				return status
			}
		case <-d.done:
			return success
		case s := <-signals:
			return tty.Status(s)
		}
	}
}

// view is what the screen shows and the snapshot that it is made from.
type view struct {
	driver  *driver
	reader  *reader
	screen  tcell.Screen
	notes   notes
	noColor bool

	layout layout    // of the screen
	idle   *snapshot // to ask with; nil while the driver has it
	fitted layout    // what the snapshot was made for
}

// size is what the layout depends on.
func (v *view) size() (columns, rows int, n notes) {
	columns, rows = v.screen.Size()
	return columns, rows, v.notes
}

// fit makes a snapshot for the size that the screen has.
func (v *view) fit() {
	v.layout = newLayout(v.size())
	v.idle, v.fitted = v.layout.snapshot(), v.layout
}

// ask hands the snapshot to the driver, unless it is there already.
func (v *view) ask() {
	if v.idle != nil {
		v.driver.wanted <- v.idle
		v.idle = nil
	}
}

// show paints a filled snapshot, unless the screen has another size by now.
func (v *view) show(s *snapshot) {
	if v.fitted != v.layout {
		v.fit()
		v.ask()
		return
	}
	paint(v.screen, v.layout.compose(s, v.reader.read(s), v.noColor))
	v.idle = s
}

// handle gives the exit status if the event ends the run.
func (v *view) handle(e tcell.Event) (status int, ended bool) {
	switch e := e.(type) {
	case *tcell.EventResize:
		v.screen.Sync()
		v.layout = newLayout(v.size())
		if v.idle != nil && v.fitted != v.layout {
			v.fit()
			v.ask()
		}
	case *tcell.EventError: // the terminal is gone
		return failure, true
	case *tcell.EventKey:
		switch {
		case e.Key() == tcell.KeyCtrlC:
			return interrupted, true
		case e.Key() == tcell.KeyEscape, e.Key() == tcell.KeyRune && (e.Rune() == 'q' || e.Rune() == 'Q'):
			return success, true
		case e.Key() == tcell.KeyRune && e.Rune() == ' ':
			v.driver.control.toggle()
		}
	}
	return 0, false
}

// paint puts a grid on the screen, which sends what has changed.
func paint(screen tcell.Screen, g atlas.Grid) {
	for i, c := range g.Cells {
		style := tcell.StyleDefault
		if !g.NoColor {
			style = style.Foreground(colour(c.Fg)).Background(colour(c.Bg))
		}
		screen.SetContent(i%g.Columns, i/g.Columns, c.Rune, nil, style)
	}
	screen.Show()
}

func colour(c atlas.RGB) tcell.Color { return tcell.NewRGBColor(int32(c.R), int32(c.G), int32(c.B)) }
