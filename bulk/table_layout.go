package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/bitset"
	"github.com/vastgo/vast/vm"
)

// Layout says how the rows of a [Table] lie in memory. The same code runs with all layouts. Which layout is
// the fastest depends on the work and on the processor. Use columns for work on few fields of all rows, and
// blocks if rows are also visited one at a time. If most fields of a row are used together, use structs in a
// [Pool] or an [Array]. Blocks are often slower than columns and structs in code without vector instructions.
// `vast bench table` measures all layouts.
type Layout uint8

const (
	// LayoutColumns keeps each field in an array of its own (a structure of arrays), so that work on few
	// fields loads only these fields. The whole table is one block. The arrays begin at different cache lines
	// of a page; see TableOptions.PageAligned.
	LayoutColumns Layout = iota
	// LayoutBlocks8 makes blocks of eight rows. In a block, the values of each field lie side by side and
	// begin at a multiple of 32 bytes. So eight numbers of four bytes are one vector of 32 bytes, and the
	// fields of one row are near each other.
	LayoutBlocks8
	// LayoutBlocks16 makes blocks of 16 rows. In a block, the values of each field lie side by side and begin
	// at a multiple of 64 bytes. So 16 numbers of four bytes fill a cache line, and work on one field loads
	// no other field.
	LayoutBlocks16
	// LayoutBlocksPage makes blocks of as many rows as fit into a page, rounded down to a multiple of 16, so
	// that work on one row touches one page. If 16 rows need more than a page, a block has 16 rows. In a
	// block, the values of each field lie side by side and begin at a multiple of 64 bytes.
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

// rowsPadded is the number of rows in a group of [LayoutColumns]: 16 numbers of four bytes fill a cache line.
const rowsPadded = 16

// arrangement says where the fields of a table lie. The table's region has one or more parts. A part is a
// sequence of groups of rows. In LayoutColumns each column is a part. In the other layouts there is one part,
// and its groups are the blocks.
type arrangement struct {
	group    int // number of rows in a group
	parts    []part
	bytesRow int          // bytes of a row, without padding
	places   []fieldPlace // one for each field
}

// part is a piece of the table's region that grows by whole groups.
type part struct {
	denseSpan
	lead   int // bytes before the first group
	bytes  int // bytes of a group
	before int // committed bytes before the current call of commit
}

// fieldPlace is the index of a field's part, and the field's offset in each group in bytes.
type fieldPlace struct{ part, offset int }

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

func bytesBlock(sizes []int, rows, align int) (bytes int) {
	for _, size := range sizes {
		bytes += roundUp(rows*size, align)
	}
	return bytes
}

func (a *arrangement) bytesGroup() (bytes int) {
	for i := range a.parts {
		bytes += a.parts[i].bytes
	}
	return bytes
}

func roundUp(n, unit int) int { return (n + unit - 1) / unit * unit }

// rowLocator computes the addresses of a field's values. With n rows in a block, row i lies in block i/n, and
// its value has the address
//
//	base + i × size + i/n × skip
//
// This is also true for a column, because all rows of a column are in block 0.
type rowLocator struct {
	base   unsafe.Pointer // the address of row 0
	magic  uint64         // ⌈2⁶⁴ ÷ n⌉, or 0 for columns
	skip   uintptr        // stride − n × size, or 0 for columns
	stride uintptr        // bytes from one block to the next, or 0 for columns
}

// newRowLocator returns the locator of a field whose row 0 is at base. The field's blocks have the given
// number of rows and begin stride bytes apart. With stride 0 the field is a column.
func newRowLocator(base unsafe.Pointer, size, rows, stride int) rowLocator {
	if stride == 0 {
		return rowLocator{base: base}
	}
	return rowLocator{base, ^uint64(0)/uint64(rows) + 1, uintptr(stride - rows*size), uintptr(stride)}
}

// at returns the address of a row's value; size is the size of the value. It is sound for rows below the
// table's room: the memory of these rows is committed and does not move before Close, and fields hold no Go
// pointers.
//
// The multiplication by magic divides by the number of rows in a block. The quotient is exact for row numbers
// of 32 bits and blocks of less than 2³² rows.
func (l *rowLocator) at(row int, size uintptr) unsafe.Pointer {
	block, _ := bits.Mul64(uint64(row), l.magic)
	return unsafe.Add(l.base, uintptr(row)*size+uintptr(block)*l.skip)
}
