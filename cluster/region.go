package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vastgo/vast/cluster/internal/journal"
	"github.com/vastgo/vast/cluster/internal/protocol"
	"github.com/vastgo/vast/internal/disk"
)

const (
	minPause = time.Second // pause after the first failed run of a region; later failures double the pause
	maxPause = 10 * time.Second
	// statusEvery is the time from one update of the status of a region to the next.
	statusEvery = time.Second
)

// region is what this process knows of its own runs of a region.
type region struct {
	number  int
	tick    atomic.Uint64                   // last tick that ran here
	machine atomic.Pointer[json.RawMessage] // last status of the machine, or nil
	leaving atomic.Bool                     // the run must end after its current tick, with a checkpoint
	left    atomic.Bool                     // the run has found leaving set, and begins no further tick

	// Node.mu guards the fields below.

	cancel    context.CancelFunc // ends the run; nil if the region does not run
	giving    bool               // this process gives the region to another process
	finished  bool               // the region has run its last tick here; its run may still guard the outbox
	pause     time.Duration      // last pause after a failed run
	retry     time.Time          // this process does not run the region before this time
	ownerless time.Time          // time since which the region has no owner; zero if it has an owner
	why       string             // error of the last failed run
	unwritten bool               // the status key does not hold the error of the field why yet
}

// stop cancels the run, if there is one. Callers hold Node.mu.
func (r *region) stop() {
	if r.cancel != nil {
		r.cancel()
	}
}

// leave makes the run, if there is one, end after its current tick with a checkpoint. The next owner
// continues from this checkpoint, so it repeats no ticks. The current tick may wait for another region. If
// the tick does not end within patience, the run ends without a checkpoint. A finished run ends at once.
// Callers hold Node.mu.
func (r *region) leave(patience time.Duration) {
	if r.cancel == nil || r.leaving.Swap(true) {
		return
	}
	cancel := r.cancel
	if r.finished {
		cancel()
		return
	}
	time.AfterFunc(patience, func() {
		if !r.left.Load() {
			cancel()
		}
	})
}

func (n *Node) start(r *region) {
	ctx, cancel := context.WithCancel(n.ctx)
	n.mu.Lock()
	r.cancel = cancel
	r.leaving.Store(false)
	r.left.Store(false)
	r.finished = false
	n.mu.Unlock()
	n.runs.Go(func() {
		began := time.Now()
		live, err := n.run(ctx, r)
		stopped := ctx.Err() != nil || r.left.Load()
		cancel()
		// If the outbox has lost its end, the region must run here again without a pause: the next run
		// appends the lost messages from the journal. Another process might not notice the loss.
		again := live && errors.Is(err, protocol.ErrLost)
		n.ended(r, err, stopped, again, time.Since(began))
	})
}

// finish records that a region has run its last tick, and returns true: the run must guard the outbox. If
// r.leaving is true, finish does not record the last tick, and returns false.
func (n *Node) finish(r *region) bool {
	last := n.view.last()
	n.mu.Lock()
	guards := !r.leaving.Load()
	if guards {
		r.finished = true
		r.tick.Store(max(r.tick.Load(), last)) // a run after the last tick runs no tick
	}
	n.mu.Unlock()
	n.view.wake()
	poke(n.publishNow)
	poke(n.settleNow)
	return guards
}

// ended records the end of a run. If stopped is true, this process has ended the run. If again is true, the
// region must run here again without a pause. The argument took is the duration of the run.
func (n *Node) ended(r *region, err error, stopped, again bool, took time.Duration) {
	last := n.view.last()
	n.mu.Lock()
	guarded := r.finished && errors.Is(err, protocol.ErrFenced) // the next owner guards the outbox
	n.mu.Unlock()
	if err != nil && !stopped && !guarded {
		n.report(fmt.Errorf("region %d has stopped: %w", r.number, err))
	}
	n.mu.Lock()
	r.cancel = nil
	now := time.Now()
	switch {
	case err == nil && !stopped:
		r.finished = true
		r.tick.Store(max(r.tick.Load(), last)) // a run after the last tick runs no tick
	case stopped || again:
	default:
		if took > maxPause {
			r.pause = 0
		}
		r.pause = min(max(2*r.pause, minPause), maxPause)
		r.retry = now.Add(r.pause)
		r.why, r.unwritten = err.Error(), true
		if !errors.Is(err, protocol.ErrFenced) {
			n.failing = now.Add(maxPause)
		}
	}
	n.mu.Unlock()
	n.view.wake()
	poke(n.publishNow)
	poke(n.settleNow)
}

