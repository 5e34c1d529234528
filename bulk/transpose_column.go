package bulk

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
)

// cacheLine is the alignment of temporary columns, in bytes.
const cacheLine = 64

// Temporary is a temporary column of a [Transpose]: a field of each element of the current block.
type Temporary[F any] struct {
	offset uintptr // offset of the field in an element, in bytes
	stride uintptr // size of an element, in bytes
	back   bool    // the column is written back
	rows   []F
	safe   F
	n      *int // number of rows of the current block
	padded *int // number of rows, including padding
}

// ColumnOf makes a column of a field of t's elements. The iterations read the field and write it back.
// ColumnOf calls the function field once, with a zero element. field must return the address of a part of
// this element: a field, a nested field, or an element of an array. F must not hold Go pointers; other fields
// of T may.
//
// ColumnOf panics if the address is outside the element, if F holds Go pointers or has no size, if another
// column already writes back a part of the field, or if an iteration over elements is under way.
func ColumnOf[T, F any](t *Transpose[T], field func(element *T) *F) *Temporary[F] {
	return column(t, "ColumnOf", field, true)
}

// InputOf is [ColumnOf] for a field that is only read: writes to the column do not reach the elements.
func InputOf[T, F any](t *Transpose[T], field func(element *T) *F) *Temporary[F] {
	return column(t, "InputOf", field, false)
}

func column[T, F any](t *Transpose[T], op string, field func(element *T) *F, back bool) *Temporary[F] {
	layout.Check[F]("bulk: " + op)
	what := fmt.Sprintf("bulk: %s for a %s of %s: ", op, layout.Name[F](), layout.Name[T]())
	element := new(T)
	var v F
	size := unsafe.Sizeof(v)
	if size == 0 {
		panic(what + "the field has no size: leave it out")
	}
	// The addresses are only subtracted: no uintptr becomes a pointer again.
	offset := uintptr(unsafe.Pointer(field(element))) - uintptr(unsafe.Pointer(element))
	if whole := unsafe.Sizeof(*element); offset > whole || size > whole-offset {
		panic(what + "the function must return the address of a field of its argument")
	}
	c := &Temporary[F]{offset: offset, stride: unsafe.Sizeof(*element), back: back, n: &t.n,
		padded: &t.padded}
	if t.n > 0 {
		panic(what + "name all fields before passing elements")
	}
	for _, other := range t.columns {
		if lo, hi := other.written(); back && lo < offset+size && offset < hi {
			panic(what + "another column already writes back a part of the field: name each part once, " +
				"or use InputOf")
		}
	}
	t.columns = append(t.columns, c)
	t.rows = 0 // the memory must be divided again
	return c
}

// Safe sets the value of rows without an element: holes of a pool, and padding. The default is zero in all
// bytes. Safe panics when v has a number that is NaN or denormal. It returns c.
func (c *Temporary[F]) Safe(v F) *Temporary[F] {
	if is := unsafeNumber(&v); is != "" {
		panic(fmt.Sprintf("bulk: Safe(%v) for a temporary column: the value is %s: use another value, "+
			"because calculations may read rows without an element", v, is))
	}
	c.safe = v
	return c
}

// Slice returns the values of the current block, one for each row. The slice begins at a multiple of 64
// bytes. It is valid until the loop's body ends, and empty outside of an iteration.
func (c *Temporary[F]) Slice() []F { return c.rows[:*c.n] }

// Padded is Slice with padding up to a multiple of 16 rows. Padding rows hold the safe value. Blocks of a
// pool have no padding.
func (c *Temporary[F]) Padded() []F { return c.rows[:*c.padded] }

// The remaining methods implement the interface temporary.

func (c *Temporary[F]) bytes() int {
	var v F
	return int(unsafe.Sizeof(v))
}

func (c *Temporary[F]) written() (lo, hi uintptr) {
	if !c.back {
		return 0, 0
	}
	return c.offset, c.offset + uintptr(c.bytes())
}

// place is sound because the memory has room for the rows and begins at a cache line, and F holds no Go
// pointers.
func (c *Temporary[F]) place(memory unsafe.Pointer, rows int) {
	c.rows = unsafe.Slice((*F)(memory), rows)
}

// at returns the address of the field of element i; elements is the address of element 0. It is sound because
// the function column checks that the field lies inside an element.
func (c *Temporary[F]) at(elements unsafe.Pointer, i int) *F {
	return (*F)(unsafe.Add(elements, uintptr(i)*c.stride+c.offset))
}

func (c *Temporary[F]) gather(row int, elements unsafe.Pointer, n int) {
	rows := c.rows[row : row+n]
	// The addresses are sound as in the method at. Adding up strides saves a load and a multiplication for
	// each element.
	for i, off, stride := 0, c.offset, c.stride; i < len(rows); i, off = i+1, off+stride {
		rows[i] = *(*F)(unsafe.Add(elements, off))
	}
}

func (c *Temporary[F]) scatter(row int, elements unsafe.Pointer, n int) {
	if !c.back {
		return
	}
	rows := c.rows[row : row+n]
	for i, off, stride := 0, c.offset, c.stride; i < len(rows); i, off = i+1, off+stride {
		*(*F)(unsafe.Add(elements, off)) = rows[i]
	}
}

func (c *Temporary[F]) gatherSome(row int, elements unsafe.Pointer, mask uint64) {
	c.pad(row, row+wordBits)
	rows := c.rows[row : row+wordBits]
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask)
		rows[i] = *c.at(elements, i)
	}
}

func (c *Temporary[F]) scatterSome(row int, elements unsafe.Pointer, mask uint64) {
	if !c.back {
		return
	}
	rows := c.rows[row : row+wordBits]
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask)
		*c.at(elements, i) = rows[i]
	}
}

func (c *Temporary[F]) pad(from, to int) {
	rows := c.rows[from:to]
	for i := range rows {
		rows[i] = c.safe
	}
}
