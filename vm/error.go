package vm

import (
	"errors"
	"fmt"
)

// Each sentinel names one limit. The operating system has one error code for most limits. So the package
// compares the failed request with the current limits, to choose the sentinel of an [Error].
var (
	// ErrSize: the requested size is zero, negative, or larger than any address space.
	ErrSize = errors.New("size out of range")
	// ErrCapacity: the region, or the container in it, was made for fewer bytes. Make it with a larger
	// capacity.
	ErrCapacity = errors.New("capacity reached")
	// ErrLimit: the [Limit] of the region does not allow the request.
	ErrLimit = errors.New("memory limit reached")
	// ErrAddressSpace: the process may not reserve more addresses (RLIMIT_AS, or the machine's address
	// space).
	ErrAddressSpace = errors.New("address space exhausted")
	// ErrDataLimit: the process may not have more writable memory (RLIMIT_DATA).
	ErrDataLimit = errors.New("data limit reached")
	// ErrMappings: the process has as many mappings as the system allows (vm.max_map_count on Linux).
	ErrMappings = errors.New("too many memory mappings")
	// ErrOvercommit: the request is larger than memory and swap together (vm.overcommit_memory=0). The system
	// checks this only for a [Mirror], and in a region that was reserved when vm.overcommit_memory was 2.
	ErrOvercommit = errors.New("request larger than memory")
	// ErrCommitCharge: the system has promised all its memory (vm.overcommit_memory=2; on Windows, the commit
	// limit).
	ErrCommitCharge = errors.New("commit limit reached")
)

// Error says which request on a region failed, and why. A call that returns an Error has changed nothing,
// except what its documentation says.
type Error struct {
	Op      string // the operation: reserve, carve, grow, commit and so on, or an operation of a container
	Purpose string // the purpose of the region
	Bytes   int    // the size of the request in bytes
	Err     error  // a sentinel of this package, or the operating system's error
	Detail  string // the numbers, and the remedy
}

// Error describes the failure and its remedy in one line.
func (e *Error) Error() string {
	s := fmt.Sprintf("vm: %s %s", e.Op, Bytes(e.Bytes))
	if e.Purpose != "" {
		s += " for " + e.Purpose
	}
	s += ": " + e.Err.Error()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Unwrap returns the sentinel or the operating system's error.
func (e *Error) Unwrap() error { return e.Err }

// Bytes formats a number of bytes with a binary unit, such as 1.5 GiB.
func Bytes(n int) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	f, u := float64(n), 0
	for (f >= 1024 || f <= -1024) && u < len(units)-1 {
		f /= 1024
		u++
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.4g %s", f, units[u])
}
