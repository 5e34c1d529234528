package cluster

import (
	"cmp"
	"slices"
)

// The shares are fair if the numbers of regions of any two processes differ by at most one. All processes
// compute the same shares from the same keys. While the processes see different keys, a region may move once
// more than necessary.

// share returns how many regions a process may own.
func (p *picture) share() int { return (p.unfinished + len(p.counts) - 1) / len(p.counts) }

// fewest reports whether no process has fewer regions than this one.
func (p *picture) fewest(process string) bool {
	for _, n := range p.counts {
		if n < p.counts[process] {
			return false
		}
	}
	return true
}

// gives reports whether a process gives a region to another process. While a region has no owner, no process
// gives a region.
func (p *picture) gives(process string) bool {
	if slices.Contains(p.ownerships, released) || slices.Contains(p.ownerships, orphaned) {
		return false
	}
	least := p.unfinished / len(p.counts) // the smallest fair number of regions
	missing := 0                          // how many regions the poorer processes lack to have that number
	var rich []string
	for name, n := range p.counts {
		missing += max(0, least-n)
		if n > least {
			rich = append(rich, name)
		}
	}
	// The processes with the most regions give first. Processes with equal numbers are ordered by name, so
	// that not all of them give.
	slices.SortFunc(rich, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.counts[b], p.counts[a]), cmp.Compare(a, b))
	})
	place := slices.Index(rich, process)
	return p.counts[process] > p.share() && len(p.counts) > 1 || place >= 0 && place < missing
}
