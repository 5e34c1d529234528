package cluster

import (
	"context"
	"fmt"
	"time"
)

// Status is what is known of a region. It is at most about a second old while the owner of the region lives.
type Status struct {
	Region int
	// Process is the name of the owner, or of the last owner if the region has no owner.
	Process string
	Tick    uint64 // the last tick that ran
	// Failovers is the number of owners that died and were replaced. Moves is the number of owners that gave
	// the region up and were replaced.
	Failovers, Moves int
	// Machine is the JSON result of the machine's method Status, or nil.
	Machine []byte
	// Waiting says why the region does not run, or that the NATS server does not answer this process. It is
	// empty in all other cases, and after the last tick of the region.
	Waiting string
}

// Regions returns the Status of each region of the cluster. It does not wait.
func (n *Node) Regions() []Status {
	p := n.look()
	var away string
	if err := n.away.Load(); err != nil {
		away = (*err).Error()
	}
	regions := make([]Status, n.o.Regions)
	for r := range regions {
		o, s := p.owners[r].value, n.view.status(r).value
		regions[r] = Status{Region: r, Process: o.Process, Tick: s.Tick, Failovers: o.Failovers,
			Moves: o.Moves, Machine: s.Machine}
		switch p.ownerships[r] {
		case finished:
			continue
		case released:
			regions[r].Waiting = "no process runs the region"
		case orphaned:
			regions[r].Waiting = "the process that ran the region has died"
		case abandoned:
			regions[r].Waiting = fmt.Sprintf("no process of the old program runs the region up to tick %d",
				n.view.first()-1)
		}
		if s.Waiting != "" && s.Process == o.Process {
			regions[r].Waiting = s.Waiting
		}
		if away != "" {
			regions[r].Waiting = away
		}
	}
	return regions
}

// publish writes the status of the regions that run here to their keys, until the context ends.
func (n *Node) publish(ctx context.Context) {
	ticker := time.NewTicker(statusEvery)
	defer ticker.Stop()
	all := true
	for {
		for _, r := range n.regions {
			n.publishRegion(ctx, r, all)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			all = true
		case <-n.publishNow:
			all = false
		}
	}
}

// publishRegion writes the status of a region to its key. It writes the last tick or the failure of a run if
// the key does not show it yet. It writes the status of a running region only if write is true.
func (n *Node) publishRegion(ctx context.Context, r *region, write bool) {
	known := n.view.status(r.number)
	next := status{Process: n.process, From: n.view.first(), Tick: r.tick.Load()}
	done := n.view.done(r.number)
	n.mu.Lock()
	switch {
	case r.finished:
		next.Done = true
		write = !done
	case done: // the region runs only to guard its outbox
		write = false
	case r.unwritten:
		next.Waiting = r.why
		write = true
	case r.cancel == nil:
		write = false
	}
	n.mu.Unlock()
	if !write {
		return
	}
	if next.Tick == 0 { // no tick has run here yet
		next.Tick = known.value.Tick
	}
	next.Machine = known.value.Machine // for a machine that has not returned a status here yet
	if machine := r.machine.Load(); machine != nil {
		next.Machine = *machine
	}
	if n.change(ctx, statusKey(r.number), next, known.revision) && next.Waiting != "" {
		n.mu.Lock()
		r.unwritten = next.Waiting != r.why
		n.mu.Unlock()
	}
}
