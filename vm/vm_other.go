//go:build !(linux || darwin || freebsd || windows)

package vm

// osBackend is the heap stand-in on systems that this package has no system calls for.
type osBackend struct{ heapBackend }

func readFacts(*Facts) {}

// ReadUsage asks the operating system what is taken of the limits.
func ReadUsage() Usage { return Usage{} }
