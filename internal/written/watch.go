package written

import (
	"errors"
	"slices"
	"sync"
	"unsafe"
)

// Watch finds the written pages of regions. Several goroutines may call its methods at the same time.
//
// No system call, such as read(2), may write into a watched region during [Watch.Scan], because Scan may miss
// the pages that the call writes.
type Watch struct {
	mu      sync.Mutex
	regions regions
	kernel  kernel
	watched []*watched // sorted by address
	trials  trials
	kept    bool    // whether the last scan was kept
	ranges  []Range // scratch memory
}

// Run is a range of bytes. Offset counts from the address that was passed to [Watch.Changed].
type Run struct{ Offset, Bytes int }

// New returns a watch without regions. All watches of a process share two file descriptors.
//
// The error wraps errors.ErrUnsupported if this system cannot find written pages. A program can compare the
// contents of pages instead. The error does not wrap errors.ErrUnsupported if file descriptors ran out.
func New() (*Watch, error) {
	r, ok := Regions.(regions)
	if !ok || r.HeapStandIn() {
		return nil, unsupported("regions are Go heap memory here")
	}
	k, err := openKernel()
	if err != nil {
		return nil, err
	}
	return &Watch{regions: r, kernel: k}, nil
}

// Supported returns the error of [New], or nil if New can return a watch.
func Supported() error {
	w, err := New()
	if err != nil {
		return err
	}
	return w.Close()
}

// unsupported is the error of a system that cannot find written pages.
type unsupported string

func (e unsupported) Error() string { return string(e) }

func (unsupported) Unwrap() error { return errors.ErrUnsupported }

// Close ends the watch of all regions. A second call does nothing.
func (w *Watch) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kernel == nil {
		return nil
	}
	for _, r := range w.watched {
		r.region.Lock()
		if !r.isClosed() {
			r.region.SetWatcher(nil)
			_ = w.kernel.unregister(r.all) // pages that stay registered only cost page faults
		}
		r.region.Unlock()
	}
	k := w.kernel
	w.watched, w.kernel = nil, nil
	return k.close()
}

// Scan ends an interval and begins the next. After Scan, [Watch.Changed] reports the writes before this scan.
//
// Complexity: linear in the numbers of written pages, of committed ranges, and of blocks that Changed was
// called for. Scan rarely allocates memory: for example, for a longer list of committed ranges.
func (w *Watch) Scan() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.watched = slices.DeleteFunc(w.watched, func(r *watched) bool {
		r.region.Lock()
		defer r.region.Unlock()
		if r.isClosed() {
			return true
		}
		w.scan(r)
		return false
	})
	w.kept = false
	w.trials.fresh.begin()
	w.trials.again.begin()
	lastTry := w.trials.lastTry // the trials begin after this block, so that all blocks get their turn
	w.try(lastTry, true)
	w.try(lastTry, false)
}

// Keep makes the last scan the kept scan. After the next scan, [Watch.Changed] reports the writes since the
// kept scan. Call Keep after you updated your copy of the memory. If the update failed, do not call Keep: an
// earlier scan stays the kept scan.
func (w *Watch) Keep() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = true
}

// Changed finds the bytes in [p, p+n) that may have been written between the kept scan (see [Watch.Keep]) and
// the last scan. It appends the runs of these bytes to dst, in ascending order. The offset of a run counts
// from p. All other bytes are as they were at the kept scan. If the bytes cannot be watched, known is false.
//
// Changed reports all bytes of a loose block (see the package comment), and of a block for which Changed was
// not called before.
func (w *Watch) Changed(p unsafe.Pointer, n int, dst []Run) (runs []Run, known bool) {
	if n <= 0 {
		return dst, true
	}
	return w.changed(Range{uintptr(p), uintptr(p) + uintptr(n)}, dst)
}

