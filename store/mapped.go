package store

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/mapped"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// A tool that looks at a checkpoint need not read all of its elements. The system can map elements from the
// file: it reads a page when the page is touched. It maps whole pages only. So in the files of a folder, an
// element of a long run has the same offset in its page of the file as in its page of memory. The headers of
// the blocks come before the run, and padding after the headers. The offset in memory follows from the number
// of the column (see bitset.Skew), so it is the same in each process that makes the columns in the same
// order. If the offset differs, or if the run is short, the elements are read.
//
// Data that the library relies on is always read and checked: bits, generations, owners, links, extents, and
// the data of pools and containers. Elements of a Column are values of the program. The library does not rely
// on them.

const (
	// mostPlaced is about the largest number of bytes of a run. Each run needs a mapping, and the system
	// limits the number of mappings.
	mostPlaced = 64 << 20
	// mostMerged is the same for files that a merge writes, because a merge holds the run in memory.
	mostMerged = 8 << 20
	// mostListed is the largest number of blocks of a run that a reader accepts.
	mostListed = 1 << 10
)

var (
	// leastPlaced is how many bytes a run must have to be placed. Padding takes less than 1 % then.
	leastPlaced = 512 << 10
	// leastMapped is the least number of bytes that are mapped. Fewer bytes are read, which is fast.
	leastMapped = 64 << 10
)

// placed reports whether the long runs of an array of the description are placed, and may be mapped.
func (m *manifest) placed(a *arrayManifest) bool {
	if a.Kind != state.Elements || a.Column < 0 {
		return false
	}
	c := &m.Columns[a.Column]
	return c.Storage == storages[probing.StorageDense] && c.Linked == "" && !c.Names
}

// noteSkews sets the skews of the arrays in the description.
func (p *picture) noteSkews() {
	for i := range p.m.Arrays {
		if a := &p.m.Arrays[i]; p.m.placed(a) {
			a.Skew = int(uintptr(p.state.Arrays[i].Base) % mapped.PageSize)
		}
	}
}

// mostPaddingOf returns the most bytes of padding in a file with the given bytes of elements.
func mostPaddingOf(bytes int64) int64 { return bytes / int64(leastPlaced) * mapped.PageSize }

// together returns how many of the first blocks can be a run: elements of one array that follow each other.
func together(m *manifest, blocks []staged) int {
	first := &blocks[0]
	if first.kind != blockArray || !m.placed(&m.Arrays[first.index]) {
		return 1
	}
	end, bytes := first.first+first.count, len(first.own)
	for n := 1; n < min(len(blocks), mostListed); n++ {
		b := &blocks[n]
		if b.kind != blockArray || b.index != first.index || b.first != end || bytes+len(b.own) > mostPlaced {
			return n
		}
		end += b.count
		bytes += len(b.own)
	}
	return min(len(blocks), mostListed)
}

// writeRun writes a run of a file with the description m, or a single block.
func (w *blockWriter) writeRun(m *manifest, run []staged) error {
	bytes := 0
	for i := range run {
		bytes += len(run[i].own)
	}
	first := &run[0]
	if first.kind != blockArray || bytes < leastPlaced || !m.placed(&m.Arrays[first.index]) {
		for i := range run {
			if err := w.write(run[i].block, run[i].own); err != nil {
				return err
			}
		}
		return nil
	}
	a := &m.Arrays[first.index]
	w.buffer = w.buffer[:0]
	for i := range run {
		w.buffer = appendHeader(w.buffer, run[i].block, run[i].own)
	}
	at := int64(a.Skew) + int64(first.first)*int64(a.Type.Size)
	gap := (at - w.offset - int64(bytesHeader+len(w.buffer))) & (mapped.PageSize - 1)
	w.buffer = append(w.buffer, make([]byte, gap)...)
	if err := w.write(block{kind: blockHeaders, count: uint64(len(run))}, w.buffer); err != nil {
		return err
	}
	w.blocks += uint64(len(run))
	w.offset += int64(bytes)
	for i := range run {
		if _, err := w.dst.Write(run[i].own); err != nil {
			return err
		}
	}
	return nil
}

