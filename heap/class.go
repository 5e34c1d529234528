package heap

import (
	"math/bits"

	"github.com/vastgo/vast/vm"
)

// grain is the size of the smallest objects in bytes. All object sizes are multiples of grain.
const grain = 16

// maxRun is the largest number of pages in a pool.
const maxRun = 8

// class is a size of objects in pools.
type class struct {
	size    uint32 // bytes of an object
	pages   uint32 // number of pages of a pool
	objects uint32 // number of objects of a pool
	inverse uint64 // 2^40/size rounded up, to divide by size with a multiplication
}

// index returns the number of the object that contains the byte at offset off of a pool. The number is exact:
// the inverse is too large by less than 1, and a pool's size (at most 512 KiB) times an object's size is less
// than 2^40. Therefore the product divided by 2^40 is too large by less than 1/size, which rounding down
// removes.
func (c *class) index(off uint32) uint32 { return uint32(uint64(off) * c.inverse >> 40) }

// classes are all object sizes in ascending order. Up to 128 bytes, consecutive sizes differ by a grain, and
// rounding up adds less than a grain. Above 128 bytes, there are eight sizes from each power of two to the
// next, and rounding up adds less than an eighth.
var classes = makeClasses(vm.PageSize())

// classOf maps a size in grains to the number of the smallest class that is large enough.
var classOf = makeClassOf(classes)

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

// poolPages returns the number of pages of a pool whose objects have the given size in bytes: the smallest
// number with less than a tenth of the pool unused, at most maxRun.
func poolPages(page, size int) uint32 {
	for n := 1; n < maxRun; n++ {
		if n*page%size*10 < n*page {
			return uint32(n)
		}
	}
	return maxRun
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

var maxSmall = int(classes[len(classes)-1].size)

// classFor returns the number of the smallest class of at least size bytes whose objects are aligned to
// align. It returns false if no class fits. Pools begin at page boundaries, so the object size alone decides
// the alignment.
func classFor(size, align int) (int, bool) {
	if size > maxSmall {
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
