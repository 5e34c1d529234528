package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// The table of a HashIndex grows by two fifths at a time: from one of the sizes in bucketCounts to the next. While it does,
// the hashes from the home split on are stretched over the larger number of buckets, and insertions move split down, by
// three each; removals move it up again when the table has become too empty. Because homes keep their order, what is
// stretched moves towards the end, into buckets that were emptied before it.
//
// Litwin's linear hashing ("Linear Hashing: A New Tool for File and Table Addressing", 1980) splits one bucket per
// insertion too, but into one half as full, so that it needs room for twice its entries in the half that was split.

const (
	// A table is stretched when so many of 100 slots are full. Stretched at once, it would have 61 left.
	mostFull = 85
	// It is squeezed when fewer are. At the end of that it has at least 58, so that a table of 8/7 bytes for each byte of
	// data is less than twice its data.
	leastFull = 60
	// Two fifths more entries come in while a table is stretched. Three buckets at each insertion are done with it when 6%
	// have come, so that the part not stretched yet is never more than 90% full.
	stretchStep = 3
	// Removals make a squeezed table emptier on the way, so it has to be quick.
	squeezeStep = 8
	// So many insertions or removals are waited for, a power of two, and then the steps of all taken at once: neighbouring
	// buckets come from memory faster together.
	stepsAtOnce = 16
	// Buckets behind the last home, for entries that find it full. More are made when these are full.
	spareBuckets = 16
	noLevel      = -1 // of a table without memory
)

// bucketCounts are the sizes that a table may have, in buckets.
var bucketCounts = func() (counts [100]uint64) {
	for i, n := 0, uint64(8); i < len(counts); i, n = i+1, n+n*2/5 {
		counts[i] = n
	}
	return counts
}()

// slotsIn returns how many entries n buckets take before they are stretched.
func slotsIn(n uint64) int { return int(n * slotsPerBucket * mostFull / 100) }

// levelFor returns the least level whose table takes n entries.
func levelFor(n int) (level int) {
	for slotsIn(bucketCounts[level]) < n {
		level++
	}
	return level
}

// entry is an entry of a bucket that is split, and where it was.
type entry[K comparable, V any] struct {
	hash, bucket uint64
	slot         uint
	control      uint64 // its byte in the control word
	key          K
	value        V
}

// setLevel makes the table one that is stretched no further than a level.
func (x *HashIndex[K, V]) setLevel(level int) {
	x.level, x.moving = level, false
	x.small, x.large = bucketCounts[level], bucketCounts[level+1]
	x.split = x.small
	x.room = slotsIn(x.small)
	x.countBeyond()
}

// reset makes the table one without memory.
func (x *HashIndex[K, V]) reset() {
	x.level, x.moving, x.room, x.used, x.beyond = noLevel, false, 0, 0, 0
	x.base, x.end = unsafe.Pointer(unsafe.SliceData(x.stub)), 1
	x.small, x.split, x.large = 1, 1, 1
}

// homes returns the number of buckets that are homes of hashes, now or before the move that is under way ends.
func (x *HashIndex[K, V]) homes() uint64 {
	if x.moving {
		return x.large
	}
	return x.small
}

// countBeyond counts the entries behind the last home.
func (x *HashIndex[K, V]) countBeyond() {
	x.beyond = 0
	for i := x.homes(); i < x.lastPassed(x.homes()); i++ {
		x.beyond += bits.OnesCount64(fullSlots(*x.control(i)))
	}
}

// lastPassed returns the bucket behind those that entries with homes below bucket i may have gone on to.
func (x *HashIndex[K, V]) lastPassed(i uint64) uint64 {
	for i < x.end && *x.control(i - 1) >= onePassed {
		i++
	}
	return i
}

// commit makes at least n buckets usable.
func (x *HashIndex[K, V]) commit(op operation, n uint64) error {
	if x.level != noLevel && n <= x.end {
		return nil
	}
	if err := x.span.grow(op, int(n)*int(x.form.bytes)); err != nil {
		return err
	}
	if x.level != noLevel {
		x.setEnd()
	}
	return nil
}

func (x *HashIndex[K, V]) setEnd() { x.end = uint64(x.span.committed) / uint64(x.form.bytes) }