func (w *Watch) changed(of Range, dst []Run) (runs []Run, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	start := of.Lo
	r := w.find(of.Lo)
	if r == nil || of.Hi > r.all.Hi {
		return dst, false
	}
	before := len(dst)
	for i := r.first(of.Lo); of.Lo < of.Hi; i++ {
		if number := of.Lo >> blockShift; i == len(r.blocks) || r.blocks[i].number != number {
			r.blocks = slices.Insert(r.blocks, i, block{number: number})
			r.blocks[i].changed.fill()
		}
		b := &r.blocks[i]
		part := of.intersect(b.all())
		lo, hi := pagesOf(part)
		for from, to := b.changed.next(lo, hi); from < to; from, to = b.changed.next(to, hi) {
			run := Range{max(part.Lo, b.all().Lo+uintptr(from)<<pageShift),
				min(part.Hi, b.all().Lo+uintptr(to)<<pageShift)}
			off, n := int(run.Lo-start), int(run.Hi-run.Lo)
			if last := len(dst) - 1; last >= before && dst[last].Offset+dst[last].Bytes == off {
				dst[last].Bytes += n
			} else {
				dst = append(dst, Run{off, n})
			}
		}
		of.Lo = part.Hi
	}
	return dst, true
}

// Blocks returns the number of protected blocks and the number of loose blocks.
func (w *Watch) Blocks() (protected, loose int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.watched {
		for i := range r.blocks {
			if r.blocks[i].protected {
				protected++
			} else {
				loose++
			}
		}
	}
	return protected, loose
}

// find returns the region that contains an address, and begins to watch it if necessary. It returns nil if
// the region cannot be watched.
func (w *Watch) find(addr uintptr) *watched {
	if w.kernel == nil {
		return nil
	}
	i, _ := slices.BinarySearchFunc(w.watched, addr, func(r *watched, addr uintptr) int {
		if r.all.Hi <= addr {
			return -1
		}
		return 1
	})
	for ; i < len(w.watched) && w.watched[i].all.Lo <= addr; i++ {
		// The list may hold a closed region with the addresses of an open region.
		if r := w.watched[i]; r.all.Hi > addr && !r.isClosed() {
			return r
		}
	}
	region := w.regions.Watchable(addr)
	if region == nil {
		return nil
	}
	r := &watched{region: region, kernel: w.kernel}
	region.Lock()
	defer region.Unlock()
	r.all = region.Addresses()
	if !region.SetWatcher(r) {
		return nil
	}
	w.ranges = region.Committed(w.ranges[:0])
	if w.begin(r.all, w.ranges) != nil {
		_ = w.kernel.unregister(r.all)
		region.SetWatcher(nil)
		return nil
	}
	w.watched = slices.Insert(w.watched, i, r)
	return r
}

// begin registers a range and unprotects its committed pages. Some pages may be protected: kernels before
// 6.13 do not unprotect pages that move to unregistered addresses, and the unregister of a closed region may
// have failed.
func (w *Watch) begin(all Range, committed []Range) error {
	if err := w.kernel.register(all); err != nil {
		return err
	}
	var err error
	inside(committed, all, func(of Range) {
		if err == nil {
			err = w.kernel.unprotect(of)
		}
	})
	return err
}

// scan ends an interval for a region. The caller holds the lock of the region.
func (w *Watch) scan(r *watched) {
	w.ranges = r.region.Committed(w.ranges[:0])
	for i := range r.blocks {
		b := &r.blocks[i]
		if w.kept {
			b.changed = pages{}
		}
		b.found, b.usable, b.altered = 0, 0, false
		if b.cooldown > 0 {
			b.cooldown--
		}
	}
	r.parts(w.ranges, func(*block) bool { return true }, func(of Range) {
		r.each(of, func(b *block, lo, hi int) { b.usable += hi - lo })
	})
	for _, of := range r.takeAltered() {
		r.each(of, func(b *block, lo, hi int) {
			b.changed.add(lo, hi)
			b.altered = true // no call of judge, because the kernel reports altered pages as written
		})
		if w.begin(of, w.ranges) != nil {
			w.fail(r, of)
		}
	}
	r.parts(w.ranges, func(b *block) bool { return b.protected }, func(of Range) {
		for of.Lo < of.Hi {
			found, end, err := w.kernel.scan(of)
			if err != nil {
				w.fail(r, of)
				return
			}
			for _, a := range found {
				r.each(a.pages(), func(b *block, lo, hi int) {
					b.changed.add(lo, hi)
					b.found += hi - lo
				})
			}
			of.Lo = end
		}
	})
	for i := range r.blocks {
		b := &r.blocks[i]
		if b.trial && !b.altered {
			w.trials.paceOf(b).faults += b.found
		}
		if b.protected && !b.altered && !b.judge() {
			inside(w.ranges, b.all(), func(of Range) {
				_ = w.kernel.unprotect(of) // a page that stays protected costs one page fault
			})
		}
		if !b.protected {
			b.changed.fill()
		}
	}
}

