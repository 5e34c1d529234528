package guard

import (
	"bytes"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// block is the description of a spare, live or freed block. The description lies on the Go heap, outside of
// the region that bad writes damage.
type block struct {
	page, pages int // first page and number of pages, without the guard page behind them
	start       int // offset of the first byte in the region
	size        int // bytes
	what        kind
	state       state
	allocated   calls
	freed       calls
	after       *block // the next block in the quarantine, freed after this block
}

// kind is the type of a block's content: one value, a slice of values, or plain bytes.
type kind struct {
	name  string // the type of the value or of an element, "" for plain bytes
	count int    // number of elements of a slice, -1 for one value
}

type state uint8

const (
	spare state = iota // committed and kept for an allocation that must not fail
	live
	freed
)

// place returns the offset in the region of a block whose pages begin at page. With Options.AtStart, the
// block begins at the start of its pages. Otherwise the block is as near to the end of its pages as its
// alignment allows.
func (a *Allocator) place(page, size, align int) int {
	offset := page * vm.PageSize()
	if a.o.AtStart {
		return offset
	}
	rounded := roundedSize(size, align)
	return offset + pagesOf(rounded)*vm.PageSize() - rounded
}

// roundedSize returns the size of a block, rounded up to a multiple of align. The result for size zero is
// align, so that the block has an address of its own.
func roundedSize(size, align int) int { return (max(1, size) + align - 1) &^ (align - 1) }

func pagesOf(bytes int) int { return (bytes + vm.PageSize() - 1) / vm.PageSize() }

// canary is the pattern of the slack, one page long. Neighbouring bytes of the pattern differ, so that Check
// also finds a shifted pattern.
var canary = func() []byte {
	b := make([]byte, vm.PageSize())
	for i := range b {
		b[i] = byte(0xA5 + 31*i + i>>8)
	}
	return b
}()

// slack returns the bytes before and after the block in its pages. Each of the two slices lies in one page.
// The slices are valid while the block's pages are committed or lie on the Go heap.
func (a *Allocator) slack(b *block) (before, after []byte) {
	page := vm.PageSize()
	lo, hi := b.page*page, (b.page+b.pages)*page
	before = unsafe.Slice((*byte)(unsafe.Add(a.base, lo)), b.start-lo)
	after = unsafe.Slice((*byte)(unsafe.Add(a.base, b.start+b.size)), hi-b.start-b.size)
	return before, after
}

func (a *Allocator) mark(b *block) {
	before, after := a.slack(b)
	copy(before, canary)
	copy(after, canary[len(canary)-len(after):])
}

// damage looks for overwritten bytes in the slack of a block. It returns the offset of the first one from the
// block's start.
func (a *Allocator) damage(b *block) (offset int, damaged bool) {
	before, after := a.slack(b)
	if i := firstDifference(before, canary[:len(before)]); i >= 0 {
		return i - len(before), true
	}
	if i := firstDifference(after, canary[len(canary)-len(after):]); i >= 0 {
		return b.size + i, true
	}
	return 0, false
}

// fillFreed fills the pages of a freed block on the Go heap with the pattern. Check finds later writes to
// these pages, which do not fault.
func (a *Allocator) fillFreed(b *block) {
	for page := range b.pages {
		copy(a.pageOf(b.page+page), canary)
	}
}

// disturbed looks for bytes that have changed since fillFreed. It returns the offset of the first one from
// the block's start.
func (a *Allocator) disturbed(b *block) (offset int, changed bool) {
	for page := range b.pages {
		if i := firstDifference(a.pageOf(b.page+page), canary); i >= 0 {
			return (b.page+page)*vm.PageSize() + i - b.start, true
		}
	}
	return 0, false
}

func (a *Allocator) pageOf(page int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(a.base, page*vm.PageSize())), vm.PageSize())
}

// firstDifference returns the first index at which x and y differ, or -1. The slices have equal lengths.
func firstDifference(x, y []byte) int {
	if bytes.Equal(x, y) {
		return -1
	}
	for i := range x {
		if x[i] != y[i] {
			return i
		}
	}
	return -1
}
