package atlas

import "strings"

// RGB is a colour.
type RGB struct{ R, G, B uint8 }

// Cell is one cell of a terminal.
type Cell struct {
	Rune   rune // a rune that is one cell wide
	Fg, Bg RGB
}

// Grid is a rectangle of cells, row by row from the upper left: the cell at x, y is Cells[y*Columns+x].
type Grid struct {
	Columns, Rows int
	Cells         []Cell

	// NoColor means that Fg and Bg have no meaning: paint the glyphs in the terminal's default colours.
	NoColor bool
}

// NewGrid makes a grid of blanks in the colour of the sea, for Print and Paste. Sizes below 1 give an empty
// grid.
func NewGrid(columns, rows int) Grid {
	if columns <= 0 || rows <= 0 {
		return Grid{}
	}
	g := Grid{Columns: columns, Rows: rows, Cells: make([]Cell, columns*rows)}
	for i := range g.Cells {
		g.Cells[i] = Cell{Rune: ' ', Bg: seaColour}
	}
	return g
}

// Print writes text from x, y to the right, one rune per cell, and keeps the background. Text outside the
// grid is left out.
func (g Grid) Print(x, y int, text string, fg RGB) {
	if y < 0 || y >= g.Rows {
		return
	}
	for _, r := range text {
		if x >= 0 && x < g.Columns {
			c := &g.Cells[y*g.Columns+x]
			c.Rune, c.Fg = r, fg
		}
		x++
	}
}

// Paste copies the cells of part into g. The upper left cell of part goes to x, y. Cells outside g are left
// out.
func (g Grid) Paste(x, y int, part Grid) {
	from, to := max(0, -x), min(part.Columns, g.Columns-x)
	if from >= to {
		return
	}
	for row := max(0, -y); row < min(part.Rows, g.Rows-y); row++ {
		copy(g.Cells[(y+row)*g.Columns+x+from:], part.Cells[row*part.Columns+from:row*part.Columns+to])
	}
}

// String returns the glyphs, one line per row, without colours.
func (g Grid) String() string {
	var b strings.Builder
	for i, c := range g.Cells {
		b.WriteRune(c.Rune)
		if (i+1)%g.Columns == 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
