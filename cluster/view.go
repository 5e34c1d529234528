package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/cluster/internal/storage"
)

// These are the keys of a cluster, besides those of package storage. All keys except keyCluster are prefixes:
// a dot and the name of a process or the number of a region follow.
const (
	keyCluster = "cluster"
	keyProcess = "process"
	keyOwner   = "owner"
	keyStatus  = "status"
	keyPlace   = "place" // set by operators
	keyDrain   = "drain" // set by operators
)

func processKey(name string) string  { return keyProcess + "." + name }
func ownerKey(region int) string     { return keyOwner + "." + strconv.Itoa(region) }
func placeKey(region int) string     { return keyPlace + "." + strconv.Itoa(region) }
func drainKey(process string) string { return keyDrain + "." + process }
func statusKey(region int) string    { return keyStatus + "." + strconv.Itoa(region) }

// heartbeat is the sign of life of a process.
type heartbeat struct {
	Session string `json:"session"` // random name for each Join
	Lease   int64  `json:"lease"`   // in milliseconds
	// From is the first tick of the program's version. It is 0 while the process is still joining.
	From uint64 `json:"from"`
	// Proposal is the revision of the constants that have the proposal, or 0 if there is no proposal. Late
	// rejects the proposal, because the process has already begun the proposed tick. If Late is false, the
	// process accepts the proposal.
	Proposal uint64 `json:"proposal,omitempty"`
	Late     bool   `json:"late,omitempty"`
	// Draining is set if the process takes no regions. Failing is set if the process could not run a region
	// a short time ago.
	Draining bool `json:"draining,omitempty"`
	Failing  bool `json:"failing,omitempty"`
	Left     bool `json:"left,omitempty"` // the process has called Close

	// Host, Program and System are for operators.
	Host    string `json:"host"`
	Program string `json:"program"`
	System  string `json:"system"`
}

// owner says which process runs a region.
type owner struct {
	Process string `json:"process"` // the owner, or the last owner
	// Session is the session of the process. It is empty if the process has given the region up.
	Session   string `json:"session,omitempty"`
	Failovers int    `json:"failovers"` // number of owners that died and were replaced
	Moves     int    `json:"moves"`     // number of owners that gave the region up and were replaced
}

// status is what the owner of a region publishes about the region.
type status struct {
	Process string          `json:"process"`
	From    uint64          `json:"from"` // the first tick of the version of the program that runs the region
	Tick    uint64          `json:"tick"`
	Done    bool            `json:"done,omitempty"` // a checkpoint has the state after the owner's last tick
	Waiting string          `json:"waiting,omitempty"`
	Machine json.RawMessage `json:"machine,omitempty"`
}

// place is the process on which an operator has placed a region. It is empty if any process may run the
// region.
type place struct {
	Process string `json:"process"`
}

// drained says whether an operator drains a process, so that the process takes no regions.
type drained struct {
	Drain bool `json:"drain"`
}

// known is the value and the revision of a key. The revision is 0 before the watch has delivered the key.
type known[T any] struct {
	value    T
	revision uint64
}

// member is the newest heartbeat of a process.
type member struct {
	known[heartbeat]
	seen time.Time // when the last heartbeat arrived here, by the clock of this process
	sent time.Time // when the server got the last heartbeat, by the server's clock; zero if unknown
}

// view is what this process knows of the keys.
type view struct {
	process string // the name of this process
	lease   time.Duration
	until   uint64 // Options.Until
	codes   atomic.Pointer[[]protocol.Version]

	mu        sync.Mutex
	from      uint64 // the first tick of this program's version; 0 while the process is joining
	constants known[constants]
	begun     []uint64 // the last tick that this process has begun, by region
	processes map[string]*member
	owners    []known[owner]
	statuses  []known[status]
	places    []known[place]
	drains    map[string]known[drained] // by process
	ready     bool                      // a watch has delivered all keys
	own       time.Time                 // when the watch last delivered a heartbeat of this process
	// interrupted is when the watch was last late, or had just delivered all keys. For one lease after this
	// time, a missing heartbeat does not mean that a process has died.
	interrupted time.Time
	changed     chan struct{} // closed at the next change
}

func newView(process string, o *Options) *view {
	return &view{process: process, lease: o.Lease, until: o.Until, processes: make(map[string]*member),
		begun: make([]uint64, o.Regions), owners: make([]known[owner], o.Regions),
		statuses: make([]known[status], o.Regions), places: make([]known[place], o.Regions),
		drains: make(map[string]known[drained]), changed: make(chan struct{})}
}

func (v *view) hasChanged() {
	close(v.changed)
	v.changed = make(chan struct{})
}

// wake makes all calls of wait check their conditions again.
func (v *view) wake() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.hasChanged()
}

