package cluster

import (
	"cmp"
	"slices"
)

// The shares are fair if the numbers of regions of any two processes differ by at most one. All processes
// that take regions compute the same shares from the same keys. A process that has not seen the newest keys
// yet may move regions unnecessarily.

// share returns the largest fair number of regions of a process.
func (p *picture) share() int { return (p.unfinished + len(p.counts) - 1) / len(p.counts) }

// fewest reports whether no other process has fewer regions than process.
func (p *picture) fewest(process string) bool {
	for _, n := range p.counts {
		if n < p.counts[process] {
			return false
		}
	}
	return true
}

// gives reports whether process must give a region to another process. While any region is released or
// orphaned, the result is false.
func (p *picture) gives(process string) bool {
	if slices.Contains(p.ownerships, released) || slices.Contains(p.ownerships, orphaned) {
		return false
	}
	minRegions := p.unfinished / len(p.counts) // the smallest fair number of regions
	// missing is how many regions the poor processes need in total to have minRegions each.
	missing := 0
	var rich []string
	for name, n := range p.counts {
		missing += max(0, minRegions-n)
		if n > minRegions {
			rich = append(rich, name)
		}
	}
	// The processes with the most regions give first. Processes with equal numbers of regions are ordered by
	// name, so that all processes compute the same order.
	slices.SortFunc(rich, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.counts[b], p.counts[a]), cmp.Compare(a, b))
	})
	place := slices.Index(rich, process)
	return p.counts[process] > p.share() && len(p.counts) > 1 || place >= 0 && place < missing
}
