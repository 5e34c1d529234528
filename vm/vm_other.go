//go:build !(linux || darwin || freebsd || windows)

package vm

// osBackend is the heap stand-in on systems without virtual memory calls in this package.
type osBackend struct{ heapBackend }

func readFacts(*Facts) {}

// ReadUsage asks the operating system for the usage. This system does not tell it.
func ReadUsage() Usage { return Usage{} }

const (
	mirrorUnit          = 1
	mirrorsServeRegions = false
)
