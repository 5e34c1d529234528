package written

// Regions holds the methods of package vm that find its regions. Package vm sets it in an init function. The
// type is any, so that the linker leaves the methods out of programs that watch nothing.
var Regions any

// regions is the interface of the value in Regions.
type regions interface {
	// Watchable returns the open region that contains an address. It returns nil if there is none, or if its
	// pages cannot be watched: Go heap memory, or memory that is mapped twice.
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
	// SetWatcher sets the watcher of the region, or removes it if w is nil. It returns false, and does
	// nothing, if the region is closed, or if w is not nil and there is a watcher.
	SetWatcher(w Watcher) bool
}

// Watcher is told what happens to a region. Its methods are called between Lock and Unlock of the region.
type Watcher interface {
	// Altered is called when pages get other contents, or another mapping of the system, by other means than
	// writing: when they are committed, discarded or moved.
	Altered(lo, hi uintptr)
	// Closing is called when the region is being closed. It ends the watch.
	Closing()
}

// Range is a range of addresses, including Lo and excluding Hi.
type Range struct{ Lo, Hi uintptr }
