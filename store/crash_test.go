package store

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/vm"
)

// crash is an island that a store keeps on a simulated disk. The programs that open the store die one after
// the other. The island and its history are in crash_model_test.go.
type crash struct {
	r       *rand.Rand
	disk    *sim.Disk
	mistake sim.Mistake
	fresh   uint64 // hash of a filled island
	// past are the histories that a recovery may restore. past[0] is the present history. When the store
	// reports a part of past[0] as durable, poll or allDurable drops the other histories.
	past   []*history
	build  string
	plain  bool // whether the programs pass nil functions to Recover
	mixed  bool // whether programs of two builds have run
	drop   bool // whether the next program must set DropTail
	inputs uint64
	twin   *island // an island without a store, which repeats the events of past[0]
	ran    []event // events that twin has repeated
	counts *counts
}

// counts says how often each situation occurred in a test. A long run of TestCrashes fails if a situation
// occurs too rarely.
type counts struct {
	lives, lost, replayed, waiting, dropped, changes, failed, submitted, damaged, refused, deltas int
	merges, tiers                                                                                 int
}

// life is the run of a program that has the store open.
type life struct {
	*island
	st      *Store
	got     [][]byte // inputs that apply has received in recovery or in the last Tick or submit
	ticked  bool     // whether the last call of Tick made a tick
	mu      sync.Mutex
	written []uint64 // ticks of the checkpoints that became durable after the last poll
	merges  int      // number of merges of all files of a chain after the last poll
	tiers   int      // number of merges of the newest files of a chain after the last poll
}

// wrong is the error of a store that has broken a promise.
type wrong struct{ error }

func wrongf(format string, args ...any) error { return wrong{fmt.Errorf(format, args...)} }

func newCrash(seed uint64, m sim.Mistake, c *counts) (*crash, error) {
	n := newIsland()
	n.fill()
	return &crash{r: rand.New(rand.NewPCG(seed, 9)), disk: sim.New(seed), mistake: m, fresh: n.hash(),
		past: []*history{{}}, build: "a", plain: seed%10 == 9, counts: c}, n.w.Close()
}

func (l *life) apply(input []byte) {
	l.got = append(l.got, bytes.Clone(input))
	l.island.apply(input)
}

func (l *life) tick() error {
	l.ticked = true
	return l.island.tick()
}

// end closes the store and the world. The store may return an error, because the disk is stopped.
func (l *life) end() error {
	if l.st != nil {
		_ = l.st.Close()
	}
	return l.w.Close()
}

func (c *crash) recover(l *life) error {
	if c.plain {
		return l.st.Recover(nil, nil)
	}
	return l.st.Recover(l.apply, l.tick)
}

// open opens the store and recovers the island. The error is of type wrong, or an error of the store.
func (c *crash) open(f disk.Folder, o Options) (l *life, err error) {
	l = &life{island: newIsland()}
	o.Notify = func(k Checkpoint) {
		if k.Err == nil {
			l.mu.Lock()
			l.written = append(l.written, k.Tick)
			if kept := l.st.stage.m.Kept; kept.Base > 0 {
				switch last := l.st.kept[len(l.st.kept)-1]; last.base {
				case 0:
					l.merges++
				case kept.Base:
				default:
					l.tiers++
				}
			}
			l.mu.Unlock()
		}
	}
	if l.st, err = open(f, l.w, o); err != nil {
		return l, err
	}
	l.st.share, l.st.maxDeltas = []float64{1e9, 100, 40}[c.r.IntN(3)], c.r.IntN(6)
	l.st.retry = 0
	for _, one := range l.st.kept {
		if one.base != 0 {
			c.counts.deltas++
		}
	}
	if l.st.New() {
		if slices.ContainsFunc(c.past, func(h *history) bool { return h.exists }) {
			return l, wrongf("the store is new, although its folder held something durable")
		}
		l.fill()
		c.past = []*history{{}}
		return l, c.recover(l)
	}
	base, hash := l.st.LastTick(), l.hash()
	if o.DropTail {
		for _, h := range c.past {
			if n, ok := h.find(base, hash, c.fresh); ok {
				first := h.copy()
				first.events, first.inputs = first.events[:n], first.inputs[:first.applied(n)]
				first.floor, first.kept = n, len(first.inputs) // the checkpoint is durable
				c.past = slices.Insert(c.past, 0, first)
				c.counts.dropped++
				break
			}
		}
	}
	if err := c.recover(l); err != nil {
		return l, err
	}
	var why []error
	for i, h := range c.past {
		next, err := c.recovered(l, h, base, hash)
		if err != nil {
			why = append(why, err)
			continue
		}
		c.past = slices.Delete(c.past, i, i+1)
		c.past = slices.Insert(c.past, 0, next)
		c.counts.lost += len(h.events) - len(next.events)
		return l, nil
	}
	return l, wrong{errors.Join(why...)}
}

