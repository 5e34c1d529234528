package cluster

import (
	"cmp"
	"slices"
)

// A process has its fair share if no process has two regions more than another one. Each process computes the
// same from the same keys. If their keys differ for a moment, a region moves once more than it needs to.

// share returns how many regions a process may have.
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

// gives reports whether a process gives a region to another one. Regions without an owner come first: while
// there are some, no process gives one.
func (p *picture) gives(process string) bool {
	if slices.Contains(p.ownerships, released) || slices.Contains(p.ownerships, orphaned) {
		return false
	}
	least := p.unfinished / len(p.counts)
	missing := 0 // in processes that have less than the least
	var rich []string
	for name, n := range p.counts {
		missing += max(0, least-n)
		if n > least {
			rich = append(rich, name)
		}
	}
	// The richest give first. Those with equal numbers need an order, lest all of them give.
	slices.SortFunc(rich, func(a, b string) int {
		return cmp.Or(cmp.Compare(p.counts[b], p.counts[a]), cmp.Compare(a, b))
	})
	place := slices.Index(rich, process)
	return p.counts[process] > p.share() && len(p.counts) > 1 || place >= 0 && place < missing
}
