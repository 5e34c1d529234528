package written

// kernel is the part of the operating system that notes the first write to a protected page. All ranges
// consist of whole pages. A failed call may have done a part of its work.
type kernel interface {
	// register allows the pages of a range to be protected. The pages may be registered already.
	register(of Range) error
	// unregister undoes register. No page of the range is protected afterwards.
	unregister(of Range) error
	// protect protects pages that are registered.
	protect(of Range) error
	// unprotect undoes protect.
	unprotect(of Range) error
	// scan returns the unprotected pages of a registered range up to the address end, in ascending order, and
	// protects them. scan may leave out pages without memory, if the kernel reports such a page after the
	// first write. The result is valid until the next call.
	scan(of Range) (found []answer, end uintptr, err error)
	// written reports whether a registered range has an unprotected page. Pages that were never written do
	// not count.
	written(of Range) (bool, error)
	// close releases what the kernel holds for the watch.
	close() error
}

// answer is struct page_region of linux/fs.h.
type answer struct {
	start, end uint64
	_          uint64 // categories
}

func (a *answer) pages() Range { return Range{uintptr(a.start), uintptr(a.end)} }
