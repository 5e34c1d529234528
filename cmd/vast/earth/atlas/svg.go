package atlas

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Sizes in the picture. Neighbouring dots are 4 units apart.
const (
	svgCellWidth  = 8
	svgCellHeight = 16
	svgMargin     = 12
	svgBar        = 28
)

// shapes collects all shapes of a colour in one path, so that the file is small. order has the colours in the
// order of their first use, so that the same grid gives the same file.
type shapes struct {
	order []RGB
	paths map[RGB]*bytes.Buffer
}

func (s *shapes) path(c RGB) *bytes.Buffer {
	if p, ok := s.paths[c]; ok {
		return p
	}
	if s.paths == nil {
		s.paths = make(map[RGB]*bytes.Buffer)
	}
	p := new(bytes.Buffer)
	s.paths[c] = p
	s.order = append(s.order, c)
	return p
}

func (s *shapes) rectangle(c RGB, x, y, width, height int) {
	fmt.Fprintf(s.path(c), "M%d %dh%dv%dh-%dz", x, y, width, height, width)
}

func hex(c RGB) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// WriteSVG draws a grid as a picture of a dark terminal. It draws braille and block glyphs as shapes, which
// do not depend on the reader's fonts, and stretches other text to the width of its cells. The title is shown
// in a bar above the cells and is read by screen readers. An empty title gives no bar. The same grid and
// title give the same bytes. WriteSVG returns an error only if w returns an error.
func WriteSVG(w io.Writer, g Grid, title string) error {
	back := seaColour
	top := svgMargin
	if title != "" {
		top += svgBar
	}
	width, height := 2*svgMargin+g.Columns*svgCellWidth, top+svgMargin+g.Rows*svgCellHeight

	var grounds, blocks, dots shapes
	var text bytes.Buffer
	for y := range g.Rows {
		row := g.Cells[y*g.Columns : (y+1)*g.Columns]
		if g.NoColor {
			row = plainRow(row, back)
		}
		cellTop := top + y*svgCellHeight
		for x := 0; x < len(row); {
			run := x + 1
			for run < len(row) && row[run].Bg == row[x].Bg {
				run++
			}
			if row[x].Bg != back {
				grounds.rectangle(row[x].Bg, svgMargin+x*svgCellWidth, cellTop, (run-x)*svgCellWidth,
					svgCellHeight)
			}
			x = run
		}
		for x := 0; x < len(row); {
			c := row[x]
			left := svgMargin + x*svgCellWidth
			switch {
			case c.Rune >= brailleBlank && c.Rune <= brailleBlank+0xff:
				for dy := range dotsDown {
					for dx := range dotsAcross {
						if uint8(c.Rune-brailleBlank)&brailleBit[dy][dx] != 0 {
							fmt.Fprintf(dots.path(c.Fg), "M%d %dh0", left+2+4*dx, cellTop+2+4*dy)
						}
					}
				}
			case c.Rune == '▀':
				blocks.rectangle(c.Fg, left, cellTop, svgCellWidth, svgCellHeight/2)
			case c.Rune >= '▁' && c.Rune <= '█': // fills one to eight eighths, from below
				size := int(c.Rune-'▁'+1) * svgCellHeight / 8
				blocks.rectangle(c.Fg, left, cellTop+svgCellHeight-size, svgCellWidth, size)
			case c.Rune != ' ' && c.Rune != 0:
				x += writeText(&text, row[x:], left, cellTop)
				continue
			}
			x++
		}
	}

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" `+
		`viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n",
		width, height, width, height)
	if title != "" {
		fmt.Fprintf(&b, "<title>%s</title>\n", escape(title))
	}
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="%s"/>`+"\n", width, height, hex(back))
	fmt.Fprintln(&b, `<g shape-rendering="crispEdges">`)
	for _, layer := range []*shapes{&grounds, &blocks} {
		for _, c := range layer.order {
			fmt.Fprintf(&b, `<path fill="%s" d="%s"/>`+"\n", hex(c), layer.paths[c])
		}
	}
	fmt.Fprintln(&b, `</g>`)
	fmt.Fprintln(&b, `<g fill="none" stroke-width="3" stroke-linecap="round">`)
	for _, c := range dots.order {
		fmt.Fprintf(&b, `<path stroke="%s" d="%s"/>`+"\n", hex(c), dots.paths[c])
	}
	fmt.Fprintln(&b, `</g>`)
	fmt.Fprintln(&b, `<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,`+
		`'DejaVu Sans Mono',monospace" font-size="13">`)
	if title != "" {
		for i, c := range []RGB{{255, 95, 87}, {254, 188, 46}, {40, 200, 64}} {
			if g.Columns < 40 {
				break // no room next to the title
			}
			fmt.Fprintf(&b, `<circle cx="%d" cy="17" r="5.5" fill="%s"/>`+"\n", 20+i*19, hex(c))
		}
		fmt.Fprintf(&b, `<text x="%d" y="21" text-anchor="middle" fill="#9aa7b5">%s</text>`+"\n", width/2,
			escape(title))
	}
	b.Write(text.Bytes())
	fmt.Fprint(&b, "</g>\n</svg>\n")
	_, err := w.Write(b.Bytes())
	return err
}

// plainRow paints a row without colours in light grey on back.
func plainRow(row []Cell, back RGB) []Cell {
	painted := make([]Cell, len(row))
	for i, c := range row {
		painted[i] = Cell{c.Rune, RGB{200, 208, 216}, back}
	}
	return painted
}

// writeText writes the text at the start of the row, and returns the number of cells that the text fills. The
// text ends at a change of colour, before a cell that is empty or drawn as a shape, and before two spaces,
// because a viewer may show two spaces as one. The text does not end with a space.
func writeText(b *bytes.Buffer, row []Cell, left, top int) int {
	var words strings.Builder
	n := 0
	for n < len(row) && row[n].Fg == row[0].Fg && isText(row[n].Rune) {
		if row[n].Rune == ' ' && (n+1 == len(row) || row[n+1].Fg != row[0].Fg || row[n+1].Rune == ' ' ||
			!isText(row[n+1].Rune)) {
			break
		}
		words.WriteRune(row[n].Rune)
		n++
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" textLength="%d" lengthAdjust="spacingAndGlyphs" fill="%s">%s</text>`+
		"\n", left, top+12, n*svgCellWidth, hex(row[0].Fg), escape(words.String()))
	return n
}

func isText(r rune) bool {
	return r != 0 && (r < '▀' || r > '█') && (r < brailleBlank || r > brailleBlank+0xff)
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // a strings.Builder does not fail
	return b.String()
}
