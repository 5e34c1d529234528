//go:build !(linux || darwin || freebsd || windows)

package vm

// osBackend is the heap stand-in on systems whose virtual memory calls this package does not know.
type osBackend struct{ heapBackend }

func readFacts(*Facts) {}

// ReadUsage returns the zero Usage on this system.
func ReadUsage() Usage { return Usage{} }

const (
	mirrorUnit          = 1
	mirrorsServeRegions = false
)
