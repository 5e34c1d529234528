package written

// kernel is the part of the operating system that notes the first write to a protected page. All ranges are
// whole pages. After a failed call a part of its work may be done.
type kernel interface {
	// register allows the pages of a range to be protected. They may be registered already.
	register(of Range) error
	// unregister is the opposite. No page of the range is protected afterwards.
	unregister(of Range) error
	// protect protects pages that are registered.
	protect(of Range) error
	// unprotect is the opposite.
	unprotect(of Range) error
	// scan returns the unprotected pages of a registered range up to the address end, in ascending order, and
	// protects them. It may leave out pages without memory, if the kernel reports such a page after the first
	// write to it. The result is valid until the next call.
	scan(of Range) (found []answer, end uintptr, err error)
	// written reports whether a registered range has an unprotected page. Pages that were never written do
	// not count.
	written(of Range) (bool, error)
	// close ends all that the kernel does for the watch.
	close() error
}

// answer is struct page_region of linux/fs.h.
type answer struct {
	start, end uint64
	_          uint64 // categories
}

func (a *answer) pages() Range { return Range{uintptr(a.start), uintptr(a.end)} }
