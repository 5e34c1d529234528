package atlas

import (
	"fmt"
	"math"
	"math/bits"
)

// Style says how Draw paints. The zero value works.
type Style struct {
	// NoColor makes a map that is readable from the glyphs alone: a denser region has more dots set. The map
	// does not show infection.
	NoColor bool

	// Full is the number of people at which a dot has the brightest colour. If Full is 0, Draw chooses a
	// number for each frame: at most one in 200 occupied dots has more people.
	Full uint32

	// FullInfected is the share of infected people at which a cell has the full colour of infection. The
	// strength of the colour follows the square root of the share. If FullInfected is 0, Draw uses 0.25.
	FullInfected float64
}

// brailleBit is the bit of a dot, by row and column, in a glyph of the Unicode block "Braille Patterns".
var brailleBit = [dotsDown][dotsAcross]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

const brailleBlank = '\u2800'

// everyOther selects every other dot of a glyph, like the white squares of a chessboard. Without colours, a
// coast sets only these dots, so that the coast does not look like a crowd.
const everyOther = 0x01 | 0x10 | 0x04 | 0x80

// threshold has the levels (6 to 186) above which dots are set. This is an ordered dither: the share of set
// dots in a region follows the region's density. Bayer's matrix of 4×4 dots is two cells wide and one cell
// high.
var threshold = func() (t [4][4]uint8) {
	bayer := [4][4]int{{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}}
	for y, row := range bayer {
		for x, order := range row {
			t[y][x] = uint8(order*12 + 6)
		}
	}
	return t
}()

// densestDithered is the level above which an occupied dot is always set if the map has colours.
const densestDithered = 40

// classes is the number of classes of counts: four for each doubling.
const classes = 4 * 32

// class returns the class of a count, which must not be 0.
func class(count uint32) int {
	length := bits.Len32(count)
	return (length-1)*4 + int(uint64(count)<<2>>(length-1)&3)
}

// octaves is the number of doublings of density in the ramp of colours.
const octaves = 9

// Draw paints a frame. density and infected count people by dot. A nil slice counts no people. Any other
// slice must have one element for each dot, or Draw panics. The Grid's cells belong to the Map, and the next
// Draw overwrites them.
//
// Draw takes time in proportion to the dots, 0.2 ms for 120×40 cells (BenchmarkDraw), and allocates nothing.
func (m *Map) Draw(density, infected []uint32, style Style) Grid {
	dots := m.width * m.height
	if density != nil && len(density) != dots || infected != nil && len(infected) != dots {
		panic(fmt.Sprintf("atlas: Draw of %d densities and %d infected on a map of %d×%d dots: make slices "+
			"of width×height elements (see Dots), and make new slices after a resize",
			len(density), len(infected), m.width, m.height))
	}
	m.grid.NoColor = style.NoColor
	levels := makeLevels(density, style.Full)
	full := style.FullInfected
	if !(full > 0) {
		full = 0.25
	}

	for row := range m.rows {
		for column := range m.columns {
			var c crowd
			if density != nil {
				c = m.gather(row, column, density, infected, &levels, style.NoColor)
			}
			cell := row*m.columns + column
			if style.NoColor {
				m.grid.Cells[cell] = m.plain(cell, c)
			} else {
				m.grid.Cells[cell] = m.paint(cell, c, full)
			}
		}
	}
	return m.grid
}

// crowd is the sum of the dots of one cell.
type crowd struct {
	glyph       uint8 // the dots to set
	level       int   // halfway between the mean and the highest level of the occupied dots
	people, ill uint64
}

func (m *Map) gather(row, column int, density, infected []uint32, levels *[classes]uint8,
	noColor bool) crowd {
	// Where the colour shows the density, only the sparsest dots are dithered.
	maxThreshold := 255
	if !noColor {
		maxThreshold = densestDithered
	}
	var c crowd
	occupied, sum := 0, 0
	for y := range dotsDown {
		first := (row*dotsDown+y)*m.width + column*dotsAcross
		for x, count := range density[first : first+dotsAcross] {
			if count == 0 {
				continue
			}
			level := int(levels[class(count)])
			if level > min(int(threshold[y][(column*dotsAcross+x)%4]), maxThreshold) {
				c.glyph |= brailleBit[y][x]
			}
			occupied++
			sum += level
			c.level = max(c.level, level)
			c.people += uint64(count)
			if infected != nil {
				c.ill += uint64(infected[first+x])
			}
		}
	}
	if occupied > 0 {
		c.level = (c.level + sum/occupied) / 2
	}
	return c
}

func (m *Map) plain(cell int, c crowd) Cell {
	if glyph := c.glyph | m.glyph[cell]&everyOther; glyph != 0 {
		return Cell{Rune: brailleBlank + rune(glyph)}
	}
	return Cell{Rune: ' '}
}

// paint returns a cell in colours. The cell shows the crowd, or the coast if no dot of the crowd is set.
func (m *Map) paint(cell int, c crowd, full float64) Cell {
	ground := groundColour[m.ground[cell]]
	if c.glyph == 0 {
		if m.glyph[cell] == 0 {
			return Cell{Rune: ' ', Bg: ground}
		}
		return Cell{Rune: brailleBlank + rune(m.glyph[cell]), Fg: coastColour, Bg: ground}
	}
	share := min(math.Sqrt(float64(c.ill)/float64(c.people)/full), 1)
	colour := palette[c.level*densitySteps/256][int(share*(infectionSteps-1)+0.5)]
	return Cell{
		Rune: brailleBlank + rune(c.glyph),
		Fg:   colour,
		Bg:   glow(ground, colour, c.level),
	}
}

// makeLevels gives each class of counts its level, from 1 to 255.
func makeLevels(density []uint32, full uint32) (levels [classes]uint8) {
	top := 0
	if full > 0 {
		top = class(full)
	} else {
		var tally [classes]int
		occupied := 0
		for _, count := range density {
			if count > 0 {
				tally[class(count)]++
				occupied++
			}
		}
		above := 0
		for top = classes - 1; top > 0; top-- {
			if above += tally[top]; above > occupied/200 {
				break
			}
		}
	}
	for c := range levels {
		level := 255 * float64(c-top+4*octaves) / (4 * octaves)
		levels[c] = uint8(min(max(level, 1), 255))
	}
	return levels
}
