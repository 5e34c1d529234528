package written

import (
	"math/bits"
	"os"
)

// Protecting a page costs about a microsecond at the first write to it. Reading a page that did not change
// costs less than half of that. So a block is better left loose if half or more of it is written in an
// interval.
//
// A block is loose at first. Each scan puts a few loose blocks on trial: it protects them, and the next scan
// sees how many of their pages were written. A trial that fails makes the block loose again at once; after
// each failure the wait for the next trial doubles. A block that has stood its trial counts the intervals in
// which half of its pages or more were written, and takes off one for each other interval. At a count of two
// it becomes loose.
//
// The number of trials doubles while the tried blocks are cold, and is halved when they took too many page
// faults. So most of a large cold memory is protected after some ten scans, and in a memory that is all hot
// the trials cost at most about two thousand page faults an interval.
const (
	firstTrials = 2   // blocks on trial at the first scan
	mostTrials  = 128 // at any scan; protecting 256 MiB of small pages takes about 2 ms
	faultsMost  = 512 // page faults that tried blocks may cost in an interval: those of one hot block
	firstRest   = 4   // intervals until the next trial, after a trial that failed
	mostRest    = 64  // the same after several
	hotAt       = 2   // the heat at which a block becomes loose
)

const (
	blockShift = 21
	blockBytes = 1 << blockShift // a huge page of most systems
	mostPages  = blockBytes >> 12
)

// pageShift is the logarithm of the size of the system's pages. Package vm may use larger ones.
var pageShift = bits.TrailingZeros(uint(os.Getpagesize()))

// pages is a set of the pages of a block. Systems with pages of more than 4 KiB use the first bits only.
type pages [mostPages / 64]uint64

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

// next returns the first run of pages in [lo, hi) that are in the set. from is hi if there is none.
func (s *pages) next(lo, hi int) (from, to int) {
	from = s.seek(lo, hi, 0)
	return from, s.seek(from, hi, ^uint64(0))
}

// seek returns the first page in [lo, hi) whose bit differs from the bits of but, all zeros or all ones. It
// returns hi if there is none.
func (s *pages) seek(lo, hi int, but uint64) int {
	for lo < hi {
		if word := (s[lo>>6] ^ but) >> (lo & 63); word != 0 {
			return min(hi, lo+bits.TrailingZeros64(word))
		}
		lo = lo | 63 + 1
	}
	return hi
}

// block is 2 MiB of addresses, as far as they lie in one region.
type block struct {
	number    uintptr // address / blockBytes
	protected bool
	trial     bool  // protected at the last scan, and loose before
	heat      uint8 // intervals in which it was mostly written, minus the other intervals
	rest      uint8 // intervals until the next trial
	wait      uint8 // the last rest
	altered   bool  // pages were altered in the last interval
	found     int   // pages that were written in the last interval, if it was protected
	usable    int   // its committed pages
	changed   pages // since the scan that was kept
}

// all returns the addresses of the block.
func (b *block) all() Range { return Range{b.number << blockShift, (b.number + 1) << blockShift} }

// pagesOf returns the numbers of the pages of a range in one block, rounded outward.
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

// loosen makes a block loose, and fixes when it is tried again.
func (b *block) loosen() {
	b.protected, b.trial, b.heat = false, false, 0
	b.wait = min(max(2*b.wait, firstRest), mostRest)
	b.rest = b.wait
}

// trials limits how many blocks are tried. New blocks, and those that failed a trial before, are counted
// apart: a memory that is cold may have hot parts.
type trials struct {
	fresh, again pace
	after        uintptr // the block that was tried last, so that all blocks get their turn
}

// pace is a number of blocks at a scan. It doubles while trials succeed.
type pace struct {
	most   int // 0 before the first scan
	left   int // blocks that can still be tried at this scan
	faults int // page faults of the blocks that were tried at the scan before
}

// begin begins a scan.
func (p *pace) begin() {
	switch {
	case p.most == 0:
		p.most = firstTrials
	case p.faults > faultsMost:
		p.most = max(1, p.most/2)
	case p.left == 0:
		p.most = min(2*p.most, mostTrials)
	default:
		p.most = max(1, p.most-p.left)
	}
	p.left, p.faults = p.most, 0
}

// of returns the pace of a block that is on trial or may be.
func (t *trials) of(b *block) *pace {
	if b.wait > 0 {
		return &t.again
	}
	return &t.fresh
}

// take reports whether a block is on trial from this scan on. Scan calls take for each block in ascending
// order: first for the blocks behind the one that was tried last at the scan before, then for the others.
func (t *trials) take(b *block) bool {
	if p := t.of(b); !b.protected && b.rest == 0 && b.usable > 0 && p.left > 0 {
		p.left--
		t.after = b.number
		b.protected, b.trial = true, true
		return true
	}
	return false
}