// wait waits until holds returns true, or until one of the contexts ends. wait calls holds with mu held.
func (v *view) wait(ctx, node context.Context, holds func() bool) error {
	for {
		v.mu.Lock()
		done, changed := holds(), v.changed
		v.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-node.Done():
			return context.Cause(node)
		}
	}
}

// begin prepares the view for a new watch, which delivers all keys again. The new revisions may be lower than
// the known ones, because a server can lose revisions in a power failure.
func (v *view) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.constants.revision = 0
	for _, m := range v.processes {
		m.revision = 0
	}
	for r := range v.owners {
		v.owners[r].revision, v.statuses[r].revision, v.places[r].revision = 0, 0, 0
	}
	for name, d := range v.drains {
		d.revision = 0
		v.drains[name] = d
	}
}

// complete is called when the watch has delivered all keys.
func (v *view) complete(now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	deleted := func(_ string, d known[drained]) bool { return d.revision == 0 }
	maps.DeleteFunc(v.drains, deleted)
	v.ready, v.interrupted = true, now
	v.hasChanged()
}

// tell updates the view with a key. It returns an error if the value is damaged or the region does not exist.
func (v *view) tell(e storage.Entry, now time.Time) error {
	kind, name, _ := strings.Cut(e.Key, ".")
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.hasChanged()
	switch kind {
	case keyCluster:
		return v.tellConstants(e)
	case keyProcess:
		return v.tellProcess(name, e, now)
	case keyDrain:
		k := v.drains[name]
		err := tellOf(&k, e)
		v.drains[name] = k
		return err
	}
	region, err := strconv.Atoi(name)
	if err != nil || region < 0 || region >= len(v.owners) || name != strconv.Itoa(region) {
		return fmt.Errorf("the key %s of the cluster is ignored: there is no such region", e.Key)
	}
	switch kind {
	case keyOwner:
		return tellOf(&v.owners[region], e)
	case keyStatus:
		return tellOf(&v.statuses[region], e)
	case keyPlace:
		return tellOf(&v.places[region], e)
	}
	return nil
}

// tellOf replaces the known value of a key if the entry is newer. A damaged value becomes a zero value with
// the revision of the entry, so that this process can replace the key.
func tellOf[T any](k *known[T], e storage.Entry) error {
	if e.Revision <= k.revision {
		return nil
	}
	var value T
	err := json.Unmarshal(e.Value, &value)
	if err != nil {
		err = fmt.Errorf("the key %s of the cluster is damaged, and ignored: %w", e.Key, err)
		value = *new(T)
	}
	*k = known[T]{value, e.Revision}
	return err
}

func (v *view) tellConstants(e storage.Entry) error {
	before := v.constants.value
	err := tellOf(&v.constants, e)
	if err != nil {
		v.constants.value = before // keep the last valid constants
		return err
	}
	codes := v.constants.value.codes()
	v.codes.Store(&codes)
	return nil
}

func (v *view) tellProcess(name string, e storage.Entry, now time.Time) error {
	m := v.processes[name]
	if m == nil {
		m = &member{}
		v.processes[name] = m
	}
	if e.Revision <= m.revision {
		return nil
	}
	before := m.value
	err := tellOf(&m.known, e)
	if err != nil {
		m.value = before // a damaged heartbeat also shows that the process lives
	}
	m.seen, m.sent = now, e.Time
	if name == v.process {
		v.late(now)
		v.own = now
	}
	return err
}

// late notes an interruption if the watch has delivered no heartbeat of this process for two thirds of a
// lease. The watch may then also lack heartbeats of other processes. A process sends three heartbeats in a
// lease. Callers hold mu.
func (v *view) late(now time.Time) {
	if now.Sub(v.own) > v.lease*2/3 {
		v.interrupted = now
	}
}

func (v *view) heard() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.own
}

func (v *view) member(name string) member {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m := v.processes[name]; m != nil {
		return *m
	}
	return member{}
}

func (v *view) owner(region int) known[owner] {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.owners[region]
}

func (v *view) copyConstants() known[constants] {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.constants
}

func (v *view) status(region int) known[status] {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.statuses[region]
}

// lives reports whether a process seems to live. Callers hold mu.
func (v *view) lives(m *member, now time.Time) bool {
	since := m.seen
	if v.interrupted.After(since) {
		since = v.interrupted
	}
	return !m.value.Left && now.Sub(since) <= v.leaseOf(m)
}

// leaseOf returns the lease of a process, or the lease of this process in place of a wrong value.
func (v *view) leaseOf(m *member) time.Duration {
	lease := time.Duration(m.value.Lease) * time.Millisecond
	if lease <= 0 || lease > time.Hour {
		return v.lease
	}
	return lease
}

