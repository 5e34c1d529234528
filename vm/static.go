package vm

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
)

// statics keeps the regions of static tables from being reported as leaked.
var statics struct {
	mu      sync.Mutex
	regions []*Region
}

// Static returns a table of n zero elements that lives as long as the process, like the static array of a C program, and
// costs what is touched of it: a page for each that was written or read. It is meant for package-level variables:
//
//	var tanks = vm.Static[Tank](1_000_000)
//
// so that "large enough for anybody" costs addresses instead of memory. The elements never move.
//
// All of the table is Committed. Where the system charges for that (vm.overcommit_memory=2, RLIMIT_DATA, Windows) the whole
// table counts: a table that might need a lot, and usually does not, is better a bulk.Array there. [DefaultLimit] does not
// bind tables: it would count the whole of each, and a program would end before its main function. Tables are counted
// under the purpose "static Tank". The heap stand-in takes their memory at once.
//
// It panics when n is negative or T holds Go pointers, and with the [*Error] of [Reserve] or [Region.Commit] where the
// addresses or the memory cannot be had.
func Static[T any](n int) []T {
	layout.Check[T]("vm: Static")
	if n < 0 {
		panic(fmt.Sprintf("vm: Static[%s](%d): a number of elements is zero or more", layout.Name[T](), n))
	}
	if n == 0 {
		return []T{}
	}
	purpose := "static " + layout.Name[T]()
	size := layout.Size[T]()
	if n > math.MaxInt/size {
		panic(&Error{Op: "reserve", Purpose: purpose, Bytes: math.MaxInt, Err: ErrSize,
			Detail: fmt.Sprintf("%d elements of %d bytes are more than there are addresses: ask for fewer", n, size)})
	}
	r, err := Reserve(n*size, Options{Name: purpose, Limit: NewLimit(math.MaxInt)})
	if err == nil {
		if err = r.Commit(0, n*size); err != nil {
			_ = r.Close() // nobody has seen its addresses
		}
	}
	if err != nil {
		panic(err)
	}
	statics.mu.Lock()
	statics.regions = append(statics.regions, r)
	statics.mu.Unlock()
	// The region has n elements' bytes, is never closed, and T holds no Go pointers.
	return unsafe.Slice((*T)(r.Base()), n)
}
