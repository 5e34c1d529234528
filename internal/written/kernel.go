package written

// kernel is the part of the operating system that records the first write to a protected page. All ranges
// consist of whole pages. A failed call may have done a part of its work.
type kernel interface {
	// register prepares the pages of a range for protection. Registered pages may be registered again.
	register(of Range) error
	// unregister undoes register and unprotects the pages.
	unregister(of Range) error
	// protect protects registered pages.
	protect(of Range) error
	// unprotect undoes protect.
	unprotect(of Range) error
	// scan returns the unprotected pages between the start of a registered range and the address end, in
	// ascending order, and protects them. It may leave out a page that has no memory yet. The first scan
	// after a write to this page must then return the page. The result is valid until the next call of scan.
	scan(of Range) (found []answer, end uintptr, err error)
	// written reports whether a registered range has an unprotected page that was ever written.
	written(of Range) (bool, error)
	// close releases the resources of the kernel.
	close() error
}

// answer is struct page_region of linux/fs.h.
type answer struct {
	start, end uint64
	_          uint64 // categories
}

func (a *answer) pages() Range { return Range{uintptr(a.start), uintptr(a.end)} }
