package vm

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// errIgnored is the error of advice that the kernel accepts and ignores.
var errIgnored = errors.New("the advice is accepted and ignored")

// unknownAdvice is a kind of advice that does not exist.
const unknownAdvice = 0x7654321

// heedsAdvice reports whether advice that the kernel accepts takes effect. Kernels in user space (processor
// emulators, sandboxes) may ignore advice, for all memory or for some memory: pages that the package promises
// to be zero would keep old contents. These kernels also accept unknown advice, which Linux refuses. So
// heedsAdvice tries unknown advice and MADV_DONTNEED on a page that is reserved and committed like a page of
// a region. The result does not change while a process runs.
var heedsAdvice = sync.OnceValue(func() bool {
	var system osBackend
	p, err := system.reserve(pageSize, pageSize)
	if err != nil {
		return false
	}
	defer func() { _ = system.release(p, pageSize) }() // no code has seen these addresses
	if system.commit(p, pageSize) != nil {
		return false
	}
	b := bytesAt(p, pageSize)
	b[0] = 1
	return unix.Madvise(b, unknownAdvice) != nil && (unix.Madvise(b, unix.MADV_DONTNEED) != nil || b[0] == 0)
})
