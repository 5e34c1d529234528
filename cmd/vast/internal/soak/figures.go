package soak

import (
	"math"
	"os"
	"runtime"
	"runtime/metrics"

	"github.com/vastgo/vast/internal/measure"
	"github.com/vastgo/vast/vm"
)

// figures are the resources of the process at one moment. An unknown figure is 0. Sizes are in bytes.
type figures struct {
	Mappings     int `json:"mappings"`
	AddressSpace int `json:"address_space"`
	Resident     int `json:"resident"`
	Descriptors  int `json:"descriptors"`
	Goroutines   int `json:"goroutines"`
	GoHeap       int `json:"go_heap"` // the size of all objects after a collection
	Regions      int `json:"regions"`
	Reserved     int `json:"reserved"`
	Committed    int `json:"committed"`
	InRegions    int `json:"resident_in_regions"`
	Leaked       int `json:"leaked"` // the size of the regions that were dropped without Close
}

// readFigures collects garbage and reads the figures of the runtime, package vm and the system.
func readFigures() figures {
	runtime.GC()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	usage, total := vm.ReadUsage(), vm.Snapshot(true).Total()
	resident, _ := measure.Resident() // 0 if unknown
	return figures{
		Mappings: usage.Mappings, AddressSpace: usage.AddressSpace, Resident: resident,
		Descriptors: openDescriptors(), Goroutines: runtime.NumGoroutine(),
		GoHeap:  int(heap[0].Value.Uint64()),
		Regions: total.Regions, Reserved: total.Reserved, Committed: total.Committed,
		InRegions: total.Resident, Leaked: total.Leaked,
	}
}

// openDescriptors returns the number of open files of this process, or 0 if it cannot read /proc/self/fd.
func openDescriptors() int {
	directory, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0
	}
	defer directory.Close()
	names, err := directory.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return len(names) - 1 // without the open directory itself
}

// figure is a field of figures, with a rule for its growth. An exact figure must not grow. For any other
// figure, the median of the last quarter of the rounds may exceed the median of the first quarter by a
// twentieth plus the slack.
type figure struct {
	name  string
	of    func(*figures) *int
	bytes bool // whether the unit is bytes
	exact bool
	slack int
}

const mebibyte = 1 << 20

// judged lists all figures. The reasons for the slack are the allocator, the garbage collector, and
// additional threads. In a short run, the largest number of open worlds may also occur late. The address
// space then grows late, because a world reserves 8 GiB, and package vm keeps the addresses of closed
// regions.
//
// The slack of the resident memory is small enough to find a leak of one page of 4 KiB in each round: such a
// leak takes 28 MiB in an hour.
var judged = []figure{
	{name: "mappings", of: func(f *figures) *int { return &f.Mappings }, slack: 160},
	{name: "address space", of: func(f *figures) *int { return &f.AddressSpace }, bytes: true,
		slack: min(16<<30, math.MaxInt)},
	{name: "resident memory", of: func(f *figures) *int { return &f.Resident }, bytes: true,
		slack: 8 * mebibyte},
	{name: "file descriptors", of: func(f *figures) *int { return &f.Descriptors }, exact: true},
	{name: "goroutines", of: func(f *figures) *int { return &f.Goroutines }, exact: true},
	{name: "Go heap", of: func(f *figures) *int { return &f.GoHeap }, bytes: true, slack: 2 * mebibyte},
	{name: "regions", of: func(f *figures) *int { return &f.Regions }, exact: true},
	{name: "reserved memory", of: func(f *figures) *int { return &f.Reserved }, bytes: true, exact: true},
	{name: "committed memory", of: func(f *figures) *int { return &f.Committed }, bytes: true,
		slack: mebibyte},
	{name: "resident memory in regions", of: func(f *figures) *int { return &f.InRegions }, bytes: true,
		slack: mebibyte},
	{name: "leaked memory", of: func(f *figures) *int { return &f.Leaked }, bytes: true, exact: true},
}