// run runs a region until its last tick, an error, or the end of the context. After the last tick it guards
// the outbox (see protocol.Options.Ended). live reports whether the run has completed its takeover.
func (n *Node) run(ctx context.Context, r *region) (live bool, err error) {
	dir := filepath.Join(n.o.Dir, "journal", strconv.Itoa(r.number))
	if err := disk.MakeFolder(dir); err != nil {
		return false, err
	}
	folder, err := disk.OpenFolder(dir)
	if err != nil {
		return false, err
	}
	// The journal need not sync if the server syncs each message before it acknowledges the message. This
	// process knows the setting of its embedded server, but not the settings of other servers.
	alone := n.server != nil && len(n.o.Peers) == 0
	j, err := journal.Open(folder, !alone || n.o.SyncInterval > 0)
	if err != nil {
		return false, err
	}
	defer n.closed("the journal", r, j.Close)
	m, err := n.o.New(r.number)
	if err != nil {
		return false, fmt.Errorf("making the machine: %w", err)
	}
	closeMachine := sync.OnceFunc(func() { n.closed("the machine", r, m.Close) })
	defer closeMachine()
	r.tick.Store(0)
	p := pace{unpaced: n.o.Lookahead + 2}
	if n.o.Hz > 0 {
		p.period = time.Duration(float64(time.Second) / n.o.Hz)
	}
	o := protocol.Options{Region: r.number, Regions: n.o.Regions, Lookahead: n.o.Lookahead,
		Storage: n.storage, Journal: j, Versions: n.view.versions, From: n.view.first(),
		Machine: &machine{Machine: m, n: n, region: r, pace: &p},
		Held:    func() bool { return n.held(ctx, r.number) },
		Due: func(ctx context.Context, tick uint64) error {
			if err := n.begin(ctx, r, tick); err != nil {
				return err
			}
			return p.wait(ctx, tick, n.pulse)
		},
		Ended: func() bool {
			live = n.finish(r)
			closeMachine()
			return live
		},
		Every: n.o.Every, Until: n.o.Until, Report: n.report, Process: n.process, Number: randomNumber()}
	err = protocol.Run(ctx, o)
	return live || !p.due.IsZero(), err
}

// closed calls f to close a part of a run, and reports the error. The error has no effect on the run, because
// the run no longer needs this part.
func (n *Node) closed(what string, r *region, f func() error) {
	if err := f(); err != nil {
		n.report(fmt.Errorf("closing %s of region %d: %w", what, r.number, err))
	}
}

// machine is a Machine that also records the tick, the status and the times of its region.
type machine struct {
	Machine
	n      *Node
	region *region
	asked  time.Time // time of the last call of Status
	pace   *pace
}

var _ protocol.Machine = (*machine)(nil)

// Tick implements [protocol.Machine].
func (m *machine) Tick(tick uint64, received, inputs [][]byte) ([][]byte, protocol.Hash, error) {
	began := time.Now()
	sections, state, err := m.Machine.Tick(tick, received, inputs)
	if err != nil {
		return nil, protocol.Hash{}, err
	}
	if p := m.pace; !p.due.IsZero() { // the takeover, which runs old ticks again, has ended
		m.n.times.add(m.region.number, p.wanted, began, time.Now(), began.Sub(p.due),
			cmp.Or(p.period, time.Second/60))
	}
	m.n.pulse.ran(m.region.number, tick)
	if now := time.Now(); now.Sub(m.asked) >= statusEvery || tick == m.n.o.Until {
		m.ask(now)
	}
	m.region.tick.Store(tick)
	return sections, protocol.Hash(state), nil
}

// Load implements [protocol.Machine].
func (m *machine) Load(tick uint64, state []byte) error {
	if err := m.n.load(m.Machine, tick, state); err != nil {
		return err
	}
	m.ask(time.Now())
	return nil
}

// load loads the state after a tick into a machine. If the previous version has another Schema, and made the
// state or sections that arrive after this tick, load then calls the machine's method Upgraded. The method is
// optional.
func (n *Node) load(m Machine, tick uint64, state []byte) error {
	if err := m.Load(state); err != nil {
		return err
	}
	u, ok := m.(interface{ Upgraded(schema string) error })
	c, from := n.view.copyConstants(), n.view.first()
	before, upgraded := c.value.before(from)
	if !ok || !upgraded || before == n.o.Schema || tick+1 >= from+n.o.Lookahead {
		return nil
	}
	return u.Upgraded(before)
}

// ask calls the method Status of the machine, if there is one, and keeps the result.
func (m *machine) ask(now time.Time) {
	m.asked = now
	s, ok := m.Machine.(interface{ Status() []byte })
	if !ok {
		return
	}
	b := json.RawMessage(s.Status())
	if !json.Valid(b) {
		b = encode(string(b))
	}
	m.region.machine.Store(&b)
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
