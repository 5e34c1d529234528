//go:build !(linux || darwin || freebsd || windows)

package vm

// osBackend is the heap stand-in on systems for which this package has no virtual memory calls.
type osBackend struct{ heapBackend }

func readFacts(*Facts) {}

// ReadUsage returns the zero Usage: this package does not read the usage on this system.
func ReadUsage() Usage { return Usage{} }

const (
	mirrorUnit          = 1
	mirrorsServeRegions = false
)
