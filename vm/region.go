package vm

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/vastgo/vast/internal/fault"
	"github.com/vastgo/vast/internal/sampling"
	"github.com/vastgo/vast/internal/written"
)

// Options configure a region. The zero value works.
type Options struct {
	// Name is the purpose under which [Snapshot] counts the region's bytes. Errors name it too, and on Linux
	// /proc/self/maps shows it. Default: "other".
	Name string
	// Limit is a budget of committed memory, shared with other regions. Default: [DefaultLimit].
	Limit *Limit
	// Pages is the page policy. Default: PagesAuto.
	Pages Pages
	// Recycle lowers the cost of small regions that are made again and again. If at most 256 KiB are
	// committed when the region is closed, its pages stay in memory. The next region with the same size, name
	// and page policy clears and reuses these pages. Spans and seams of a recycled region commit only the
	// needed pages at first, and grow fourfold until a step has 64 KiB.
	//
	// The process keeps at most 16 closed regions and 1 MiB of their memory (more with pages of 64 KiB; see
	// [Usage]). It gives this memory back if memory, addresses or mappings run out. Regions are recycled only
	// on Linux. They are not recycled with PagesHuge, in strict overcommit mode, or while VAST_GUARD is set.
	// Huge, Protect and MovePages can prevent recycling. Default: off.
	Recycle bool
}

// Region is one reservation of address space. See the package documentation for the states of its pages.
//
// The methods of a Region may be called from many goroutines; the caller must synchronize accesses to the
// memory. Offsets and sizes are in bytes. Offsets count from the region's base. A method panics if its range
// reaches outside the region. On a closed region, all methods panic except Base, Size, Committed, Resident,
// Pages, Look and Close.
type Region struct {
	m *mapping
}

// mapping is the part of a region that the registry, the counters and the leak report use. It is separate
// from Region, so that the runtime can find out when the program has dropped the Region itself.
type mapping struct {
	be      backend
	base    unsafe.Pointer
	size    int // bytes, a multiple of the page size
	pages   Pages
	limit   *Limit
	counted *counter
	made    origin
	cleanup runtime.Cleanup

	mu        sync.Mutex
	closed    bool
	carved    int // number of bytes at the start of the region that Carve handed out
	top       int // offset of the bytes at the end that CarvePrivate handed out
	committed intervals
	gone      intervals // pages that were ever decommitted or moved away
	dense     intervals // ranges of Huge
	moved     pieces    // pages that MovePages moved to their address, and pages of files
	files     intervals // pages whose contents come from files
	labels    []labelled
	decommits *decommitLog // nil if VAST_GUARD is not set
	borders   int          // number of ends of moved pieces between committed pages: see pieces
	mappings  int          // number of the region's mappings in mappingsUsed
	recycling recycling
	watcher   written.Watcher // nil if package written does not track writes to the region
}

// maxReserve is the largest size of a region in bytes. Rounding and adding such sizes does not overflow.
const maxReserve = math.MaxInt / 4

// Reserve takes addresses for the given number of bytes, rounded up to whole pages: nothing → Reserved. It
// costs no memory, except on the heap stand-in, and for page tables on Windows. It is not charged to any
// commit limit. The base is aligned to a page. If the region is at least as large as a huge page, the base is
// aligned to a huge page, except on the heap stand-in.
//
// It returns an [*Error] wrapping ErrSize, ErrAddressSpace or ErrMappings.
func Reserve(bytes int, o Options) (*Region, error) {
	var made origin
	made.record()
	return reserveOn(chosen(o.Pages), bytes, o, made)
}

// reserveOn does the work of Reserve on a given backend.
func reserveOn(b backend, bytes int, o Options, made origin) (*Region, error) {
	if o.Name == "" {
		o.Name = "other"
	}
	if bytes <= 0 || bytes > maxReserve {
		return nil, &Error{Op: "reserve", Purpose: o.Name, Bytes: bytes, Err: ErrSize,
			Detail: fmt.Sprintf("ask for 1 to %d bytes", maxReserve)}
	}
	if o.Limit == nil {
		o.Limit = DefaultLimit()
	}
	size := roundUp(bytes, pageSize)
	m := &mapping{be: b, size: size, top: size, pages: o.Pages, limit: o.Limit, made: made}
	m.recycling.on = recycles(b, o)
	bare := true
	if m.recycling.on {
		if k, found := keptPages.take(b, size, o.Name, o.Pages); found {
			m.revive(k)
			bare = false
		}
	}
	if bare {
		var err error
		if m.base, err = m.newAddresses(o.Name); err != nil {
			return nil, err
		}
	}
	register(m, o.Name)
	m.recount()
	if bare {
		m.dress(interval{0, size})
	}
	r := &Region{m: m}
	m.cleanup = runtime.AddCleanup(r, leaked, m)
	return r, nil
}

