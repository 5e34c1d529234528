package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/cluster/internal/storage"
	"github.com/vastgo/vast/internal/disk"
)

// ErrClosed is the error of calls after Close.
var ErrClosed = errors.New("cluster: the node is closed")

// Node is this process in a cluster. Its methods are safe for concurrent use.
type Node struct {
	o       Options
	version version // of this program; its From is not used: see view.from
	process string  // name of this process
	session string  // random name for this Join
	lock    *disk.Lock
	server  *storage.Server // embedded server, or nil
	url     string          // URL of the embedded server
	storage *storage.Storage
	view    *view
	heart   heart // used by one goroutine at a time
	lease   lease
	times   *times
	pulse   *pulse
	silence atomic.Int64          // time after which the keys of a silent process are removed, in nanoseconds
	forgot  time.Time             // time of the last search for keys of silent processes
	away    atomic.Pointer[error] // why calls wait for the server now; nil if the server answers

	ctx     context.Context // ends with the node
	cancel  context.CancelCauseFunc
	loops   sync.WaitGroup
	runs    sync.WaitGroup // runs of regions
	closing sync.Once

	// A value in one of these channels begins the next round of a loop.
	beatNow    chan struct{}
	settleNow  chan struct{}
	publishNow chan struct{}
	watchNow   chan struct{}

	mu       sync.Mutex
	regions  []*region
	draining bool      // the node gives up its regions and takes no others
	failing  time.Time // heartbeats report Failing until this time
	gave     time.Time // last time at which this process gave a region to another process
}

// Join joins a cluster, or makes it if it does not exist. Join waits until the server answers. If this
// process replaces the program of the cluster, Join also waits for the upgrade. It returns an error if the
// options contradict the options of the cluster, or if the context ends. After Join has returned, the context
// has no effect on the node. Call Close at the end.
func Join(ctx context.Context, o Options) (*Node, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	n := &Node{o: o, version: version{From: 1, Build: o.Build, Schema: o.Schema}, draining: true,
		times: newTimes(), session: randomName()}
	n.makeSignals()
	n.pulse = newPulse(o.Regions, o.Lookahead)
	n.lease.renewed = make(chan struct{})
	n.silence.Store(int64(maxSilent))
	n.ctx, n.cancel = context.WithCancelCause(context.Background())
	for r := range o.Regions {
		n.regions = append(n.regions, &region{number: r})
	}
	if err := n.join(ctx); err != nil {
		return nil, fmt.Errorf("cluster: joining %s: %w", o.Name, errors.Join(err, n.shutDown(ErrClosed)))
	}
	return n, nil
}

func (n *Node) makeSignals() {
	for _, signal := range []*chan struct{}{&n.beatNow, &n.settleNow, &n.publishNow, &n.watchNow} {
		*signal = make(chan struct{}, 1)
	}
}

func (n *Node) join(ctx context.Context) (err error) {
	if err := disk.MakeFolder(n.o.Dir); err != nil {
		return err
	}
	if n.o.Dir, err = filepath.Abs(n.o.Dir); err != nil {
		return err
	}
	if n.lock, err = disk.LockFolder(n.o.Dir); err != nil {
		return err
	}
	if n.process, err = identity(n.o.Dir); err != nil {
		return err
	}
	if err := n.startServer(); err != nil {
		return err
	}
	n.storage, err = storage.Open(ctx, storage.Options{Name: n.o.Name, Server: n.server, URL: n.o.URL,
		Connect: n.o.Connect, Replicas: n.o.Replicas, Seen: n.pulse.told, Waiting: n.waiting,
		Report: n.report})
	if err != nil {
		return err
	}
	from, err := n.agree(ctx)
	if err != nil {
		return err
	}
	if err := n.storage.MakeLogs(ctx, n.o.Regions); err != nil {
		return err
	}
	n.view = newView(n.process, &n.o)
	if err := n.startHeart(ctx); err != nil {
		return err
	}
	n.loop(n.keepAlive, n.watch)
	if err := n.view.wait(ctx, n.ctx, func() bool { return n.view.ready }); err != nil {
		return err
	}
	if from == 0 {
		if from, err = n.upgrade(ctx); err != nil {
			return err
		}
	}
	n.employ(from)
	n.loop(n.balance, n.publish)
	return nil
}

func (n *Node) loop(loops ...func(context.Context)) {
	for _, loop := range loops {
		n.loops.Go(func() { loop(n.ctx) })
	}
}

// employ lets this process take regions, if Options.Observe is not set. from is the first tick of this
// program's version.
func (n *Node) employ(from uint64) {
	n.view.mu.Lock()
	n.view.from = from
	n.view.mu.Unlock()
	n.mu.Lock()
	n.draining = n.o.Observe
	n.mu.Unlock()
	poke(n.beatNow)
}

func (n *Node) startServer() error {
	if n.o.URL != "" {
		return nil
	}
	dir := filepath.Join(n.o.Dir, "nats")
	o, err := n.o.serverOptions(dir, n.process)
	if err != nil {
		return err
	}
	if err := disk.MakeFolder(dir); err != nil {
		return err
	}
	if n.server, err = storage.StartServer(o); err == nil && o.Port != 0 {
		n.url = n.server.URL()
	}
	return err
}

