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
// emulators, sandboxes) may treat advice as a hint, for all memory or for some memory. Such a kernel would
// leave old contents where the package promises zeros. It accepts even unknown advice, which Linux refuses.
// heedsAdvice tries unknown advice and MADV_DONTNEED once, on a page that is reserved and committed like a
// page of a region. The answer does not change while a process runs.
var heedsAdvice = sync.OnceValue(func() bool {
	var be osBackend
	p, err := be.reserve(pageSize, pageSize)
	if err != nil {
		return false // without a page to try, assume the worst
	}
	defer func() { _ = be.release(p, pageSize) }() // no code has seen these addresses
	if be.commit(p, pageSize) != nil {
		return false
	}
	b := bytesAt(p, pageSize)
	b[0] = 1
	return unix.Madvise(b, unknownAdvice) != nil && (unix.Madvise(b, unix.MADV_DONTNEED) != nil || b[0] == 0)
})
