package store

import (
	"cmp"
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

// stage holds a copy of the parts of a world that have changed since the last checkpoint. The world stands
// still while the stage makes the copy: this time is the pause of the checkpoint. Only the late part of the
// copy is made after the pause: see late.go. Ticks continue while the copy is written to a file. A store uses
// one stage for all checkpoints.
type stage struct {
	memory *bulk.Array[byte]
	mu     sync.Mutex // guards memory and used while a copy is made
	used   int        // number of bytes of memory that the copy occupies
	known  *known
	pages  pages // nil if the system does not report which memory was written
	m      *manifest
	work   []comparison
	late   *late // the part of the copy that is made after the pause, or nil
	wholes []wholePart
	blocks []staged
	full   int              // number of bytes of a copy of the complete world
	spare  int              // number of checkpoints in a row that needed at most a quarter of the memory
	whole  bool             // whether the copy holds everything
	eager  map[string]int   // for each column, by name: how many more checkpoints copy it in the pause
	urgent map[string]int64 // for each column, by name: its last lateArray.asked that was not 0
}

// staged is a block of the copy.
type staged struct {
	block
	own   []byte
	array *state.Array // array with a Read function, whose bytes are not copied yet; else nil
	known *knownArray  // where the method hash notes the hashes of the units; nil if hash skips the block
	rough *state.Array // the copied array, if own may have elements outside the state; else nil
}

// wholePart is data that a file holds completely or not at all: the values of a column, a resource, or an
// array with a Read function.
type wholePart struct {
	blocks  []staged
	changed bool
	mark    *bool // the field Whole in the manifest
}

// take copies a world. If everything is false, it copies only the parts that have changed since the last
// call. If allowLate is true, take may leave a part of the copy to s.late. The method complete completes the
// copy. The copy is valid until the next call of take, release or close. After an error of take or complete,
// the next call of take must copy everything.
func (s *stage) take(p *picture, everything, allowLate bool) error {
	s.m, s.blocks, s.full, s.used, s.late, s.whole = p.m, s.blocks[:0], 0, 0, nil, everything
	if s.known == nil {
		s.known, s.eager, s.urgent = newKnown(), make(map[string]int), make(map[string]int64)
	}
	if s.memory == nil {
		var err error
		if s.memory, err = bulk.NewArray[byte](bulk.Options{Name: "checkpoint"}); err != nil {
			return err
		}
	}
	if everything {
		s.known.forget()
	}
	if s.pages != nil {
		s.pages.scan()
	}
	b, bytes := p.extents()
	s.blocks = append(s.blocks, staged{block: b, own: slices.Clone(bytes)})
	s.arrays(p, allowLate)
	if s.late != nil {
		slices.SortStableFunc(s.late.arrays, func(a, b *lateArray) int {
			// The number 0 becomes the maximum.
			first := func(a *lateArray) uint64 { return uint64(s.urgent[a.name] - 1) }
			return cmp.Compare(first(a), first(b))
		})
	}
	for name := range s.eager {
		if s.eager[name]--; s.eager[name] == 0 {
			delete(s.eager, name)
		}
	}
	values, err := s.values(p)
	s.wholes = append(s.wholes, values...)
	return err
}

func (s *stage) complete() error {
	if s.late != nil {
		if err := s.late.finish(); err != nil {
			return err
		}
	}
	for i := range s.work {
		c := &s.work[i]
		if c.err != nil {
			return c.err
		}
		if c.warm {
			c.distil(s.known)
		}
		s.full += c.full
		s.blocks = append(s.blocks, c.blocks...)
	}
	for _, one := range s.wholes {
		for _, b := range one.blocks {
			s.full += len(b.own)
		}
		if one.changed || s.whole {
			s.blocks = append(s.blocks, one.blocks...)
			*one.mark = !s.whole
		}
	}
	if s.whole {
		s.m = s.m.complete()
	}
	if s.spare++; s.used > s.memory.Len()/4 {
		s.spare = 0
	}
	return nil
}

// arrays compares the arrays of a world with the last checkpoint, and copies the changed parts.
func (s *stage) arrays(p *picture, allowLate bool) {
	s.work, s.wholes = s.work[:0], s.wholes[:0]
	var now []int // indices in work of the pieces that are copied now, and not late
	var reads []*staged
	var knownOf []*knownArray // for each element of wholes
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
			s.wholes, knownOf = append(s.wholes, one), append(knownOf, known)
			continue
		}
		if size == 0 {
			continue
		}
		known.fit(a.Len, unitOf(size), pieceOf(size), s.pages != nil && a.Kept != nil)
		one := comparison{array: a, known: known, index: uint32(i), hot: s.whole}
		if s.pages != nil && a.Len > 0 {
			one.parts, one.clean = s.pages.changed(a.Base, a.Len*size)
			one.clean = one.clean && known.base == a.Base
			known.base = a.Base
		}
		first := len(s.work)
		for i := range known.hot {
			one.piece = i
			s.work = append(s.work, one)
		}
		if !allowLate || !s.postpone(p, a, known, first) {
			for i := first; i < len(s.work); i++ {
				now = append(now, i)
			}
		}
	}
	s.known.drop()
	sums := make([][2]uint64, len(reads))
	parallel(len(now)+len(reads), func(i int) {
		if i < len(now) {
			s.work[now[i]].copy(s)
			return
		}
		b := reads[i-len(now)]
		b.own = b.array.Bytes(int(b.first), int(b.first+b.count))
		b.array = nil
		sums[i-len(now)] = s.known.sum(b.own)
	})
	for i := range s.wholes {
		one := &s.wholes[i]
		own := sums[:len(one.blocks)]
		sums = sums[len(own):]
		known := knownOf[i]
		one.changed = known.sums == nil || !slices.Equal(known.sums, own)
		known.sums = append(make([][2]uint64, 0, len(own)), own...)
	}
}

