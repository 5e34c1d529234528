package bulk

import (
	"math/bits"
	"unsafe"
)

// buckets is the table of a HashIndex: buckets of seven slots, one after the other. A bucket begins with a
// control word. The control word has a byte for each slot. The byte of an empty slot is 0. The byte of a full
// slot has seven bits of the hash, never all zero, and a bit that is set if the slot stands for many values.
// The last byte of the control word counts the entries that have passed the bucket: entries that found it
// full and are in a later bucket. A count of 255 does not change any more. Behind the control word lie seven
// pairs, or seven keys and then seven values.
//
// Each hash has a home bucket. A greater hash has the same home or a later one, and a few spare buckets lie
// behind the last home. An entry is stored in the first bucket, from its home on, that has an empty slot.
// Because homes have the order of the hashes, the table can grow in place (file hash_growth.go). A search
// ends at a bucket that no entry has passed, as in F14 (Facebook, 2019). A removal lowers the counts of the
// buckets that the entry has passed, so it leaves no tombstone.
//
// Many goroutines may read buckets while no goroutine changes them.
type buckets[K comparable, V any] struct {
	base  unsafe.Pointer // bucket 0
	small uint64         // number of small homes, for hashes that are not stretched (see hash_growth.go)
	large uint64         // number of large homes, for stretched hashes
	split uint64         // the first of the small homes whose hashes are stretched
	end   uint64         // number of buckets that have memory
	form  bucketForm
	hash  hasher[K]
}

const (
	slotsPerBucket = 7
	eachByte       = 0x0101010101010101
	tagBits        = 0x7f
	manyBit        = 0x80 // of a control byte
	onePassed      = 1 << 56
	allSlots       = onePassed - 1
	slotHighs      = (onePassed - 1) & (eachByte * manyBit) // the high bits of the control bytes of slots
)

// bucketForm is the layout of a bucket, in bytes.
type bucketForm struct {
	bytes              uintptr // size of a bucket
	keys, values       uintptr // offsets of the first key and of the first value
	eachKey, eachValue uintptr // distances from a key to the next key, and from a value to the next value
}

func newBucketForm[K, V any]() bucketForm {
	var pair struct {
		key   K
		value V
	}
	key, value := unsafe.Sizeof(pair.key), unsafe.Sizeof(pair.value)
	align := func(n, unit uintptr) uintptr { return (n + unit - 1) / unit * unit }
	f := bucketForm{keys: 8}
	if unsafe.Sizeof(pair) == key+value {
		// A value lies behind its key, so that a pair is usually in one cache line.
		if key+value == 16 {
			f.keys = 16
		}
		f.eachKey, f.values, f.eachValue = key+value, f.keys+key, key+value
		f.bytes = f.keys + slotsPerBucket*f.eachKey
	} else {
		// Pairs would have padding, so all keys lie before all values.
		f.eachKey, f.values, f.eachValue = key, align(f.keys+slotsPerBucket*key, value), value
		f.bytes = f.values + slotsPerBucket*value
	}
	f.bytes = align(f.bytes, 8)
	// A bucket gets whole cache lines if that takes at most a fourteenth more memory.
	if lines := align(f.bytes, 64); lines-f.bytes <= f.bytes/14 {
		f.bytes = lines
	}
	return f
}

// The methods bucket, control, key and value are sound for buckets below end. The memory of these buckets is
// committed, and the span never moves before Close. A table without memory has one bucket, the stub on the Go
// heap, which the index keeps alive. Neither K nor V holds Go pointers.

func (t *buckets[K, V]) bucket(i uint64) unsafe.Pointer {
	return unsafe.Add(t.base, uintptr(i)*t.form.bytes)
}

func (t *buckets[K, V]) control(i uint64) *uint64 { return (*uint64)(t.bucket(i)) }

func (t *buckets[K, V]) key(bucket unsafe.Pointer, slot uint) *K {
	return (*K)(unsafe.Add(bucket, t.form.keys+uintptr(slot)*t.form.eachKey))
}

func (t *buckets[K, V]) value(bucket unsafe.Pointer, slot uint) *V {
	return (*V)(unsafe.Add(bucket, t.form.values+uintptr(slot)*t.form.eachValue))
}

// home returns the bucket where the search for a hash begins.
func (t *buckets[K, V]) home(h uint64) uint64 {
	i, _ := bits.Mul64(h, t.small)
	if i >= t.split {
		i, _ = bits.Mul64(h, t.large)
	}
	return i
}

// tagOf returns the tag of a hash, for control bytes: its lowest seven bits, or 1 if these are zero.
func tagOf(h uint64) uint64 {
	tag := h & tagBits
	return tag + (tag-1)>>63
}

// matches returns a word in which the high bit of each control byte with the given tag is set.
func matches(control, tag uint64) uint64 {
	differing := control&(eachByte*tagBits) ^ tag*eachByte
	return ^(differing + eachByte*tagBits) & slotHighs
}

// fullSlots returns a word in which the high bit of the control byte of each full slot is set. The tag of a
// full slot is not zero.
func fullSlots(control uint64) uint64 {
	return (control&(eachByte*tagBits) + eachByte*tagBits) & slotHighs
}

func emptySlots(control uint64) uint64 { return fullSlots(control) ^ slotHighs }

func slotOf(match uint64) uint { return uint(bits.TrailingZeros64(match)) / 8 }

// place is a slot with an entry.
type place struct {
	bucket uint64
	slot   uint
	many   bool // the slot stands for many values
}

// find returns the first slot of key k with hash h, and whether there is one.
func (t *buckets[K, V]) find(h uint64, k K) (at place, ok bool) {
	return t.findFrom(h, k, place{bucket: t.home(h)}, allSlots)
}

// findNext returns the next slot of a key after at, which find or findNext returned. The caller may have
// emptied this slot.
func (t *buckets[K, V]) findNext(h uint64, k K, at place) (next place, ok bool) {
	return t.findFrom(h, k, at, allSlots<<(8*at.slot+8))
}

// findFrom returns the first slot of a key from bucket at.bucket on. In bucket at.bucket it searches the
// given slots, in later buckets all slots.
func (t *buckets[K, V]) findFrom(h uint64, k K, at place, slots uint64) (next place, ok bool) {
	tag := tagOf(h)
	for i := at.bucket; ; i++ {
		p := t.bucket(i)
		c := *(*uint64)(p)
		for m := matches(c, tag) & slots; m != 0; m &= m - 1 {
			if s := slotOf(m); *t.key(p, s) == k {
				return place{i, s, c>>(8*s)&manyBit != 0}, true
			}
		}
		if c < onePassed || i+1 == t.end {
			return place{}, false
		}
		slots = allSlots
	}
}

func (t *buckets[K, V]) valueAt(at place) V { return *t.value(t.bucket(at.bucket), at.slot) }

// groupIn returns the address of the number of a group (see HashIndex.many) in a slot that stands for many
// values: the first four bytes of the slot's value. This is sound because values have at least four bytes
// and no Go pointers.
func (t *buckets[K, V]) groupIn(at place) *uint32 {
	return (*uint32)(unsafe.Pointer(t.value(t.bucket(at.bucket), at.slot)))
}

// vacancy returns the bucket of the first empty slot for a hash, or end if there is none.
func (t *buckets[K, V]) vacancy(h uint64) uint64 {
	i := t.home(h)
	for i < t.end && emptySlots(*t.control(i)) == 0 {
		i++
	}
	return i
}