func (v *view) alive(process, session string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	m := v.processes[process]
	return m != nil && m.value.Session == session && v.lives(m, time.Now())
}

func (v *view) versions() []protocol.Version { return *v.codes.Load() }

func (v *view) drained(process string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.drains[process].value.Drain
}

func (v *view) first() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.from
}

// keepsTo returns the fields From, Proposal and Late of a heartbeat of this process.
func (v *view) keepsTo() (from, proposal uint64, late bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := &v.constants
	if c.value.Next == nil {
		return v.from, 0, false
	}
	return v.from, c.revision, slices.Max(v.begun) >= c.value.Next.From
}

// lastTick returns the last tick that this program runs, or 0 if there is no last tick. Callers hold mu.
func (v *view) lastTick() uint64 {
	last := v.constants.value.last(v.from)
	if last == 0 || v.until > 0 && v.until < last {
		return v.until
	}
	return last
}

// last returns the result of lastTick, for callers that do not hold mu.
func (v *view) last() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.lastTick()
}

// done returns the result of finished, for callers that do not hold mu.
func (v *view) done(region int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.finished(region)
}

// finished reports whether a region has run the last tick of this program. Callers hold mu.
func (v *view) finished(region int) bool {
	s, last := &v.statuses[region].value, v.lastTick()
	return last > 0 && s.Done && s.Tick >= last || s.From > v.from
}

// earlier reports whether an earlier version of the program must still run ticks of a region. Callers hold
// mu.
func (v *view) earlier(region int) bool {
	s := &v.statuses[region]
	return s.revision > 0 && s.value.From < v.from && !(s.value.Done && s.value.Tick+1 >= v.from)
}

// handedOver reports whether the owner of a region runs an earlier version of the program, and has run the
// last tick of that version. Callers hold mu.
func (v *view) handedOver(region int) bool {
	s, by := &v.statuses[region], v.processes[v.owners[region].value.Process]
	return s.revision > 0 && s.value.From < v.from && s.value.Done && (by == nil || by.value.From < v.from)
}

// ownership says whether a region needs an owner.
type ownership int

const (
	owned     ownership = iota
	released            // there was no owner, or the owner has given the region up, or handedOver is true
	orphaned            // the owner has died
	finished            // the region has run its last tick, or the last tick of this version of the program
	earlier             // a process with an earlier version runs the region
	abandoned           // a process with an earlier version must run the region, but no such process owns it
)

// picture is a copy of a view at one moment.
type picture struct {
	owners     []known[owner]
	ownerships []ownership
	unfinished int // the number of regions that a process of this version must run now
	// counts has the number of unfinished regions of each process that lives and takes regions of this
	// version of the program. It always has an entry for this process, even if this process takes no regions.
	counts map[string]int
	places []string // process on which each region is placed; empty if the process has no entry in counts
	others int      // the number of other processes of this version that live and are not draining
}

// ended reports whether all regions have run their last tick, or the last tick of this version of the
// program.
func (p *picture) ended() bool {
	return !slices.ContainsFunc(p.ownerships, func(o ownership) bool { return o != finished })
}

// look returns the picture at the time now. session is the session of this process.
func (v *view) look(session string, now time.Time) picture {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.late(now)
	p := picture{owners: slices.Clone(v.owners), ownerships: make([]ownership, len(v.owners)),
		places: make([]string, len(v.owners)),
		counts: map[string]int{v.process: 0}}
	alive := make(map[string]string) // the sessions of living processes, by process
	for name, m := range v.processes {
		if name == v.process || !v.lives(m, now) {
			continue
		}
		alive[name] = m.value.Session
		if m.value.Draining || m.value.From != v.from {
			continue
		}
		p.others++
		if !m.value.Failing {
			p.counts[name] = 0
		}
	}
	alive[v.process] = session
	if own := v.processes[v.process]; own != nil {
		own.value.From = v.from // the next heartbeat has this value
	}
	for r, o := range p.owners {
		if _, takes := p.counts[v.places[r].value.Process]; takes {
			p.places[r] = v.places[r].value.Process
		}
		dead := o.value.Session == "" || alive[o.value.Process] != o.value.Session
		switch {
		case v.finished(r):
			p.ownerships[r] = finished
			continue
		case v.earlier(r) && dead:
			p.ownerships[r] = abandoned
			continue
		case v.earlier(r):
			p.ownerships[r] = earlier
			continue
		}
		p.unfinished++
		switch {
		case o.value.Session == "" || v.handedOver(r):
			p.ownerships[r] = released
		case dead:
			p.ownerships[r] = orphaned
		default:
			if n, takes := p.counts[o.value.Process]; takes {
				p.counts[o.value.Process] = n + 1
			}
		}
	}
	return p
}
