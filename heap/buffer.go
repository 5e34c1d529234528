package heap

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
	"github.com/vastgo/vast/vm"
)

// Buffer is a sequence in a heap that grows at its end by whole pages. If the memory suffices, growing at
// least doubles the number of pages, so that the average cost of an insertion does not depend on the length.
// The capacity is the number of elements that fit into the pages: 1, 2, 4 and 8 pages of 4 KiB hold 13, 27,
// 54 and 109 elements of 300 bytes. The unused bytes at the end of the pages are fewer than the bytes of an
// element. If a buffer doubled its number of elements, half a page would be unused on average. The idea is
// from Niklas Gray ("Virtual Memory Tricks", 2017).
//
// Insertions, Grow and Truncate can move the elements, and make pointers and slices to the elements invalid.
// (An element of a [github.com/vastgo/vast/bulk.Array] never moves.) Growing a buffer of more than
// 256 KiB rarely moves the elements, and on Linux it moves them without a copy; see [Heap.Realloc].
//
// Only one goroutine at a time may use a buffer. Goroutines may have buffers in a shared heap if the heap was
// made without Options.Unshared.
type Buffer[T any] struct {
	heap     *Heap
	elements []T // in the heap; cap(elements) is the number of elements that fit into the pages
	pages    int
	ended    bool
}

// NewBuffer makes an empty buffer. The buffer takes no memory before the first insertion or Grow. NewBuffer
// panics when T holds Go pointers or has size zero.
func NewBuffer[T any](h *Heap) *Buffer[T] {
	_, _ = sliceSize[T]("NewBuffer", h, 0, 0)
	return &Buffer[T]{heap: h}
}

// fitting returns how many elements fit into a number of pages. page is the bytes of a page, and size the
// bytes of an element.
func fitting(pages, page, size int) int { return pages * page / size }

// nextPages returns the new page count of a buffer that must hold n elements: twice the present count, or
// more if n elements need more. It returns 0 if the count overflows. pages is the present count, page the
// bytes of a page, size the bytes of an element.
func nextPages(pages, page, size, n int) int {
	if n > (math.MaxInt-page)/2/size {
		return 0
	}
	return max(2*pages, (n*size+page-1)/page)
}

// Append puts v at the end. If there is no room, Append panics with the [*vm.Error] that [Buffer.Grow] would
// return, and the buffer is unchanged.
func (b *Buffer[T]) Append(v T) {
	if len(b.elements) == cap(b.elements) {
		if err := b.Grow(1); err != nil {
			panic(err)
		}
	}
	n := len(b.elements)
	b.elements = b.elements[:n+1]
	b.elements[n] = v
}

// AppendN puts n zero elements at the end and returns them. It panics and fails as [Buffer.Grow] does.
func (b *Buffer[T]) AppendN(n int) ([]T, error) {
	if err := b.Grow(n); err != nil {
		return nil, err
	}
	have := len(b.elements)
	b.elements = b.elements[:have+n]
	return b.elements[have : have+n : have+n], nil // an append to the result must not write behind it
}

// Grow makes room for n more elements, so that the next n insertions cannot fail. It panics when n is
// negative. Grow returns an error as [Heap.Alloc] does, or an error wrapping [vm.ErrSize] if the byte count
// overflows. After an error, the buffer is unchanged.
func (b *Buffer[T]) Grow(n int) error {
	b.mustBeOpen("Grow")
	have := len(b.elements)
	if n < 0 {
		panic(fmt.Sprintf("heap: Grow(%d) on a buffer in %s: a number of elements is zero or more", n,
			b.heap.name))
	}
	if n <= cap(b.elements)-have {
		return nil
	}
	size := layout.Size[T]()
	page := vm.PageSize()
	pages := 0
	if n <= math.MaxInt-have {
		pages = nextPages(b.pages, page, size, have+n)
	}
	if pages == 0 {
		return &vm.Error{Op: "grow", Purpose: b.heap.name, Bytes: math.MaxInt, Err: vm.ErrSize,
			Detail: fmt.Sprintf("%d elements and another %d, of %d bytes each, are more than any address "+
				"space has", have, n, size)}
	}
	exact := (have*size + n*size + page - 1) / page
	err := b.resize(pages)
	if err != nil && exact < pages {
		err = b.resize(exact)
	}
	return err
}