// makeSlot makes sure that one more entry may come, and an empty slot for a hash.
func (x *HashIndex[K, V]) makeSlot(op operation, h uint64) (bucket uint64, err error) {
	if x.used >= x.room {
		if err := x.enlarge(op); err != nil {
			return 0, err
		}
	}
	bucket = x.vacancy(h)
	if bucket == x.end {
		err = x.commit(op, x.end+1)
	}
	return bucket, err
}

// enlarge gives the table room for more entries.
func (x *HashIndex[K, V]) enlarge(op operation) error {
	if x.level == noLevel {
		if err := x.commit(op, bucketCounts[0]+spareBuckets); err != nil {
			return err
		}
		x.start(0)
		return nil
	}
	if x.moving {
		// Buckets were not split because entries behind the last home could not have more memory. It has come to an end.
		if err := x.stretch(op, int(x.split)); err != nil {
			return err
		}
	}
	if err := x.commit(op, x.large+spareBuckets); err != nil {
		return err
	}
	x.moving, x.room = true, slotsIn(x.large)
	x.countBeyond()
	return nil
}

// start begins a table in memory that was committed.
func (x *HashIndex[K, V]) start(level int) {
	x.base = x.span.base
	x.setEnd()
	x.setLevel(level)
}

// stretch splits so many buckets, or all there are to split.
func (x *HashIndex[K, V]) stretch(op operation, steps int) error {
	for ; steps > 0 && x.split > 0; steps-- {
		b := x.split - 1
		if x.stretchAlone(b) {
			continue
		}
		x.moved = x.moved[:0]
		x.collect(b)
		if err := x.makeSpare(op, len(x.moved)); err != nil {
			return err
		}
		x.move(b)
	}
	if x.split == 0 {
		x.setLevel(x.level + 1)
	}
	return nil
}

// stretchAlone splits bucket b where no entry has gone on from it to another one, and reports whether it did. Most of the
// work that growth takes is done here.
func (x *HashIndex[K, V]) stretchAlone(b uint64) bool {
	p := x.bucket(b)
	c := *(*uint64)(p)
	// The new homes are at least one bucket further on, so what is put there is not met again.
	if c >= onePassed || b*x.large/x.small == b || x.makeSpare(opAdd, slotsPerBucket) != nil {
		return false
	}
	gone := uint64(0)
	for m := fullSlots(c); m != 0; m &= m - 1 {
		s := slotOf(m)
		k := *x.key(p, s)
		h := x.hash.of(k)
		if of, _ := bits.Mul64(h, x.small); of != b {
			continue
		}
		home, _ := bits.Mul64(h, x.large)
		to := home
		for emptySlots(*x.control(to)) == 0 {
			to++
		}
		x.store(home, to, c>>(8*s)&0xff, k, *x.value(p, s))
		gone |= 0xff << (8 * s)
		if invariants.Enabled {
			x.poison(p, s)
		}
	}
	*(*uint64)(p) &^= gone
	x.split = b
	return true
}

// squeezable reports whether the table is too empty and memory can be given back, because nobody has asked for it.
func (x *HashIndex[K, V]) squeezable() bool {
	return x.used < int(x.homes())*(slotsPerBucket*leastFull)/100 && (x.level > 0 || x.moving) &&
		x.span.promised < int(x.homes()+spareBuckets)*int(x.form.bytes)
}

// squeeze joins so many buckets again, where the table is too empty. It reports whether it did.
func (x *HashIndex[K, V]) squeeze(steps int) bool {
	_ = x.many.giveBack() // what Grow made for groups that did not come
	if !x.squeezable() {
		return false
	}
	if !x.moving {
		x.level--
		x.small, x.large, x.split = bucketCounts[x.level], x.small, 0
		x.moving = true
	}
	for ; steps > 0 && x.split < x.small; steps-- {
		b := x.split
		// These are the homes of all hashes in [b/small, (b+1)/small).
		first, last := b*x.large/x.small, ((b+1)*x.large-1)/x.small
		for g := first; g <= last; g++ {
			x.join(g, b)
		}
		x.split = b + 1
	}
	if x.split == x.small {
		x.setLevel(x.level)
		_ = x.shrink()
	}
	return true
}

