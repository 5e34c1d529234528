package vm

import (
	"fmt"
	"math"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/layout"
)

// statics keeps the regions of static tables, so that they are not reported as leaked.
var statics struct {
	mu      sync.Mutex
	regions []*Region
}

// Static returns a table of n zero elements that lives as long as the process, like the static array of a C
// program. Only pages that were read or written take memory. Static is meant for package-level variables:
//
//	var tanks = vm.Static[Tank](1_000_000)
//
// Make a table large enough for every case: its unused pages take addresses, but no memory. The elements
// never move.
//
// Static commits the whole table. If the system charges for committed memory (vm.overcommit_memory=2,
// RLIMIT_DATA, Windows), it charges the whole table. On such a system use a bulk.Array for a table that
// usually stays small. On the heap stand-in Static takes the memory of the whole table.
//
// [DefaultLimit] does not limit tables. Otherwise it would count each whole table, and Static could panic
// before the program's main function. [Snapshot] counts the table above under the purpose "static Tank".
//
// Static panics if n is negative or T holds Go pointers. If the addresses or the memory are not available, it
// panics with the [*Error] of [Reserve] or [Region.Commit].
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
			Detail: fmt.Sprintf("%d elements of %d bytes do not fit in the address space: ask for fewer", n,
				size)})
	}
	r, err := Reserve(n*size, Options{Name: purpose, Limit: NewLimit(math.MaxInt)})
	if err == nil {
		if err = r.Commit(0, n*size); err != nil {
			_ = r.Close() // no code has seen its addresses
		}
	}
	if err != nil {
		panic(err)
	}
	statics.mu.Lock()
	statics.regions = append(statics.regions, r)
	statics.mu.Unlock()
	// The slice is sound: the region has room for n elements and is never closed, and T holds no Go pointers.
	return unsafe.Slice((*T)(r.Base()), n)
}
