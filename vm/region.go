package vm

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"unsafe"
)

// Options say how a region is made. The zero value works.
type Options struct {
	// Purpose is the name under which the region's bytes are counted and, on Linux, shown in /proc/self/maps.
	// Default: "other".
	Purpose string
	// Limit is a budget of committed bytes, shared with other regions. Default: none.
	Limit *Limit
	// Pages is the page policy. Default: PagesAuto.
	Pages Pages
}

// Region is one reservation of address space. See the package documentation for the states of its pages.
//
// Its methods may be called from many goroutines; what lies in its memory is the caller's to order. Offsets and sizes
// are in bytes from the region's base. An offset outside the region is a caller's bug and panics.
type Region struct {
	m *mapping
}

// mapping is what the registry, the counters and the leak report know of a region. It is apart from Region so that the
// runtime can tell when the Region itself is no longer used.
type mapping struct {
	be      backend
	base    unsafe.Pointer
	size    int // bytes, a multiple of the page size
	keep    any // the heap stand-in's memory
	pages   Pages
	limit   *Limit
	counted *counter
	made    origin
	cleanup runtime.Cleanup

	mu        sync.Mutex
	closed    bool
	carved    int // bytes handed out by Carve
	committed intervals
}

// maxReserve keeps sizes far from overflow in roundings and sums.
const maxReserve = math.MaxInt / 4

// Reserve takes bytes of addresses, rounded up to whole pages: nothing → Reserved. It costs no memory and is not
// charged to any commit limit. The base is aligned to a page, and to a huge page when the region is as large as one.
//
// It returns an [*Error] wrapping ErrSize, ErrAddressSpace or ErrMappings.
func Reserve(bytes int, o Options) (*Region, error) {
	if o.Purpose == "" {
		o.Purpose = "other"
	}
	if bytes <= 0 || bytes > maxReserve {
		return nil, &Error{Op: "reserve", Purpose: o.Purpose, Bytes: bytes, Err: ErrSize,
			Detail: fmt.Sprintf("ask for 1 to %d bytes", maxReserve)}
	}
	be := chosen(o.Pages)
	size := roundUp(bytes, pageSize)
	align := pageSize
	if huge := HugePageSize(); huge > 0 && size >= huge && be.reuses() {
		align = huge
	}
	base, keep, err := reserveAddresses(be, size, align)
	if err != nil {
		sentinel, detail := be.explain("reserve", size, err)
		return nil, &Error{Op: "reserve", Purpose: o.Purpose, Bytes: size, Err: sentinel, Detail: detail}
	}
	m := &mapping{be: be, base: base, size: size, keep: keep, pages: o.Pages, limit: o.Limit}
	be.name(base, size, "vast: "+o.Purpose)
	switch {
	case o.Pages == PagesHuge:
		// Without huge pages the region works as well, only slower.
		_ = be.advise(base, size, true)
	case facts().HugeMode == "always":
		// A sparse region would grow by a huge page for each touch; dense ranges are asked for with Huge.
		_ = be.advise(base, size, false)
	}
	m.made.record()
	register(m, o.Purpose)
	r := &Region{m: m}
	m.cleanup = runtime.AddCleanup(r, leaked, m)
	return r, nil
}

func reserveAddresses(be backend, size, align int) (unsafe.Pointer, any, error) {
	if be.reuses() {
		if p := closedRegions.take(size, align); p != nil {
			return p, nil, nil
		}
	}
	p, keep, err := be.reserve(size, align)
	if err == nil && be.reuses() {
		closedRegions.own(p, size)
	}
	return p, keep, err
}

// Base returns the region's first address. It does not change while the region is open.
func (r *Region) Base() unsafe.Pointer { return r.m.base }

// Size returns the reserved bytes.
func (r *Region) Size() int { return r.m.size }

// Committed returns the committed bytes.
func (r *Region) Committed() int {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.committed.bytes
}