// waiting is storage.Options.Waiting.
func (n *Node) waiting(err error) {
	if err == nil {
		n.away.Store(nil)
		return
	}
	err = fmt.Errorf("waiting for the server: %w", err)
	n.away.Store(&err)
	n.report(err)
}

func (n *Node) report(err error) {
	if n.o.Report != nil {
		n.o.Report(err)
	}
}

// fail reports an error and ends the work of the node. The caller of Join must still call Close.
func (n *Node) fail(err error) {
	n.report(err)
	n.cancel(fmt.Errorf("cluster: %w", err))
}

// URL returns the address of the embedded server, which other processes set as their Options.URL. It is empty
// if other processes cannot reach the server, or if there is no embedded server.
func (n *Node) URL() string { return n.url }

// Process returns the name of this process, as in [Status].
func (n *Node) Process() string { return n.process }

// Wait waits until all regions of the cluster have run the tick Options.Until. It returns an error if the
// context ends, the node is closed, or the node cannot continue. If Options.Until is 0, Wait returns only
// with an error. After an upgrade of the cluster, Wait returns [ErrUpgraded] when all regions have run the
// last tick of this process's program.
func (n *Node) Wait(ctx context.Context) error {
	upgraded := false
	err := n.view.wait(ctx, n.ctx, func() bool {
		for r := range n.view.statuses {
			if !n.view.finished(r) {
				return false
			}
		}
		upgraded = n.view.lastTick() != n.o.Until
		return true
	})
	if err == nil && upgraded {
		return ErrUpgraded
	}
	return err
}

func (n *Node) check(region int) error {
	if region < 0 || region >= n.o.Regions {
		return fmt.Errorf("cluster: no region %d: the cluster has %d regions, counted from 0", region,
			n.o.Regions)
	}
	return nil
}

// Send appends an input for a region, and returns the number of the input. Exactly one tick of the region
// receives the input, unless the region has already run its last tick. If the server does not answer, Send
// tries again for up to 90 seconds. If the context ends or the 90 seconds are over, the input may have been
// appended, but not more than once.
func (n *Node) Send(ctx context.Context, region int, input []byte) (uint64, error) {
	if err := n.check(region); err != nil {
		return 0, err
	}
	if n.ctx.Err() != nil {
		return 0, context.Cause(n.ctx)
	}
	number, err := n.storage.Send(ctx, region, input)
	if err != nil {
		return 0, fmt.Errorf("cluster: %w", err)
	}
	return number, nil
}

// Drain gives all regions of this process to other processes, except regions that have run their last tick.
// It returns when other processes own the regions. If no other process can take regions, Drain returns an
// error and changes nothing. After a successful Drain, this process takes no regions: call Close.
func (n *Node) Drain(ctx context.Context) error {
	if n.look().others == 0 {
		return errors.New("cluster: no other process takes the regions: start one before this one drains")
	}
	if err := n.giveUp(ctx); err != nil {
		return err
	}
	return n.view.wait(ctx, n.ctx, func() bool {
		for r := range n.view.owners {
			o := &n.view.owners[r].value
			if !n.view.finished(r) && (o.Session == "" || o.Session == n.session) {
				return false
			}
		}
		return true
	})
}

// giveUp gives up all regions of this process, and waits until the keys of the cluster show this.
func (n *Node) giveUp(ctx context.Context) error {
	n.mu.Lock()
	n.draining = true
	for _, r := range n.regions {
		r.leave(n.patience())
	}
	n.mu.Unlock()
	n.view.wake() // for regions that wait for the decision on an upgrade (see upgrade.go)
	poke(n.beatNow)
	poke(n.settleNow)
	return n.view.wait(ctx, n.ctx, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		for i, r := range n.regions {
			if r.cancel != nil || r.finished && !n.view.finished(i) ||
				!r.finished && !n.view.finished(i) && n.view.owners[i].value.Session == n.session {
				return false
			}
		}
		return true
	})
}

// Close stops the regions of this process after their current tick, and gives the regions up, so that other
// processes take them over immediately. If the server does not answer, other processes take the regions over
// when the lease ends. Close waits for ticks that run, and stops the embedded server last. A second call of
// Close does nothing.
func (n *Node) Close() error {
	var err error
	n.closing.Do(func() {
		if n.ctx.Err() == nil {
			// After an error, other processes take the regions over when the lease ends.
			ctx, cancel := context.WithTimeout(n.ctx, n.o.Lease+time.Second)
			_ = n.giveUp(ctx)
			cancel()
			n.stop(ErrClosed)
			_ = n.beat(context.Background(), true)
		}
		err = n.shutDown(ErrClosed)
	})
	return err
}

func (n *Node) stop(why error) {
	n.cancel(why)
	n.loops.Wait()
	n.runs.Wait()
}

// shutDown ends all work of the node. It does not change the keys of the cluster.
func (n *Node) shutDown(why error) error {
	n.stop(why)
	if n.storage != nil {
		n.storage.Close()
	}
	if n.server != nil {
		n.server.Close()
	}
	if n.lock != nil {
		return n.lock.Close()
	}
	return nil
}

// poke makes a loop begin its next round.
func poke(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default: // an earlier value is still in the channel
	}
}