// recovered compares a recovered island with a history, and returns the recovered part of the history. base
// and hash are the tick and the hash of the island in the checkpoint.
func (c *crash) recovered(l *life, h *history, base, hash uint64) (*history, error) {
	from, ok := h.find(base, hash, c.fresh)
	if !ok {
		return nil, fmt.Errorf("the island in the checkpoint of tick %d is not in the history", base)
	}
	to, ok := h.find(l.st.LastTick(), l.hash(), c.fresh)
	if !ok {
		return nil, fmt.Errorf("the island of tick %d after recovery is not in the history of %d events, "+
			"of which %d are durable", l.st.LastTick(), len(h.events), h.floor)
	}
	if to < h.floor {
		return nil, fmt.Errorf("%d events were recovered, want at least the %d durable ones", to, h.floor)
	}
	applied := h.applied(to)
	if before := h.applied(from); before > applied || !sameInputs(l.got, h.inputs[before:applied]) {
		return nil, fmt.Errorf("the replay has applied %d inputs, want the %d recorded ones", len(l.got),
			applied-before)
	}
	var waiting [][]byte
	for _, in := range l.st.waiting {
		waiting = append(waiting, in.data)
	}
	end := applied + len(waiting)
	if end > len(h.inputs) || !sameInputs(waiting, h.inputs[applied:end]) {
		return nil, fmt.Errorf("%d inputs wait for the next tick, and are not the ones that follow the %d "+
			"applied inputs; the history has %d inputs", len(waiting), applied, len(h.inputs))
	}
	if end < h.kept {
		return nil, fmt.Errorf("%d inputs were recovered, want at least the %d durable ones", end, h.kept)
	}
	c.counts.replayed += int(l.st.LastTick() - base)
	c.counts.waiting += len(waiting)
	h = h.copy()
	h.events, h.inputs = h.events[:to], h.inputs[:end]
	return h, nil
}

// poll notes what the store reports as durable.
func (c *crash) poll(l *life) error {
	h := c.past[0]
	before := *h
	h.durable(l.st.Durable())
	err := h.durableTick(l.st.DurableTick())
	l.mu.Lock()
	written := l.written
	c.counts.merges += l.merges
	c.counts.tiers += l.tiers
	l.written, l.merges, l.tiers = nil, 0, 0
	l.mu.Unlock()
	for _, tick := range written {
		err = errors.Join(err, h.durableTick(tick))
		h.exists = true
	}
	if len(written) > 0 || before.kept < h.kept || before.floor < h.floor {
		c.past = c.past[:1]
	}
	if err != nil {
		return wrong{err}
	}
	return nil
}

// allDurable notes that all events and inputs up to now are durable.
func (c *crash) allDurable() {
	h := c.past[0]
	h.floor, h.kept, h.exists = len(h.events), len(h.inputs), true
	c.past = c.past[:1]
}

