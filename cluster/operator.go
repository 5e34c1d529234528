package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/vastgo/vast/cluster/internal/storage"
)

// Operator shows the processes and regions of a cluster, moves regions, and drains processes. It is not a
// process of the cluster. Its methods are safe for concurrent use.
type Operator struct{ n *Node }

// Operate connects to the cluster with the given name. url has the URLs of the NATS servers, separated by
// commas. connect has options of the connection, such as credentials and TLS. Call Close at the end.
func Operate(ctx context.Context, url, name string, connect ...nats.Option) (*Operator, error) {
	n := &Node{o: Options{Name: name, URL: url, Lease: time.Second}, session: randomName()}
	n.makeSignals()
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	if err := n.operate(ctx, connect); err != nil {
		return nil, fmt.Errorf("cluster: connecting to %s on %s: %w", name, url,
			errors.Join(err, n.shutDown(ErrClosed)))
	}
	return &Operator{n}, nil
}

func (n *Node) operate(ctx context.Context, connect []nats.Option) (err error) {
	n.storage, err = storage.Open(ctx, storage.Options{Name: n.o.Name, URL: n.o.URL, Connect: connect,
		Existing: true, Waiting: n.waiting})
	if err != nil {
		return err
	}
	c, revision, err := n.readConstants(ctx)
	switch {
	case err != nil:
		return err
	case revision == 0:
		return errors.New("no process has joined the cluster yet")
	case len(c.Versions) == 0 || c.Format != format:
		return fmt.Errorf("the cluster has the format %d, and this program knows the format %d",
			c.Format, format)
	}
	n.o.Regions, n.o.Lookahead = c.Regions, c.Lookahead
	n.view = newView("", &n.o)
	n.view.from = c.Versions[len(c.Versions)-1].From
	n.loop(n.watch)
	return n.view.wait(ctx, n.ctx, func() bool { return n.view.ready })
}

// Close ends the connection.
func (o *Operator) Close() error { return o.n.shutDown(ErrClosed) }

// Regions returns the Status of each region of the cluster. It does not wait.
func (o *Operator) Regions() []Status { return o.n.Regions() }

// Process describes a process that has joined the cluster.
type Process struct {
	Name    string
	Host    string
	Program string // name of the executable file
	System  string // operating system and architecture, such as linux/amd64
	Build   string // Options.Build or its default; empty while the process joins
	Alive   bool   // the process has sent a heartbeat within its lease, and has not left
	// Draining says that the process takes no regions. Failing says that the process could not run a region
	// a short time ago.
	Draining, Failing bool
	Regions           int // number of regions that the process owns
}

