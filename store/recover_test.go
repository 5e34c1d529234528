package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
)

func openedIsland(t *testing.T, f disk.Folder, o Options) (*life, error) {
	t.Helper()
	l := &life{island: newIsland()}
	t.Cleanup(func() { _ = l.end() })
	var err error
	l.st, err = open(f, l.w, o)
	return l, err
}

func recoveredIsland(t *testing.T, f disk.Folder, o Options) *life {
	t.Helper()
	l, err := openedIsland(t, f, o)
	if err != nil {
		t.Fatal(err)
	}
	if l.st.New() {
		l.fill()
	}
	if err := l.st.Recover(l.apply, l.tick); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *life) ticks(t *testing.T, n int) {
	t.Helper()
	for range n {
		if err := l.st.Tick(l.tick); err != nil {
			t.Fatal(err)
		}
	}
}

// input records an input, and waits until it is durable.
func (l *life) input(t *testing.T, seed byte) {
	t.Helper()
	position, err := l.st.Record([]byte{seed, 0, 0, 0, 0, 0, 0, 0})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := l.st.Wait(ctx, position); err != nil {
		t.Fatal(err)
	}
}

func (l *life) idle() {
	for l.st.writing != nil && len(l.st.written) == 0 {
		runtime.Gosched()
	}
}

func (l *life) sameAs(t *testing.T, other *life) {
	t.Helper()
	if l.st.LastTick() != other.st.LastTick() || l.hash() != other.hash() {
		t.Errorf("the island at tick %d differs from the other island at tick %d", l.st.LastTick(),
			other.st.LastTick())
	}
}

// TestDeathBeforeFirstCheckpoint stops the first program of a folder at each of its calls of the disk.
func TestDeathBeforeFirstCheckpoint(t *testing.T) {
	for _, how := range []func(*sim.Disk, int64){(*sim.Disk).KillAt, (*sim.Disk).PowerCutAt} {
		for call, past := int64(1), false; !past; call++ {
			d := sim.New(uint64(call))
			how(d, call)
			l := &life{island: newIsland()}
			st, err := open(d.Folder(), l.w, islandOptions())
			if l.st = st; err == nil {
				l.fill()
				_ = st.Recover(l.apply, l.tick)
				l.idle()
			}
			past = !d.Stopped()
			d.Kill()
			if err := l.end(); err != nil {
				t.Fatal(err)
			}
			again := recoveredIsland(t, d.Restart(), islandOptions())
			again.input(t, 1)
			d.Kill()
		}
	}
}

func TestLostFirstCheckpoint(t *testing.T) {
	d := sim.New(1)
	l := recoveredIsland(t, d.Folder(), islandOptions())
	l.input(t, 1)
	d.PowerCut()
	d.Restart()
	d.Lose("checkpoint-00000001")
	d.Kill()
	_, err := openedIsland(t, d.Restart(), islandOptions())
	if err == nil || !strings.Contains(err.Error(), "the checkpoint that journal-") {
		t.Errorf("the error is %v, want an error about the missing checkpoint", err)
	}
}

// TestChangeWhileInputsWait changes the world outside of ticks while an input waits.
func TestChangeWhileInputsWait(t *testing.T) {
	d := sim.New(1)
	a := recoveredIsland(t, d.Folder(), islandOptions())
	a.ticks(t, 2)
	a.input(t, 1)
	a.idle()
	a.outside(7)
	a.ticks(t, 3)
	a.input(t, 2)
	a.ticks(t, 1)
	a.input(t, 3)
	d.Kill()
	b := recoveredIsland(t, d.Restart(), islandOptions())
	b.sameAs(t, a)
	if len(b.st.waiting) != 1 {
		t.Errorf("%d inputs wait, want 1", len(b.st.waiting))
	}
}

