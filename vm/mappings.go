package vm

import (
	"fmt"
	"sync/atomic"
)

// mappingsUsed is the number of mappings of open regions, and of closed regions whose pages are kept (see
// recycle.go). It does not count mappings that Protect splits off.
//
// Regions stop taking mappings shortly before the kernel's limit. Go's runtime needs mappings too, for its
// heap and its own tables, and ends the process when it gets no mapping. An error from the kernel would come
// too late.
var mappingsUsed atomic.Int64

// Regions leave one sixteenth of the allowed mappings to Go's runtime.
const runtimeShare = 16

// recount updates mappingsUsed after a change of m. The caller holds the lock, or has just made m.
func (m *mapping) recount() {
	if !m.be.reuses() {
		return
	}
	n := 0
	if !m.closed {
		n = 1 + 2*len(m.committed.of) + 2*len(m.dense.of) + m.borders
		// A range of kept pages has two borders. The end of a range of makeSeparate can be a border, too.
		n += 2*len(m.recycling.pages.of) + len(m.recycling.separate.of)
		if m.committed.bytes > 0 {
			// An end of the region is not a border between two mappings.
			if m.committed.of[0].lo == 0 {
				n--
			}
			if m.committed.of[len(m.committed.of)-1].hi == m.size {
				n--
			}
		}
	}
	mappingsUsed.Add(int64(n - m.mappings))
	m.mappings = n
}

// tooManyMappings returns an explanation if n new mappings would leave too few mappings to Go's runtime, even
// after kept pages were given back. Otherwise it returns "".
func tooManyMappings(b backend, n int) string {
	if !b.reuses() {
		return ""
	}
	full := func(most int) bool {
		return most > 0 && int(mappingsUsed.Load())+n > most-most/runtimeShare
	}
	if !full(facts().MaxMappings) || keptPages.flush() && !full(facts().MaxMappings) {
		return ""
	}
	most := ReadFacts().MaxMappings // the limit may have been raised since facts read it
	if !full(most) {
		return ""
	}
	return fmt.Sprintf("regions use %d of the %d mappings that vm.max_map_count allows, and the other "+
		"mappings are kept for Go's runtime: raise vm.max_map_count, or keep fewer regions and fewer gaps "+
		"between committed pages",
		mappingsUsed.Load(), most)
}