// resize changes the number of pages. The new pages must hold all elements. The bytes behind the elements
// stay zero.
func (b *Buffer[T]) resize(pages int) error {
	page := vm.PageSize()
	p, err := b.heap.Realloc(unsafe.Pointer(unsafe.SliceData(b.elements)), pages*page, page)
	if err != nil {
		return err
	}
	b.elements = unsafe.Slice((*T)(p), fitting(pages, page, layout.Size[T]()))[:len(b.elements)]
	b.pages = pages
	return nil
}

// Truncate removes all elements except the first n. If the first n elements need at most a quarter of the
// pages, Truncate gives back half of the pages or more. It panics when n is not in [0, Len].
func (b *Buffer[T]) Truncate(n int) {
	b.mustBeOpen("Truncate")
	if uint(n) > uint(len(b.elements)) {
		panic(fmt.Sprintf("heap: Truncate(%d) on a buffer of length %d in %s", n, len(b.elements),
			b.heap.name))
	}
	size, page := layout.Size[T](), vm.PageSize()
	pages := b.pages
	if need := (n*size + page - 1) / page; need <= b.pages/4 {
		pages = 2 * need
	}
	// AppendN relies on zero bytes behind the elements.
	clear(b.elements[n:min(len(b.elements), (pages*page+size-1)/size)])
	b.elements = b.elements[:n]
	switch {
	case pages == b.pages:
	case n == 0:
		b.free()
	default:
		_ = b.resize(pages) // making an allocation smaller cannot fail
	}
}

func (b *Buffer[T]) free() {
	b.heap.Free(unsafe.Pointer(unsafe.SliceData(b.elements)))
	b.elements, b.pages = nil, 0
}

// At returns the address of element i. A call that can move the elements makes the address invalid: see
// [Buffer]. At panics when i is not in [0, Len).
func (b *Buffer[T]) At(i int) *T {
	if uint(i) >= uint(len(b.elements)) {
		b.outside(i)
	}
	return &b.elements[i]
}

func (b *Buffer[T]) outside(i int) {
	b.mustBeOpen("At")
	panic(fmt.Sprintf("heap: At(%d) on a buffer of length %d in %s", i, len(b.elements), b.heap.name))
}

// Slice returns the elements. A call that can move the elements makes the slice invalid: see [Buffer].
func (b *Buffer[T]) Slice() []T { return b.elements[:len(b.elements):len(b.elements)] }

// Len returns the number of elements; 0 after Close.
func (b *Buffer[T]) Len() int { return len(b.elements) }

// Cap returns the number of elements that the pages can hold.
func (b *Buffer[T]) Cap() int { return cap(b.elements) }

// Committed returns the number of bytes of the buffer's pages; 0 after Close.
func (b *Buffer[T]) Committed() int { return b.pages << b.heap.pages.shift }

// Close gives the memory back. The elements must not be used afterwards, and changing the buffer panics.
// Closing a closed buffer does nothing. The heap may be closed before the buffer. Close always returns nil.
// It has a result so that a buffer is an [io.Closer].
func (b *Buffer[T]) Close() error {
	if b.ended {
		return nil
	}
	b.ended = true
	b.heap.lock()
	closed := b.heap.closed
	b.heap.unlock()
	if closed {
		b.elements, b.pages = nil, 0
		return nil
	}
	b.free()
	return nil
}

func (b *Buffer[T]) mustBeOpen(op string) {
	if b.ended {
		panic(fmt.Sprintf("heap: %s on a buffer in %s after Close: keep it open as long as its elements "+
			"are in use", op, b.heap.name))
	}
}