func (m *mapping) newAddresses(purpose string) (unsafe.Pointer, error) {
	b, size := m.be, m.size
	if detail := tooManyMappings(b, 1); detail != "" {
		return nil, &Error{Op: "reserve", Purpose: purpose, Bytes: size, Err: ErrMappings, Detail: detail}
	}
	align := pageSize
	if huge := HugePageSize(); huge > 0 && size >= huge && b.reuses() {
		align = huge
	}
	base, err := reserveAddresses(b, size, align)
	if err != nil && makeRoom(b) {
		base, err = reserveAddresses(b, size, align)
	}
	if err != nil {
		detail, sentinel := b.explain("reserve", size, err)
		return nil, &Error{Op: "reserve", Purpose: purpose, Bytes: size, Err: sentinel, Detail: detail}
	}
	return base, nil
}

func reserveAddresses(b backend, size, align int) (unsafe.Pointer, error) {
	if err := fault.Check("reserve"); err != nil {
		return nil, err
	}
	if !b.reuses() {
		return b.reserve(size, align)
	}
	if p := closedRegions.take(size, align); p != nil {
		return p, nil
	}
	p, err := b.reserve(size, align)
	if err == nil {
		closedRegions.own(p, size)
	}
	return p, err
}

// dress gives a range its name and the advice of the page policy. It ignores failures, because a region works
// without name and advice.
func (m *mapping) dress(iv interval) {
	m.be.name(m.at(iv.lo), iv.hi-iv.lo, "vast: "+m.counted.purpose)
	switch {
	case m.pages == PagesHuge:
		_ = m.be.advise(m.at(iv.lo), iv.hi-iv.lo, true)
	case m.advisesSmall():
		_ = m.be.advise(m.at(iv.lo), iv.hi-iv.lo, false)
	}
	for _, dense := range m.dense.covered(iv.lo, iv.hi) {
		_ = m.be.advise(m.at(dense.lo), dense.hi-dense.lo, true)
	}
}

// advisesSmall reports whether a region asks for small pages outside its dense ranges. A PagesAuto region
// asks for small pages if the system uses huge pages without a request. If the region did not ask, each touch
// of a sparse region would take the memory of a huge page.
func (m *mapping) advisesSmall() bool { return m.pages == PagesSmall || facts().HugeMode == "always" }

// Base returns the region's first address. The address does not change while the region is open.
func (r *Region) Base() unsafe.Pointer { return r.m.base }

// Size returns the number of reserved bytes.
func (r *Region) Size() int { return r.m.size }

// Committed returns the number of committed bytes.
func (r *Region) Committed() int {
	r.m.mu.Lock()
	defer r.m.mu.Unlock()
	return r.m.committed.bytes
}

// check panics if the region is closed or [off, off+n) reaches outside it. The caller holds the lock.
func (m *mapping) check(op string, off, n int) {
	if m.closed {
		panic(fmt.Sprintf("vm: %s on a closed region (%s): a region must not be used after Close", op,
			m.counted.purpose))
	}
	if off < 0 || n < 0 || off > m.size || n > m.size-off {
		panic(fmt.Sprintf("vm: %s(%d, %d) reaches outside a region of %d bytes (%s)", op, off, n, m.size,
			m.counted.purpose))
	}
}

func (m *mapping) at(off int) unsafe.Pointer { return unsafe.Add(m.base, off) }

// failed explains an error of the backend. An [*Error] is explained already, and is returned unchanged.
func (m *mapping) failed(op string, n int, err error) error {
	if e, ok := err.(*Error); ok {
		return e
	}
	detail, sentinel := m.be.explain(op, n, err)
	return &Error{Op: op, Purpose: m.counted.purpose, Bytes: n, Err: sentinel, Detail: detail}
}

