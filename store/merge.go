package store

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/vastgo/vast/store/internal/disk"
)

// A merge writes one file that holds all that a chain of files holds. It takes a chunk of an array at a time,
// so its memory is bounded: a chunk, the longest block, and where the blocks of all files lie.

// compact replaces the file of a checkpoint by one that holds all of the world: no other file is needed to
// read it. If the program or the machine dies at any moment, the file is the old or the new one.
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
	err = c.merge(f, nil)
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

// merge writes a file that holds what the last chain of files and the copy hold together.
func (s *Store) merge(dst io.Writer) (err error) {
	c, err := openChain(s.folder, s.stage.m.Kept.Base)
	if err != nil {
		return err
	}
	return errors.Join(c.merge(dst, &s.stage), c.close())
}

// found is where a block lies in a file, or its bytes in memory.
type found struct {
	block
	offset int64
	number uint64
	sum    uint32
	own    []byte
}

// indexed is a layer whose blocks are known.
type indexed struct {
	*layer
	src                           io.ReaderAt
	ofArray, ofColumn, ofResource [][]found // by the numbers of the last description
	ends                          []int     // the length of each array in this layer
}

// merge writes a file that holds all of the checkpoint. If top is not nil, the file holds the checkpoint that
// top continues the chain with. The caller closes the chain, which cannot be read afterwards.
func (c *chain) merge(dst io.Writer, top *stage) error {
	if top != nil {
		c.layers = append(c.layers, layerOf(top))
		if err := c.match(); err != nil {
			return err
		}
	}
	m := c.manifest()
	var extents []byte
	layers := make([]*indexed, len(c.layers))
	for i, y := range c.layers {
		x := &indexed{layer: y, ofArray: make([][]found, len(m.Arrays)),
			ofColumn: make([][]found, len(m.Columns)), ofResource: make([][]found, len(m.Resources)),
			ends: make([]int, len(m.Arrays))}
		for i, k := range y.arrays {
			if k >= 0 {
				x.ends[k] = y.m.Arrays[i].Len
			}
		}
		var err error
		if y.r == nil {
			extents = x.take(top)
		} else if extents, err = x.scan(); err != nil {
			return fmt.Errorf("%s: %w", y.name, err)
		}
		layers[i] = x
	}
	complete := m.complete()
	out, err := newBlockWriter(dst, complete.version())
	if err != nil {
		return err
	}
	if err := out.describe(complete); err != nil {
		return err
	}
	if err := out.write(block{kind: blockExtents, count: uint64(m.Extents)}, extents); err != nil {
		return err
	}
	arrays, columns, resources := whereFrom(c.layers)
	o := overlay{m: complete}
	for i, from := range arrays {
		if err := o.array(out, layers[from:], i, &m.Arrays[i]); err != nil {
			return err
		}
	}
	for i, from := range columns {
		if err := layers[from].copyTo(out, layers[from].ofColumn[i], i, &o.block); err != nil {
			return err
		}
	}
	for i, from := range resources {
		if err := layers[from].copyTo(out, layers[from].ofResource[i], i, &o.block); err != nil {
			return err
		}
	}
	return out.close()
}

// layerOf returns a copy in memory as a layer.
func layerOf(s *stage) *layer { return &layer{name: "the copy of the world", m: s.m} }

// take takes the blocks of a copy in memory, whose description is the last one, and returns the extents.
func (x *indexed) take(s *stage) (extents []byte) {
	for i := range s.blocks {
		b := &s.blocks[i]
		one := found{block: b.block, own: b.own}
		switch b.kind {
		case blockExtents:
			extents = b.own
		case blockArray, blockZero:
			x.ofArray[b.index] = append(x.ofArray[b.index], one)
		case blockValues:
			x.ofColumn[b.index] = append(x.ofColumn[b.index], one)
		case blockResource:
			x.ofResource[b.index] = append(x.ofResource[b.index], one)
		}
	}
	return extents
}

