package inspect

import (
	"encoding/binary"
	"math"
)

const maxCells = 1 << 20 // limit of the cells of a picture, summed over its layers

// Picture is a window of a [View], divided into cells of equal size. Each layer counts things in each cell.
type Picture struct {
	// Window is the requested part of the view. If the view wraps, the window begins within the bounds and
	// may reach beyond the right border.
	Window Bounds
	// Columns and Rows are the numbers of cells across and down.
	Columns, Rows int
	// Next stores the progress of Paint between its calls. It is 0 in the first call.
	Next int

	period        float64 // width of the view if it wraps; 0 if it does not
	across, down  float64 // cells per unit of x, and per unit of y; down is negative if y grows upwards
	left, top     float64
	layers        int
	counts        []uint32 // ordered by layer, then by row from the top
	columns, rows float64
	cellsPerLayer int
}

func newPicture(v *View, window Bounds, columns, rows int) *Picture {
	p := &Picture{
		Window: window, Columns: columns, Rows: rows, layers: len(v.Layers),
		across: float64(columns) / (window.X1 - window.X0), down: float64(rows) / (window.Y0 - window.Y1),
		left: window.X0, top: window.Y1, columns: float64(columns), rows: float64(rows),
		cellsPerLayer: columns * rows,
	}
	if v.Down {
		p.down, p.top = -p.down, window.Y0
	}
	if v.Wraps {
		p.period = v.Bounds.X1 - v.Bounds.X0
	}
	p.counts = make([]uint32, p.layers*p.cellsPerLayer)
	return p
}

// Cell returns the cell of a point, for [Picture.Add]. If the point lies outside of the window or has a NaN,
// Cell returns -1. The window's right and lower borders belong to the last cells.
func (p *Picture) Cell(x, y float64) int {
	if x < p.left && p.period > 0 {
		x += p.period
	}
	column, row := (x-p.left)*p.across, (y-p.top)*p.down
	// The condition is also true for NaN.
	if !(column >= 0 && column <= p.columns && row >= 0 && row <= p.rows) {
		return -1
	}
	return min(int(row), p.Rows-1)*p.Columns + min(int(column), p.Columns-1)
}

// Add adds n to the count of a cell in a layer. layer is an index of View.Layers. Add does nothing for cell
// -1.
func (p *Picture) Add(layer, cell int, n uint32) {
	if cell >= 0 {
		p.counts[layer*p.cellsPerLayer+cell] += n
	}
}

const (
	pictureMagic = "vpic"
	pictureHead  = 48 // number of bytes before the counts
)

// bytes returns the picture in this format, with little-endian numbers:
//   - "vpic"
//   - the numbers of columns, rows and layers as uint32
//   - the window's x0, y0, x1 and y1 as float64
//   - the counts as uint32, ordered by layer, then by row from the top
func (p *Picture) bytes() []byte {
	b := make([]byte, 0, pictureHead+4*len(p.counts))
	b = append(b, pictureMagic...)
	for _, n := range [...]int{p.Columns, p.Rows, p.layers} {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for _, v := range [...]float64{p.Window.X0, p.Window.Y0, p.Window.X1, p.Window.Y1} {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	for _, n := range p.counts {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}
