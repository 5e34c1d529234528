package written

// Regions holds the methods of package vm that find its regions. Package vm sets Regions in an init function.
// The type is any so that the linker leaves the methods out of programs that watch nothing.
var Regions any

// regions is the interface of the value in Regions.
type regions interface {
	// Watchable returns the open region that contains an address. It returns nil if there is no such region.
	// It also returns nil if the region cannot be watched, because its memory is Go heap memory or is mapped
	// twice.
	Watchable(addr uintptr) Region
	// HeapStandIn reports whether regions are Go heap memory.
	HeapStandIn() bool
}

// Region is a region of package vm. The methods other than Lock are called between Lock and Unlock.
type Region interface {
	Lock()
	Unlock()
	// Addresses returns the addresses of the region.
	Addresses() Range
	// Committed appends the addresses of the committed pages, in ascending order.
	Committed(into []Range) []Range
	// SetWatcher sets the watcher of the region. A nil w removes the watcher. SetWatcher returns false and
	// changes nothing if the region is closed, or if w is not nil and the region has a watcher.
	SetWatcher(w Watcher) bool
}

// Watcher is notified of changes to a region. Its methods are called between Lock and Unlock of the region.
type Watcher interface {
	// Altered is called when pages are committed, discarded or moved: their contents or their mapping change
	// without a write.
	Altered(lo, hi uintptr)
	// Closing is called when the region is being closed, and ends the watch of the region.
	Closing()
}

// Range is a range of addresses, including Lo and excluding Hi.
type Range struct{ Lo, Hi uintptr }