// pending is a run of elements that is to be mapped: blocks whose bytes lie side by side in a file and in
// memory.
type pending struct {
	*target
	file   disk.File
	blocks []part
	filled [2]int // the elements
}

// bytes returns the memory of the elements.
func (p *pending) bytes() []byte {
	first, last := &p.blocks[0], &p.blocks[len(p.blocks)-1]
	return unsafe.Slice(unsafe.SliceData(first.dst), last.offset-first.offset+int64(len(last.dst)))
}

// follows reports whether a block is the next one of the run.
func (p *pending) follows(t *target, one part) bool {
	if len(p.blocks) == 0 || p.target != t {
		return false
	}
	last := p.blocks[len(p.blocks)-1]
	return last.offset+int64(len(last.dst)) == one.offset &&
		unsafe.Add(unsafe.Pointer(unsafe.SliceData(last.dst)), len(last.dst)) ==
			unsafe.Pointer(unsafe.SliceData(one.dst))
}

// mapElements maps the block of n elements from first on, or notes that it is to be mapped. Its checksum is
// not checked. If mapElements returns false, the block must be read.
func (l *loader) mapElements(t *target, first, n int) (bool, error) {
	src, ok := l.r().src.(*places)
	if !ok {
		return false, nil
	}
	file, ok := src.src.(disk.File)
	one := part{t.array.Bytes(first, first+n), src.offset, l.r().blocks - 1, l.r().sum}
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(one.dst)))
	if !ok || len(one.dst) == 0 || (addr-uintptr(one.offset))%mapped.PageSize != 0 {
		return false, nil
	}
	if !l.run.follows(t, one) {
		if err := l.mapRun(); err != nil {
			return false, err
		}
		l.run = pending{target: t, file: file, blocks: l.run.blocks[:0], filled: [2]int{first, first}}
	}
	l.run.blocks = append(l.run.blocks, one)
	l.run.filled[1] += n
	src.offset += int64(len(one.dst))
	return true, nil
}

// mapRun maps the whole pages of the run that mapElements has found. readEdges reads the parts of the run
// that lie in other pages. If the run cannot be mapped, mapRun begins to read it.
func (l *loader) mapRun() error {
	run := &l.run
	if len(run.blocks) == 0 {
		return nil
	}
	defer func() { run.blocks = run.blocks[:0] }()
	bytes, offset, number := run.bytes(), run.blocks[0].offset, run.blocks[0].number
	// The addresses are those of committed memory outside of Go's heap.
	addr := uintptr(unsafe.Pointer(&bytes[0]))
	lo := int(-addr & (mapped.PageSize - 1))
	hi := len(bytes) - int((addr+uintptr(len(bytes)))&(mapped.PageSize-1))
	done := false
	if l.maps && hi-lo >= leastMapped {
		var failed error
		of, err := disk.Descriptor(run.file, func(descriptor uintptr, size int64) {
			if end := offset + int64(len(bytes)); end > size {
				failed = fmt.Errorf("the elements from block %d on end at byte %d, and the file at byte %d",
					number, end, size)
				return
			}
			done, failed = mapped.Map(unsafe.Pointer(&bytes[lo]), hi-lo, descriptor, offset+int64(lo))
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		l.maps = of && done // the next one would be refused, too
	}
	if !done {
		run.array.Filled = append(run.array.Filled, run.filled)
		for _, one := range run.blocks {
			l.r().src.(*places).later(one)
		}
		return nil
	}
	run.mapped = true
	l.edges = append(l.edges, part{dst: bytes[:lo], offset: offset, number: number},
		part{dst: bytes[hi:], offset: offset + int64(hi), number: number})
	return nil
}

// readEdges reads the parts that mapRun has left. load calls it when all of a file is mapped: a page that is
// touched earlier may lie in a huge page with others that are mapped next.
func (l *loader) readEdges() error {
	for _, one := range l.edges {
		if err := readAt(l.r().src.(*places).src, one.dst, one.offset); err != nil {
			return fmt.Errorf("block %d: %w", one.number, err)
		}
	}
	l.edges = l.edges[:0]
	return nil
}
