package bulk

import "fmt"

// checkInvariants panics when the bookkeeping contradicts itself. Complexity: a few steps for each pair and
// bucket.
func (x *HashIndex[K, V]) checkInvariants() {
	fail := func(format string, args ...any) {
		panic("bulk: " + x.plan.name + ": broken invariant: " + fmt.Sprintf(format, args...))
	}
	x.many.checkInvariants(x.plan.name)
	if x.split > x.small || x.moving != (x.split < x.small) && x.split != x.small ||
		x.homes() > x.end && x.level != noLevel {
		fail("split is %d; there are %d small homes, %d large homes, %d buckets with memory; moving is %t",
			x.split, x.small, x.large, x.end, x.moving)
	}
	passed := make([]int, x.end)
	groups := make(map[uint32]bool)
	used, beyond, pairs := 0, 0, x.many.len
	for i := range x.end {
		p := x.bucket(i)
		c := *(*uint64)(p)
		if c&(eachByte*manyBit)&slotHighs&^fullSlots(c) != 0 {
			fail("bucket %d has control word %#x: an empty slot has the bit for many values", i, c)
		}
		for m := fullSlots(c); m != 0; m &= m - 1 {
			s := slotOf(m)
			h := x.hash.of(*x.key(p, s))
			home := x.home(h)
			if home > i || c>>(8*s)&tagBits != tagOf(h) {
				fail("slot %d of bucket %d has the wrong tag %#x, or its home %d is a later bucket", s, i,
					c>>(8*s)&tagBits, home)
			}
			for j := home; j < i; j++ {
				passed[j]++
			}
			used++
			if i >= x.homes() {
				beyond++
			}
			if c>>(8*s)&manyBit == 0 {
				pairs++
				continue
			}
			group := *x.groupIn(place{i, s, true})
			if groups[group] || !x.many.contains(group) {
				fail("group %d is used twice, or has no values", group)
			}
			groups[group] = true
		}
	}
	for i := range passed {
		if n := int(*x.control(uint64(i)) >> 56); n != passed[i] && n != 255 {
			fail("%d entries have passed bucket %d, but its count is %d", passed[i], i, n)
		}
	}
	if used != x.used || used > x.room || beyond != x.beyond || pairs != x.len {
		fail("the index counts %d used slots (at most %d), %d of them behind the homes, and %d pairs; its "+
			"buckets have %d used slots, %d of them behind the homes, and %d pairs",
			x.used, x.room, x.beyond, x.len, used, beyond, pairs)
	}
	for leaf, more := x.many.first+1, x.many.len > 0; more && leaf != 0; leaf = x.many.head(leaf - 1).next {
		for _, group := range x.many.keys(leaf - 1) {
			if !groups[group] {
				fail("group %d has no slot", group)
			}
		}
	}
}
