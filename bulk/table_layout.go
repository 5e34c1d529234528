package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

// Layout says how the rows of a [Table] lie in memory. The same code runs with all layouts. The fastest
// layout depends on the work and on the processor: columns for work on few fields of all rows, blocks if rows
// are also visited one at a time, and structs in a [Pool] or an [Array] if most fields of a row are used
// together. Processors prefetch best along one array, so blocks are often slower than columns and structs if
// the code has no vector instructions. `vast bench table` measures all layouts.
type Layout uint8

const (
	// LayoutColumns keeps each field in an array of its own (a structure of arrays): work that touches few
	// fields loads only these. The whole table is one block. The arrays begin at different cache lines of a
	// page; see TableOptions.PageAligned.
	LayoutColumns Layout = iota
	// LayoutBlocks8 puts eight rows together, field by field: eight numbers of four bytes are one vector of
	// 32 bytes, and the fields of one row are near each other. The part of each field begins at a multiple of
	// 32 bytes.
	LayoutBlocks8
	// LayoutBlocks16 puts 16 rows together: 16 numbers of four bytes fill a cache line, so that work on one
	// field loads no other field. The part of each field begins at a multiple of 64 bytes.
	LayoutBlocks16
	// LayoutBlocksPage puts together as many rows as fit into a page, rounded down to a multiple of 16, so
	// that work on one row touches one page. But a block has at least 16 rows, even if they need more than a
	// page. The part of each field begins at a multiple of 64 bytes.
	LayoutBlocksPage
)

// String returns the layout's name.
func (l Layout) String() string {
	switch l {
	case LayoutColumns:
		return "columns"
	case LayoutBlocks8:
		return "blocks of 8"
	case LayoutBlocks16:
		return "blocks of 16"
	case LayoutBlocksPage:
		return "blocks of a page"
	}
	return "unknown layout"
}

// Columns are padded to a multiple of rowsPadded rows: 16 numbers of four bytes fill a cache line.
const rowsPadded = 16

// arrangement is the layout of the fields of a table's rows. The fields lie in parts. A part is a sequence of
// groups of rows. The layouts of blocks have one part, whose groups are the blocks. In LayoutColumns each
// column is a part.
type arrangement struct {
	group    int // rows of a group
	parts    []part
	bytesRow int // bytes of a row without any padding
	places   []fieldPlace
}

// part is a piece of the table's region that grows by whole groups.
type part struct {
	denseSpan
	lead   int // bytes before the first group
	bytes  int // bytes of a group
	before int // bytes committed before the growth under way
}

// fieldPlace is the place of a field: its part, and its distance from the beginning of a group.
type fieldPlace struct{ part, offset int }

// arrange lays out fields of the given sizes.
func arrange(l Layout, pageAligned bool, sizes []int) (a arrangement) {
	for _, size := range sizes {
		a.bytesRow += size
	}
	if l == LayoutColumns {
		a.group = rowsPadded
		for i, size := range sizes {
			p := part{bytes: rowsPadded * size}
			if !pageAligned {
				p.lead = bitset.Skew(i)
			}
			a.parts = append(a.parts, p)
			a.places = append(a.places, fieldPlace{part: i})
		}
		return a
	}
	rows, align := 8, 32
	if l != LayoutBlocks8 {
		rows, align = 16, 64
	}
	page := vm.PageSize()
	if l == LayoutBlocksPage {
		for rows = max(16, page/a.bytesRow/16*16); rows > 16 &&
			bytesBlock(sizes, rows, align) > page; rows -= 16 {
		}
	}
	bytes := bytesBlock(sizes, rows, align)
	offset := 0
	for _, size := range sizes {
		a.places = append(a.places, fieldPlace{offset: offset})
		offset += roundUp(rows*size, align)
	}
	if l == LayoutBlocksPage && bytes < page {
		bytes = page
	}
	a.group, a.parts = rows, []part{{bytes: bytes}}
	return a
}

// bytesBlock returns the size of a block of this many rows.
func bytesBlock(sizes []int, rows, align int) (bytes int) {
	for _, size := range sizes {
		bytes += roundUp(rows*size, align)
	}
	return bytes
}

// bytesGroup returns the size of a group in all parts.
func (a *arrangement) bytesGroup() (bytes int) {
	for i := range a.parts {
		bytes += a.parts[i].bytes
	}
	return bytes
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// rowLocator finds the rows of one field. Row i lies in block i/rows. Each block begins stride bytes after
// the block before. The stride is skip bytes more than the values of this field in a block take. The address
// of row i is:
//
//	base + i × size + i/rows × skip
//
// A column needs no other formula, because all its rows are in block 0.
type rowLocator struct {
	base   unsafe.Pointer // the address of row 0
	magic  uint64         // ⌈2⁶⁴ ÷ rows of a block⌉, or 0 for columns
	skip   uintptr
	stride uintptr
}

// newRowLocator returns the locator of a field whose row 0 is at base. Its blocks have the given number of
// rows and begin stride bytes apart. With stride 0 the field is a column.
func newRowLocator(base unsafe.Pointer, size, rows, stride int) rowLocator {
	if stride == 0 {
		return rowLocator{base: base}
	}
	return rowLocator{base, ^uint64(0)/uint64(rows) + 1, uintptr(stride - rows*size), uintptr(stride)}
}

// at returns the address of a row in a field of the given size. It is sound for rows below the table's room:
// the memory of these rows is committed and does not move before Close, and fields hold no Go pointers.
//
// A multiplication by magic divides by the rows of a block. The quotient is exact for row numbers of 32 bits
// and blocks of less than 2³² rows.
func (l *rowLocator) at(row int, size uintptr) unsafe.Pointer {
	block, _ := bits.Mul64(uint64(row), l.magic)
	return unsafe.Add(l.base, uintptr(row)*size+uintptr(block)*l.skip)
}