// try puts blocks on trial. If above is true, it tries blocks with numbers above limit. If above is false, it
// tries the other blocks.
func (w *Watch) try(limit uintptr, above bool) {
	for _, r := range w.watched {
		r.region.Lock()
		if !r.isClosed() {
			w.ranges = r.region.Committed(w.ranges[:0])
			r.parts(w.ranges, func(b *block) bool {
				return b.number > limit == above && w.trials.take(b)
			}, func(of Range) {
				if w.kernel.protect(of) != nil {
					w.fail(r, of)
				}
			})
		}
		r.region.Unlock()
	}
}

// fail handles a failed call of the kernel: it makes the blocks of the range loose. The next scan registers
// the range again.
func (w *Watch) fail(r *watched, of Range) {
	r.each(of, func(b *block, _, _ int) {
		if b.protected {
			b.loosen()
		}
		b.changed.fill()
	})
	r.Altered(of.Lo, of.Hi)
}

// watched is a region under watch.
type watched struct {
	region Region
	kernel kernel
	all    Range
	blocks []block // the blocks that Changed was called for, in ascending order

	mu      sync.Mutex // locked after Watch.mu and the lock of the region
	closed  bool
	altered []Range // ranges that were altered since the last scan
	taken   []Range // previous list of altered ranges, whose memory takeAltered reuses
}

// Altered implements Watcher.
func (r *watched) Altered(lo, hi uintptr) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if last := len(r.altered) - 1; last >= 0 && r.altered[last].Lo <= hi && lo <= r.altered[last].Hi {
		r.altered[last] = Range{min(lo, r.altered[last].Lo), max(hi, r.altered[last].Hi)}
		return
	}
	if len(r.altered) == maxAltered {
		r.altered = append(r.altered[:0], r.all)
		return
	}
	r.altered = append(r.altered, Range{lo, hi})
}

// maxAltered limits the list of altered ranges. If there are more, the whole region counts as altered.
const maxAltered = 4096

// takeAltered returns the altered ranges and begins a new list. The result is valid until the next call.
func (r *watched) takeAltered() []Range {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.altered, r.taken = r.taken[:0], r.altered
	return r.taken
}

// Closing implements Watcher.
func (r *watched) Closing() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	// If unregister fails and the region's memory is recycled, pages stay protected. Watch.begin unprotects
	// them when the next region at these addresses is watched.
	_ = r.kernel.unregister(r.all)
}

func (r *watched) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// first returns the index of the first block that ends after an address.
func (r *watched) first(addr uintptr) int {
	i, _ := slices.BinarySearchFunc(r.blocks, addr>>blockShift, func(b block, number uintptr) int {
		if b.number < number {
			return -1
		}
		return 1
	})
	return i
}

// each calls f for each block that overlaps a range, with the numbers [lo, hi) of the block's pages that
// overlap the range.
func (r *watched) each(of Range, f func(b *block, lo, hi int)) {
	for i := r.first(of.Lo); i < len(r.blocks) && r.blocks[i].all().Lo < of.Hi; i++ {
		b := &r.blocks[i]
		lo, hi := pagesOf(of.intersect(b.all()))
		f(b, lo, hi)
	}
}

// parts joins adjacent chosen blocks to runs, and calls f for each committed part of each run. It may call
// choose twice for a block if the first call returns false.
func (r *watched) parts(committed []Range, choose func(b *block) bool, f func(of Range)) {
	for i := 0; i < len(r.blocks); i++ {
		if !choose(&r.blocks[i]) {
			continue
		}
		of := r.blocks[i].all()
		for i+1 < len(r.blocks) && r.blocks[i+1].all().Lo == of.Hi && choose(&r.blocks[i+1]) {
			i++
			of.Hi = r.blocks[i].all().Hi
		}
		inside(committed, of, f)
	}
}

// inside calls f for the intersection of each of the sorted ranges with another range.
func inside(ranges []Range, of Range, f func(Range)) {
	i, _ := slices.BinarySearchFunc(ranges, of.Lo, func(r Range, lo uintptr) int {
		if r.Hi <= lo {
			return -1
		}
		return 1
	})
	for ; i < len(ranges) && ranges[i].Lo < of.Hi; i++ {
		f(ranges[i].intersect(of))
	}
}

// intersect returns the intersection of two ranges that overlap.
func (r Range) intersect(of Range) Range { return Range{max(r.Lo, of.Lo), min(r.Hi, of.Hi)} }
