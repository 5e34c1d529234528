package store

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// A delta holds the differences from the previous checkpoint. The store does not keep the bytes of that
// checkpoint, but a hash of each unit of about 1 KiB. A unit whose hash differs has changed.
//
// The store hashes canonical bytes: elements that do not belong to the state count as zero, as in files. So
// the hash of a unit is the hash of the bytes that a reader of the files gets. The hash is also correct if an
// element died and was born again, if a dead element has left bytes, and if only a presence bit changed. The
// hash has 64 bits and a random seed for each store. Two contents of one unit have the same hash with a
// probability of 2⁻⁶⁴: a store that writes a million changed units a second misses one change in half a
// million years. With a CRC of 32 bits, the store would miss one change every hour.
//
// If the operating system reports which memory was written, the store reads no other memory for a delta.
// Unwritten memory does not prove that the canonical bytes are the same, because an element may have died or
// been born without a write. So the store also keeps which elements belonged to the state. The store skips
// a unit if none of its memory was written and the same elements belong to the state.

// pages reports which memory was written. Implementations depend on the operating system. Without an
// implementation, the store reads and compares all memory.
type pages interface {
	// scan ends an interval and begins the next interval. It is called once for each checkpoint, while
	// nothing changes the world.
	scan()
	// changed reports which parts of the n bytes from base on may have been written in the interval that the
	// last scan has ended. parts are pairs of offsets, in ascending order. known is false if nothing is known
	// about this memory. Bytes whose memory was uncommitted at any time in the interval count as written.
	// parts is valid until the next scan.
	changed(base unsafe.Pointer, n int) (parts [][2]int, known bool)
	// guard begins to watch n bytes from base on. It returns false if it cannot watch these bytes. The caller
	// must have called changed for these bytes after the last scan. release ends the watch, and reports
	// whether the bytes are unchanged since guard. Several goroutines may call release at the same time.
	guard(base unsafe.Pointer, n int) bool
	release(base unsafe.Pointer, n int) bool
	close() error
}

// bytesUnit is the approximate number of bytes of a unit. A page of 4 KiB touches at most five units of this
// size, so a checkpoint writes at most a quarter more than the written pages. The hashes take about 1 % of
// the hashed memory, and up to 2 % for some sizes of elements.
const bytesUnit = 1 << 10

// unitOf returns the number of elements of a unit: a power of two. size is the number of bytes of an element.
func unitOf(size int) int { return 1 << (bits.Len(uint(max(bytesUnit/size, 1))) - 1) }

// pieceOf returns the number of elements of a piece: a multiple of the unit and of 64. size is the number of
// bytes of an element. A goroutine compares one piece at a time, and a block of a checkpoint has at most as
// many elements as a piece.
func pieceOf(size int) int {
	step := max(unitOf(size), 64)
	return max(maxBlock/(size*step), 1) * step
}

// known describes the last checkpoint by hashes.
type known struct {
	seeds  [2]maphash.Seed
	arrays map[arrayKey]*knownArray
	// values and resources are the hashes of the values of columns and of resources, by name. A file holds
	// each column's values and each resource whole or not at all.
	values, resources map[string][2]uint64
}