// step does one random operation with the store, and returns the error of the store.
func (c *crash) step(l *life) error {
	h := c.past[0]
	switch c.r.IntN(20) {
	case 0, 1, 2, 3, 4:
		if c.plain {
			return nil
		}
		data := binary.LittleEndian.AppendUint64(nil, c.inputs)
		c.inputs++
		if c.r.IntN(6) == 0 {
			data = append(data, make([]byte, c.r.IntN(1500))...)
		}
		position, err := l.st.Record(data)
		if err != nil {
			return err
		}
		h.inputs = append(h.inputs, note{data, position})
		if c.r.IntN(2) == 0 {
			return nil
		}
		if err := l.st.journal.Flush(); err != nil || l.st.Durable() <= position {
			return err
		}
		if err := l.st.Wait(context.Background(), position); err != nil {
			return wrongf("input %d is durable, and Wait returns %v", position, err)
		}
	case 5:
		if err := l.st.Checkpoint(); err != nil {
			return err
		}
		c.allDurable()
	case 6:
		seed := c.r.Uint64() | 1
		l.outside(seed)
		c.counts.changes++
		return c.happened(l, event{outside: seed})
	case 7, 8, 9:
		for l.st.writing != nil && len(l.st.written) == 0 {
			runtime.Gosched()
		}
	case 10:
		if c.plain {
			return nil
		}
		l.got = nil
		data := binary.LittleEndian.AppendUint64(nil, c.inputs)
		c.inputs++
		position, err := l.st.submit(data)
		if err != nil && len(l.got) == 0 {
			if n := len(l.st.waiting); n > 0 && bytes.Equal(l.st.waiting[n-1].data, data) {
				h.inputs = append(h.inputs, note{data, math.MaxUint64})
			}
			return err
		}
		h.inputs = append(h.inputs, note{data, position})
		c.counts.submitted++
		return errors.Join(c.happened(l, event{submitted: true, position: position}), err)
	case 11:
		return c.tick(l, event{failed: true})
	default:
		return c.tick(l, event{})
	}
	return nil
}

func (c *crash) tick(l *life, e event) error {
	l.got, l.ticked = nil, false
	tick, changed := l.tick, e.failed && c.r.IntN(2) == 0
	if e.failed {
		c.counts.failed++
		tick = func() error {
			l.ticked = true
			if err := l.fail(); !changed {
				return err
			}
			l.st.Changed() // must have the effect of an error
			return nil
		}
	}
	err := l.st.Tick(tick)
	if !l.ticked {
		if err == nil {
			return wrongf("Tick has made no tick and returns no error")
		}
		return err
	}
	if e.failed && !changed {
		if !errors.Is(err, errTick) {
			return wrongf("the tick has failed, and Tick returns %v", err)
		}
		var others []error
		for _, one := range err.(interface{ Unwrap() []error }).Unwrap() {
			if one != errTick {
				others = append(others, one)
			}
		}
		err = errors.Join(others...)
	}
	return errors.Join(c.happened(l, e), err)
}

// happened adds an event to the history, and repeats the event in the twin.
func (c *crash) happened(l *life, e event) error {
	h := c.past[0]
	if e.outside == 0 {
		waiting := h.inputs[h.applied(len(h.events)):]
		if !sameInputs(l.got, waiting) {
			return wrongf("%d inputs were applied, want %d", len(l.got), len(waiting))
		}
		e.inputs = len(waiting)
		c.twin.happens(e, waiting)
	} else {
		c.twin.happens(e, nil)
	}
	e.hash = c.twin.hash()
	h.events, c.ran = append(h.events, e), append(c.ran, e)
	if l.hash() != e.hash {
		return wrongf("the island differs from its twin without a store after %d events", len(h.events))
	}
	return nil
}

