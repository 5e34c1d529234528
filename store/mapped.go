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

// A tool that inspects a checkpoint need not read all elements, because the operating system can map them
// from the file: it reads a page when the tool first touches the page. Only whole pages can be mapped. So
// mapped elements must have the same offset in a page of the file as in a page of memory.
//
// A run is a sequence of adjoining blocks of one array. In the files of a store, each long run of elements of
// a Column is placed: padding gives the elements the offset that they have in memory. The headers of all
// blocks of a placed run come first, then the padding, then the elements. The offset in memory follows from
// the number of the column (see bitset.Skew), so it is the same in each process that makes the columns in the
// same order. If the offset differs, or if the run is short, the elements are read.
//
// Only elements of a Column are mapped: they are values of the program, and the library does not rely on
// them. All other data is read and checked: bits, generations, owners, links, extents, and the data of pools
// and containers.

const (
	// maxPlaced limits the bytes of a run of several blocks. The limit is large because each run needs a
	// mapping, and the system limits the number of mappings.
	maxPlaced = 64 << 20
	// maxMerged limits the bytes of a run in files that a merge writes. The limit is smaller because a merge
	// holds the run in memory.
	maxMerged = 8 << 20
	// maxListed is the largest number of blocks in a run. A reader refuses longer runs.
	maxListed = 1 << 10
)

var (
	// minPlaced is the least number of bytes of a placed run. A run has less than a page of padding, which
	// is less than 1 % of its bytes.
	minPlaced = 512 << 10
	// minMapped is the least number of bytes that are mapped. Reading fewer bytes is fast enough.
	minMapped = 64 << 10
)

// placed reports whether the long runs of an array are placed in the file, so that they can be mapped.
func (m *manifest) placed(a *arrayManifest) bool {
	if a.Kind != state.Elements || a.Column < 0 {
		return false
	}
	c := &m.Columns[a.Column]
	return c.Storage == storages[probing.StorageDense] && c.Linked == "" && !c.Names
}

// noteSkews sets the Skew of arrays in the manifest: the offset of the first element in its page of memory.
func (p *picture) noteSkews() {
	for i := range p.m.Arrays {
		if a := &p.m.Arrays[i]; p.m.placed(a) {
			a.Skew = int(uintptr(p.state.Arrays[i].Base) % mapped.PageSize)
		}
	}
}

// maxPaddingOf returns the largest number of padding bytes in a file with the given number of element bytes.
func maxPaddingOf(bytes int64) int64 { return bytes / int64(minPlaced) * mapped.PageSize }

// together returns how many of the first blocks can form a run.
func together(m *manifest, blocks []staged) int {
	first := &blocks[0]
	if first.kind != blockArray || !m.placed(&m.Arrays[first.index]) {
		return 1
	}
	end, bytes := first.first+first.count, len(first.own)
	for n := 1; n < min(len(blocks), maxListed); n++ {
		b := &blocks[n]
		if b.kind != blockArray || b.index != first.index || b.first != end || bytes+len(b.own) > maxPlaced {
			return n
		}
		end += b.count
		bytes += len(b.own)
	}
	return min(len(blocks), maxListed)
}

// writeRun writes a run, or a single block of any kind. It places a long run.
func (w *blockWriter) writeRun(m *manifest, run []staged) error {
	bytes := 0
	for i := range run {
		bytes += len(run[i].own)
	}
	first := &run[0]
	if first.kind != blockArray || bytes < minPlaced || !m.placed(&m.Arrays[first.index]) {
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
	filled [2]int // index of the first element, and index after the last element
}

// bytes returns the memory of the elements.
func (p *pending) bytes() []byte {
	first, last := &p.blocks[0], &p.blocks[len(p.blocks)-1]
	return unsafe.Slice(unsafe.SliceData(first.dst), last.offset-first.offset+int64(len(last.dst)))
}

// follows reports whether a block of the target t continues the run both in the file and in memory.
func (p *pending) follows(t *target, one part) bool {
	if len(p.blocks) == 0 || p.target != t {
		return false
	}
	last := p.blocks[len(p.blocks)-1]
	return last.offset+int64(len(last.dst)) == one.offset &&
		unsafe.Add(unsafe.Pointer(unsafe.SliceData(last.dst)), len(last.dst)) ==
			unsafe.Pointer(unsafe.SliceData(one.dst))
}

// mapElements adds a block of n elements to l.run, which mapRun maps later. first is the index of the block's
// first element. If mapElements returns false, the caller must read the block. The checksum of a mapped block
// is not checked.
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

// mapRun maps the whole pages of l.run. readEdges later reads the elements before and after these pages. If
// the run is short or cannot be mapped, mapRun lets the goroutines of the source read it.
func (l *loader) mapRun() error {
	run := &l.run
	if len(run.blocks) == 0 {
		return nil
	}
	defer func() { run.blocks = run.blocks[:0] }()
	bytes, offset, number := run.bytes(), run.blocks[0].offset, run.blocks[0].number
	// The memory lies outside of Go's heap, so a mapping may replace it.
	addr := uintptr(unsafe.Pointer(&bytes[0]))
	lo := int(-addr & (mapped.PageSize - 1))
	hi := len(bytes) - int((addr+uintptr(len(bytes)))&(mapped.PageSize-1))
	done := false
	if l.maps && hi-lo >= minMapped {
		var errMap error
		known, err := disk.Descriptor(run.file, func(descriptor uintptr, size int64) {
			if end := offset + int64(len(bytes)); end > size {
				errMap = fmt.Errorf("the elements that begin with block %d end at byte %d, but the file "+
					"ends at byte %d", number, end, size)
				return
			}
			done, errMap = mapped.Map(unsafe.Pointer(&bytes[lo]), hi-lo, descriptor, offset+int64(lo))
		})
		if err = errors.Join(err, errMap); err != nil {
			return err
		}
		l.maps = known && done // after one refusal, the system would probably refuse all runs
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

// readEdges reads the parts of mapped runs that do not fill a page. load calls readEdges after the last run
// of a file: an earlier write to a page could allocate a huge page, which would include pages of later runs.
func (l *loader) readEdges() error {
	for _, one := range l.edges {
		if err := readAt(l.r().src.(*places).src, one.dst, one.offset); err != nil {
			return fmt.Errorf("block %d: %w", one.number, err)
		}
	}
	l.edges = l.edges[:0]
	return nil
}
