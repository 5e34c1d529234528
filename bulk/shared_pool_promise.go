package bulk

import "sync/atomic"

// sharedPromise is what the last Grow of a shared pool has promised. Slots that an inserter keeps are lost to other
// goroutines, so while a promise stands, an inserter keeps slots only with a permit. Grow gives permits for
// the free slots that it has not promised. An inserter without a permit takes one slot at a time.
//
// Hence there are always at least as many free slots as promised insertions:
//
//   - An insertion takes a free slot, or fills a slot that an inserter keeps. Either redeems one insertion.
//   - The free slots that an inserter with a permit keeps are not promised.
//   - Grow stores the promise before it counts free slots. An inserter takes several slots first, looks for a
//     new promise afterwards, and gives slots back if it has no permit for that promise. So Grow counts no
//     slot that an inserter then keeps without a permit.
type sharedPromise struct {
	left     atomic.Int64 // no fewer than the insertions that are promised and not made yet
	permits  atomic.Int64 // permits that no inserter has
	returned atomic.Int64 // how often inserters with permits gave slots to other goroutines
}

// mostKept is how many slots an inserter keeps at most.
const mostKept = 127

// permit lets an inserter keep slots while the promise stands; nil allows it only without a promise.
type permit struct{ of *sharedPromise }

// covers reports whether an inserter may keep slots while the pool has promise p. It takes a permit of p if
// there is one.
func (h *permit) covers(p *sharedPromise) bool {
	if p == nil || p == h.of {
		return true
	}
	for n := p.permits.Load(); n > 0; n = p.permits.Load() {
		if p.permits.CompareAndSwap(n, n-1) {
			h.of = p
			return true
		}
	}
	return false
}

// giveBack returns the permit. The inserter must have given its slots back before.
func (h *permit) giveBack() {
	if h.of != nil {
		h.of.returned.Add(1)
		h.of.permits.Add(1)
		h.of = nil
	}
}

// times returns how often slots were given back; 0 without a promise.
func (p *sharedPromise) times() int64 {
	if p == nil {
		return 0
	}
	return p.returned.Load()
}

// redeem notes an insertion by an inserter without a permit. Other insertions are not counted, because
// counting them would slow them down. So the promise is dropped after it was kept.
func (s *sharedSlots) redeem(p *sharedPromise) {
	if p.left.Add(-1) <= 0 {
		s.promise.CompareAndSwap(p, nil)
	}
}