func newKnown() *known {
	k := &known{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	k.forget()
	return k
}

// forget makes everything count as changed.
func (k *known) forget() {
	k.arrays = make(map[arrayKey]*knownArray)
	k.values, k.resources = make(map[string][2]uint64), make(map[string][2]uint64)
}

// knownArray is an array as the last checkpoint holds it.
type knownArray struct {
	base  unsafe.Pointer // address of its memory at the last checkpoint; only if the stage has pages
	len   int            // number of elements
	units []uint64       // the hash of each unit, or unsure; 0 if none of its elements belong to the state
	masks []uint64       // a bit for each element: it belongs to the state; only if the stage has pages
	now   []uint64       // the masks of the checkpoint that is being taken, if the array is late
	warm  []bool         // for each piece, whether the last comparison found that more than 1/32 had changed
	hot   []uint8        // for each piece, how many more checkpoints copy it without a comparison
	sums  [][2]uint64    // if the array is written whole: the hashes of its blocks
	used  bool           // the array is a part of the checkpoint that is being taken
}

// hotFor is the number of checkpoints that copy a piece without a comparison after most of the piece has
// changed. A comparison would cost as much as the copy, and find few unchanged units.
const hotFor = 8

// fit resizes the slices for n elements. Elements beyond the end count as zero, as in files.
func (k *knownArray) fit(n, unit, piece int, masks bool) {
	if end := min(n, k.len); n != k.len && end%unit != 0 {
		k.units[end/unit] = unsure // the unit has other elements than before
	}
	k.len = n
	k.units = resize(k.units, (n+unit-1)/unit)
	k.hot = resize(k.hot, (n+piece-1)/piece)
	k.warm = resize(k.warm, len(k.hot))
	if masks {
		k.masks = resize(k.masks, (n+63)/64)
		if n%64 != 0 {
			k.masks[n/64] &= 1<<(n%64) - 1 // clears the bits behind the end
		}
	}
}

// unsure stands for an unknown hash.
const unsure = 1

// resize returns a slice of n elements; new ones are zero.
func resize[T any](s []T, n int) []T {
	if n <= len(s) {
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}

// array returns the knownArray of an array, and notes that the array still exists.
func (k *known) array(key arrayKey) *knownArray {
	a := k.arrays[key]
	if a == nil {
		a = new(knownArray)
		k.arrays[key] = a
	}
	a.used = true
	return a
}

// drop forgets the arrays that the world no longer has.
func (k *known) drop() {
	for key, a := range k.arrays {
		if !a.used {
			delete(k.arrays, key)
		}
		a.used = false
	}
}

// hash returns the hash of a unit: a number above unsure.
func (k *known) hash(unit []byte) uint64 {
	return max(maphash.Bytes(k.seeds[0], unit), unsure+1)
}

// sum returns a hash of 128 bits.
func (k *known) sum(b []byte) [2]uint64 {
	return [2]uint64{maphash.Bytes(k.seeds[0], b), maphash.Bytes(k.seeds[1], b)}
}

// sumOf returns a hash of blocks, which are the values of a column or a resource.
func (k *known) sumOf(blocks []staged) [2]uint64 {
	var sums []byte
	for _, b := range blocks {
		sum := k.sum(b.own)
		sums = binary.LittleEndian.AppendUint64(sums, sum[0])
		sums = binary.LittleEndian.AppendUint64(sums, sum[1])
	}
	return k.sum(sums)
}

// comparison compares a piece of an array.
type comparison struct {
	array *state.Array
	known *knownArray
	index uint32   // of the array
	piece int      // number of the piece
	parts [][2]int // the parts of the array that may have been written, as offsets of bytes
	clean bool     // whether parts is known; if not, all bytes may have been written
	hot   bool     // the units are copied without a comparison, and hashed later
	late  bool     // the copy is made after the pause
	warm  bool     // the units are copied without a comparison, and compared later: see distil
	runs  []run
	full  int // bytes of units with elements that belong to the state

	blocks []staged // the copy of the runs
	err    error    // why there is no copy
}

// run are adjoining units that a delta must have.
type run struct {
	lo, hi int  // the elements from lo to hi-1
	zero   bool // none of these elements belongs to the state
}

// compare finds the units of a piece that have changed, and notes their hashes. masks says whether to note
// the masks, too. In a hot piece, and in a late piece that is warm, all units that may have changed count as
// changed. The method hash of stage later notes the hashes of a hot piece, and distil those of a warm piece.
func (c *comparison) compare(k *known, masks bool) {
	a, size := c.array, int(c.array.Type.Size())
	unit, piece := unitOf(size), pieceOf(size)
	first, end := c.piece*piece, min((c.piece+1)*piece, c.known.len)
	if c.known.hot[c.piece] > 0 {
		c.known.hot[c.piece]--
		c.hot = true
	}
	c.warm = c.late && !c.hot && c.known.warm[c.piece]
	c.parts = c.parts[sort.Search(len(c.parts), func(i int) bool { return c.parts[i][1] > first*size }):]
	scratch := make([]byte, unit*size)
	changed, asked := 0, first
	for lo := first; lo < end; lo += unit {
		if lo >= asked {
			asked = c.unwritten(lo, end, unit)
			if asked > lo && c.untouched(lo, asked, unit) {
				if lo = asked; lo == end {
					break
				}
			}
			asked = max(asked, lo+1)
		}
		hi := min(lo+unit, end)
		any, all, same := c.kept(lo, hi, masks)
		old := &c.known.units[lo/unit]
		if any {
			c.full += (hi - lo) * size
		}
		switch {
		case !any:
			if *old != 0 {
				*old = 0
				c.add(lo, hi, true)
			}
		case *old > unsure && c.clean && same && !c.written(lo*size, hi*size):
		case c.hot:
			*old = unsure // the hash is noted when the copy is written
			c.add(lo, hi, false)
		case c.warm:
			c.add(lo, hi, false)
		default:
			var now uint64
			if all {
				now = k.hash(a.Bytes(lo, hi))
			} else {
				copied := scratch[:(hi-lo)*size]
				canonical(copied, a, lo, hi)
				now = k.hash(copied)
			}
			if now != *old {
				if *old > unsure { // units without a known hash do not count
					changed += (hi - lo) * size
				}
				*old = now
				c.add(lo, hi, false)
			}
		}
	}
	if !c.warm { // distil judges a warm piece
		c.judge(changed)
	}
}

// judge decides whether a piece is warm or hot from now on. changed is the number of its changed bytes.
func (c *comparison) judge(changed int) {
	if c.hot {
		return
	}
	c.known.warm[c.piece] = changed > c.full/32
	if changed > c.full*3/4 {
		c.known.hot[c.piece] = hotFor
	}
}

// distil compares the copied units of a warm piece with the known hashes, and keeps only the units that have
// changed.
func (c *comparison) distil(k *known) {
	size := int(c.array.Type.Size())
	unit, changed := unitOf(size), 0
	copied := c.blocks
	c.blocks = nil
	for _, b := range copied {
		if b.kind == blockZero {
			c.blocks = append(c.blocks, b)
			continue
		}
		clearOthers(b.own, c.array, int(b.first))
		from := 0 // the first element after the last unchanged unit
		keep := func(end int) {
			if from < end {
				one := b
				one.first, one.count, one.own = b.first+uint64(from), uint64(end-from), b.own[from*size:end*size]
				c.blocks = append(c.blocks, one)
			}
		}
		for lo := 0; lo < int(b.count); lo += unit {
			hi := min(lo+unit, int(b.count))
			old, now := &c.known.units[(int(b.first)+lo)/unit], k.hash(b.own[lo*size:hi*size])
			if now == *old {
				keep(lo)
				from = hi
				continue
			}
			if *old > unsure {
				changed += (hi - lo) * size
			}
			*old = now
		}
		keep(int(b.count))
	}
	c.judge(changed)
}

// unwritten returns the end of the elements from lo on whose memory was certainly not written. The result is
// end, or is rounded down to whole units and whole words of presence bits. It is lo if there are no such
// elements.
func (c *comparison) unwritten(lo, end, unit int) int {
	step := max(unit, 64)
	if !c.clean || lo%step != 0 {
		return lo
	}
	size := int(c.array.Type.Size())
	if c.written(lo*size, end*size) {
		return max(lo, min(end, c.parts[0][0]/size)/step*step)
	}
	return end
}

// untouched reports whether units whose memory was not written are the same as in the last checkpoint. For
// this, it only compares which elements belong to the state.
func (c *comparison) untouched(lo, hi, unit int) bool {
	size, full := int(c.array.Type.Size()), 0
	for n := lo / unit; n*unit < hi; n++ {
		switch old := c.known.units[n]; {
		case old == unsure, old == 0 && c.array.Kept == nil:
			return false
		case old > 0:
			full += (min(n*unit+unit, hi) - n*unit) * size
		}
	}
	if c.array.Kept != nil {
		for group := lo / 64; group*64 < hi; group++ {
			mask := c.array.Kept(group)
			if n := hi - group*64; n < 64 {
				mask &= 1<<n - 1
			}
			if mask != c.known.masks[group] {
				return false
			}
		}
	}
	c.full += full
	return true
}

// kept returns whether any element of [lo, hi) belongs to the state, and whether all do. If masks is true,
// kept notes the masks, and same reports whether the same elements belonged to the state in the last
// checkpoint.
func (c *comparison) kept(lo, hi int, masks bool) (any, all, same bool) {
	if c.array.Kept == nil {
		return true, true, true
	}
	all, same = true, true
	for at := lo; at < hi; {
		group := at / 64
		end := min(group*64+64, hi)
		mask := c.array.Kept(group)
		part := ^uint64(0) >> (64 - (end - at)) << (at % 64)
		any = any || mask&part != 0
		all = all && mask&part == part
		if masks {
			old := &c.known.masks[group]
			same = same && (*old^mask)&part == 0
			*old = *old&^part | mask&part
		}
		at = end
	}
	return any, all, same
}

// written reports whether bytes of the array may have been written. The caller must pass ascending offsets,
// because written drops the parts before lo.
func (c *comparison) written(lo, hi int) bool {
	for len(c.parts) > 0 && c.parts[0][1] <= lo {
		c.parts = c.parts[1:]
	}
	return len(c.parts) > 0 && c.parts[0][0] < hi
}

// add adds units to the runs.
func (c *comparison) add(lo, hi int, zero bool) {
	if n := len(c.runs); n > 0 && c.runs[n-1].hi == lo && c.runs[n-1].zero == zero {
		c.runs[n-1].hi = hi
		return
	}
	c.runs = append(c.runs, run{lo, hi, zero})
}

// canonical copies elements. Those that do not belong to the state are zero in the copy.
func canonical(dst []byte, a *state.Array, lo, hi int) {
	roughly(dst, a, lo, hi)
	clearOthers(dst, a, lo)
}

// roughly copies the elements that belong to the state, and perhaps some others. Elements that it does not
// copy are zero in the copy. roughly does not read a group of 64 elements if none of these elements belongs
// to the state.
func roughly(dst []byte, a *state.Array, lo, hi int) {
	size := int(a.Type.Size())
	for at := lo; at < hi; {
		from, end := at, at // the last element to copy is before end
		for at < hi {
			mask := keptOf(a, at/64) >> (at % 64)
			if n := hi - at; n < 64 {
				mask &= 1<<n - 1
			}
			if mask == 0 {
				break
			}
			end = at + bits.Len64(mask)
			at = at/64*64 + 64
		}
		if from < end {
			copy(dst[(from-lo)*size:], a.Bytes(from, end))
		}
		for at < hi && keptOf(a, at/64)>>(at%64) == 0 {
			at = at/64*64 + 64
		}
		at = min(at, hi)
		clear(dst[(end-lo)*size : (at-lo)*size])
	}
}
