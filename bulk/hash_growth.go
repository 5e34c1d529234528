package bulk

import (
	"math/bits"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// The table of a HashIndex (see buckets) grows by two fifths at a time, from one of the sizes in bucketCounts
// to the next. This is called stretching; the opposite is called squeezing.
//
// A hash has a small home, for the smaller size, and a large home, for the larger size. The field split tells
// which home is in force: if the small home is bucket split or a later bucket, the hash is stretched and has
// its large home. During stretching, insertions move split down; during squeezing, removals move split up.
// Homes have the order of the hashes. Therefore stretched entries move towards the end, into buckets that
// were emptied before.
//
// Litwin's linear hashing ("Linear Hashing: A New Tool for File and Table Addressing", 1980) splits a bucket
// into two buckets that are half as full. There, the buckets that are not split yet are twice as full as the
// others; here, they are 1.4 times as full.

const (
	// maxFull is the percentage of full slots at which stretching begins. Stretching alone lowers the
	// percentage to 61%.
	maxFull = 85
	// minFull is the percentage of full slots below which squeezing begins. During squeezing, more than 58%
	// of the slots of the larger table stay full. If pairs have 8 bytes or more, a bucket is at most 8/7
	// times as large as its pairs; so the table is less than twice as large as its data.
	minFull = 60
	// stretchStep is the number of buckets that an insertion stretches. Therefore stretching ends when the
	// table has 6% more entries, and no part of the table is more than 90% full.
	stretchStep = 3
	// squeezeStep is the number of buckets that a removal squeezes. It is larger than stretchStep, because
	// removals empty the table further during squeezing.
	squeezeStep = 8
	// The steps of stepsAtOnce insertions or removals are made together, because neighbouring buckets load
	// faster together.
	stepsAtOnce = 16
	// spareBuckets is the number of buckets behind the last home, for entries that find no empty slot in the
	// homes. When these buckets are full, more are made.
	spareBuckets = 16
	noLevel      = -1 // the level of a table without memory
)

var bucketCounts = func() (counts [100]uint64) {
	for i, n := 0, uint64(8); i < len(counts); i, n = i+1, n+n*2/5 {
		counts[i] = n
	}
	return counts
}()

// slotsIn returns the number of entries at which n buckets are stretched.
func slotsIn(n uint64) int { return int(n * slotsPerBucket * maxFull / 100) }

// levelFor returns the least level whose table has room for n entries.
func levelFor(n int) (level int) {
	for slotsIn(bucketCounts[level]) < n {
		level++
	}
	return level
}

// entry is an entry that is being stretched, with its old place.
type entry[K comparable, V any] struct {
	hash    uint64
	bucket  uint64
	slot    uint
	control uint64 // the entry's byte in the control word
	key     K
	value   V
}

func (x *HashIndex[K, V]) setLevel(level int) {
	x.level, x.moving = level, false
	x.small, x.large = bucketCounts[level], bucketCounts[level+1]
	x.split = x.small
	x.room = slotsIn(x.small)
	x.countBeyond()
}

// reset turns the table into a table without memory.
func (x *HashIndex[K, V]) reset() {
	x.level, x.moving, x.room, x.used, x.beyond = noLevel, false, 0, 0, 0
	x.base, x.end = unsafe.Pointer(unsafe.SliceData(x.stub)), 1
	x.small, x.split, x.large = 1, 1, 1
}

// homes returns the number of buckets that may be homes.
func (x *HashIndex[K, V]) homes() uint64 {
	if x.moving {
		return x.large
	}
	return x.small
}

func (x *HashIndex[K, V]) countBeyond() {
	x.beyond = 0
	for i := x.homes(); i < x.firstUnreached(x.homes()); i++ {
		x.beyond += bits.OnesCount64(fullSlots(*x.control(i)))
	}
}

// firstUnreached returns the first bucket at or after i that no entry has reached from an earlier home.
func (x *HashIndex[K, V]) firstUnreached(i uint64) uint64 {
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

// makeSlot makes room for an entry with the given hash and returns the bucket of an empty slot.
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

func (x *HashIndex[K, V]) enlarge(op operation) error {
	if x.level == noLevel {
		if err := x.commit(op, bucketCounts[0]+spareBuckets); err != nil {
			return err
		}
		x.start(0)
		return nil
	}
	if x.moving {
		// Stretching had stopped, because memory for entries behind the last home was refused.
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

// start makes an empty table in the committed memory.
func (x *HashIndex[K, V]) start(level int) {
	x.base = x.span.base
	x.setEnd()
	x.setLevel(level)
}

// stretch moves split down by at most steps buckets.
func (x *HashIndex[K, V]) stretch(op operation, steps int) error {
	for ; steps > 0 && x.split > 0; steps-- {
		b := x.split - 1
		if x.stretchFast(b) {
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

// stretchFast stretches bucket b in the usual case, and returns false in other cases. In the usual case, no
// entry has passed b, the large homes are later buckets, and memory for the entries can be committed.
func (x *HashIndex[K, V]) stretchFast(b uint64) bool {
	p := x.bucket(b)
	c := *(*uint64)(p)
	// If a large home were bucket b, an entry could take a second slot of b, or pass b although its old slot
	// becomes empty.
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

// squeezable reports whether the table is too empty and has more memory than Grow has promised.
func (x *HashIndex[K, V]) squeezable() bool {
	return x.used < int(x.homes())*(slotsPerBucket*minFull)/100 && (x.level > 0 || x.moving) &&
		x.span.promised < int(x.homes()+spareBuckets)*int(x.form.bytes)
}

// squeeze moves split up by at most steps buckets and returns true if the table is squeezable. Otherwise it
// returns false.
func (x *HashIndex[K, V]) squeeze(steps int) bool {
	_ = x.many.giveBack() // unused memory that Grow committed for the groups of HashIndex.many
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
		// The hashes with small home b have the large homes from first to last.
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

// join moves the entries with large home g and small home b to their small home.
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
			// The search ends at bucket i at the latest, because take has emptied a slot there. Therefore the
			// loops do not meet moved entries again.
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

// shrink gives back the memory behind the table. It returns an error as [vm.Region.Decommit] does.
func (x *HashIndex[K, V]) shrink() error {
	err := x.span.shrink(int(max(x.homes()+spareBuckets, x.firstUnreached(x.homes()))) * int(x.form.bytes))
	x.setEnd()
	return err
}

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

// makeSpare makes slots for n entries, even if all these entries have the last home.
func (x *HashIndex[K, V]) makeSpare(op operation, n int) error {
	if behind := x.end - x.homes(); x.beyond+n > int(behind)*slotsPerBucket {
		return x.commit(op, x.end+uint64(n)/slotsPerBucket+1)
	}
	return nil
}

// move moves the entries in x.moved from their small home b to their large homes.
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
			to++ // makeSpare bounds this search
		}
		x.store(home, to, e.control, e.key, e.value)
	}
}

// put puts an entry into bucket i, which must be vacancy(h). many is manyBit or zero.
func (x *HashIndex[K, V]) put(i, h uint64, k K, v V, many uint64) {
	x.store(x.home(h), i, tagOf(h)|many, k, v)
}

// store puts an entry with a given home into an empty slot of bucket i.
func (x *HashIndex[K, V]) store(home, i, control uint64, k K, v V) {
	p := x.bucket(i)
	c := (*uint64)(p)
	s := slotOf(emptySlots(*c))
	*c |= control << (8 * s)
	*x.key(p, s) = k
	*x.value(p, s) = v
	for j := home; j < i; j++ {
		// A count of 255 stays, which only makes searches longer than necessary.
		if c := x.control(j); *c < 255*onePassed {
			*c += onePassed
		}
	}
	if i >= x.homes() {
		x.beyond++
	}
}

// take empties a slot of bucket i, whose entry has the given home.
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

// poison overwrites the pair of an empty slot, so that uses of the pair show.
func (x *HashIndex[K, V]) poison(bucket unsafe.Pointer, slot uint) {
	invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(x.key(bucket, slot))), size[K]()))
	invariants.Poison(unsafe.Slice((*byte)(unsafe.Pointer(x.value(bucket, slot))), size[V]()))
}
