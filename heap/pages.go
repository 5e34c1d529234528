package heap

import (
	"cmp"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/vm"
)

// stepCommit is the smallest commit in bytes if memory suffices. With this step, system calls are rare
// compared with page faults.
const stepCommit = 64 << 10

// bytesKept is the largest number of bytes in kept runs. Giving a page back and taking another page costs two
// to five microseconds; clearing a kept page costs a tenth of a microsecond.
const bytesKept = 1 << 20

// pages allocates runs of pages. It commits pages in ascending order of their addresses. A freed run either
// keeps its memory for the next run of its length, or gives its memory back by [vm.Region.Discard]. In each
// case the pages stay committed, because a decommitted hole would cost one of the process's few mappings.
// There are four exceptions: if Discard fails, the run is decommitted; when memory is refused, the heap
// decommits free runs, so that they no longer count in a limit; when the top moves down over decommitted
// pages, all pages above the top are decommitted; and Trim decommits the pages above the top.
type pages struct {
	ranges
	region    *vm.Region
	off       int            // offset of the first page in the region, bytes
	base      unsafe.Pointer // address of the first page
	size      int            // bytes of a page
	shift     uint           // log2 of size
	committed uint32         // the pages in [top, committed) are committed
	kept      [][]uint32     // first pages of the kept runs, by length in pages
	pagesKept int            // number of pages in kept runs
}

// at returns the address of a page. It is sound for pages of the reserved range.
func (p *pages) at(page uint32) unsafe.Pointer { return unsafe.Add(p.base, int(page)<<p.shift) }

func (p *pages) runBytes(page, n uint32) []byte {
	return unsafe.Slice((*byte)(p.at(page)), int(n)<<p.shift)
}

// begin commits the first pages before rooms (see the package comment) use up the process's mappings. Later
// pages extend the mapping of the first pages. begin ignores errors, because run reports them.
func (p *pages) begin() {
	if p.committed == 0 && p.meta.CommitTo(p.stride, 0) == nil {
		_ = p.commitRun(0, 1, false)
	}
}

// run allocates n pages. The number of the first page is a multiple of align. If dirty is false, the pages
// are zero.
func (p *pages) run(n, align uint32) (at uint32, dirty bool, err error) {
	if align == 1 && int(n) < len(p.kept) {
		if k := len(p.kept[n]) - 1; k >= 0 {
			at, p.kept[n] = p.kept[n][k], p.kept[n][:k]
			p.pagesKept -= int(n)
			return at, true, nil
		}
	}
	at, uncommitted, err := p.take(n, align)
	if err != nil {
		return 0, false, err
	}
	if err := p.commitRun(at, n, uncommitted); err != nil {
		p.give(at, n, true)
		return 0, false, err
	}
	return at, false, nil
}

// extend allocates the pages [at, at+n) behind a run if they are free.
func (p *pages) extend(at, n uint32) (ok bool, err error) {
	if at < p.top && p.entry(at).kind == kindKept {
		_ = p.release(at) // an error does no harm: the pages are free, and stay committed
	}
	uncommitted, ok, err := p.takeAt(at, n)
	if !ok || err != nil {
		return false, err
	}
	p.mark(at, n)
	if err := p.commitRun(at, n, uncommitted); err != nil {
		p.give(at, n, true)
		return false, err
	}
	return true, nil
}

// commitRun commits the pages of a run, and the pages between p.committed and the run. If memory suffices,
// commitRun also commits pages behind the run, because it commits in steps. If uncommitted is true, pages of
// the run below p.committed may be uncommitted.
func (p *pages) commitRun(at, n uint32, uncommitted bool) error {
	if uncommitted {
		if err := p.commit(at, at+n); err != nil {
			return err
		}
	}
	if at+n <= p.committed {
		return nil
	}
	step := uint32(max(stepCommit>>p.shift, int(p.committed)/8))
	ahead := min(max(at+n, p.committed+min(step, p.end-p.committed)), p.end)
	err := p.commit(p.committed, ahead)
	if err != nil && ahead > at+n {
		ahead = at + n
		err = p.commit(p.committed, ahead)
	}
	if err == nil {
		p.committed = ahead
	}
	return err
}

func (p *pages) commit(from, to uint32) error {
	return p.region.Commit(p.off+int(from)<<p.shift, int(to-from)<<p.shift)
}

// give frees a run whose committed pages are zero. If uncommitted is true, pages of the run may be
// uncommitted. If the top moves down over uncommitted pages, give decommits all pages from the new top on.
func (p *pages) give(at, n uint32, uncommitted bool) {
	if head, decommit := p.put(at, n, uncommitted); head == p.top && decommit && head < p.committed {
		_ = p.region.Decommit(p.off+int(head)<<p.shift, int(p.committed-head)<<p.shift)
		p.committed = head
	}
}

// free frees a run in use. It either keeps the run's memory or gives the memory back to the system.
func (p *pages) free(at, n uint32) {
	if int(n) < len(p.kept) && p.pagesKept+int(n) <= bytesKept>>p.shift {
		if invariants.Enabled {
			invariants.Poison(p.runBytes(at, n))
		}
		e := p.entry(at)
		e.kind, e.units = kindKept, n
		p.kept[n] = append(p.kept[n], at)
		p.pagesKept += int(n)
		return
	}
	_ = p.discard(at, n) // an error does no harm: discard has freed the run
}

// discard frees a run and gives its memory back. If the system refuses to take the memory back, discard
// clears the pages, frees the run and returns an error.
func (p *pages) discard(at, n uint32) error {
	off, bytes := p.off+int(at)<<p.shift, int(n)<<p.shift
	err := p.region.Discard(off, bytes)
	decommitted := false
	if err != nil {
		err = p.region.Decommit(off, bytes)
		decommitted = err == nil
	}
	if err != nil {
		clear(p.runBytes(at, n))
	}
	p.give(at, n, decommitted)
	return err
}

// release gives back the memory of a kept run. at is the run's first page.
func (p *pages) release(at uint32) error {
	n := p.entry(at).units
	stack := p.kept[n]
	for i, page := range stack {
		if page == at {
			stack[i] = stack[len(stack)-1]
			p.kept[n] = stack[:len(stack)-1]
			break
		}
	}
	p.pagesKept -= int(n)
	return p.discard(at, n)
}

// releaseAll gives back the memory of all kept runs. It returns the first error.
func (p *pages) releaseAll() (err error) {
	for n := range p.kept {
		for len(p.kept[n]) > 0 {
			err = cmp.Or(err, p.release(p.kept[n][len(p.kept[n])-1]))
		}
		p.kept[n] = nil
	}
	return err
}

// lower decommits the committed pages from the top on.
func (p *pages) lower() error {
	if p.committed <= p.top {
		return nil
	}
	err := p.region.Decommit(p.off+int(p.top)<<p.shift, int(p.committed-p.top)<<p.shift)
	if err == nil {
		p.committed = p.top
	}
	return err
}

// decommitFree decommits free ranges, beginning with the bin of the longest ranges. It stops when it has
// decommitted at least the given number of bytes, or when the system refuses to decommit a range. Decommitted
// bytes do not count in a limit.
func (p *pages) decommitFree(bytes int) {
	for b := len(p.bins) - 1; b >= 0; b-- {
		for i := p.bins[b]; i != 0 && bytes > 0; {
			e := p.entry(i - 1)
			if !e.uncommitted {
				n := int(e.units) << p.shift
				if p.region.Decommit(p.off+int(i-1)<<p.shift, n) != nil {
					return
				}
				e.uncommitted = true
				bytes -= n
			}
			i = e.next
		}
	}
}
