package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/vastgo/vast/internal/disk"
)

// A merge writes one file that replaces several files of a chain: all files, or the newest deltas. The merge
// holds in memory the extents of each file, one chunk of an array, up to two blocks, and the list of all
// blocks.

// compact replaces the file of a checkpoint by a file that holds the complete world. If the program or the
// machine dies during compact, the folder has the old or the new file.
func compact(folder disk.Folder, number uint64) (err error) {
	name := checkpointName(number)
	c, err := openChain(folder, number)
	if err != nil {
		return err
	}
	if len(c.layers) == 1 {
		return c.close()
	}
	if err = folder.Remove(name + unfinished); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, c.close())
	}
	f, err := folder.Create(name + unfinished)
	if err != nil {
		return errors.Join(err, c.close())
	}
	defer func() {
		if err != nil {
			_ = folder.Remove(name + unfinished)
		}
	}()
	err = c.merge(f, 0)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close(), c.close()); err != nil {
		return err
	}
	if err := folder.Rename(name+unfinished, name); err != nil {
		return err
	}
	return folder.Sync()
}

// merge merges the newest files of the last chain and the copy of the world into one file. oldest is the
// index of the first file to merge. If oldest is 0, the store allows deltas (maxDeltas > 0), and leavesRoom
// accepts a merge of only the deltas, merge begins with the first delta. base is the number of the checkpoint
// that the new file continues; it is 0 if the new file holds the complete world.
func (s *Store) merge(dst io.Writer, oldest int) (base uint64, err error) {
	c, err := openChain(s.folder, s.stage.m.Kept.Base)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.addCopy(&s.stage); err != nil {
		return 0, err
	}
	if oldest == 0 && s.maxDeltas > 0 {
		bytes, err := c.bytesOfDeltas()
		if err != nil {
			return 0, err
		}
		if s.leavesRoom(bytes) {
			oldest = 1
		}
	}
	if oldest > 0 {
		base = c.layers[oldest-1].m.Kept.Number
	}
	return base, c.merge(dst, oldest)
}

// found is a block of a layer.
type found struct {
	block
	offset int64  // offset of the block's bytes in the file
	number uint64 // number of the block in the file, counted from 0
	sum    uint32 // checksum of the block's bytes
	own    []byte // bytes of a block in memory; nil for a block in a file
}

// indexed is a layer with a list of its blocks.
type indexed struct {
	*layer
	src     io.ReaderAt // the file; nil for the copy in memory
	extents []byte
	// The indices of the following slices are indices in the manifest of the chain's last layer.
	arrayBlocks, columnBlocks, resourceBlocks [][]found
	lengths                                   []int // lengths of the arrays in this layer
}

// addCopy adds the copy of the world in memory as the newest layer. After addCopy, the chain can be merged,
// but not read.
func (c *chain) addCopy(top *stage) error {
	c.layers = append(c.layers, &layer{name: "the copy of the world", m: top.m, stage: top})
	return c.match()
}

// merge merges layers of the chain into one file. oldest is the index of the first layer to merge. If oldest
// is 0, the file holds the complete world. Otherwise the file is a delta that continues the layer before
// oldest. After merge, the chain cannot be read.
func (c *chain) merge(dst io.Writer, oldest int) error {
	layers, err := c.index(oldest)
	if err != nil {
		return err
	}
	m := c.manifest().complete()
	if oldest > 0 {
		m = c.mergedDelta(oldest)
	}
	out, err := newBlockWriter(dst, m.version())
	if err != nil {
		return err
	}
	if err := out.describe(m); err != nil {
		return err
	}
	extents := layers[len(layers)-1].extents
	if err := out.write(block{kind: blockExtents, count: uint64(m.Extents)}, extents); err != nil {
		return err
	}
	if err := c.mergeArrays(out, layers, m, oldest, &overlay{m: m}); err != nil {
		return err
	}
	_, columns, resources := whereFrom(c.layers[oldest:])
	var buffer []byte
	for i, n := range columns {
		if err := layers[n].copyTo(out, layers[n].columnBlocks[i], i, &buffer); err != nil {
			return err
		}
	}
	for i, n := range resources {
		if err := layers[n].copyTo(out, layers[n].resourceBlocks[i], i, &buffer); err != nil {
			return err
		}
	}
	return out.close()
}