// use does random operations with the store, and may close the store at the end. After an error of the store,
// use may return the error, or go on.
func (c *crash) use(l *life) (err error) {
	if h := c.past[0]; c.twin == nil || !slices.Equal(c.ran, h.events) {
		if c.twin != nil {
			err = c.twin.w.Close()
		}
		var e error
		c.twin, e = h.rebuild(len(h.events))
		c.ran = slices.Clone(h.events)
		if err = errors.Join(err, e); err != nil {
			return wrong{err}
		}
	}
	for range c.r.IntN(40) {
		err := c.step(l)
		if e := c.poll(l); e != nil {
			return e
		}
		if err != nil && (errors.As(err, new(wrong)) || c.r.IntN(2) == 0) {
			return err
		}
	}
	if c.r.IntN(4) == 0 {
		if err := l.st.Close(); err != nil {
			return err
		}
		c.allDurable()
	}
	return nil
}

// expected reports whether err is an error that the simulated disk injects.
func expected(err error) bool {
	return errors.Is(err, sim.ErrStopped) || errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC)
}

func (c *crash) options() Options {
	o := islandOptions()
	o.Every = []time.Duration{1, time.Hour}[c.r.IntN(2)]
	o.Keep = c.r.IntN(4)
	o.DropTail = c.drop
	if c.r.IntN(10) == 0 {
		c.build, c.mixed = map[string]string{"a": "b", "b": "a"}[c.build], true
		o.DropTail = o.DropTail || c.r.IntN(2) == 0
	}
	c.drop = false
	o.Build = c.build
	return o
}

// live lets a program run until it dies.
func (c *crash) live(f disk.Folder) (err error) {
	c.counts.lives++
	switch c.r.IntN(9) {
	case 0, 1:
		c.disk.KillAt(c.disk.Calls() + 1 + c.r.Int64N(150))
	case 2, 3, 4:
		c.disk.PowerCutAt(c.disk.Calls() + 1 + c.r.Int64N(150))
	case 5:
		c.disk.FailAt(c.disk.Calls() + 1 + c.r.Int64N(100))
	case 6:
		switch c.r.IntN(3) {
		case 0:
			c.disk.SetFaults(sim.Faults{WriteEIO: 0.02, WriteENOSPC: 0.02, SyncFile: 0.02, Folder: 0.02})
		case 1:
			c.disk.SetFaults(sim.Faults{Folder: 0.1, Read: 0.02})
		default:
			c.disk.SetCapacity(1 + c.r.Int64N(60000))
		}
	}
	if c.mistake != 0 {
		f = sim.Break(f, c.mistake)
	}
	o := c.options()
	l, err := c.open(f, o)
	if err == nil {
		err = c.use(l)
	} else if c.mixed && errors.As(err, new(*BuildError)) && !o.DropTail {
		c.drop, err = true, nil
	}
	if c.r.IntN(2) == 0 {
		c.disk.Kill()
	} else {
		c.disk.PowerCut()
	}
	switch {
	case errors.As(err, new(wrong)):
	case err == nil, expected(err):
		if l.st != nil && l.st.phase == running || l.st != nil && l.st.phase == closed {
			err = c.poll(l)
		} else {
			err = nil
		}
	default:
		err = wrongf("unexpected: %w", err)
	}
	c.disk.FailAt(0)
	c.disk.SetFaults(sim.Faults{})
	c.disk.SetCapacity(0)
	return errors.Join(err, l.end())
}