// Commit makes [off, off+n) usable, rounded outward to whole pages: Reserved → Committed. Committed pages
// stay as they are. Memory is taken when a page is first touched.
//
// Commit returns an [*Error] wrapping ErrLimit, ErrDataLimit, ErrMappings, ErrOvercommit or ErrCommitCharge.
// After an error no page has changed. Complexity: usually one system call for each gap between committed
// pages, and time linear in the number of committed ranges.
func (r *Region) Commit(off, n int) error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("commit", off, n)
	if n == 0 {
		return nil
	}
	lo, hi := roundDown(off, pageSize), roundUp(off+n, pageSize)
	if !m.committed.meets(lo, hi) {
		if err := m.checkMappings("commit", hi-lo); err != nil {
			return err
		}
	}
	var few [4]interval
	gaps := m.committed.gaps(lo, hi, few[:0])
	missing := 0
	for _, g := range gaps {
		missing += g.hi - g.lo
	}
	if !m.limit.take(missing) {
		return m.limit.exceeded("commit", m.counted.purpose, missing)
	}
	for i, g := range gaps {
		m.altered(g)
		if err := m.commitPages(g); err != nil {
			for _, changed := range gaps[:i+1] {
				// If this decommit fails, the pages count as Reserved, but stay usable. They are zero, or
				// m.recycling.pages still has them, so that the next commit clears them.
				bare, errDecommit := m.be.decommit(m.at(changed.lo), changed.hi-changed.lo)
				if bare {
					m.dress(changed)
				}
				if errDecommit == nil {
					m.recycling.pages.remove(changed.lo, changed.hi)
				}
			}
			m.limit.give(missing)
			return m.failed("commit", missing, err)
		}
	}
	m.rebordered(lo, hi, func() { m.committed.add(lo, hi) })
	m.recount()
	m.counted.committed.Add(int64(missing))
	return nil
}

// Decommit gives back the memory of [off, off+n), rounded inward to whole pages, and keeps the addresses:
// Committed → Reserved. The contents are lost. A later touch faults until the pages are committed again. A
// part of a huge page leaves memory only when the system splits the huge page.
//
// If a mapping cannot be split, Decommit returns an [*Error] wrapping ErrMappings. The committed ranges
// before the failing range are then Reserved. The failing range and later ranges stay Committed, but pages
// changed by Protect may be ReadWrite.
func (r *Region) Decommit(off, n int) error {
	return r.inward("decommit", off, n, func(m *mapping, iv interval) error {
		if m.committed.contains(iv.lo-1, iv.hi+1) {
			if err := m.checkMappings("decommit", iv.hi-iv.lo); err != nil {
				return err
			}
		}
		if err := m.decommit(iv); err != nil {
			return err
		}
		if sampling.Every() > 0 {
			m.logDecommit(iv)
		}
		return nil
	})
}

// checkMappings returns an error if a new committed range, or a new hole in a committed range, would take too
// many mappings.
func (m *mapping) checkMappings(op string, n int) error {
	if detail := tooManyMappings(m.be, 2); detail != "" {
		return &Error{Op: op, Purpose: m.counted.purpose, Bytes: n, Err: ErrMappings, Detail: detail}
	}
	return nil
}

func (m *mapping) decommit(iv interval) error {
	bare, err := m.uncommit(iv)
	if err != nil {
		return err
	}
	m.forget(iv)
	if bare {
		m.dress(iv)
	}
	return nil
}

// forget records a committed range as Reserved.
func (m *mapping) forget(iv interval) {
	m.rebordered(iv.lo, iv.hi, func() { m.committed.remove(iv.lo, iv.hi) })
	m.markGone(iv)
	m.recount()
	m.counted.committed.Add(-int64(iv.hi - iv.lo))
	m.limit.give(iv.hi - iv.lo)
}

// markGone records that pages were decommitted or moved away.
func (m *mapping) markGone(iv interval) {
	if !m.gone.contains(iv.lo, iv.hi) {
		m.gone.add(iv.lo, iv.hi)
	}
}