// bytesOfDeltas returns the number of bytes that a merge of all deltas would write for arrays, columns and
// resources, including the headers of blocks, without the padding and the additional header of each placed
// run (see mapped.go).
func (c *chain) bytesOfDeltas() (int64, error) {
	layers, err := c.index(1)
	if err != nil {
		return 0, err
	}
	m := c.mergedDelta(1)
	var n tally
	if err := c.mergeArrays(&n, layers, m, 1, &overlay{m: m, onlyCount: true}); err != nil {
		return 0, err
	}
	_, columns, resources := whereFrom(c.layers[1:])
	for i, k := range columns {
		n.add(layers[k].columnBlocks[i])
	}
	for i, k := range resources {
		n.add(layers[k].resourceBlocks[i])
	}
	return n.bytes, nil
}

// runWriter is a destination for runs of blocks: adjacent blocks of an array, or a single block. m describes
// the file that gets the blocks. The bytes of the blocks are valid only during the call.
type runWriter interface {
	writeRun(m *manifest, run []staged) error
}

// tally counts the bytes that blocks would have in a file.
type tally struct{ bytes int64 }

func (c *tally) writeRun(_ *manifest, run []staged) error {
	for i := range run {
		c.bytes += bytesHeader + int64(len(run[i].own))
	}
	return nil
}

func (c *tally) add(blocks []found) {
	for i := range blocks {
		c.bytes += bytesHeader + int64(max(blocks[i].size, uint64(len(blocks[i].own))))
	}
}

// index lists the blocks of the layers from index oldest on.
func (c *chain) index(oldest int) (layers []*indexed, err error) {
	m := c.manifest()
	for _, y := range c.layers[oldest:] {
		if y.indexed == nil {
			x := &indexed{layer: y, arrayBlocks: make([][]found, len(m.Arrays)),
				columnBlocks:   make([][]found, len(m.Columns)),
				resourceBlocks: make([][]found, len(m.Resources)),
				lengths:        y.lengths(len(m.Arrays))}
			if y.stage != nil {
				x.scanCopy()
			} else if err := x.scanFile(); err != nil {
				return nil, fmt.Errorf("%s: %w", y.name, err)
			}
			y.indexed = x
		}
		layers = append(layers, y.indexed)
	}
	return layers, nil
}

// The manifest of the chain's last layer has n arrays. For each of them, lengths returns the length that the
// array has in layer y. The length is 0 if layer y lacks the array.
func (y *layer) lengths(n int) []int {
	lengths := make([]int, n)
	for i, k := range y.arrays {
		if k >= 0 {
			lengths[k] = y.m.Arrays[i].Len
		}
	}
	return lengths
}

// mergedDelta returns the manifest of a delta that merges the layers from index oldest on.
func (c *chain) mergedDelta(oldest int) *manifest {
	m := c.manifest().complete()
	for _, y := range c.layers[oldest:] {
		for i, k := range y.arrays {
			if k >= 0 && y.m.Arrays[i].Whole {
				m.Arrays[k].Whole = true
			}
		}
		for i, k := range y.columns {
			if k >= 0 && y.m.Columns[i].Whole {
				m.Columns[k].Whole = true
			}
		}
		for i, k := range y.resources {
			if k >= 0 && y.m.Resources[i].Whole {
				m.Resources[k].Whole = true
			}
		}
	}
	base := c.layers[oldest-1].m.Kept
	m.Kept.Base, m.Kept.BaseMoment = base.Number, base.Moment
	return m
}

// mergeArrays writes the arrays of the merged file. m describes this file.
func (c *chain) mergeArrays(out runWriter, layers []*indexed, m *manifest, oldest int, o *overlay) error {
	before := make([]int, len(m.Arrays))
	if oldest > 0 {
		before = c.layers[oldest-1].lengths(len(m.Arrays))
	}
	arrays, _, _ := whereFrom(c.layers[oldest:])
	for i, n := range arrays {
		o.listCleared = oldest > 0 && !m.Arrays[i].Whole
		if err := o.array(out, layers[n:], i, &m.Arrays[i], before[i]); err != nil {
			return err
		}
	}
	return nil
}

// scanCopy lists the blocks of the copy in memory. The copy is the chain's last layer, so the indices in the
// blocks need no translation.
func (x *indexed) scanCopy() {
	for i := range x.stage.blocks {
		b := &x.stage.blocks[i]
		one := found{block: b.block, own: b.own}
		switch b.kind {
		case blockExtents:
			x.extents = b.own
		case blockArray, blockZero:
			x.arrayBlocks[b.index] = append(x.arrayBlocks[b.index], one)
		case blockValues:
			x.columnBlocks[b.index] = append(x.columnBlocks[b.index], one)
		case blockResource:
			x.resourceBlocks[b.index] = append(x.resourceBlocks[b.index], one)
		}
	}
}

