package vm

import "github.com/vastgo/vast/internal/written"

// watches has the methods with which package internal/written finds regions.
type watches struct{}

func init() { written.Regions = watches{} }

// Watchable returns the open region that contains an address, unless its pages cannot be watched. The halves
// of a mirror cannot be watched: a write to one would not be seen in the other. Regions with pages of files
// are not watched either: they belong to worlds that no store keeps.
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

// watchable is a region that can be watched.
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

// altered tells the watcher of a region that pages get other contents or another mapping. It reports
// decommitted pages when they are committed again. The caller holds the lock.
func (m *mapping) altered(iv interval) {
	if m.watcher != nil {
		of := m.addresses(iv)
		m.watcher.Altered(of.Lo, of.Hi)
	}
}

// unwatched ends the watch of a region that is about to be closed. The caller holds the lock.
func (m *mapping) unwatched() {
	if m.watcher != nil {
		m.watcher.Closing()
		m.watcher = nil
	}
}
