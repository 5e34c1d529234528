package vm

import "github.com/vastgo/vast/internal/written"

// watches has the methods by which package written finds regions.
type watches struct{}

func init() { written.Regions = watches{} }

// Watchable returns the open region that contains an address. It returns nil if there is no such region, or
// if the region cannot be watched. A region on Go's heap cannot be watched. Nor can a mirror, which shows the
// same memory at two addresses: a watcher of one address would miss writes at the other address. A region
// with pages of files need not be watched: these pages belong to a world that a tool loads to read it, and no
// store saves this world.
func (watches) Watchable(addr uintptr) written.Region {
	m := registry.find(addr)
	if m == nil || !m.be.reuses() {
		return nil
	}
	if _, twice := m.be.(mirrored); twice {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files.bytes > 0 {
		return nil
	}
	return watchable{m}
}

// HeapStandIn reports whether regions are Go heap memory by default.
func (watches) HeapStandIn() bool { return heapByDefault }

type watchable struct{ m *mapping }

func (r watchable) Lock()   { r.m.mu.Lock() }
func (r watchable) Unlock() { r.m.mu.Unlock() }

func (r watchable) Addresses() written.Range { return r.m.addresses(interval{0, r.m.size}) }

func (r watchable) Committed(into []written.Range) []written.Range {
	for _, iv := range r.m.committed.of {
		into = append(into, r.m.addresses(iv))
	}
	return into
}

func (r watchable) SetWatcher(w written.Watcher) bool {
	if r.m.closed || w != nil && r.m.watcher != nil {
		return false
	}
	r.m.watcher = w
	return true
}

func (m *mapping) addresses(iv interval) written.Range {
	return written.Range{Lo: uintptr(m.at(iv.lo)), Hi: uintptr(m.at(iv.hi))}
}

// altered reports to the region's watcher that the pages of iv get other contents or another mapping. Callers
// do not report a decommit, because the next commit of the pages is reported. The caller holds the lock.
func (m *mapping) altered(iv interval) {
	if m.watcher != nil {
		r := m.addresses(iv)
		m.watcher.Altered(r.Lo, r.Hi)
	}
}

// unwatched removes the region's watcher before the region is closed. The caller holds the lock.
func (m *mapping) unwatched() {
	if m.watcher != nil {
		m.watcher.Closing()
		m.watcher = nil
	}
}
