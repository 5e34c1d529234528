package vm

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Stats counts the bytes of all open regions, by purpose. Go's own metrics and GOMEMLIMIT count these bytes
// only on the heap stand-in.
type Stats struct {
	Purposes []PurposeStats // sorted by purpose
}

// PurposeStats counts the bytes of the open regions with one purpose.
type PurposeStats struct {
	Purpose   string
	Regions   int // number of regions, including leaked regions
	Reserved  int // bytes of addresses
	Committed int // bytes that may be touched
	Resident  int // bytes in memory; Snapshot(false) leaves it 0
	Leaked    int // reserved bytes of the regions that were dropped without Close
}

// Total returns the sum of all purposes.
func (s Stats) Total() PurposeStats {
	total := PurposeStats{Purpose: "total"}
	for _, p := range s.Purposes {
		total.Regions += p.Regions
		total.Reserved += p.Reserved
		total.Committed += p.Committed
		total.Resident += p.Resident
		total.Leaked += p.Leaked
	}
	return total
}

type counter struct {
	purpose   string
	regions   atomic.Int64
	reserved  atomic.Int64
	committed atomic.Int64
	leaked    atomic.Int64
}

type regions struct {
	mu       sync.Mutex
	counters map[string]*counter // by purpose
	open     map[*mapping]struct{}
}

var registry regions

// If there are more than countersKept counters, unregister deletes the counter of a purpose without regions.
// If unregister kept all counters, a program that names a new purpose for each world would fill the registry.
const countersKept = 64

func register(m *mapping, purpose string) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.counters == nil {
		registry.counters = make(map[string]*counter)
		registry.open = make(map[*mapping]struct{})
	}
	c := registry.counters[purpose]
	if c == nil {
		c = &counter{purpose: purpose}
		registry.counters[purpose] = c
	}
	m.counted = c
	registry.open[m] = struct{}{}
	c.regions.Add(1)
	c.reserved.Add(int64(m.size))
}

func unregister(m *mapping) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	delete(registry.open, m)
	m.counted.regions.Add(-1)
	m.counted.reserved.Add(-int64(m.size))
	m.counted.committed.Add(-int64(m.committed.bytes))
	if m.counted.regions.Load() == 0 && len(registry.counters) > countersKept {
		delete(registry.counters, m.counted.purpose)
	}
}

// Snapshot returns the counters of the purposes with open regions. If resident is true, Snapshot also asks
// the operating system for the resident bytes, with one system call for every 16 Ki pages (1 Ki on Windows)
// of each committed range. A region on the Go heap needs no system calls. If a region changes during
// Snapshot, each number shows the state before or after the change.
func Snapshot(resident bool) Stats {
	registry.mu.Lock()
	var s Stats
	for _, c := range registry.counters {
		if c.regions.Load() == 0 {
			continue
		}
		s.Purposes = append(s.Purposes, PurposeStats{
			Purpose: c.purpose, Regions: int(c.regions.Load()), Reserved: int(c.reserved.Load()),
			Committed: int(c.committed.Load()), Leaked: int(c.leaked.Load()),
		})
	}
	open := make([]*mapping, 0, len(registry.open))
	for m := range registry.open {
		open = append(open, m)
	}
	registry.mu.Unlock()
	slices.SortFunc(s.Purposes, func(a, b PurposeStats) int { return strings.Compare(a.Purpose, b.Purpose) })
	if !resident {
		return s
	}
	byPurpose := make(map[string]*PurposeStats, len(s.Purposes))
	for i := range s.Purposes {
		byPurpose[s.Purposes[i].Purpose] = &s.Purposes[i]
	}
	for _, m := range open {
		// After an error, n does not count the failing range and the region's later ranges.
		n, _ := m.resident()
		byPurpose[m.counted.purpose].Resident += n
	}
	return s
}