func (x *indexed) scanFile() error {
	src := x.r.src.(*places)
	x.src = src.src
	wrong := func(b block) error {
		return fmt.Errorf("block %d of kind %d has %d elements, beginning with element %d, and %d bytes",
			x.r.blocks-1, b.kind, b.count, b.first, b.size)
	}
	for {
		b, err := x.r.next()
		if err != nil {
			return err
		}
		if b.size > math.MaxInt || b.size > uint64(math.MaxInt64-src.offset) {
			return wrong(b)
		}
		one := found{block: b, offset: src.offset, number: x.r.blocks - 1, sum: x.r.sum}
		lists, indices := x.arrayBlocks, x.arrays
		switch b.kind {
		case blockEnd:
			if b.count != x.r.blocks-1 || b.size != 0 {
				return wrong(b)
			}
			for _, blocks := range x.arrayBlocks { // a file may have its blocks in any order
				slices.SortFunc(blocks, func(a, b found) int { return cmp.Compare(a.first, b.first) })
			}
			return nil
		case blockExtents:
			if x.extents != nil || b.count != uint64(x.m.Extents) || b.size != b.count*uint64(bytesExtent) {
				return wrong(b)
			}
			extents, err := x.r.bytes(b)
			if err != nil {
				return err
			}
			x.extents = slices.Clone(extents)
			continue
		case blockArray, blockZero:
			if !x.fits(b) {
				return wrong(b)
			}
		case blockValues:
			lists, indices = x.columnBlocks, x.columns
		case blockResource:
			lists, indices = x.resourceBlocks, x.resources
		default:
			return wrong(b)
		}
		if int64(b.index) >= int64(len(indices)) {
			return wrong(b)
		}
		if k := indices[b.index]; k >= 0 {
			lists[k] = append(lists[k], one)
		}
		src.offset += int64(b.size)
	}
}

// fits reports whether a block of elements fits its array.
func (x *indexed) fits(b block) bool {
	if int64(b.index) >= int64(len(x.m.Arrays)) {
		return false
	}
	a := &x.m.Arrays[b.index]
	if n := uint64(a.Len); b.first > n || b.count > n-b.first {
		return false
	}
	if b.kind == blockZero {
		return b.size == 0 && x.m.delta()
	}
	size := uint64(a.Type.Size)
	return size == 0 && b.size == 0 || size > 0 && b.size/size == b.count && b.size%size == 0
}

// bytes returns the bytes of a block. It reads the bytes of a block in a file into buffer, and checks their
// checksum.
func (x *indexed) bytes(f *found, buffer *[]byte) ([]byte, error) {
	if x.src == nil {
		return f.own, nil
	}
	*buffer = resize(*buffer, int(f.size))
	b := *buffer
	if err := readAt(x.src, b, f.offset); err != nil {
		return nil, fmt.Errorf("%s: block %d: %w", x.name, f.number, err)
	}
	if err := checked(b, f.number, f.sum); err != nil {
		return nil, fmt.Errorf("%s: %w", x.name, err)
	}
	return b, nil
}

// copyTo copies blocks to out. index is the index of their column or resource in the merged file.
func (x *indexed) copyTo(out *blockWriter, blocks []found, index int, buffer *[]byte) error {
	for i := range blocks {
		b, err := x.bytes(&blocks[i], buffer)
		if err != nil {
			return err
		}
		one := blocks[i].block
		one.index = uint32(index)
		if err := out.write(one, b); err != nil {
			return err
		}
	}
	return nil
}

// overlay is a chunk of an array into which the blocks of all layers are copied, oldest first.
type overlay struct {
	m      *manifest // describes the merged file
	chunk  []byte
	buffer []byte   // bytes of a block in a file
	run    []staged // the run that is written next
	filled ranges   // elements that have bytes in chunk
	// cleared are elements that became zero in the merged layers. A merged delta lists these elements,
	// because older files may hold other values.
	cleared     ranges
	listCleared bool // whether the merged file lists the cleared elements of the array
	onlyCount   bool // whether the caller needs only the sizes of blocks; their bytes are not read
}

