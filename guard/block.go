package guard

import (
	"bytes"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// block describes one block: spare, live or freed. The description lies on the Go heap, outside of the region
// that bad writes damage.
type block struct {
	page, pages int // first page and number of pages; a guard page follows
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
	name  string // "" for plain bytes
	count int    // elements of a slice; -1 for one value
}

// state is the state of a block.
type state uint8

const (
	spare state = iota // committed and kept for an allocation that must not fail
	live
	freed
)

// place returns the offset in the region of a block whose pages begin at page. The block is as near to the
// end of its pages as its alignment allows. With Options.AtStart, the block begins at the start of its pages.
func (a *Allocator) place(page, size, align int) int {
	offset := page * vm.PageSize()
	if a.o.AtStart {
		return offset
	}
	rounded := roundedSize(size, align)
	return offset + pagesOf(rounded)*vm.PageSize() - rounded
}

// roundedSize returns the bytes that a block takes at the end of its pages. A block of size zero takes at
// least one byte, so that it has an address of its own.
func roundedSize(size, align int) int { return (max(1, size) + align - 1) &^ (align - 1) }

// pagesOf returns the number of pages for a block of a rounded size.
func pagesOf(bytes int) int { return (bytes + vm.PageSize() - 1) / vm.PageSize() }

// canary is the pattern of the slack, one page long. Neighbouring bytes differ, so that a write of the
// pattern shifted by a few bytes is detected.
var canary = func() []byte {
	b := make([]byte, vm.PageSize())
	for i := range b {
		b[i] = byte(0xA5 + 31*i + i>>8)
	}
	return b
}()

// slack returns the bytes before and after the block in its pages. Each of the two parts lies in one page,
// and fills this page only if the block's size is zero. The conversion is sound while the block's pages are
// committed or lie on the Go heap.
func (a *Allocator) slack(b *block) (before, after []byte) {
	page := vm.PageSize()
	lo, hi := b.page*page, (b.page+b.pages)*page
	before = unsafe.Slice((*byte)(unsafe.Add(a.base, lo)), b.start-lo)
	after = unsafe.Slice((*byte)(unsafe.Add(a.base, b.start+b.size)), hi-b.start-b.size)
	return before, after
}

// mark fills the slack of a block with the pattern.
func (a *Allocator) mark(b *block) {
	before, after := a.slack(b)
	copy(before, canary)
	copy(after, canary[len(canary)-len(after):])
}

// damage returns the offset, from the block's start, of the first overwritten byte of its slack.
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

// fillFreed fills the pages of a freed block on the Go heap with the pattern. A later write to these pages
// does not fault, and Check finds the write by the pattern.
func (a *Allocator) fillFreed(b *block) {
	for page := range b.pages {
		copy(a.pageOf(b.page+page), canary)
	}
}

// disturbed returns the offset, from the block's start, of the first byte that has changed since fillFreed.
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

// firstDifference returns the first index at which two slices of equal length differ, or -1.
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
