package vm

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Stats are the bytes of all open regions, by purpose. Go's own metrics and GOMEMLIMIT do not include them.
type Stats struct {
	Purposes []PurposeStats // sorted by purpose
}

// PurposeStats are the bytes of the open regions that share a purpose.
type PurposeStats struct {
	Purpose   string
	Regions   int // number of regions, including leaked regions
	Reserved  int // bytes of addresses
	Committed int // bytes that may be touched
	Resident  int // bytes in memory; only from Snapshot(true)
	Leaked    int // bytes reserved by regions that were dropped without Close
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

// counter counts the bytes of one purpose.
type counter struct {
	purpose   string
	regions   atomic.Int64
	reserved  atomic.Int64
	committed atomic.Int64
	leaked    atomic.Int64
}

// regions are all open regions and the counters of their purposes.
type regions struct {
	mu       sync.Mutex
	counters map[string]*counter
	open     map[*mapping]struct{}
}

var registry regions

// If there are more than countersKept counters, a purpose loses its counter when its last region closes.
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
		// The registry must not keep a counter for each purpose of a program that invents new purposes again
		// and again, such as a purpose for each world.
		delete(registry.counters, m.counted.purpose)
	}
}

// Snapshot returns the counters of the purposes with open regions. If resident is true, it also asks the
// operating system for the resident bytes, with one system call for at most 16 Ki committed pages (1 Ki on
// Windows). Otherwise it makes no system call. Regions may change during Snapshot, which counts each region
// in its old or new state.
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
		// If the system cannot answer for a range, the number does not include that range and the later
		// ranges of the region.
		n, _ := m.resident()
		byPurpose[m.counted.purpose].Resident += n
	}
	return s
}