// damage changes a bit of a file, or removes a file, on a copy of the disk. The store must then open with the
// right contents, or return an error that names a file. After an error, damage restores the file, and the
// store must open.
func (c *crash) damage() error {
	d := c.disk.Copy(c.r.Uint64())
	f := d.Restart()
	var names []string
	for _, name := range d.Names() {
		if len(d.Bytes(name)) > 0 {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	name := names[c.r.IntN(len(names))]
	before, what := d.Bytes(name), "lost"
	if bit := c.r.Int64N(int64(len(before)) * 8); c.r.IntN(3) > 0 {
		what = fmt.Sprintf("changed in bit %d", bit)
		d.FlipBit(name, bit)
	} else {
		d.Lose(name)
	}
	c.counts.damaged++
	o := islandOptions()
	o.Build = c.build
	try := func() (err error) {
		one := *c
		one.past, one.twin, one.counts = nil, nil, new(counts)
		for _, h := range c.past {
			one.past = append(one.past, h.copy())
		}
		l, err := one.open(f, o)
		d.Kill()
		f = d.Restart()
		if c.mixed && errors.As(err, new(*BuildError)) {
			err = nil
		}
		return errors.Join(err, l.end())
	}
	err := try()
	if errors.As(err, new(wrong)) {
		return wrongf("%s is %s: %w", name, what, err)
	}
	if err == nil {
		return nil
	}
	c.counts.refused++
	if !strings.Contains(err.Error(), checkpointPrefix) && !strings.Contains(err.Error(), journalPrefix) {
		return wrongf("%s is %s, and the error names no file: %w", name, what, err)
	}
	d.Put(name, before)
	if err := try(); err != nil {
		return wrongf("%s was %s and is restored: %w", name, what, err)
	}
	return nil
}

func (c *crash) run() (err error) {
	f := c.disk.Folder()
	for round := range 2 + c.r.IntN(4) {
		if err = c.live(f); err == nil && c.mistake == 0 && c.r.IntN(2) == 0 {
			err = c.damage()
		}
		if err != nil {
			err = fmt.Errorf("life %d: %w", round, err)
			break
		}
		f = c.disk.Restart()
	}
	if c.twin != nil {
		err = errors.Join(err, c.twin.w.Close())
	}
	return err
}

// TestCrashes runs a subtest for each seed: -run 'TestCrashes/^17$' repeats the test with seed 17.
func TestCrashes(t *testing.T) {
	c := new(counts)
	seeds := longtest.Pick(40, 100_000)
	for seed := range seeds {
		t.Run(strconv.Itoa(seed), func(t *testing.T) {
			// FindWritten makes the store copy memory after the pause of a checkpoint, while step may
			// write outside of ticks. With the race detector, memory is the Go heap, and the detector would
			// report these writes.
			if way := seed % 4; way < 3 && !vm.HeapStandIn() {
				defer FindWritten([]string{ByTheKernel, Exactly, ByComparison}[way])()
			}
			one, err := newCrash(uint64(seed), 0, c)
			if err != nil {
				t.Fatal(err)
			}
			one.disk.PrintIfFailed(t)
			if err := one.run(); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
	}
	t.Logf("%+v", *c)
	least := counts{lives: 900, lost: 200, replayed: 200, waiting: 50, dropped: 10, changes: 200,
		failed: 100, submitted: 100, damaged: 200, refused: 100, deltas: 200, merges: 100, tiers: 200}
	if c.lives >= least.lives && (c.lost < least.lost || c.replayed < least.replayed ||
		c.waiting < least.waiting || c.dropped < least.dropped || c.changes < least.changes ||
		c.failed < least.failed || c.submitted < least.submitted || c.damaged < least.damaged ||
		c.refused < least.refused || c.deltas < least.deltas || c.merges < least.merges ||
		c.tiers < least.tiers) {
		t.Errorf("situations occur too rarely: %+v, want at least %+v", *c, least)
	}
}

// TestMistakes checks that crash finds each kind of mistake that a folder makes.
func TestMistakes(t *testing.T) {
	longtest.Only(t)
	for _, m := range []sim.Mistake{sim.FolderSyncDoesNothing, sim.FileSyncEarly, sim.RenameBeforeData} {
		var found error
		seed := uint64(0)
		for ; found == nil && seed < 3000; seed++ {
			one, err := newCrash(seed, m, new(counts))
			if err != nil {
				t.Fatal(err)
			}
			found = one.run()
		}
		t.Logf("mistake %d, %d seeds: %v", m, seed, found)
		if found == nil {
			t.Errorf("mistake %d is not found", m)
		}
	}
}
