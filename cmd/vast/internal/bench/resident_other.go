//go:build !linux

package bench

// resident returns about how many bytes of this process are in memory.
func resident() int { return residentByCounters() }