// Discard gives back the memory of [off, off+n), rounded inward to whole pages, and leaves the pages usable:
// Committed → Committed, zero. Pages changed by Protect may become ReadWrite.
//
// On Windows, on FreeBSD, and on Linux if madvise is refused or ignored, Discard decommits the pages and
// commits them again. If the system has no memory for the commit, Discard returns an [*Error], which wraps
// ErrCommitCharge on Windows and FreeBSD. The pages of the failed range are then Reserved.
func (r *Region) Discard(off, n int) error {
	return r.inward("discard", off, n, func(m *mapping, iv interval) error {
		m.altered(iv)
		err := m.discard(iv)
		switch {
		case errors.Is(err, errLost):
			m.forget(iv)
			m.dress(iv)
		case errors.Is(err, errBare):
			m.dress(iv)
			return nil
		}
		return err
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

// Protect changes the access of the committed pages in [off, off+n). The range must consist of whole
// committed pages. Decommitting pages and committing them again makes them ReadWrite. On the heap stand-in
// Protect does nothing.
//
// If the system cannot split a mapping, Protect returns an [*Error] wrapping ErrMappings. After an error some
// pages may have changed.
func (r *Region) Protect(off, n int, a Access) error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	m.check("protect", off, n)
	if off%pageSize != 0 || n%pageSize != 0 || !m.committed.contains(off, off+n) {
		panic(fmt.Sprintf("vm: protect(%d, %d): the range must be whole committed pages of %d bytes (%s)",
			off, n, pageSize, m.counted.purpose))
	}
	if n == 0 {
		return nil
	}
	m.recycling.spoilt = true
	if err := m.be.protect(m.at(off), n, a); err != nil {
		return m.failed("protect", n, err)
	}
	return nil
}

// Resident returns the number of bytes of the region in memory. Complexity: one system call for every 16 Ki
// pages (1 Ki on Windows) of each committed range, and none on the heap stand-in.
func (r *Region) Resident() (int, error) { return r.m.resident() }

// resident calls the backend without the lock, so that it blocks no other call. If pages are decommitted
// meanwhile, or the region is closed, the addresses stay reserved and the calls still work.
func (m *mapping) resident() (int, error) { return m.residentIn(interval{0, m.size}) }

// residentIn does the work of resident for a part of the region.
func (m *mapping) residentIn(part interval) (int, error) {
	m.mu.Lock()
	committed := m.committed.covered(part.lo, part.hi)
	m.mu.Unlock()
	total := 0
	for _, iv := range committed {
		n, err := m.be.resident(m.at(iv.lo), iv.hi-iv.lo)
		if err != nil {
			return total, m.failed("resident", iv.hi-iv.lo, err)
		}
		total += n
	}
	return total, nil
}

// Close gives the memory back to the system, except the memory of recycled regions (see [Options]): any state
// → Released. Later regions of this process may get the addresses. Pointers into the region must not be used
// afterwards. A second Close does nothing.
//
// If the process has too many mappings, Close returns an [*Error] wrapping ErrMappings. After an error the
// region is still open, some of its pages may be Reserved, and Close may be called again.
func (r *Region) Close() error {
	m := r.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	m.unwatched()
	kept, recycled := m.keep()
	if !recycled {
		if err := m.reset(); err != nil {
			return err
		}
	}
	m.closed = true
	m.cleanup.Stop()
	m.limit.give(m.committed.bytes)
	unregister(m)
	m.committed, m.gone, m.dense, m.files = intervals{}, intervals{}, intervals{}, intervals{}
	m.recount()
	if m.be.reuses() {
		closings.add(m)
	}
	switch {
	case recycled:
		keptPages.add(kept)
	case m.be.reuses():
		closedRegions.put(m.base, m.size)
	}
	m.labels = nil
	return nil
}

// reset makes all pages Reserved, without names and advice.
func (m *mapping) reset() error {
	if m.be.reset(m.base, m.size) == nil {
		return nil
	}
	// At the mapping limit Linux refuses even to replace mappings. Decommitting joins the committed ranges
	// with their neighbours. After that, the second reset only removes names and advice, so its failure does
	// no harm.
	for _, iv := range slices.Clone(m.committed.of) {
		if err := m.decommit(iv); err != nil {
			return m.failed("close", iv.hi-iv.lo, err)
		}
	}
	for _, iv := range slices.Clone(m.recycling.pages.of) {
		if _, err := m.be.decommit(m.at(iv.lo), iv.hi-iv.lo); err != nil {
			return m.failed("close", iv.hi-iv.lo, err)
		}
		m.recycling.pages.remove(iv.lo, iv.hi)
	}
	_ = m.be.reset(m.base, m.size)
	return nil
}
