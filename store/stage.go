package store

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/internal/state"
)

// stage is memory that takes a copy of what has changed in a world up to one moment, so that the world can go
// on while the copy is written to a file. A stage is used again for each checkpoint.
type stage struct {
	memory *bulk.Array[byte]
	known  *known
	pages  pages // nil if nothing knows which memory was written
	m      *manifest
	blocks []staged
	full   int // bytes that the blocks of all of the world would have
	spare  int // checkpoints since one that needed a fair part of the memory
}

// staged is a block of the copy. Its bytes lie in the stage's memory, or in own.
type staged struct {
	block
	own   []byte
	at, n int          // bytes in the stage's memory
	array *state.Array // until the bytes are copied
	known *knownArray  // of units that are hashed when the block is written
}

// wholePart is what a file has all of, or nothing: the values of a column, a resource, or an array that must
// be read in order.
type wholePart struct {
	blocks  []staged
	changed bool
	mark    *bool // in the description
}

// take copies what has changed in a world since the last call, or everything. The copy is valid until the
// next call. It copies everything, too, if a delta would have more than most of all bytes. It returns whether
// it did. After an error the next call must copy everything.
func (s *stage) take(p *picture, everything bool, most float64) (bool, error) {
	s.m, s.blocks, s.full = p.m, s.blocks[:0], 0
	if s.known == nil {
		s.known = newKnown()
	}
	if everything {
		s.known.forget()
	}
	if s.pages != nil {
		s.pages.scan()
	}
	b, bytes := p.extents()
	s.blocks = append(s.blocks, staged{block: b, own: slices.Clone(bytes)})
	work, wholes := s.arrays(p, everything)
	values, err := s.values(p)
	if err != nil {
		return false, err
	}
	wholes = append(wholes, values...)
	changed := 0
	for i := range work {
		s.full += work[i].full
		for _, r := range work[i].runs {
			if !r.zero {
				changed += (r.hi - r.lo) * int(work[i].array.Type.Size())
			}
		}
	}
	for _, one := range wholes {
		n := 0
		for _, b := range one.blocks {
			n += len(b.own)
		}
		s.full += n
		if one.changed {
			changed += n
		}
	}
	everything = everything || float64(changed) > most*float64(s.full)
	if everything {
		for i := range work {
			work[i].all()
		}
	}
	if err := s.copy(work); err != nil {
		return false, err
	}
	for _, one := range wholes { // after the arrays that have places of their own
		if one.changed || everything {
			s.blocks = append(s.blocks, one.blocks...)
			*one.mark = !everything
		}
	}
	if everything {
		s.m = s.m.complete()
	}
	return everything, nil
}

// arrays compares the arrays of a world with the last checkpoint.
func (s *stage) arrays(p *picture, everything bool) ([]comparison, []wholePart) {
	var work []comparison
	var wholes []wholePart
	var reads []*staged
	var knownOf []*knownArray // for each of wholes
	for i := range p.state.Arrays {
		a := &p.state.Arrays[i]
		known := s.known.array(p.m.key(&p.m.Arrays[i]))
		size := int(a.Type.Size())
		if a.Read != nil {
			one := wholePart{mark: &p.m.Arrays[i].Whole}
			for lo := 0; lo < a.Len; lo += pieceOf(size) {
				n := min(pieceOf(size), a.Len-lo)
				one.blocks = append(one.blocks, staged{array: a, block: block{kind: blockArray,
					index: uint32(i), first: uint64(lo), count: uint64(n)}})
			}
			for i := range one.blocks {
				reads = append(reads, &one.blocks[i])
			}
			wholes, knownOf = append(wholes, one), append(knownOf, known)
			continue
		}
		if size == 0 {
			continue
		}
		known.fit(a.Len, unitOf(size), pieceOf(size), s.pages != nil && a.Kept != nil)
		one := comparison{array: a, known: known, index: uint32(i), hot: everything}
		if s.pages != nil && a.Len > 0 {
			one.parts, one.clean = s.pages.changed(a.Base, a.Len*size)
			one.clean = one.clean && known.base == a.Base
			known.base = a.Base
		}
		for i := range known.hot {
			one.piece = i
			work = append(work, one)
		}
	}
	s.known.drop()
	sums := make([][2]uint64, len(reads))
	parallel(len(work)+len(reads), func(i int) {
		if i < len(work) {
			work[i].compare(s.known, s.pages != nil)
			return
		}
		b := reads[i-len(work)]
		b.own = b.array.Bytes(int(b.first), int(b.first+b.count))
		b.array = nil
		sums[i-len(work)] = s.known.sum(b.own)
	})
	for i := range wholes {
		own := sums[:len(wholes[i].blocks)]
		sums = sums[len(own):]
		known := knownOf[i]
		wholes[i].changed = known.sums == nil || !slices.Equal(known.sums, own)
		known.sums = append(make([][2]uint64, 0, len(own)), own...)
	}
	return work, wholes
}

