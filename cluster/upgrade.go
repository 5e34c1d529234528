package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vastgo/vast/cluster/internal/protocol"
)

// An upgrade adds a version of the program to the cluster's constants (see type constants):
//
//  1. A process of the new version proposes the first tick of the version, some seconds ahead.
//  2. Each process accepts or rejects the proposal in its heartbeat. After it has accepted, its regions wait
//     before the proposed tick.
//  3. If all processes accept, the proposer adds the version to the constants.
//  4. The processes of the old version end each region with a checkpoint of the last tick of the old version.
//     The processes of the new version continue from these checkpoints.

// ErrUpgraded is the error of [Node.Wait] and [Node.Follow] when the program of this process has run its last
// tick before an upgrade of the cluster.
var ErrUpgraded = errors.New("cluster: another version of the program runs the following ticks")

// proposal is a version that a process wants to add.
type proposal struct {
	version
	Process string `json:"process"`
	Session string `json:"session"` // session of the process
}

// errLate is the error for a proposal that was removed, or whose first tick a region has already begun.
var errLate = errors.New("the proposal was removed, or its first tick has already begun")

// maxVersions is the largest number of versions in the constants. The oldest versions are removed.
const maxVersions = 8

// upgrade adds the version of this program to the cluster, and returns the first tick of the version.
func (n *Node) upgrade(ctx context.Context) (from uint64, err error) {
	for seconds := uint64(3); ; seconds *= 2 {
		tick, err := n.tickIn(ctx, seconds)
		if err == nil {
			from, err = n.propose(ctx, tick+1)
		}
		if err != nil || from > 0 {
			return from, err
		}
		err = n.decide(ctx)
		if err != nil && !errors.Is(err, errLate) {
			return 0, fmt.Errorf("upgrading the cluster after tick %d: %w", tick, err)
		}
		// The acknowledgement of a change may be lost, so only the constants say whether the version was
		// added.
		if from, err := n.agree(ctx); err != nil || from > 0 {
			return from, err
		}
	}
}

// decide waits for the answers of the other processes to the proposal of this process, and then removes the
// proposal. If all processes have accepted, decide also adds the version to the constants.
func (n *Node) decide(ctx context.Context) error {
	c := n.view.copyConstants()
	if c.value.Next == nil || c.value.Next.Session != n.session {
		return errLate
	}
	err := n.accepted(ctx, c.revision)
	if err == nil {
		versions := append(slices.Clone(c.value.Versions), c.value.Next.version)
		c.value.Versions = versions[max(0, len(versions)-maxVersions):]
	}
	c.value.Next = nil
	n.change(context.WithoutCancel(ctx), keyCluster, c.value, c.revision)
	return err
}

// tickIn returns an estimate of the tick that the regions run some seconds from now. If all regions have
// ended, it returns their last tick.
func (n *Node) tickIn(ctx context.Context, seconds uint64) (uint64, error) {
	before, _ := n.view.furthest()
	sleep(ctx, statusEvery)
	now, done := n.view.furthest()
	if done {
		return now, ctx.Err()
	}
	return now + n.o.Lookahead + (now-before+1)*seconds, ctx.Err()
}

// furthest returns the highest tick of all regions. done is whether all regions have ended after this tick.
func (v *view) furthest() (tick uint64, done bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range v.statuses {
		tick = max(tick, s.value.Tick)
	}
	done = tick > 0 && !slices.ContainsFunc(v.statuses, func(s known[status]) bool {
		return !s.value.Done || s.value.Tick != tick
	})
	return tick, done
}

// propose proposes a first tick for the version of this program, and returns 0. The proposed tick is
// earliestTick or later. If another process has already added the version, propose returns the first tick of
// the version, and proposes nothing.
func (n *Node) propose(ctx context.Context, earliestTick uint64) (from uint64, err error) {
	for {
		c, revision, err := n.readConstants(ctx)
		if err != nil {
			return 0, err
		}
		if from, err := n.versionIn(&c); err != nil || from > 0 {
			return from, err
		}
		if c.Next != nil && n.view.alive(c.Next.Process, c.Next.Session) {
			sleep(ctx, n.o.Lease/3) // at most one process proposes at a time
		} else {
			c.Next = &proposal{version: n.version, Process: n.process, Session: n.session}
			c.Next.From = max(earliestTick, c.Versions[len(c.Versions)-1].From+1)
			if n.change(ctx, keyCluster, c, revision) {
				return 0, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return 0, context.Cause(ctx)
		}
	}
}

// accepted waits until all other living processes accept the proposal in the constants, and until each
// unfinished region has a living owner. It does not wait for the answers of processes that are still joining.
// It returns errLate if unready reports that the proposal is late.
func (n *Node) accepted(ctx context.Context, revision uint64) error {
	ctx, cancel := context.WithTimeoutCause(ctx, 10*n.o.Lease+5*time.Second, errors.New("no answer"))
	defer cancel()
	var missing []string
	late := false
	err := n.view.wait(ctx, n.ctx, func() bool {
		missing, late = n.view.unready(revision, time.Now())
		return late || len(missing) == 0
	})
	switch {
	case late:
		return errLate
	case err != nil:
		return fmt.Errorf("waiting for %s: %w; the processes of the old program must run until the "+
			"new program replaces them", strings.Join(missing, ", "), err)
	}
	return nil
}

// unready names the processes that have not answered the proposal, and the regions without a living owner.
// late is true if a process rejects the proposal, if a region has run the proposed tick, or if the constants
// do not have the given revision. Callers hold mu.
func (v *view) unready(revision uint64, now time.Time) (missing []string, late bool) {
	if v.constants.revision != revision || v.constants.value.Next == nil {
		return nil, true
	}
	alive := make(map[string]bool) // by session
	for name, m := range v.processes {
		if name == v.process || !v.lives(m, now) {
			continue
		}
		alive[m.value.Session] = true
		if m.value.From > 0 && m.value.Proposal != revision {
			missing = append(missing, fmt.Sprintf("process %s on %s", name, m.value.Host))
		}
		late = late || m.value.Proposal == revision && m.value.Late
	}
	for r, o := range v.owners {
		late = late || v.statuses[r].value.Tick >= v.constants.value.Next.From
		if !alive[o.value.Session] && !v.statuses[r].value.Done {
			missing = append(missing, fmt.Sprintf("an owner of region %d", r))
		}
	}
	return missing, late
}

// begin is called before a region runs a tick. While a proposal leaves open which version runs the tick,
// begin waits. It returns protocol.ErrEnd if a later version runs the tick, or if the region leaves this
// process.
func (n *Node) begin(ctx context.Context, r *region, tick uint64) error {
	ended := false
	err := n.view.wait(ctx, n.ctx, func() bool {
		c := &n.view.constants.value
		last := c.last(n.view.from)
		ended = last > 0 && tick > last
		if !ended && r.leaving.Load() {
			r.left.Store(true)
			ended = true
		}
		if !ended && c.Next != nil && tick >= c.Next.From {
			n.view.begun[r.number] = tick - 1
			return false
		}
		n.view.begun[r.number] = tick
		return true
	})
	if err == nil && ended {
		return protocol.ErrEnd
	}
	return err
}

// cancelProposal removes the proposal of a process that has died.
func (n *Node) cancelProposal(ctx context.Context) {
	c := n.view.copyConstants()
	if next := c.value.Next; next != nil && !n.view.alive(next.Process, next.Session) {
		c.value.Next = nil
		n.change(ctx, keyCluster, c.value, c.revision)
	}
}
