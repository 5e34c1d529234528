package heap

import (
	"math/bits"

	"github.com/vastgo/vast/vm"
)

// grain is the smallest object in bytes, and what all sizes of objects in pools are multiples of.
const grain = 16

// runMost is the most pages that a pool is divided from.
const runMost = 8

// class is a size of objects in pools.
type class struct {
	size    uint32 // bytes
	pages   uint32 // of a pool
	objects uint32 // of a pool
	inverse uint64 // 2^40/size rounded up, to divide by the size with a multiplication
}

// index returns the number of the object in which off lies, a distance from the beginning of its pool. It is exact: the
// inverse is too large by less than 1, and a pool (at most 512 KiB) times the size of an object is less than 2^40.
func (c *class) index(off uint32) uint32 { return uint32(uint64(off) * c.inverse >> 40) }

// classes are all sizes of objects in pools, ascending: eight to a doubling, so that less than an eighth is added to what
// was asked for (below 128 bytes, less than a grain).
var classes = makeClasses(vm.PageSize())

// classOf holds, for a number of grains, the smallest class that has them.
var classOf = makeClassOf(classes)

// makeClasses returns the classes for a size of pages. From seven eighths of a page on an allocation has pages to itself.
func makeClasses(page int) []class {
	var all []class
	for size := grain; size <= page-page/8; {
		c := class{size: uint32(size), inverse: (1<<40 + uint64(size) - 1) / uint64(size)}
		c.pages = poolPages(page, size)
		c.objects = c.pages * uint32(page) / c.size
		all = append(all, c)
		size += max(grain, 1<<bits.Len(uint(size))/16)
	}
	return all
}

// poolPages returns how many pages a pool of objects of a size has: the fewest of which less than a tenth is cut off.
func poolPages(page, size int) uint32 {
	for n := 1; n < runMost; n++ {
		if n*page%size*10 < n*page {
			return uint32(n)
		}
	}
	return runMost
}

func makeClassOf(classes []class) []uint8 {
	var of []uint8
	for i, c := range classes {
		for len(of) <= int(c.size)/grain {
			of = append(of, uint8(i))
		}
	}
	return of
}

// smallMost is the largest size of an object in a pool.
var smallMost = int(classes[len(classes)-1].size)

// classFor returns the smallest class of objects of at least size bytes whose places are multiples of align, or false
// where there is none. Pools begin at pages, so that the size decides.
func classFor(size, align int) (int, bool) {
	if size > smallMost {
		return 0, false
	}
	c := int(classOf[(size+grain-1)/grain])
	for ; align > grain && c < len(classes); c++ {
		if int(classes[c].size)%align == 0 {
			break
		}
	}
	return c, c < len(classes)
}
