package written

import (
	"math/bits"
	"os"
)

// Scan, interval and block are explained in the documentation of the package.
//
// An interval is hot for a block if at least half of the block's committed pages are written. In a hot
// interval, protection costs more than it saves: it costs about 1 µs for each written page, and saves the
// reading of each other page, which takes less than 0.5 µs.
//
// A block is loose (not protected) at first. Each scan puts a few loose blocks on trial: it protects them for
// one interval. If the interval is hot, the trial fails and the block becomes loose again. Its cooldown, the
// number of intervals before its next trial, is doubled.
//
// The heat of a protected block grows by one in each hot interval. In each other interval it falls by one,
// but not below zero. At heat 2 the block becomes loose.
//
// The limit of trials doubles while the tried blocks are cold, and is halved after they caused too many page
// faults. If a scan begins fewer trials, the limit falls to their number. As a result, 1 GiB of cold memory
// is protected after some ten scans. If all memory is hot, the trials cost at most about two thousand page
// faults in an interval.
const (
	firstTrials   = 2   // limit of trials at the first scan, for each pace
	maxTrials     = 128 // largest limit of trials; protecting 256 MiB of small pages takes about 2 ms
	maxFaults     = 512 // number of page faults after which the limit is halved; one hot block causes 512
	firstCooldown = 4   // in intervals
	maxCooldown   = 64  // in intervals
	hotAt         = 2   // heat at which a block becomes loose
)

const (
	blockShift = 21
	blockBytes = 1 << blockShift // a huge page of most systems
	maxPages   = blockBytes >> 12
)

// pageShift is the binary logarithm of the system's page size. Package vm may use larger pages.
var pageShift = bits.TrailingZeros(uint(os.Getpagesize()))

// pages is a set of page numbers of a block. Systems with pages of more than 4 KiB use only the first bits.
type pages [maxPages / 64]uint64

// add adds the page numbers in [lo, hi).
func (s *pages) add(lo, hi int) {
	for lo < hi {
		to := min(hi, lo|63+1)
		s[lo>>6] |= (^uint64(0) >> (64 - uint(to-lo))) << (lo & 63)
		lo = to
	}
}

func (s *pages) fill() {
	for i := range s {
		s[i] = ^uint64(0)
	}
}

// next returns the first run of page numbers of the set within [lo, hi). If there is no run, start and end
// are hi.
func (s *pages) next(lo, hi int) (start, end int) {
	start = s.seek(lo, hi, 0)
	return start, s.seek(start, hi, ^uint64(0))
}

// seek returns the first page number in [lo, hi) that is in the set, or hi. If invert has all bits set, seek
// looks for a page number outside the set. Otherwise invert must be 0.
func (s *pages) seek(lo, hi int, invert uint64) int {
	for lo < hi {
		if word := (s[lo>>6] ^ invert) >> (lo & 63); word != 0 {
			return min(hi, lo+bits.TrailingZeros64(word))
		}
		lo = lo | 63 + 1
	}
	return hi
}

// block describes the pages of one region that lie in an aligned range of 2 MiB of addresses.
type block struct {
	number       uintptr // the first address of the range, divided by blockBytes
	protected    bool
	trial        bool  // whether the block is on trial
	heat         uint8 // from 0 to hotAt
	cooldown     uint8 // number of intervals before the next trial
	lastCooldown uint8 // cooldown when the block last became loose; 0 after a later cold interval
	altered      bool  // whether pages were committed, discarded or moved in the last interval
	found        int   // number of pages that were written in the last interval, if the block was protected
	usable       int   // number of committed pages
	changed      pages // pages that were written since the kept scan: see Watch.Keep
}

// all returns the whole range of 2 MiB, which may extend beyond the region.
func (b *block) all() Range { return Range{b.number << blockShift, (b.number + 1) << blockShift} }

// pagesOf returns the numbers [lo, hi), within a block, of the pages that overlap a range. The range must lie
// in one block.
func pagesOf(of Range) (lo, hi int) {
	return int(of.Lo % blockBytes >> pageShift), int((of.Hi-1)%blockBytes>>pageShift) + 1
}

// judge ends an interval of a protected block. If the block must become loose, judge calls loosen and returns
// false.
func (b *block) judge() bool {
	hot := b.found > 0 && 2*b.found >= b.usable
	failed := b.trial && hot
	b.trial = false
	switch {
	case hot && b.heat < hotAt:
		b.heat++
	case !hot && b.heat > 0:
		b.heat--
	}
	if !failed && b.heat < hotAt {
		if !hot {
			b.lastCooldown = 0
		}
		return true
	}
	b.loosen()
	return false
}

// loosen makes a block loose and begins its cooldown.
func (b *block) loosen() {
	b.protected, b.trial, b.heat = false, false, 0
	b.lastCooldown = min(max(2*b.lastCooldown, firstCooldown), maxCooldown)
	b.cooldown = b.lastCooldown
}

// trials limits the number of blocks on trial. It has two limits, because a memory that is mostly cold may
// have hot parts.
type trials struct {
	fresh   pace    // for blocks whose lastCooldown is 0
	again   pace    // for blocks that were hot: their lastCooldown is greater than 0
	lastTry uintptr // number of the block that was put on trial last
}

// pace limits the number of trials at a scan.
type pace struct {
	limit  int // 0 before the first scan
	left   int // number of trials that this scan may still begin
	faults int // page faults of the trials that the previous scan began
}

func (p *pace) begin() {
	switch {
	case p.limit == 0:
		p.limit = firstTrials
	case p.faults > maxFaults:
		p.limit = max(1, p.limit/2)
	case p.left == 0:
		p.limit = min(2*p.limit, maxTrials)
	default:
		p.limit = max(1, p.limit-p.left)
	}
	p.left, p.faults = p.limit, 0
}

func (t *trials) paceOf(b *block) *pace {
	if b.lastCooldown > 0 {
		return &t.again
	}
	return &t.fresh
}

// take puts a block on trial and returns true, if the block needs a trial and the limit permits it.
func (t *trials) take(b *block) bool {
	if p := t.paceOf(b); !b.protected && b.cooldown == 0 && b.usable > 0 && p.left > 0 {
		p.left--
		t.lastTry = b.number
		b.protected, b.trial = true, true
		return true
	}
	return false
}
