package written

import (
	"math/bits"
	"os"
)

// The first write to a protected page costs about a microsecond. Reading a page that did not change costs
// less than half of that. A block should be loose if at least half of its pages are written in an interval:
// protection would then cost more in page faults than it saves in reading.
//
// A block is loose at first. Each scan puts a few loose blocks on trial: it protects them, and the next scan
// counts how many of their pages were written. A trial fails if at least half of the pages were written. The
// block is then loose again, and the wait for its next trial is doubled. The heat of a
// protected block grows by one in each interval in which at least half of its pages are written, and falls by
// one in each other interval. At a heat of two, the block becomes loose.
//
// The number of trials doubles while the tried blocks are cold, and is halved after they caused too many page
// faults. As a result, 1 GiB of cold memory is protected after some ten scans. In a memory that is all hot,
// the trials cost at most about two thousand page faults in an interval.
const (
	firstTrials = 2   // blocks on trial at the first scan
	maxTrials   = 128 // most trials of a pace at a scan; protecting 256 MiB of small pages takes about 2 ms
	maxFaults   = 512 // page faults that tried blocks may cost in an interval: those of one hot block
	firstRest   = 4   // intervals until the next trial, after a trial that failed
	maxRest     = 64  // most intervals until the next trial, after several trials that failed
	hotAt       = 2   // the heat at which a block becomes loose
)

const (
	blockShift = 21
	blockBytes = 1 << blockShift // a huge page of most systems
	maxPages   = blockBytes >> 12
)

// pageShift is the binary logarithm of the size of the system's pages. Package vm may use larger pages.
var pageShift = bits.TrailingZeros(uint(os.Getpagesize()))

// pages is a set of the pages of a block. Systems with pages of more than 4 KiB use the first bits only.
type pages [maxPages / 64]uint64

// add adds the pages [lo, hi).
func (s *pages) add(lo, hi int) {
	for lo < hi {
		to := min(hi, lo|63+1)
		s[lo>>6] |= (^uint64(0) >> (64 - uint(to-lo))) << (lo & 63)
		lo = to
	}
}

// fill adds all pages.
func (s *pages) fill() {
	for i := range s {
		s[i] = ^uint64(0)
	}
}

// next returns the first run [start, end) of pages in [lo, hi) that are in the set. If there is no run, start
// is hi.
func (s *pages) next(lo, hi int) (start, end int) {
	start = s.seek(lo, hi, 0)
	return start, s.seek(start, hi, ^uint64(0))
}

// seek returns the first page in [lo, hi) whose bit differs from the bits of skip, which are all zeros or all
// ones. It returns hi if there is no such page.
func (s *pages) seek(lo, hi int, skip uint64) int {
	for lo < hi {
		if word := (s[lo>>6] ^ skip) >> (lo & 63); word != 0 {
			return min(hi, lo+bits.TrailingZeros64(word))
		}
		lo = lo | 63 + 1
	}
	return hi
}

// block is the part of 2 MiB of addresses that lies in one region.
type block struct {
	number    uintptr // the address divided by blockBytes
	protected bool
	trial     bool  // whether the block is on trial
	heat      uint8 // intervals in which the block was mostly written, minus the other intervals
	rest      uint8 // intervals until the next trial
	wait      uint8 // value of rest when the block last became loose; 0 after a later cold interval
	altered   bool  // whether pages were altered in the last interval
	found     int   // number of pages that were written in the last interval, if the block was protected
	usable    int   // number of committed pages
	changed   pages // pages that were written since the kept scan
}

// all returns the addresses of the block.
func (b *block) all() Range { return Range{b.number << blockShift, (b.number + 1) << blockShift} }

// pagesOf returns the numbers of the pages of a range that lies in one block, rounded outward.
func pagesOf(of Range) (lo, hi int) {
	return int(of.Lo % blockBytes >> pageShift), int((of.Hi-1)%blockBytes>>pageShift) + 1
}

// judge ends an interval of a protected block. It returns false if the block must become loose.
func (b *block) judge() bool {
	mostly := b.found > 0 && 2*b.found >= b.usable
	failed := b.trial && mostly
	b.trial = false
	switch {
	case mostly && b.heat < hotAt:
		b.heat++
	case !mostly && b.heat > 0:
		b.heat--
	}
	if !failed && b.heat < hotAt {
		if !mostly {
			b.wait = 0
		}
		return true
	}
	b.loosen()
	return false
}

// loosen makes a block loose, and sets the number of intervals until its next trial.
func (b *block) loosen() {
	b.protected, b.trial, b.heat = false, false, 0
	b.wait = min(max(2*b.wait, firstRest), maxRest)
	b.rest = b.wait
}

// trials limits the number of blocks on trial. It counts blocks that failed a trial separately from other
// blocks, because a memory that is mostly cold may have hot parts.
type trials struct {
	fresh, again pace
	after        uintptr // the block that was tried last, so that all blocks get their turn
}

// pace limits the number of trials at a scan. The limit doubles while trials succeed.
type pace struct {
	most   int // the limit; 0 before the first scan
	left   int // number of trials that this scan may still begin
	faults int // page faults of the blocks that the scan before has put on trial
}

// begin begins a scan.
func (p *pace) begin() {
	switch {
	case p.most == 0:
		p.most = firstTrials
	case p.faults > maxFaults:
		p.most = max(1, p.most/2)
	case p.left == 0:
		p.most = min(2*p.most, maxTrials)
	default:
		p.most = max(1, p.most-p.left)
	}
	p.left, p.faults = p.most, 0
}

// of returns the pace that counts the trials of a block.
func (t *trials) of(b *block) *pace {
	if b.wait > 0 {
		return &t.again
	}
	return &t.fresh
}

// take puts a block on trial if possible, and reports whether it did so. Each scan calls take for all blocks:
// first, in ascending order, for the blocks after the block that the scan before tried last, and then, also
// in ascending order, for the other blocks.
func (t *trials) take(b *block) bool {
	if p := t.of(b); !b.protected && b.rest == 0 && b.usable > 0 && p.left > 0 {
		p.left--
		t.after = b.number
		b.protected, b.trial = true, true
		return true
	}
	return false
}