// TestDeathAfterChange kills a program before a change outside of ticks is durable. The next program
// continues from the world before the change.
func TestDeathAfterChange(t *testing.T) {
	d := sim.New(1)
	f := &narrow{Folder: d.Folder()}
	a := recoveredIsland(t, f, islandOptions())
	a.ticks(t, 2)
	a.input(t, 1)
	a.idle()
	before := a.hash()
	a.outside(7)
	f.full.Store(true) // the checkpoint with the change fails
	a.ticks(t, 3)
	a.idle()
	if _, err := a.st.Record(make([]byte, 8)); err != nil {
		t.Error(err)
	}
	if err := a.st.journal.Flush(); err != nil {
		t.Error(err)
	}
	if tick := a.st.DurableTick(); tick > 2 {
		t.Errorf("tick %d is durable, want at most 2: the change after tick 2 is not durable", tick)
	}
	d.Kill()
	b := recoveredIsland(t, d.Restart(), islandOptions())
	if b.st.LastTick() != 2 || b.hash() != before || len(b.st.waiting) != 1 {
		t.Fatalf("the last tick is %d and %d inputs wait, want tick 2 and 1 input; or the island differs",
			b.st.LastTick(), len(b.st.waiting))
	}
	b.input(t, 2) // waits until the checkpoint of Recover is durable
	b.ticks(t, 2)
	b.input(t, 3)
	d.Kill()
	c := recoveredIsland(t, d.Restart(), islandOptions())
	c.sameAs(t, b)
}

// TestLostCheckpointAfterChange loses the checkpoint that holds a change outside of ticks. The previous
// checkpoint and the journal do not hold the change.
func TestLostCheckpointAfterChange(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Keep = 2
	a := recoveredIsland(t, d.Folder(), o)
	a.ticks(t, 2)
	a.idle()
	a.outside(7)
	a.ticks(t, 1)
	a.input(t, 1)
	a.ticks(t, 1)
	a.input(t, 2)
	a.idle()
	d.Kill()
	d.Restart()
	newest := ""
	for _, name := range d.Names() {
		if strings.HasPrefix(name, checkpointPrefix) {
			newest = name
		}
	}
	content := d.Bytes(newest)
	d.Lose(newest)
	d.Kill()
	b, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.st.Recover(b.apply, b.tick); err == nil ||
		!strings.Contains(err.Error(), newest+" is missing") {
		t.Errorf("the error is %v, want an error about the missing checkpoint", err)
	}
	d.Kill()
	dropping := d.Copy(1)
	d.Restart()
	d.Put(newest, content)
	d.Kill()
	recoveredIsland(t, d.Restart(), o).sameAs(t, a)
	o.DropTail = true
	if c := recoveredIsland(t, dropping.Restart(), o); c.st.LastTick() != 0 {
		t.Errorf("tick %d is the last one, want 0, the tick of the first checkpoint", c.st.LastTick())
	}
}

// narrow is a folder that has no room for checkpoints while full is set.
type narrow struct {
	disk.Folder
	full atomic.Bool
}

func (f *narrow) Create(name string) (disk.File, error) {
	if f.full.Load() && strings.HasSuffix(name, unfinished) {
		return nil, &fs.PathError{Op: "create", Path: name, Err: syscall.ENOSPC}
	}
	return f.Folder.Create(name)
}

// TestLostCheckpointWithTornRecord tears the journal's record of a checkpoint that holds a change. The next
// program continues from the checkpoint. Then the file of the checkpoint is lost.
func TestLostCheckpointWithTornRecord(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Keep = 2
	a := recoveredIsland(t, d.Folder(), o)
	a.ticks(t, 2)
	a.idle()
	a.outside(7)
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	hash := a.hash()
	d.Kill()
	d.Restart()
	journal, newest := "", ""
	for _, name := range d.Names() {
		if strings.HasPrefix(name, journalPrefix) {
			journal = name
		}
		if strings.HasPrefix(name, checkpointPrefix) {
			newest = name
		}
	}
	records := slices.Clone(d.Bytes(journal))
	last := len(bytes.TrimRight(records, "\x00")) - 1
	clear(records[last/512*512:])
	d.Put(journal, records)
	d.Kill()
	f := &narrow{Folder: d.Restart()}
	f.full.Store(true) // the checkpoint of the next program fails
	b := recoveredIsland(t, f, o)
	if b.hash() != hash {
		t.Fatal("without the record, the checkpoint gives another island")
	}
	b.idle()
	d.Kill()
	d.Restart()
	d.Lose(newest)
	d.Kill()
	c, err := openedIsland(t, d.Restart(), o)
	if err == nil {
		err = c.st.Recover(c.apply, c.tick)
	}
	if err == nil || !strings.Contains(err.Error(), newest+" is missing") {
		t.Errorf("the error is %v, want an error about the missing checkpoint", err)
	}
}

