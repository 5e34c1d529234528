package guard

import (
	"fmt"

	"github.com/vastgo/vast/vm"
)

// Options configure an allocator. The zero value works.
type Options struct {
	// Name is the allocator's name in reports, and the purpose under which [vm.Snapshot] counts the
	// allocator's bytes. Default: "guard.Allocator".
	Name string
	// Capacity is the largest number of live blocks. On Linux each block costs two of the process's mappings.
	// Linux allows 65,530 mappings by default (vm.max_map_count). Default: 16,384 blocks, which take half of
	// these mappings.
	Capacity int
	// Addresses is the size of the address range for live and freed blocks, in bytes. A block takes its pages
	// and one guard page. If no unused addresses are left, the allocator reuses the addresses of the block
	// that was freed first. Until this reuse, the freed block costs some 400 bytes of Go heap. Default:
	// 1 GiB, enough for some 131,000 blocks of one page of 4 KiB; 16 MiB if blocks lie on the Go heap
	// ([vm.PagesHeap] or [vm.HeapStandIn]).
	Addresses int
	// AtStart puts blocks at the start of their pages, so that an access before the start faults. By default,
	// blocks lie at the end of their pages, so that an access past the end faults.
	AtStart bool
	// Limit is a budget of committed memory, shared with other containers. A block commits whole pages.
	// Default: [vm.DefaultLimit].
	Limit *vm.Limit
	// Pages is [vm.PagesHeap] for blocks on the Go heap, where no access faults. All other values mean small
	// pages.
	Pages vm.Pages
}

const (
	defaultCapacity = 16 << 10
	defaultBytes    = 1 << 30
	standInBytes    = 16 << 20
)

// standsIn reports whether blocks with this page policy lie on the Go heap.
func standsIn(p vm.Pages) bool { return p == vm.PagesHeap || vm.HeapStandIn() }

// withDefaults panics if an option is negative.
func (o Options) withDefaults() Options {
	for _, v := range []struct {
		name  string
		value int
	}{{"Capacity", o.Capacity}, {"Addresses", o.Addresses}} {
		if v.value < 0 {
			panic(fmt.Sprintf("guard: NewAllocator: Options.%s is %d: leave it zero for the default", v.name,
				v.value))
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
		// With huge pages several blocks would share a page.
		o.Pages = vm.PagesSmall
	}
	return o
}