// scan finds the blocks of a file, and returns the extents.
func (x *indexed) scan() (extents []byte, err error) {
	src := x.r.src.(*places)
	x.src = src.src
	wrong := func(b block) error {
		return fmt.Errorf("block %d of kind %d has %d elements from %d on and %d bytes", x.r.blocks-1, b.kind,
			b.count, b.first, b.size)
	}
	for {
		b, err := x.r.next()
		if err != nil {
			return nil, err
		}
		if b.size > math.MaxInt || b.size > uint64(math.MaxInt64-src.offset) {
			return nil, wrong(b)
		}
		one := found{block: b, offset: src.offset, number: x.r.blocks - 1, sum: x.r.sum}
		to, among := x.ofArray, x.arrays
		switch b.kind {
		case blockEnd:
			if b.count != x.r.blocks-1 || b.size != 0 {
				return nil, wrong(b)
			}
			for _, blocks := range x.ofArray { // a file may have them in any order
				slices.SortFunc(blocks, func(a, b found) int { return cmp.Compare(a.first, b.first) })
			}
			return extents, nil
		case blockExtents:
			if extents != nil || b.count != uint64(x.m.Extents) || b.size != b.count*uint64(bytesExtent) {
				return nil, wrong(b)
			}
			if extents, err = x.r.bytes(b); err != nil {
				return nil, err
			}
			extents = slices.Clone(extents)
			continue
		case blockArray, blockZero:
			if !x.fits(b) {
				return nil, wrong(b)
			}
		case blockValues:
			to, among = x.ofColumn, x.columns
		case blockResource:
			to, among = x.ofResource, x.resources
		default:
			return nil, wrong(b)
		}
		if int64(b.index) >= int64(len(among)) {
			return nil, wrong(b)
		}
		if k := among[b.index]; k >= 0 {
			to[k] = append(to[k], one)
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
	if most := uint64(a.Len); b.first > most || b.count > most-b.first {
		return false
	}
	if b.kind == blockZero {
		return b.size == 0 && x.m.delta()
	}
	size := uint64(a.Type.Size)
	return size == 0 && b.size == 0 || size > 0 && b.size/size == b.count && b.size%size == 0
}

// bytes returns the bytes of a block, and checks them. They are valid until the next call with the buffer.
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

// copyTo writes blocks as they are, with the index that their column or resource has in the last description.
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

// overlay is a chunk of an array on which the blocks of all layers are laid, oldest first.
type overlay struct {
	m            *manifest // of the file that is written
	chunk, block []byte
	run          []staged // that is written next
	filled       [][2]int // elements that a block has filled, ascending, apart from each other
}

// array writes an array. The layers are those that count.
func (o *overlay) array(out *blockWriter, layers []*indexed, index int, a *arrayManifest) error {
	size := a.Type.Size
	if size == 0 {
		return nil
	}
	piece := pieceOf(size)
	if o.m.placed(a) {
		piece = max(mostMerged/(piece*size), 1) * piece
	}
	at := make([]int, len(layers)) // the first block of each layer that may reach into the chunk
	for lo := 0; ; {
		first := a.Len // element of a block from lo on: a forged array may be long and have few blocks
		for n, x := range layers {
			blocks := x.ofArray[index]
			for at[n] < len(blocks) && int(blocks[at[n]].first+blocks[at[n]].count) <= lo {
				at[n]++
			}
			if at[n] < len(blocks) {
				first = min(first, max(int(blocks[at[n]].first), lo))
			}
		}
		if first == a.Len {
			return nil
		}
		lo = first / piece * piece
		hi := lo + min(piece, a.Len-lo)
		o.chunk, o.filled = resize(o.chunk, (hi-lo)*size), o.filled[:0]
		for n, x := range layers {
			o.without(x.ends[index], hi) // see the method cut of loader
			blocks := x.ofArray[index]
			for i := at[n]; i < len(blocks) && int(blocks[i].first) < hi; i++ {
				if err := o.lay(x, &blocks[i], lo, hi, size); err != nil {
					return err
				}
			}
		}
		for _, f := range o.filled {
			o.run = o.run[:0]
			for first := f[0]; first < f[1]; {
				end := first + min(pieceOf(size), f[1]-first)
				b := block{kind: blockArray, index: uint32(index), first: uint64(first),
					count: uint64(end - first)}
				o.run = append(o.run, staged{block: b, own: o.chunk[(first-lo)*size : (end-lo)*size]})
				first = end
			}
			if err := out.writeRun(o.m, o.run); err != nil {
				return err
			}
		}
		lo = hi
	}
}

// lay lays a block on the chunk of the elements [lo, hi).
func (o *overlay) lay(x *indexed, f *found, lo, hi, size int) error {
	first, end := max(int(f.first), lo), min(int(f.first+f.count), hi)
	if first >= end {
		return nil
	}
	if f.kind == blockZero {
		o.without(first, end)
		return nil
	}
	b, err := x.bytes(f, &o.block)
	if err != nil {
		return err
	}
	copy(o.chunk[(first-lo)*size:(end-lo)*size], b[(first-int(f.first))*size:])
	o.with(first, end)
	return nil
}

// with adds elements to those that are filled.
func (o *overlay) with(lo, hi int) {
	i, j := o.touching(lo, hi)
	if i < j {
		lo, hi = min(lo, o.filled[i][0]), max(hi, o.filled[j-1][1])
	}
	o.filled = slices.Replace(o.filled, i, j, [2]int{lo, hi})
}

// without takes elements from those that are filled.
func (o *overlay) without(lo, hi int) {
	if lo >= hi {
		return
	}
	i, j := o.touching(lo, hi)
	var rest [][2]int
	for _, f := range o.filled[i:j] {
		if f[0] < lo {
			rest = append(rest, [2]int{f[0], min(f[1], lo)})
		}
		if f[1] > hi {
			rest = append(rest, [2]int{max(f[0], hi), f[1]})
		}
	}
	o.filled = slices.Replace(o.filled, i, j, rest...)
}

// touching returns which ranges of filled elements overlap or adjoin the elements [lo, hi): filled[i:j].
func (o *overlay) touching(lo, hi int) (i, j int) {
	i, _ = slices.BinarySearchFunc(o.filled, lo, func(f [2]int, lo int) int { return cmp.Compare(f[1], lo) })
	for j = i; j < len(o.filled) && o.filled[j][0] <= hi; j++ {
	}
	return i, j
}
