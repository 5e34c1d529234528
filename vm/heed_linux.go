package vm

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// errIgnored is why a kernel's word is not enough.
var errIgnored = errors.New("the advice is accepted and ignored")

// unknownAdvice is a kind of advice that does not exist.
const unknownAdvice = 0x7654321

// heedsAdvice reports whether advice that the kernel accepts does what it promises. Kernels in user space (emulators of
// processors, sandboxes) may take advice for hints, always or for memory with a past that they have lost track of, and
// would leave old contents where zeros are promised. Such a kernel has no reason to refuse advice that it does not know,
// and Linux does refuse it. Both are tried once, on a page that has gone the way of a region's: the answer does not change
// while a process runs.
var heedsAdvice = sync.OnceValue(func() bool {
	var be osBackend
	p, err := be.reserve(pageSize, pageSize)
	if err != nil {
		return false // without a page to try it on, nothing is taken on trust
	}
	defer func() { _ = be.release(p, pageSize) }() // nobody has seen these addresses
	if be.commit(p, pageSize) != nil {
		return false
	}
	b := bytesAt(p, pageSize)
	b[0] = 1
	return unix.Madvise(b, unknownAdvice) != nil && (unix.Madvise(b, unix.MADV_DONTNEED) != nil || b[0] == 0)
})
