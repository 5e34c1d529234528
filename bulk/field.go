package bulk

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
)

// Field is one field of the rows of a [Table]: a T for each row. [NewField] makes it.
//
// While no goroutine changes the table, any number of goroutines may use its fields. The caller must
// synchronize access to the values.
type Field[T any] struct{ field }

// field is the part of a Field that does not depend on T.
type field struct {
	rowLocator
	table *Table
	size  int // of a value, in bytes
	typ   reflect.Type
	name  string
	safe  []byte // the bytes of the value that padding and new rows have
	zero  bool   // all bytes of safe are zero
}

// NewField adds a field to the rows of t. The name appears in messages. NewField panics when T holds Go
// pointers or has no size, when t already has a field of that name, and when t has rows or room for rows,
// because room fixes the places of the fields.
func NewField[T any](t *Table, name string) *Field[T] {
	layout.Check[T]("bulk: NewField")
	t.mustBeOpen()
	var v T
	what := fmt.Sprintf("bulk: NewField[%s](%q) on %s: ", layout.Name[T](), name, t.plan.name)
	if unsafe.Sizeof(v) == 0 {
		panic(what + "the values have no size: leave this field out")
	}
	if t.region != nil {
		panic(what + "add all fields before the first row and before Grow")
	}
	for _, f := range t.fields {
		if f.name == name {
			panic(what + "there is a field of that name: give each field its own name")
		}
	}
	size := int(unsafe.Sizeof(v))
	x := &Field[T]{field{table: t, size: size, typ: reflect.TypeFor[T](), name: name,
		safe: make([]byte, size), zero: true}}
	t.fields = append(t.fields, &x.field)
	return x
}

// Safe sets the value of new rows and of the padding, and returns x. By default all bytes of the value are
// zero. Set another value, such as 1, if code divides by the field. Safe panics when v has a number that is
// NaN or denormal, because these numbers make processors signal or become slow. It also panics when the table
// has rows or room for rows.
func (x *Field[T]) Safe(v T) *Field[T] {
	x.table.mustBeOpen()
	if x.table.region != nil {
		panic(fmt.Sprintf("bulk: Safe(%v) for field %q of %s: set safe values before the first row and "+
			"before Grow",
			v, x.name, x.table.plan.name))
	}
	if is := unsafeNumber(&v); is != "" {
		panic(fmt.Sprintf("bulk: Safe(%v) for field %q of %s: the value is %s: choose a normal number, "+
			"because vector code calculates with it",
			v, x.name, x.table.plan.name, is))
	}
	x.setSafe(bytesOf(&v))
	return x
}

// bytesOf returns the memory of v, which holds no Go pointers.
func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

func (f *field) setSafe(v []byte) {
	copy(f.safe, v)
	f.zero = true
	for _, b := range v {
		f.zero = f.zero && b == 0
	}
}

// At returns the address of the value in the given row. The address is valid until the row is removed or
// another row moves into its place. At panics when row is not in [0, Len). Complexity: constant.
func (x *Field[T]) At(row int) *T {
	if uint(row) >= uint(x.table.len) {
		panic(&rowError{"At", row, x.table})
	}
	var v T
	return (*T)(x.at(row, unsafe.Sizeof(v)))
}

// Slice returns the values of a block's rows, and of its padding if the block comes from
// [Table.PaddedBlocks]. The address of the first value is a multiple of 32 bytes with [LayoutBlocks8], and of
// 64 bytes with every other layout. The slice is valid until rows are removed. Slice panics for a block of
// another table, and for a block that ends behind the last row.
func (x *Field[T]) Slice(b Block) []T {
	if b.table != x.table || b.end > x.table.len {
		panic(&blockError{b, &x.field})
	}
	return unsafe.Slice((*T)(unsafe.Add(x.base, b.index*x.stride)), b.n)
}

// fill puts the safe value into rows [lo, hi), which have memory.
func (f *field) fill(lo, hi int) {
	for lo < hi {
		n := hi - lo
		if f.stride > 0 {
			n = min(n, f.table.group-lo%f.table.group)
		}
		b := unsafe.Slice((*byte)(f.at(lo, uintptr(f.size))), n*f.size)
		if f.zero {
			clear(b)
		} else {
			for done := copy(b, f.safe); done < len(b); done *= 2 {
				copy(b[done:], b[:done])
			}
		}
		lo += n
	}
}
