package written

// Regions is a value of package vm with methods that find regions. Package vm sets Regions in an init
// function. The type is any so that the linker leaves the methods out of programs that watch nothing.
var Regions any

// regions is the interface of the value in Regions.
type regions interface {
	// Watchable returns the open region that contains an address, or nil if there is no such region. It also
	// returns nil for regions that cannot be watched: Go heap memory, and regions that are mapped twice. It
	// returns nil for a region with pages of files, too, because such a region need not be watched.
	Watchable(addr uintptr) Region
	// HeapStandIn reports whether regions are Go heap memory.
	HeapStandIn() bool
}

// Region is a region of package vm. The caller of any method except Lock must hold the lock.
type Region interface {
	Lock()
	Unlock()
	// Addresses returns the addresses of the region.
	Addresses() Range
	// Committed appends the addresses of the committed pages, in ascending order.
	Committed(into []Range) []Range
	// SetWatcher sets the watcher of the region. A nil w removes the watcher. SetWatcher returns false and
	// changes nothing if the region is closed, or if the region has a watcher and w is not nil.
	SetWatcher(w Watcher) bool
}

// Watcher is notified of changes to a region. Package vm calls its methods while the region is locked.
type Watcher interface {
	// Altered notes that the pages in [lo, hi) are being committed, discarded or moved: their contents or
	// their mapping change without a write.
	Altered(lo, hi uintptr)
	// Closing ends the watch of the region, because the region is being closed.
	Closing()
}

// Range is a range of addresses, including Lo and excluding Hi.
type Range struct{ Lo, Hi uintptr }
