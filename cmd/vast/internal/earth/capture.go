package earth

import (
	"os"

	"github.com/vastgo/vast/cmd/vast/earth/atlas"
)

const (
	captureColumns = 120
	captureRows    = 42
)

// capture writes the screen of d into the file o.capture, in the format SVG. d must be stopped.
func capture(d *driver, r *reader, o options) error {
	l := newLayout(captureColumns, captureRows, notes{credits: o.credits()})
	s := l.snapshot()
	d.fill(s)
	f, err := os.Create(o.capture)
	if err != nil {
		return err
	}
	g := l.compose(s, r.read(s), false)
	if err := atlas.WriteSVG(f, g, "vast earth"); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
