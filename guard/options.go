package guard

import (
	"fmt"

	"github.com/vastgo/vast/vm"
)

// Options say how an allocator is made. The zero value works.
type Options struct {
	// Name is the purpose under which the allocator's bytes are counted (see [vm.Snapshot]), and named in reports.
	// Default: "guard.Allocator".
	Name string
	// Capacity is the largest number of live blocks. On Linux each costs two of the process's mappings, of which there
	// are 65,530 unless vm.max_map_count is raised. Default: 16,384, half of them.
	Capacity int
	// Addresses is how many bytes of addresses the blocks share, live ones and freed ones: a block takes its pages and one
	// more. An address that was freed is used again when all others have been used, the one freed first before the
	// others. What is remembered of a freed block costs some 400 bytes of Go heap as long. Default: 1 GiB, which is good
	// for 131,072 blocks of one page of 4 KiB; 16 MiB where regions are Go heap memory ([vm.PagesHeap], the race detector,
	// systems without virtual memory).
	Addresses int
	// AtStart puts blocks at the start of their pages, so that an access before the start faults. Default: at the end,
	// so that an access past the end does.
	AtStart bool
	// Limit is a budget of committed memory, shared with others. A block is committed in whole pages. Default: none.
	Limit *vm.Limit
	// Pages is [vm.PagesHeap] for an allocator on the Go heap, where nothing faults; other policies change nothing.
	Pages vm.Pages
}

const (
	defaultCapacity = 16 << 10
	defaultBytes    = 1 << 30
	standInBytes    = 16 << 20
)

// standsIn reports whether an allocator of this policy lies on the Go heap.
func standsIn(p vm.Pages) bool { return p == vm.PagesHeap || vm.HeapStandIn() }

// withDefaults returns the options made definite, and panics where one is negative.
func (o Options) withDefaults() Options {
	for _, v := range []struct {
		name  string
		value int
	}{{"Capacity", o.Capacity}, {"Addresses", o.Addresses}} {
		if v.value < 0 {
			panic(fmt.Sprintf("guard: NewAllocator: Options.%s is %d: leave it zero for the default", v.name, v.value))
		}
	}
	if o.Name == "" {
		o.Name = "guard.Allocator"
	}
	if o.Capacity == 0 {
		o.Capacity = defaultCapacity
	}
	if o.Addresses == 0 {
		o.Addresses = defaultBytes
		if standsIn(o.Pages) {
			o.Addresses = standInBytes
		}
	}
	if o.Pages != vm.PagesHeap {
		// Huge pages would make blocks share one, and are of no use to blocks with gaps between them.
		o.Pages = vm.PagesSmall
	}
	return o
}
