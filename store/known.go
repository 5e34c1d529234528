package store

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sort"
	"unsafe"

	"github.com/vastgo/vast/internal/state"
)

// A delta holds the units that have changed since the previous checkpoint. A unit is about 1 KiB of elements.
// The store keeps a hash of each unit of the previous checkpoint. A unit has changed if its hash differs.
//
// The store hashes the bytes that a reader of the file gets. In these canonical bytes, elements that do not
// belong to the state are zero. So bytes that a dead element has left do not count as changes.
//
// The hash has 64 bits, and a random seed for each store. The store misses a change with a probability of
// 2⁻⁶⁴: with a million changed units a second, this happens once in half a million years. With a CRC of 32
// bits, it would happen about once an hour.
//
// If the operating system reports which memory was written, the store need not hash unwritten units. But
// elements may die or be born without a write. So the store also keeps which elements belonged to the state,
// and skips a unit only if its memory is unwritten and the same elements belong to the state.

// pages reports which memory was written. Without an implementation for the operating system, the store reads
// and compares all memory.
type pages interface {
	// scan ends an interval and begins the next interval. It is called once for each checkpoint, while
	// nothing changes the world.
	scan()
	// changed returns the parts of the n bytes from base on that may have been written in the interval that
	// the last scan has ended. Memory that was uncommitted at any time in the interval counts as written. A
	// part has two offsets: of its first byte, and of the byte after its last byte. The parts are in
	// ascending order, and valid until the next scan. known is false if the system has no information about
	// these bytes.
	changed(base unsafe.Pointer, n int) (parts [][2]int, known bool)
	// guard begins to watch n bytes from base on. It returns false if it cannot watch these bytes. The caller
	// must have called changed for these bytes after the last scan.
	guard(base unsafe.Pointer, n int) bool
	// release ends the watch that guard has begun. It returns false if the bytes may have been written since
	// guard. Several goroutines may call release at the same time.
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

// known holds the hashes of the last checkpoint.
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

// knownArray describes an array of the last checkpoint.
type knownArray struct {
	base  unsafe.Pointer // address of element 0; only set if the stage has pages
	len   int            // number of elements
	units []uint64       // hash of each unit, or unsure; 0 if no element of the unit belongs to the state
	masks []uint64       // a bit for each element that belongs to the state; only set if the stage has pages
	now   []uint64       // masks of the checkpoint that is being taken; only set for an array of stage.late
	warm  []bool         // for each piece, whether more than 1/32 of it had changed at the last comparison
	hot   []uint8        // for each piece, number of further checkpoints that copy it without a comparison
	sums  [][2]uint64    // hashes of the blocks; only set for an array that files hold whole or not at all
	used  bool           // whether the array is a part of the checkpoint that is being taken
}

// hotFor is the number of checkpoints that copy a piece without a comparison after most of the piece has
// changed: a comparison costs as much as the copy, and would find few unchanged units.
const hotFor = 8

// fit resizes the slices for n elements. Elements beyond the end count as zero, as in files.
func (k *knownArray) fit(n, unit, piece int, masks bool) {
	if end := min(n, k.len); n != k.len && end%unit != 0 {
		k.units[end/unit] = unsure // the unit gains or loses elements
	}
	k.len = n
	k.units = resize(k.units, (n+unit-1)/unit)
	k.hot = resize(k.hot, (n+piece-1)/piece)
	k.warm = resize(k.warm, len(k.hot))
	if masks {
		k.masks = resize(k.masks, (n+63)/64)
		if n%64 != 0 {
			k.masks[n/64] &= 1<<(n%64) - 1 // clears the bits after the last element
		}
	}
}

// unsure stands for an unknown hash.
const unsure = 1

// resize returns s with n elements. Added elements are zero.
func resize[T any](s []T, n int) []T {
	if n <= len(s) {
		return s[:n]
	}
	return append(s, make([]T, n-len(s))...)
}

// array returns the knownArray of an array, and notes that the world still has the array.
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

// comparison compares a piece of an array with the last checkpoint.
type comparison struct {
	array *state.Array
	known *knownArray
	index uint32   // index of the array in the description
	piece int      // number of the piece in the array
	parts [][2]int // parts of the array that may have been written: see pages.changed
	clean bool     // whether parts is known; otherwise all bytes may have been written
	hot   bool     // whether units are copied without a comparison, and hashed later by stage.hash
	late  bool     // whether the copy is made after the pause of the checkpoint
	warm  bool     // whether units are copied without a comparison, and compared later by distil
	runs  []run
	full  int // number of bytes of the units that have elements of the state

	blocks []staged // copy of the runs
	err    error    // error of the copy
}

// run is a sequence of adjoining units that a delta must have.
type run struct {
	lo, hi int  // the elements are those from lo to hi-1
	zero   bool // whether no element belongs to the state
}

// compare finds the changed units of a piece, and notes their new hashes. If masks is true, compare also
// notes the masks. In a hot piece and in a warm late piece, compare hashes no unit: all units that may have
// changed count as changed. stage.hash later notes the hashes of a hot piece, and distil notes those of a
// warm piece.
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
	changed := 0
	next := first // the next element for which compare calls unwritten
	for lo := first; lo < end; lo += unit {
		if lo >= next {
			next = c.unwritten(lo, end, unit)
			if next > lo && c.untouched(lo, next, unit) {
				if lo = next; lo == end {
					break
				}
			}
			next = max(next, lo+1)
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
			*old = unsure // stage.hash notes the hash
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
				if *old > unsure { // the old hash is known
					changed += (hi - lo) * size
				}
				*old = now
				c.add(lo, hi, false)
			}
		}
	}
	if !c.warm { // distil calls judge for a warm piece
		c.judge(changed)
	}
}