// join gives the entries with home g, of large, that have the home b, of small, that one.
func (x *HashIndex[K, V]) join(g, b uint64) {
	for i := g; ; i++ {
		p := x.bucket(i)
		c := *(*uint64)(p)
		for m := fullSlots(c); m != 0; m &= m - 1 {
			s := slotOf(m)
			k := *x.key(p, s)
			h := x.hash.of(k)
			of, _ := bits.Mul64(h, x.large)
			ofSmall, _ := bits.Mul64(h, x.small)
			if of != g || ofSmall != b {
				continue
			}
			v := *x.value(p, s)
			x.take(g, i, s)
			// There is an empty slot in this bucket at the latest, so what is put there is not met again.
			to := b
			for emptySlots(*x.control(to)) == 0 {
				to++
			}
			x.store(b, to, c>>(8*s)&0xff, k, v)
		}
		if c < onePassed || i+1 == x.end {
			return
		}
	}
}

// shrink gives the memory behind the table back.
func (x *HashIndex[K, V]) shrink() error {
	err := x.span.shrink(int(max(x.homes()+spareBuckets, x.lastPassed(x.homes()))) * int(x.form.bytes))
	x.setEnd()
	return err
}

// collect adds the entries with home b, of small, to those that are moved.
func (x *HashIndex[K, V]) collect(b uint64) {
	for i := b; ; i++ {
		p := x.bucket(i)
		c := *(*uint64)(p)
		for m := fullSlots(c); m != 0; m &= m - 1 {
			s := slotOf(m)
			k := *x.key(p, s)
			h := x.hash.of(k)
			if of, _ := bits.Mul64(h, x.small); of == b {
				x.moved = append(x.moved, entry[K, V]{h, i, s, c >> (8 * s) & 0xff, k, *x.value(p, s)})
			}
		}
		if c < onePassed || i+1 == x.end {
			return
		}
	}
}

// makeSpare makes sure that n entries find slots, wherever their homes are.
func (x *HashIndex[K, V]) makeSpare(op operation, n int) error {
	if behind := x.end - x.homes(); x.beyond+n > int(behind)*slotsPerBucket {
		return x.commit(op, x.end+uint64(n)/slotsPerBucket+1)
	}
	return nil
}

// move gives the entries that were collected the homes, of large, that they have when bucket b has been split.
func (x *HashIndex[K, V]) move(b uint64) {
	for i := range x.moved {
		e := &x.moved[i]
		x.take(b, e.bucket, e.slot)
	}
	x.split = b
	for i := range x.moved {
		e := &x.moved[i]
		home, _ := bits.Mul64(e.hash, x.large)
		to := home
		for emptySlots(*x.control(to)) == 0 {
			to++ // makeSpare has made an end of this
		}
		x.store(home, to, e.control, e.key, e.value)
	}
}

// put puts an entry into bucket i, its vacancy. many is manyBit or zero.
func (x *HashIndex[K, V]) put(i, h uint64, k K, v V, many uint64) {
	x.store(x.home(h), i, tagOf(h)|many, k, v)
}

// store puts an entry whose home is given into an empty slot of bucket i.
func (x *HashIndex[K, V]) store(home, i, control uint64, k K, v V) {
	p := x.bucket(i)
	c := (*uint64)(p)
	s := slotOf(emptySlots(*c))
	*c |= control << (8 * s)
	*x.key(p, s) = k
	*x.value(p, s) = v
	for j := home; j < i; j++ {
		// A count that has come to its end stays there: searches are longer than they need be from then on.
		if c := x.control(j); *c < 255*onePassed {
			*c += onePassed
		}
	}
	if i >= x.homes() {
		x.beyond++
	}
}

// take empties a slot of bucket i, whose entry has its home in bucket home.
func (x *HashIndex[K, V]) take(home, i uint64, slot uint) {
	p := x.bucket(i)
	*(*uint64)(p) &^= 0xff << (8 * slot)
	for j := home; j < i; j++ {
		if c := x.control(j); *c < 255*onePassed {
			*c -= onePassed
		}
	}
	if i >= x.homes() {
		x.beyond--
	}
	if invariants.Enabled {
		x.poison(p, slot)
	}
}

// poison overwrites the pair of an empty slot, so that a use of it is seen.
func (x *HashIndex[K, V]) poison(bucket unsafe.Pointer, slot uint) {
	invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(x.key(bucket, slot))), size[K]()))
	invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(x.value(bucket, slot))), size[V]()))
}