// check panics unless the region is open and [off, off+n) lies in it. It is called with the lock held.
func (m *mapping) check(op string, off, n int) {
	if m.closed {
		panic(fmt.Sprintf("vm: %s on a closed region (%s): do not use a region after Close", op, m.counted.purpose))
	}
	if off < 0 || n < 0 || off > m.size || n > m.size-off {
		panic(fmt.Sprintf("vm: %s(%d, %d) reaches outside a region of %d bytes (%s)", op, off, n, m.size, m.counted.purpose))
	}
}

func (m *mapping) at(off int) unsafe.Pointer { return unsafe.Add(m.base, off) }

func (m *mapping) failed(op string, n int, err error) *Error {
	sentinel, detail := m.be.explain(op, n, err)
	return &Error{Op: op, Purpose: m.counted.purpose, Bytes: n, Err: sentinel, Detail: detail}
}

// Commit makes [off, off+n) usable, rounded outward to whole pages: Reserved → Committed. Pages that are committed
// already stay as they are. Memory is taken when a page is first touched.
//
// It returns an [*Error] wrapping ErrLimit, ErrDataLimit, ErrMappings, ErrOvercommit or ErrCommitCharge; then no page
// has changed. Complexity: one system call for each gap between committed pages.
func (r *Region) Commit(off, n int) error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("Commit", off, n)
	if n == 0 {
		return nil
	}
	lo, hi := roundDown(off, pageSize), roundUp(off+n, pageSize)
	gaps := m.committed.gaps(lo, hi)
	missing := 0
	for _, g := range gaps {
		missing += g.hi - g.lo
	}
	if !m.limit.take(missing) {
		return &Error{Op: "commit", Purpose: m.counted.purpose, Bytes: missing, Err: ErrLimit,
			Detail: fmt.Sprintf("%s of %s are in use: raise the limit or close what is not needed",
				Bytes(m.limit.Used()), Bytes(m.limit.Max()))}
	}
	for i, g := range gaps {
		if err := m.be.commit(m.at(g.lo), g.hi-g.lo); err != nil {
			for _, done := range gaps[:i] {
				// A failure here leaves pages usable that are not counted: memory is given back in any case.
				_ = m.be.decommit(m.at(done.lo), done.hi-done.lo)
			}
			m.limit.give(missing)
			return m.failed("commit", missing, err)
		}
	}
	m.committed.add(lo, hi)
	m.counted.committed.Add(int64(missing))
	return nil
}

// Decommit gives the memory of [off, off+n) back and keeps the addresses, rounded inward to whole pages: Committed →
// Reserved. What lay there is lost; touching it faults until it is committed again.
//
// It returns an [*Error] wrapping ErrMappings where the system cannot split a mapping; then the pages up to the failing
// one are Reserved and the others unchanged.
func (r *Region) Decommit(off, n int) error {
	return r.inward("decommit", off, n, func(m *mapping, iv interval) error {
		if err := m.be.decommit(m.at(iv.lo), iv.hi-iv.lo); err != nil {
			return err
		}
		m.committed.remove(iv.lo, iv.hi)
		m.counted.committed.Add(-int64(iv.hi - iv.lo))
		m.limit.give(iv.hi - iv.lo)
		return nil
	})
}

// Discard gives the memory of [off, off+n) back, rounded inward to whole pages, and leaves it usable: Committed →
// Committed, zero.
func (r *Region) Discard(off, n int) error {
	return r.inward("discard", off, n, func(m *mapping, iv interval) error {
		return m.be.discard(m.at(iv.lo), iv.hi-iv.lo)
	})
}

// inward calls f for each committed range of whole pages inside [off, off+n).
func (r *Region) inward(op string, off, n int, f func(*mapping, interval) error) error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check(op, off, n)
	lo, hi := roundUp(off, pageSize), roundDown(off+n, pageSize)
	for _, iv := range m.committed.covered(lo, hi) {
		if err := f(m, iv); err != nil {
			return m.failed(op, iv.hi-iv.lo, err)
		}
	}
	return nil
}