// array merges the blocks of an array in the given layers, and writes the result. before is the length of the
// array in the file that the merged file continues, or 0.
func (o *overlay) array(out runWriter, layers []*indexed, index int, a *arrayManifest, before int) error {
	size := a.Type.Size
	if size == 0 {
		return nil
	}
	perChunk := pieceOf(size)
	if o.m.placed(a) {
		perChunk = max(maxMerged/(perChunk*size), 1) * perChunk
	}
	next := make([]int, len(layers)) // for each layer, index of the first block that may reach into the chunk
	for lo := 0; ; {
		// first is the first element, from lo on, that a layer fills or clears. The loop skips chunks without
		// such elements, because a forged array may be long and have few blocks.
		first := a.Len
		length := before
		for n, x := range layers {
			blocks := x.arrayBlocks[index]
			for next[n] < len(blocks) && int(blocks[next[n]].first+blocks[next[n]].count) <= lo {
				next[n]++
			}
			if next[n] < len(blocks) {
				first = min(first, max(int(blocks[next[n]].first), lo))
			}
			if end := max(x.lengths[index], lo); o.listCleared && end < length {
				first = min(first, end)
			}
			length = x.lengths[index]
		}
		if first == a.Len {
			return nil
		}
		lo = first / perChunk * perChunk
		hi := lo + min(perChunk, a.Len-lo)
		o.chunk, o.filled, o.cleared = resize(o.chunk, (hi-lo)*size), o.filled[:0], o.cleared[:0]
		length = before
		for n, x := range layers {
			o.filled.remove(x.lengths[index], hi) // the layer has no elements beyond its length
			o.cleared.add(max(x.lengths[index], lo), min(length, hi))
			length = x.lengths[index]
			blocks := x.arrayBlocks[index]
			for i := next[n]; i < len(blocks) && int(blocks[i].first) < hi; i++ {
				if err := o.copyBlock(x, &blocks[i], lo, hi, size); err != nil {
					return err
				}
			}
		}
		if err := o.write(out, index, lo, size); err != nil {
			return err
		}
		lo = hi
	}
}

// write writes the blocks of a chunk. first is the index of the chunk's first element.
func (o *overlay) write(out runWriter, index, first, size int) error {
	if !o.listCleared {
		o.cleared = o.cleared[:0]
	}
	for filled, cleared := o.filled, o.cleared; len(filled)+len(cleared) > 0; {
		o.run = o.run[:0]
		b := block{kind: blockArray, index: uint32(index)}
		if len(cleared) > 0 && (len(filled) == 0 || cleared[0][0] < filled[0][0]) {
			b.kind, b.first, b.count = blockZero, uint64(cleared[0][0]), uint64(cleared[0][1]-cleared[0][0])
			o.run = append(o.run, staged{block: b})
			cleared = cleared[1:]
		} else {
			for lo, end := filled[0][0], filled[0][1]; lo < end; {
				hi := lo + min(pieceOf(size), end-lo)
				b.first, b.count = uint64(lo), uint64(hi-lo)
				o.run = append(o.run, staged{block: b, own: o.chunk[(lo-first)*size : (hi-first)*size]})
				lo = hi
			}
			filled = filled[1:]
		}
		if err := out.writeRun(o.m, o.run); err != nil {
			return err
		}
	}
	return nil
}

// copyBlock copies the elements of a block into the chunk, which has the elements [lo, hi). If the block
// lists elements that became zero, copyBlock records these elements in o.cleared.
func (o *overlay) copyBlock(x *indexed, f *found, lo, hi, size int) error {
	first, end := max(int(f.first), lo), min(int(f.first+f.count), hi)
	if first >= end {
		return nil
	}
	if f.kind == blockZero {
		o.filled.remove(first, end)
		o.cleared.add(first, end)
		return nil
	}
	if !o.onlyCount {
		b, err := x.bytes(f, &o.buffer)
		if err != nil {
			return err
		}
		copy(o.chunk[(first-lo)*size:(end-lo)*size], b[(first-int(f.first))*size:])
	}
	o.filled.add(first, end)
	o.cleared.remove(first, end)
	return nil
}

// ranges are half-open ranges of elements, in ascending order, with a gap between two ranges.
type ranges [][2]int

func (r *ranges) add(lo, hi int) {
	if lo >= hi {
		return
	}
	i, j := r.touching(lo, hi)
	if i < j {
		lo, hi = min(lo, (*r)[i][0]), max(hi, (*r)[j-1][1])
	}
	*r = slices.Replace(*r, i, j, [2]int{lo, hi})
}

func (r *ranges) remove(lo, hi int) {
	if lo >= hi {
		return
	}
	i, j := r.touching(lo, hi)
	var rest [][2]int
	for _, f := range (*r)[i:j] {
		if f[0] < lo {
			rest = append(rest, [2]int{f[0], min(f[1], lo)})
		}
		if f[1] > hi {
			rest = append(rest, [2]int{max(f[0], hi), f[1]})
		}
	}
	*r = slices.Replace(*r, i, j, rest...)
}

// touching returns the indices [i, j) of the ranges that overlap or adjoin the range [lo, hi).
func (r ranges) touching(lo, hi int) (i, j int) {
	i, _ = slices.BinarySearchFunc(r, lo, func(f [2]int, lo int) int { return cmp.Compare(f[1], lo) })
	for j = i; j < len(r) && r[j][0] <= hi; j++ {
	}
	return i, j
}
