package vm

import (
	"fmt"
	"slices"
	"strings"
)

// PageState is the state of a page as a set of flags. Without flags the page is Reserved and was never
// committed.
type PageState uint8

const (
	// PageCommitted: the page is Committed.
	PageCommitted PageState = 1 << iota
	// PageResident: the page is in memory. [Region.Resident] counts such pages.
	PageResident
	// PageHuge: the page is in memory as a part of a huge page. Only Linux since 6.7 reports it.
	PageHuge
	// PageZero: the page was read but not written. It is the system's shared page of zeros, which counts as
	// resident but takes no memory. Only Linux since 6.7 reports it.
	PageZero
	// PageSwapped: the page's contents are in the swap space. Only Linux since 6.7 reports it.
	PageSwapped
	// PageDecommitted: the page is Reserved, and was committed before.
	PageDecommitted
)

var pageStates = [...]string{"committed", "resident", "huge", "zero", "swapped", "decommitted"}

// String returns the flags in words, such as "committed resident", or "reserved" without flags.
func (s PageState) String() string {
	var words []string
	for i, word := range pageStates {
		if s>>i&1 != 0 {
			words = append(words, word)
		}
	}
	if rest := s >> len(pageStates) << len(pageStates); rest != 0 {
		words = append(words, fmt.Sprintf("PageState(%#x)", uint8(rest)))
	}
	if len(words) == 0 {
		return "reserved"
	}
	return strings.Join(words, " ")
}

// PageRun is a maximal range of pages in the same state.
type PageRun struct {
	Offset int // bytes from the region's base
	Bytes  int // a multiple of the page size
	State  PageState
}

// Pages describes the pages in [off, off+n), rounded outward to whole pages, as runs of pages in the same
// state. It appends the runs to the slice dst and returns the result. The runs follow each other without
// gaps. Pages is for diagnosis, and may be called on a closed region, whose pages are all Reserved.
//
// Other calls may change the region at the same time. Pages reports a changing page in its old or new state.
// After an error the runs end before the failing range. Complexity: linear in the number of runs, plus the
// system calls, in which the system visits each page or huge page. One system call covers at most one
// committed range and 16 Ki pages (1 Ki on Windows), and on Linux since 6.7 also at most 256 runs. A region
// on the Go heap needs no system calls.
func (r *Region) Pages(off, n int, dst []PageRun) ([]PageRun, error) {
	m := r.m
	if off < 0 || n < 0 || off > m.size || n > m.size-off {
		panic(fmt.Sprintf("vm: pages(%d, %d) reaches outside a region of %d bytes (%s)", off, n, m.size,
			m.counted.purpose))
	}
	lo, hi := roundDown(off, pageSize), roundUp(off+n, pageSize)
	if n == 0 {
		return dst, nil
	}
	m.mu.Lock()
	committed, gone := m.committed.covered(lo, hi), m.gone.covered(lo, hi)
	m.mu.Unlock()
	runs := pageRuns{of: dst, start: len(dst)}
	for _, iv := range committed {
		runs.addReserved(lo, iv.lo, gone)
		lo = iv.lo
		err := m.be.pages(m.at(iv.lo), iv.hi-iv.lo, func(off, n int, s PageState) {
			runs.add(lo, iv.lo+off, PageCommitted)
			lo = iv.lo + off + n
			runs.add(iv.lo+off, lo, PageCommitted|s)
		})
		if err != nil {
			return runs.of, m.failed("pages", iv.hi-iv.lo, err)
		}
		runs.add(lo, iv.hi, PageCommitted)
		lo = iv.hi
	}
	runs.addReserved(lo, hi, gone)
	return runs.of, nil
}

type pageRuns struct {
	of    []PageRun
	start int // index of the first run that add may extend
}

// add adds the pages in [lo, hi), which must follow the pages added before.
func (p *pageRuns) add(lo, hi int, s PageState) {
	if lo >= hi {
		return
	}
	if k := len(p.of); k > p.start && p.of[k-1].State == s {
		p.of[k-1].Bytes += hi - lo
		return
	}
	p.of = append(p.of, PageRun{lo, hi - lo, s})
}

// addReserved adds the Reserved pages in [lo, hi). gone holds the ranges that were ever decommitted or moved
// away.
func (p *pageRuns) addReserved(lo, hi int, gone []interval) {
	i, _ := slices.BinarySearchFunc(gone, lo, func(iv interval, lo int) int {
		if iv.hi <= lo {
			return -1
		}
		return 1
	})
	for ; i < len(gone) && gone[i].lo < hi; i++ {
		p.add(lo, gone[i].lo, 0)
		lo = max(lo, gone[i].lo)
		p.add(lo, min(hi, gone[i].hi), PageDecommitted)
		lo = min(hi, gone[i].hi)
	}
	p.add(lo, hi, 0)
}

// tellPages calls tell for the runs of equal, nonzero states among n pages.
func tellPages(n int, state func(page int) PageState, tell func(page, n int, s PageState)) {
	for i := 0; i < n; {
		s, from := state(i), i
		for i++; i < n && state(i) == s; i++ {
		}
		if s != 0 {
			tell(from, i-from, s)
		}
	}
}