// values returns the encoded values of each HeapColumn and resource, and notes whether they have changed.
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

type collector []staged

func (c *collector) write(b block, bytes []byte) error {
	*c = append(*c, staged{block: b, own: slices.Clone(bytes)})
	return nil
}

// copy compares a piece, and copies its changed elements.
func (c *comparison) copy(s *stage) {
	c.compare(s.known, s.pages != nil)
	size, total := int(c.array.Type.Size()), 0
	for _, r := range c.runs {
		if !r.zero {
			total += (r.hi - r.lo) * size
		}
	}
	memory, err := s.room(total)
	if err != nil {
		c.err = err
		return
	}
	for _, r := range c.runs {
		b := staged{block: block{kind: blockArray, index: c.index, first: uint64(r.lo),
			count: uint64(r.hi - r.lo)}}
		if r.zero {
			b.kind = blockZero
		} else {
			n := (r.hi - r.lo) * size
			b.own, memory = memory[:n:n], memory[n:]
			// The method postpone has saved the masks of a late array in the pause: the masks say which
			// elements belong to the state. So hash (for a hot piece) and distil (for a warm piece) can clear
			// the other elements later.
			if c.late && (c.hot || c.warm) {
				roughly(b.own, c.array, r.lo, r.hi)
				b.rough = c.array
			} else {
				canonical(b.own, c.array, r.lo, r.hi)
			}
			if c.hot {
				b.known = c.known
			}
		}
		c.blocks = append(c.blocks, b)
	}
}

// room returns memory for n bytes of the copy. Several goroutines may call room at the same time.
func (s *stage) room(n int) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.used
	s.used += n
	if more := s.used - s.memory.Len(); more > 0 {
		if _, err := s.memory.AppendN(more); err != nil {
			return nil, err
		}
	}
	return s.memory.Slice()[at:s.used], nil
}

func (s *stage) size() (n int) {
	for i := range s.blocks {
		n += bytesHeader + len(s.blocks[i].own)
	}
	return n
}

func (s *stage) writeTo(dst io.Writer) error {
	out, err := newBlockWriter(dst, s.m.version())
	if err != nil {
		return err
	}
	if err := out.describe(s.m); err != nil {
		return err
	}
	for i := 0; i < len(s.blocks); {
		n := together(s.m, s.blocks[i:])
		if err := out.writeRun(s.m, s.blocks[i:i+n]); err != nil {
			return err
		}
		i += n
	}
	return out.close()
}

// hash completes the blocks of hot pieces, whose units were copied without a comparison, and notes the hashes
// of these units.
func (s *stage) hash() {
	for i := range s.blocks {
		b := &s.blocks[i]
		if b.known == nil {
			continue
		}
		bytes := b.own
		if b.rough != nil {
			clearOthers(bytes, b.rough, int(b.first))
		}
		size := len(bytes) / int(b.count)
		unit := unitOf(size)
		for n := int(b.first) / unit; len(bytes) > 0; n++ {
			part := bytes[:min(unit*size, len(bytes))]
			b.known.units[n] = s.known.hash(part)
			bytes = bytes[len(part):]
		}
	}
}

// release gives the memory back if the last copies needed only a small part of it: see spareCopies. Otherwise
// the stage keeps its memory, because new memory costs page faults in the pause.
func (s *stage) release() error {
	if s.memory == nil || s.spare < spareCopies {
		return nil
	}
	defer func() { s.memory, s.spare = nil, 0 }()
	s.work, s.blocks = s.work[:0], s.blocks[:0]
	return s.memory.Close()
}

// spareCopies is how many copies in a row must need at most a quarter of the memory before release gives the
// memory back.
const spareCopies = 4

func (s *stage) close() (err error) {
	if s.pages != nil {
		err = s.pages.close()
	}
	if s.memory != nil {
		err = errors.Join(err, s.memory.Close())
	}
	return err
}

// parallel calls f for each i below n, on at most as many goroutines as there are processors.
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