// TestLostCheckpointAfterDropTail: a program drops the ticks after a checkpoint. Then the checkpoint is lost.
// Recover reads the previous checkpoint and the journal between the two checkpoints.
func TestLostCheckpointAfterDropTail(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Keep = 2
	a := recoveredIsland(t, d.Folder(), o)
	a.ticks(t, 2)
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	hash := a.hash()
	a.ticks(t, 1)
	a.input(t, 1)
	d.Kill()
	f := &narrow{Folder: d.Restart()}
	f.full.Store(true) // the checkpoint of the next program fails
	o.DropTail = true
	b := recoveredIsland(t, f, o)
	if err := b.st.journal.Flush(); err != nil {
		t.Fatal(err)
	}
	b.idle()
	d.Kill()
	d.Restart()
	d.Lose("checkpoint-00000002")
	d.Kill()
	o.DropTail = false
	c := recoveredIsland(t, d.Restart(), o)
	if c.st.LastTick() != 2 || c.hash() != hash || len(c.st.waiting) != 0 {
		t.Errorf("the last tick is %d and %d inputs wait, want tick 2 and no inputs; or the island differs",
			c.st.LastTick(), len(c.st.waiting))
	}
}

// TestLostCheckpointAfterInputsWereDropped is TestLostCheckpointAfterDropTail with an input that waited when
// the checkpoint was taken. DropTail drops the input, and keeps the ticks and changes that are in the
// checkpoint. If only the lost checkpoint holds a change outside of ticks, Recover returns an error.
func TestLostCheckpointAfterInputsWereDropped(t *testing.T) {
	for _, changed := range []bool{false, true} {
		d := sim.New(1)
		o := rareOptions()
		o.Keep = 2
		a := recoveredIsland(t, d.Folder(), o)
		a.ticks(t, 1)
		a.idle()
		if err := a.st.Tick(func() error {
			a.input(t, 1) // the next tick applies this input
			return a.tick()
		}); err != nil {
			t.Fatal(err)
		}
		if changed {
			a.outside(7)
		}
		if err := a.st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		hash := a.hash()
		a.ticks(t, 1)
		a.input(t, 2)
		d.Kill()
		f := &narrow{Folder: d.Restart()}
		f.full.Store(true) // the checkpoint of the next program fails
		o.DropTail = true
		b := recoveredIsland(t, f, o)
		if err := b.st.journal.Flush(); err != nil {
			t.Fatal(err)
		}
		b.idle()
		d.Kill()
		d.Restart()
		d.Lose("checkpoint-00000002")
		d.Kill()
		o.DropTail = false
		c, err := openedIsland(t, d.Restart(), o)
		if err != nil {
			t.Fatal(err)
		}
		err = c.st.Recover(c.apply, c.tick)
		switch {
		case changed:
			if err == nil || !strings.Contains(err.Error(), "checkpoint-00000002 is missing") {
				t.Errorf("the error is %v, want an error about the missing checkpoint", err)
			}
		case err != nil:
			t.Error(err)
		case c.st.LastTick() != 2 || c.hash() != hash || len(c.st.waiting) != 0:
			t.Errorf("the last tick is %d and %d inputs wait, want tick 2 and no inputs; or the island "+
				"differs", c.st.LastTick(), len(c.st.waiting))
		}
		d.Kill()
	}
}

// TestLostCheckpointBetweenChanges loses a checkpoint that holds a change. A second change was made while the
// checkpoint was being written.
func TestLostCheckpointBetweenChanges(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Keep = 2
	a := recoveredIsland(t, d.Folder(), o)
	a.ticks(t, 2)
	a.idle()
	came, goOn := make(chan struct{}), make(chan struct{})
	d.Watch(func(c sim.Call) {
		if c.Op == sim.Rename && c.To == "checkpoint-00000002" {
			close(came)
			<-goOn
		}
	})
	a.outside(7)
	a.ticks(t, 1)
	<-came
	a.outside(8)
	a.ticks(t, 1)
	close(goOn)
	a.idle()
	if tick := a.st.DurableTick(); tick != 2 {
		t.Errorf("tick %d is durable, want 2, the tick of the checkpoint", tick)
	}
	d.Kill()
	d.Restart()
	d.Lose("checkpoint-00000002")
	d.Kill()
	b, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.st.Recover(b.apply, b.tick); err == nil ||
		!strings.Contains(err.Error(), "checkpoint-00000002 is missing") {
		t.Errorf("the error is %v, want an error about the missing checkpoint", err)
	}
}