// Protect changes what the committed pages in [off, off+n) may be used for. The range must consist of whole committed
// pages. Decommitting pages and committing them again makes them ReadWrite. The heap stand-in cannot protect and does
// nothing.
func (r *Region) Protect(off, n int, a Access) error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("Protect", off, n)
	if off%pageSize != 0 || n%pageSize != 0 || !m.committed.contains(off, off+n) {
		panic(fmt.Sprintf("vm: Protect(%d, %d): the range must be whole committed pages of %d bytes", off, n, pageSize))
	}
	if n == 0 {
		return nil
	}
	if err := m.be.protect(m.at(off), n, a); err != nil {
		return m.failed("protect", n, err)
	}
	return nil
}

// Populate takes memory for the committed pages in [off, off+n) now, rounded inward. Where there is none it returns an
// error, while touching the page would end the process. On kernels that cannot (Linux before 5.14) the error wraps
// errors.ErrUnsupported.
func (r *Region) Populate(off, n int) error {
	return r.inward("populate", off, n, func(m *mapping, iv interval) error {
		return m.be.populate(m.at(iv.lo), iv.hi-iv.lo)
	})
}

// Huge says that [off, off+n) is or will be dense: it asks for huge pages in the whole huge pages inside the range, and
// joins those that are partly in use already. It is a hint: where the policy is not PagesAuto, or the system has no huge
// pages, nothing happens.
func (r *Region) Huge(off, n int) error {
	huge := HugePageSize()
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("Huge", off, n)
	if m.pages != PagesAuto || huge == 0 {
		return nil
	}
	lo := int(roundUp(int(uintptr(m.base))+off, huge) - int(uintptr(m.base)))
	hi := int(roundDown(int(uintptr(m.base))+off+n, huge) - int(uintptr(m.base)))
	if lo >= hi {
		return nil
	}
	if err := m.be.advise(m.at(lo), hi-lo, true); err != nil {
		return m.failed("advise", hi-lo, err)
	}
	return nil
}

// Collapse joins the committed small pages of [off, off+n) into huge pages now, by copying them, where they fill whole
// huge pages. It is a hint like [Region.Huge].
func (r *Region) Collapse(off, n int) error {
	huge := HugePageSize()
	if huge == 0 || r.m.pages == PagesSmall {
		return nil
	}
	return r.inward("collapse", off, n, func(m *mapping, iv interval) error {
		lo := roundUp(int(uintptr(m.base))+iv.lo, huge) - int(uintptr(m.base))
		hi := roundDown(int(uintptr(m.base))+iv.hi, huge) - int(uintptr(m.base))
		if lo >= hi {
			return nil
		}
		return m.be.collapse(m.at(lo), hi-lo)
	})
}

// Resident returns how many bytes of the region are in memory. Complexity: one system call for each 64 Ki committed
// pages.
func (r *Region) Resident() (int, error) { return r.m.resident() }

func (m *mapping) resident() (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	total := 0
	for _, iv := range m.committed.of {
		n, err := m.be.resident(m.at(iv.lo), iv.hi-iv.lo)
		if err != nil {
			return total, m.failed("resident", iv.hi-iv.lo, err)
		}
		total += n
	}
	return total, nil
}

// Close gives all memory back and the addresses to later regions of this process: any state → Released. Pointers into
// the region must not be used afterwards. Closing twice does nothing.
func (r *Region) Close() error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	if err := m.be.reset(m.base, m.size); err != nil {
		return m.failed("close", m.size, err)
	}
	m.closed = true
	m.cleanup.Stop()
	m.limit.give(m.committed.bytes)
	unregister(m)
	m.committed = intervals{}
	m.keep = nil
	if m.be.reuses() {
		closedRegions.put(m.base, m.size)
	}
	return nil
}