// Processes returns the processes that are alive or own regions, in the order of their names.
func (o *Operator) Processes() []Process {
	v := o.n.view
	v.mu.Lock()
	defer v.mu.Unlock()
	builds := make(map[uint64]string)
	for _, version := range v.constants.value.Versions {
		builds[version.From] = version.Build
	}
	var all []Process
	for name, m := range v.processes {
		h := &m.value
		p := Process{Name: name, Host: h.Host, Program: h.Program, System: h.System, Build: builds[h.From],
			Alive: v.lives(m, time.Now()), Draining: h.Draining, Failing: h.Failing,
			Regions: v.owned(name, h.Session)}
		if p.Alive || p.Regions > 0 {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b Process) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// owned returns the number of regions that a session of a process owns. Callers hold mu.
func (v *view) owned(process, session string) (n int) {
	for _, o := range v.owners {
		if o.value.Process == process && o.value.Session == session {
			n++
		}
	}
	return n
}

// lastRan reports whether a process is the owner or the last owner of a region that has ticks to run. Callers
// hold mu.
func (v *view) lastRan(process string) bool {
	for r, o := range v.owners {
		if o.value.Process == process && !v.statuses[r].value.Done {
			return true
		}
	}
	return false
}

// Move moves a region to a process, and returns when the process owns the region. The process keeps the
// region, even if it owns more regions than other processes. While the process is dead or draining, another
// process owns the region; afterwards the region returns. A region that has run its last tick stays with its
// process, and Move returns an error. If process is empty, any process may own the region again, and Move
// does not wait for a new owner.
func (o *Operator) Move(ctx context.Context, region int, process string) error {
	n := o.n
	if err := n.check(region); err != nil {
		return err
	}
	if process != "" {
		if err := o.takes(process); err != nil {
			return err
		}
	}
	if err := o.set(ctx, placeKey(region), place{process}, func(v *view) uint64 {
		return v.places[region].revision
	}); err != nil || process == "" {
		return err
	}
	moved := false
	err := n.view.wait(ctx, n.ctx, func() bool {
		by := n.view.owners[region].value
		m := n.view.processes[by.Process]
		moved = by.Process == process && m != nil && m.value.Session == by.Session
		return moved || n.view.statuses[region].value.Done
	})
	if err == nil && !moved {
		err = errors.New("the region has run its last tick, and stays with its process")
	}
	if err != nil {
		return fmt.Errorf("cluster: moving region %d to %s: %w", region, process, err)
	}
	return nil
}

// takes returns an error if a process takes no regions.
func (o *Operator) takes(process string) error {
	v := o.n.view
	v.mu.Lock()
	defer v.mu.Unlock()
	switch m := v.processes[process]; {
	case m == nil || !v.lives(m, time.Now()):
		return fmt.Errorf("cluster: no process with the name %q is alive", process)
	case m.value.Draining || v.drains[process].value.Drain:
		return fmt.Errorf("cluster: the process %q takes no regions: it is draining or still joining",
			process)
	case m.value.From != v.from:
		return fmt.Errorf("cluster: the process %q has another version of the program", process)
	}
	return nil
}

// Drain makes a process give its regions to other processes and take no more, even after the process starts
// again. Drain returns when other processes own the regions. Regions that have run their last tick stay. If
// no other process takes regions, Drain returns an error and changes nothing.
func (o *Operator) Drain(ctx context.Context, process string) error {
	n := o.n
	others := 0
	for _, p := range o.Processes() {
		if p.Name != process && o.takes(p.Name) == nil {
			others++
		}
	}
	if others == 0 {
		return errors.New("cluster: no other process takes the regions: start one before this one drains")
	}
	if err := o.drain(ctx, process, true); err != nil {
		return err
	}
	err := n.view.wait(ctx, n.ctx, func() bool {
		m := n.view.processes[process]
		return m == nil || m.value.Draining && !n.view.lastRan(process)
	})
	if err != nil {
		return fmt.Errorf("cluster: draining %s: %w", process, err)
	}
	return nil
}

// Resume ends a drain: the process takes regions again.
func (o *Operator) Resume(ctx context.Context, process string) error {
	return o.drain(ctx, process, false)
}

func (o *Operator) drain(ctx context.Context, process string, drain bool) error {
	if o.n.view.member(process).revision == 0 {
		return fmt.Errorf("cluster: no process %q has joined", process)
	}
	return o.set(ctx, drainKey(process), drained{drain}, func(v *view) uint64 {
		return v.drains[process].revision
	})
}

// set sets a key, even if other processes change the key at the same time. revision returns the revision of
// the key.
func (o *Operator) set(ctx context.Context, key string, value any, revision func(v *view) uint64) error {
	n := o.n
	for {
		n.view.mu.Lock()
		known := revision(n.view)
		n.view.mu.Unlock()
		if n.change(ctx, key, value, known) {
			return nil
		}
		if err := cmp.Or(context.Cause(ctx), context.Cause(n.ctx)); err != nil {
			return fmt.Errorf("cluster: setting the key %s: %w", key, err)
		}
		sleep(ctx, 20*time.Millisecond)
	}
}