// values encodes values of columns and resources.
func (s *stage) values(p *picture) (wholes []wholePart, err error) {
	sums := make(map[string][2]uint64)
	note := func(known map[string][2]uint64, name string, one wholePart) {
		sum := s.known.sumOf(one.blocks)
		old, ok := known[name]
		one.changed = !ok || old != sum
		sums[name] = sum
		wholes = append(wholes, one)
	}
	for i := range p.state.Columns {
		c := &p.state.Columns[i]
		if c.Storage != probing.StorageHeap {
			continue
		}
		var out collector
		if err := p.writeValues(&out, uint32(i), c); err != nil {
			return nil, err
		}
		note(s.known.values, c.Name, wholePart{blocks: out, mark: &p.m.Columns[i].Whole})
	}
	s.known.values, sums = sums, make(map[string][2]uint64)
	for i, b := range p.resources {
		r := &p.m.Resources[i]
		one := staged{block: block{kind: blockResource, index: uint32(i), count: 1}, own: b}
		note(s.known.resources, r.Name, wholePart{blocks: []staged{one}, mark: &r.Whole})
	}
	s.known.resources = sums
	return wholes, nil
}

// collector is a sink that keeps the blocks.
type collector []staged

func (c *collector) write(b block, bytes []byte) error {
	*c = append(*c, staged{block: b, own: slices.Clone(bytes)})
	return nil
}

// copy copies what the comparisons have found.
func (s *stage) copy(work []comparison) error {
	total := 0
	for i := range work {
		c := &work[i]
		for _, r := range c.runs {
			b := staged{block: block{kind: blockArray, index: c.index, first: uint64(r.lo),
				count: uint64(r.hi - r.lo)}}
			if r.zero {
				b.kind = blockZero
			} else {
				b.at, b.n, b.array = total, (r.hi-r.lo)*int(c.array.Type.Size()), c.array
				total += b.n
			}
			if c.hot {
				b.known = c.known
			}
			s.blocks = append(s.blocks, b)
		}
	}
	if s.memory == nil {
		var err error
		if s.memory, err = bulk.NewArray[byte](bulk.Options{Name: "checkpoint"}); err != nil {
			return err
		}
	}
	if more := total - s.memory.Len(); more > 0 {
		if _, err := s.memory.AppendN(more); err != nil {
			return err
		}
	}
	if s.spare++; total > s.memory.Len()/4 {
		s.spare = 0
	}
	memory := s.memory.Slice()
	parallel(len(s.blocks), func(i int) {
		if b := &s.blocks[i]; b.array != nil {
			canonical(memory[b.at:b.at+b.n], b.array, int(b.first), int(b.first+b.count))
			b.array = nil
		}
	})
	return nil
}

// bytes returns the bytes of a block of the copy.
func (s *stage) bytes(b *staged) []byte {
	if b.n > 0 {
		return s.memory.Slice()[b.at : b.at+b.n]
	}
	return b.own
}

// size returns the bytes of the blocks.
func (s *stage) size() (n int) {
	for i := range s.blocks {
		n += bytesHeader + len(s.blocks[i].own) + s.blocks[i].n
	}
	return n
}

// writeTo writes the copy as a file.
func (s *stage) writeTo(dst io.Writer) error {
	out, err := newBlockWriter(dst, s.m.version())
	if err != nil {
		return err
	}
	if err := out.describe(s.m); err != nil {
		return err
	}
	for i := 0; i < len(s.blocks); {
		b, n := s.together(i)
		if err := out.writeRun(s.m, b.block, s.bytes(&b)); err != nil {
			return err
		}
		i += n
	}
	return out.close()
}

// together returns a block and those behind it as one, if the file can place their elements side by side, and
// how many blocks that are.
func (s *stage) together(i int) (one staged, n int) {
	one, n = s.blocks[i], 1
	if one.kind != blockArray || one.n == 0 || !s.m.placed(&s.m.Arrays[one.index]) {
		return one, n
	}
	for _, b := range s.blocks[i+1:] {
		if b.kind != blockArray || b.index != one.index || b.first != one.first+one.count ||
			b.at != one.at+one.n || one.n+b.n > mostPlaced {
			break
		}
		one.count += b.count
		one.n += b.n
		n++
	}
	return one, n
}

// hash notes the hashes of what was copied without a comparison.
func (s *stage) hash() {
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.known == nil || b.n == 0 {
			continue
		}
		bytes := s.bytes(b)
		size := b.n / int(b.count)
		unit := unitOf(size)
		for n := int(b.first) / unit; len(bytes) > 0; n++ {
			part := bytes[:min(unit*size, len(bytes))]
			b.known.units[n] = s.known.hash(part)
			bytes = bytes[len(part):]
		}
	}
}

// release gives the memory back if the last copies needed only a small part of it. Fresh memory costs page
// faults in the pause, so a world that changes everywhere keeps it.
func (s *stage) release() error {
	if s.memory == nil || s.spare < spareCopies {
		return nil
	}
	defer func() { s.memory, s.spare = nil, 0 }()
	return s.memory.Close()
}

// spareCopies is after how many copies that need less than a quarter of the memory it is given back.
const spareCopies = 4

// close gives all memory back, and has no more pages watched.
func (s *stage) close() (err error) {
	if s.pages != nil {
		err = s.pages.close()
	}
	if s.memory != nil {
		err = errors.Join(err, s.memory.Close())
	}
	return err
}

// parallel calls f for each i below n, on as many goroutines as there are processors.
func parallel(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers < 2 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	group.Wait()
}
