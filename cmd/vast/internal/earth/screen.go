package earth

import (
	"math/bits"
	"os"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/vastgo/vast/cmd/vast/earth/atlas"
	"github.com/vastgo/vast/cmd/vast/internal/cli"
	"github.com/vastgo/vast/cmd/vast/internal/tty"
)

// framesPerSecond is the largest number of frames that the screen draws in a second.
const framesPerSecond = 15

// fallbacks returns an ASCII character for each braille pattern, for terminals without braille. Patterns with
// more dots have denser characters.
func fallbacks() map[rune]string {
	const first, shades = '\u2800', " .,:;+*%#"
	glyphs := make(map[rune]string)
	for pattern := range 256 {
		dots := bits.OnesCount(uint(pattern))
		glyphs[first+rune(pattern)] = shades[dots : dots+1]
	}
	return glyphs
}

// watchScreen starts the driver and shows its world on a screen until the driver ends, or until a key or a
// signal ends the run. Then it restores the terminal. It returns the exit status.
func watchScreen(d *driver, r *reader, n notes, screen tcell.Screen, signals <-chan os.Signal) int {
	// The deferred Fini restores the terminal even after a panic.
	defer screen.Fini()
	d.start(screen.Fini)

	events, stop := tty.Events(screen)
	defer stop()

	v := &view{driver: d, reader: r, screen: screen, notes: n, noColor: tty.NoColor()}
	v.fit()
	beat := time.NewTicker(time.Second / framesPerSecond)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			v.request()
		case s := <-d.ready:
			v.show(s)
		case e := <-events:
			if status, ended := tty.Handle(e, screen, v.resized, v.typed); ended {
				return status
			}
		case <-d.done:
			return cli.Success
		case s := <-signals:
			return cli.Status(s)
		}
	}
}

// view holds the layout of the screen and the snapshot that the screen shows.
type view struct {
	driver  *driver
	reader  *reader
	screen  tcell.Screen
	notes   notes
	noColor bool

	layout layout    // the layout for the current size of the screen
	idle   *snapshot // the snapshot for the next request; nil while the driver owns the snapshot
	fitted layout    // the layout for which the snapshot was made
}

func (v *view) size() (columns, rows int, n notes) {
	columns, rows = v.screen.Size()
	return columns, rows, v.notes
}

// fit makes a snapshot for the screen's size.
func (v *view) fit() {
	v.layout = newLayout(v.size())
	v.idle, v.fitted = v.layout.snapshot(), v.layout
}

// request sends the snapshot to the driver. It does nothing while the driver owns the snapshot.
func (v *view) request() {
	if v.idle != nil {
		v.driver.wanted <- v.idle
		v.idle = nil
	}
}

// show paints a filled snapshot. If the layout has changed since the request, show requests a snapshot of the
// new layout instead.
func (v *view) show(s *snapshot) {
	if v.fitted != v.layout {
		v.fit()
		v.request()
		return
	}
	paint(v.screen, v.layout.compose(s, v.reader.read(s), v.noColor))
	v.idle = s
}

func (v *view) resized() {
	v.layout = newLayout(v.size())
	if v.idle != nil && v.fitted != v.layout {
		v.fit()
		v.request()
	}
}

func (v *view) typed(key rune) {
	if key == ' ' {
		v.driver.control.toggle()
	}
}

// paint puts a grid on the screen. The screen sends only the changed cells to the terminal.
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
