package cluster

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
)

// balance calls settle 20 times in a lease, and for each value in settleNow, until the context ends.
func (n *Node) balance(ctx context.Context) {
	ticker := time.NewTicker(n.o.Lease / 20)
	defer ticker.Stop()
	for {
		n.settle(ctx)
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-n.settleNow:
		}
	}
}

func (n *Node) look() picture { return n.view.look(n.session, time.Now()) }

// settle compares the regions that run in this process with the keys of the cluster. It then starts regions,
// stops them, takes them over, and gives them to other processes.
func (n *Node) settle(ctx context.Context) {
	if n.view.heard().IsZero() {
		return // the process has not read the keys yet
	}
	n.cancelProposal(ctx)
	n.forget(ctx)
	p := n.look()
	for _, r := range n.regions {
		n.settleRegion(ctx, r, &p)
	}
	if n.drains() {
		return
	}
	n.takeRegions(ctx, &p)
	n.takeGuards(ctx, &p)
	n.giveRegions(&p)
}

// settleRegion starts a region that this process owns, and stops a region that this process does not own. It
// gives up a region that this process owns but must not run now. A region that has run its last tick guards
// its outbox until all regions have run their last tick.
func (n *Node) settleRegion(ctx context.Context, r *region, p *picture) {
	draining := n.drains()
	// p.owners may be out of date. If p still named this process as the owner, start would take the outbox
	// from the new owner.
	o := n.view.owner(r.number)
	mine := o.value.Session == n.session
	now := time.Now()
	n.mu.Lock()
	runs, release := r.cancel != nil, draining || r.giving || now.Before(r.retry)
	done, ended := r.finished || p.ownerships[r.number] == finished, p.ended()
	if !mine {
		r.giving = false
	}
	switch {
	case !mine || r.finished && ended:
		r.stop()
	case draining:
		r.leave(n.patience())
	}
	switch p.ownerships[r.number] {
	case released, orphaned:
		if r.ownerless.IsZero() {
			r.ownerless = now
		}
	default:
		r.ownerless = time.Time{}
	}
	n.mu.Unlock()
	switch {
	case runs || !mine || done && (release || ended):
	case release:
		o.value.Session = ""
		n.change(ctx, ownerKey(r.number), o.value, o.revision)
	default:
		n.start(r)
	}
}

// drains reports whether this process is draining: it gives up its regions and takes no others.
func (n *Node) drains() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.draining || n.view.drained(n.process)
}

// patience returns how long a region that leaves this process may take to end its tick. The tick may wait for
// other regions.
func (n *Node) patience() time.Duration { return n.o.Lease / 4 }

// takeRegions takes regions that have no owner. It takes all regions that an operator has placed on this
// process, and it takes regions that are placed on no process until this process has its share. It begins
// with the regions whose last owner was this process, because this process has their journals. The order is
// otherwise random, so that two processes seldom try the same region.
func (n *Node) takeRegions(ctx context.Context, p *picture) {
	if holds, _ := n.lease.holds(); !holds {
		return
	}
	order := rand.Perm(len(n.regions))
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(n.foreign(p, a), n.foreign(p, b))
	})
	for _, i := range order {
		here := p.places[i] == n.process
		if !here && (p.places[i] != "" || p.counts[n.process] >= p.share()) {
			continue
		}
		if s := p.ownerships[i]; s != released && s != orphaned {
			continue
		}
		r, now := n.regions[i], time.Now()
		n.mu.Lock()
		ready := r.cancel == nil && !r.finished && !now.Before(r.retry)
		recent := now.Sub(r.ownerless) < n.o.Lease
		n.mu.Unlock()
		// For the duration of a lease after the region has lost its owner, only a process with the fewest
		// regions takes the region, unless an operator has placed it. Later any process does, because the
		// processes with the fewest regions may be unable to run it.
		if !ready || recent && !here && !p.fewest(n.process) {
			continue
		}
		if n.take(ctx, i, p) {
			n.start(r)
		}
		*p = n.look()
	}
}

// takeGuards takes regions that have run their last tick with this version of the program, and whose last
// owner was an earlier session of this process. This process has the journals of these regions, so it guards
// their outboxes.
func (n *Node) takeGuards(ctx context.Context, p *picture) {
	if holds, _ := n.lease.holds(); !holds || p.ended() {
		return
	}
	for i, o := range p.owners {
		if p.ownerships[i] == finished && o.value.Process == n.process && o.value.Session != n.session &&
			n.view.status(i).value.From == n.view.first() {
			n.take(ctx, i, p)
		}
	}
}

// foreign returns 0 if this process was the last owner of a region, and 1 otherwise.
func (n *Node) foreign(p *picture, region int) int {
	if p.owners[region].value.Process == n.process {
		return 0
	}
	return 1
}

// take tries to make this process the owner of a region, and reports success.
func (n *Node) take(ctx context.Context, region int, p *picture) bool {
	o := p.owners[region]
	next := owner{n.process, n.session, o.value.Failovers, o.value.Moves}
	switch {
	case p.ownerships[region] == orphaned:
		if !n.died(ctx, o.value) {
			return false
		}
		next.Failovers++
	case o.value.Process != "" && o.value.Process != n.process:
		next.Moves++
	}
	return n.change(ctx, ownerKey(region), next, o.revision)
}

// died reads the heartbeat of a silent owner from the server, and reports whether the owner has died.
func (n *Node) died(ctx context.Context, o owner) bool {
	if o.Process == n.process {
		return true // o is an earlier session of this process
	}
	key := processKey(o.Process)
	b, revision, err := n.get(ctx, key)
	if err != nil {
		return false
	}
	if revision == n.view.member(o.Process).revision {
		return true
	}
	if revision > 0 {
		n.told(storage.Entry{Key: key, Value: b, Revision: revision})
	}
	m := n.view.member(o.Process)
	return m.value.Left || m.value.Session != o.Session
}

// giveRegions gives regions to other processes, at most once per lease. It gives all regions that an operator
// has placed on another process. If this process has too many regions, it also gives regions that are placed
// on no process. All these regions move at the same time, so the world waits only once.
func (n *Node) giveRegions(p *picture) {
	now := time.Now()
	n.mu.Lock()
	defer n.mu.Unlock()
	if now.Sub(n.gave) < n.o.Lease {
		return
	}
	excess := 0
	if p.gives(n.process) {
		excess = max(1, p.counts[n.process]-p.share())
	}
	for _, i := range rand.Perm(len(n.regions)) {
		r, elsewhere := n.regions[i], p.places[i] != "" && p.places[i] != n.process
		if !elsewhere && (excess <= 0 || p.places[i] == n.process) {
			continue
		}
		if r.cancel != nil && !r.giving && !r.finished && p.owners[i].value.Session == n.session {
			r.giving = true
			r.leave(n.patience())
			n.gave = now
			excess--
		}
	}
}