func TestLostCheckpointOfChangeWithoutLaterTicks(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Keep = 2
	a := recoveredIsland(t, d.Folder(), o)
	a.ticks(t, 2)
	a.outside(7)
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	d.Kill()
	d.Restart()
	d.Lose("checkpoint-00000002")
	d.Kill()
	b, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.st.Recover(b.apply, b.tick); err == nil ||
		!strings.Contains(err.Error(), "checkpoint-00000002 is missing") {
		t.Errorf("the error is %v, want an error about the missing checkpoint", err)
	}
}

func TestTicksContinueOnFullDisk(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	failed := make(chan error, 1000)
	o.Notify = func(c Checkpoint) {
		if c.Err != nil {
			failed <- c.Err
		}
	}
	f := &narrow{Folder: d.Folder()}
	a := recoveredIsland(t, f, o)
	a.idle()
	f.full.Store(true)
	if err := a.st.Checkpoint(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Checkpoint returned %v, want ENOSPC", err)
	}
	for range 500 {
		a.ticks(t, 1)
		a.idle()
	}
	if n := len(failed); n == 0 || n > 250 {
		t.Errorf("%d checkpoints failed in 500 ticks, want 1 to 250: not one after each tick", n)
	}
	f.full.Store(false)
	if err := a.st.Checkpoint(); err != nil {
		t.Error(err)
	}
}

func TestChangesWithoutJournal(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Every = time.Hour
	written := make(chan Checkpoint, 1000)
	o.Notify = func(c Checkpoint) { written <- c }
	l, err := openedIsland(t, d.Folder(), o)
	if err != nil {
		t.Fatal(err)
	}
	l.fill()
	if err := l.st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		l.outside(uint64(i))
		l.ticks(t, 1)
		l.idle()
	}
	if n := len(written); n != 1 {
		t.Errorf("%d checkpoints were taken, want only the checkpoint of Recover", n)
	}
	if err := l.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	hash := l.hash()
	d.PowerCut()
	b, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	if b.hash() != hash || b.st.LastTick() != 20 || b.st.DurableTick() != 20 {
		t.Errorf("the last tick is %d and tick %d is durable, want 20 for both; or the island differs",
			b.st.LastTick(), b.st.DurableTick())
	}
}

// TestKilledBeforeFolderSync kills a program between the Rename of a checkpoint and the Sync of the folder.
// The next program must make the name of the checkpoint durable before a power cut.
func TestKilledBeforeFolderSync(t *testing.T) {
	for seed := range uint64(20) {
		d := sim.New(seed)
		l, err := openedIsland(t, d.Folder(), islandOptions())
		if err != nil {
			t.Fatal(err)
		}
		l.fill()
		if err := l.st.Recover(nil, nil); err != nil {
			t.Fatal(err)
		}
		l.idle()
		l.ticks(t, 5)
		d.Watch(func(c sim.Call) {
			if c.Op == sim.SyncFolder {
				d.Kill()
			}
		})
		_ = l.st.Checkpoint()
		d.Watch(nil)
		b, err := openedIsland(t, d.Restart(), islandOptions())
		if err != nil {
			t.Fatal(err)
		}
		tick := b.st.DurableTick()
		d.PowerCut()
		c, err := openedIsland(t, d.Restart(), islandOptions())
		if err != nil {
			t.Fatal(err)
		}
		if tick != 5 || c.st.LastTick() != tick {
			t.Errorf("seed %d: tick %d was durable and tick %d is the last one, want 5 for both", seed, tick,
				c.st.LastTick())
		}
	}
}

// TestCloseAfterAbandonedTick: if the goroutine of a tick ends early, Close keeps the changes of the tick.
func TestCloseAfterAbandonedTick(t *testing.T) {
	d := sim.New(1)
	a := recoveredIsland(t, d.Folder(), islandOptions())
	a.ticks(t, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := a.st.beginTick(); err != nil { // like a schedule whose system calls runtime.Goexit
			t.Error(err)
		}
		a.change(99, 10)
	}()
	<-done
	if err := a.st.Close(); err != nil {
		t.Fatal(err)
	}
	d.Kill()
	b := recoveredIsland(t, d.Restart(), islandOptions())
	if b.st.LastTick() != 2 || b.hash() != a.hash() {
		t.Errorf("tick %d is the last one, want 2; or the island differs", b.st.LastTick())
	}
}