// judge decides whether a piece is warm or hot for the next checkpoints. changed is the number of its changed
// bytes.
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
				one.first, one.count = b.first+uint64(from), uint64(end-from)
				one.own = b.own[from*size : end*size]
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

// unwritten returns an index hi: the memory of the elements [lo, hi) was certainly not written. hi is lo,
// end, or an index between them that is a multiple of the unit and of 64.
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

// untouched reports whether units of unwritten memory have not changed since the last checkpoint. It compares
// only which elements belong to the state.
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

// kept returns whether any element of [lo, hi) belongs to the state, and whether all elements do. If masks is
// true, kept also notes the masks, and same reports whether the masks of these elements are unchanged.
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

// written reports whether any of the bytes [lo, hi) of the array may have been written. The caller must pass
// ascending offsets, because written drops the parts before lo.
func (c *comparison) written(lo, hi int) bool {
	for len(c.parts) > 0 && c.parts[0][1] <= lo {
		c.parts = c.parts[1:]
	}
	return len(c.parts) > 0 && c.parts[0][0] < hi
}

// add adds the elements [lo, hi) to the runs.
func (c *comparison) add(lo, hi int, zero bool) {
	if n := len(c.runs); n > 0 && c.runs[n-1].hi == lo && c.runs[n-1].zero == zero {
		c.runs[n-1].hi = hi
		return
	}
	c.runs = append(c.runs, run{lo, hi, zero})
}

// canonical copies the elements [lo, hi) to dst. Elements that do not belong to the state become zero.
func canonical(dst []byte, a *state.Array, lo, hi int) {
	roughly(dst, a, lo, hi)
	clearOthers(dst, a, lo)
}

// roughly is like canonical, but may also copy some elements that do not belong to the state. It does not
// read a group of 64 elements if no element of the group belongs to the state.
func roughly(dst []byte, a *state.Array, lo, hi int) {
	size := int(a.Type.Size())
	for at := lo; at < hi; {
		from, end := at, at // the elements [from, end) are copied
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
