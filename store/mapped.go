package store

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
	"github.com/vastgo/vast/store/internal/disk"
)

// A moment that is only looked at need not be read. The system can map elements from the file: it reads a page
// when the page is touched. It maps whole pages only. So the files of a folder place long blocks of elements
// where the offset of an element in its page of the file is that of the same element in memory. Padding before
// the block sees to that. The offset in memory follows from the number of the column (see bitset.Skew), so it
// is the same in each process that makes the columns in the same order. Where it is another, or the block is
// short, the elements are read.
//
// What the library relies on is always read and checked: bits, generations, owners, links, extents, and what
// pools and containers have. Elements of a Column are values of the program. Nothing follows from them.

const (
	// leastPlaced is how many bytes a block must have to be placed: padding takes less than 1 % then.
	leastPlaced = 512 << 10
	// mostPadding is the most bytes of a block of padding: a header may have to be longer by a page.
	mostPadding = mapped.PageSize + bytesHeader
	// leastMapped is how many bytes are worth a mapping. Mappings are limited, and reading is fast.
	leastMapped = 64 << 10
)

// placed reports whether the long blocks of an array of the description are placed, and may be mapped.
func (m *manifest) placed(a *arrayManifest) bool {
	if a.Kind != state.Elements || a.Column < 0 {
		return false
	}
	c := &m.Columns[a.Column]
	return c.Storage == storages[probing.StorageDense] && c.Linked == "" && !c.Names
}

// noteSkews enters into the description where elements lie in their pages.
func (p *picture) noteSkews() {
	for i := range p.m.Arrays {
		if a := &p.m.Arrays[i]; p.m.placed(a) {
			a.Skew = int(uintptr(p.state.Arrays[i].Base) % mapped.PageSize)
		}
	}
}

// place writes a block of a file with the description m, where its elements can be mapped.
func (w *blockWriter) place(m *manifest, b block, bytes []byte) error {
	if b.kind == blockArray && len(bytes) >= leastPlaced {
		if a := &m.Arrays[b.index]; m.placed(a) {
			if err := w.pad(int64(a.Skew) + int64(b.first)*int64(a.Type.Size)); err != nil {
				return err
			}
		}
	}
	return w.write(b, bytes)
}

// pad writes padding, so that the bytes of the next block lie as far behind the beginning of a page of the file
// as the offset at.
func (w *blockWriter) pad(at int64) error {
	gap := (at - w.offset - bytesHeader) & (mapped.PageSize - 1)
	if gap == 0 {
		return nil
	}
	if gap < bytesHeader {
		gap += mapped.PageSize
	}
	return w.write(block{kind: blockPadding}, zeros[:gap-bytesHeader])
}

var zeros [mostPadding]byte

// mapElements maps the whole pages of a block of elements, and reads what the block has of other pages. The
// checksum of the block is not checked. If mapElements returns false, the block must be read.
func (l *loader) mapElements(t *target, dst []byte) (done bool, err error) {
	src, ok := l.r().src.(*places)
	if !ok {
		return false, nil
	}
	file, ok := src.src.(disk.File)
	if !ok {
		return false, nil
	}
	// The addresses are those of committed memory outside of Go's heap.
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(dst)))
	lo := int(-addr & (mapped.PageSize - 1))
	hi := len(dst) - int((addr+uintptr(len(dst)))&(mapped.PageSize-1))
	if hi-lo < leastMapped || (src.offset+int64(lo))%mapped.PageSize != 0 {
		return false, nil
	}
	number := l.r().blocks - 1
	var failed error
	_, err = disk.Descriptor(file, func(descriptor uintptr, size int64) {
		if end := src.offset + int64(len(dst)); end > size {
			failed = fmt.Errorf("block %d ends at byte %d, and the file at byte %d", number, end, size)
			return
		}
		done, failed = mapped.Map(unsafe.Pointer(&dst[lo]), hi-lo, descriptor, src.offset+int64(lo))
	})
	if err = errors.Join(err, failed); err != nil || !done {
		l.maps = false // the next block would be refused, too
		return false, err
	}
	t.mapped = true
	err = readAt(src.src, dst[:lo], src.offset)
	if err == nil {
		err = readAt(src.src, dst[hi:], src.offset+int64(hi))
	}
	if err != nil {
		return true, fmt.Errorf("block %d: %w", number, err)
	}
	src.offset += int64(len(dst))
	return true, nil
}
