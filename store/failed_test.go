package store

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/sched"
)

// failing makes a tick that changes the world and then returns errTick or panics with errTick. The method
// returns the error of the tick.
func (l *life) failing(panics bool) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = v.(error)
		}
	}()
	return l.st.Tick(func() error {
		_ = l.fail()
		if panics {
			panic(errTick)
		}
		return errTick
	})
}

// TestFailedTick lets a program die after a failed tick. The next program must not replay the failed tick. It
// must apply the durable inputs of the failed tick in a new tick. Then the next program has a failed tick,
// too, and makes a checkpoint before it dies. The checkpoint must hold the changes of this failed tick.
func TestFailedTick(t *testing.T) {
	for _, panics := range []bool{false, true} {
		d := sim.New(1)
		f := &narrow{Folder: d.Folder()}
		a := recoveredIsland(t, f, islandOptions())
		a.ticks(t, 2)
		a.idle()
		hash := a.hash()
		f.full.Store(true) // the disk is full, so no later checkpoint succeeds
		a.input(t, 1)
		if err := a.failing(panics); !errors.Is(err, errTick) {
			t.Fatalf("the error is %v", err)
		}
		_, _ = a.st.Record(make([]byte, 8))
		a.ticks(t, 1)
		if err := a.st.journal.Flush(); err != nil {
			t.Fatal(err)
		}
		a.idle()
		if tick := a.st.DurableTick(); tick != 2 {
			t.Errorf("tick %d is durable, want 2", tick)
		}
		d.Kill()
		d.SetCapacity(0)
		b := recoveredIsland(t, d.Restart(), islandOptions())
		if b.st.LastTick() != 2 || b.hash() != hash || len(b.st.waiting) == 0 {
			t.Errorf("the last tick is %d, want 2; or the island differs; or %d inputs wait, want at least 1",
				b.st.LastTick(), len(b.st.waiting))
		}
		b.ticks(t, 1)
		if err := b.failing(panics); !errors.Is(err, errTick) {
			t.Fatalf("the error is %v", err)
		}
		if err := b.st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		b.input(t, 2)
		b.ticks(t, 1)
		b.input(t, 3)
		d.Kill()
		c := recoveredIsland(t, d.Restart(), islandOptions())
		c.sameAs(t, b) // the checkpoint holds the changes of the failed tick
		d.Kill()
	}
}

func TestDeathInTick(t *testing.T) {
	d := sim.New(1)
	a := recoveredIsland(t, d.Folder(), islandOptions())
	a.ticks(t, 2)
	hash := a.hash()
	a.input(t, 1)
	_ = a.st.Tick(func() error { // may return an error, because the disk stops in the tick
		a.input(t, 2)
		if tick := a.st.DurableTick(); tick > 2 {
			t.Errorf("tick %d is durable before it has ended", tick)
		}
		d.Kill()
		return nil
	})
	b := recoveredIsland(t, d.Restart(), islandOptions())
	if b.st.LastTick() != 2 || b.hash() != hash || len(b.st.waiting) != 2 {
		t.Errorf("the last tick is %d, want 2; or the island differs; or %d inputs wait, want 2",
			b.st.LastTick(), len(b.st.waiting))
	}
}

func TestInputInTick(t *testing.T) {
	d := sim.New(1)
	a := recoveredIsland(t, d.Folder(), islandOptions())
	for range 3 {
		if err := a.st.Tick(func() error {
			a.input(t, 2)
			return a.tick()
		}); err != nil {
			t.Fatal(err)
		}
		if err := a.st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	a.ticks(t, 1)
	a.input(t, 3)
	d.Kill()
	b := recoveredIsland(t, d.Restart(), islandOptions())
	b.sameAs(t, a)
	if len(b.st.waiting) != 1 {
		t.Errorf("%d inputs wait, want 1", len(b.st.waiting))
	}
}

func TestLostNewestWithoutJournal(t *testing.T) {
	for _, keep := range []int{1, 2} {
		d := sim.New(1)
		o := islandOptions()
		o.Keep = keep
		begin := func() *life {
			l, err := openedIsland(t, d.Restart(), o)
			if err != nil {
				t.Fatal(err)
			}
			if l.st.New() {
				l.fill()
			}
			if err := l.st.Recover(nil, nil); err != nil {
				t.Fatal(err)
			}
			return l
		}
		d.Kill()
		l := begin()
		for range 3 {
			l.ticks(t, 2)
			if err := l.st.Checkpoint(); err != nil {
				t.Fatal(err)
			}
		}
		hash := l.hash()
		d.PowerCut()
		d.Restart()
		newest := "checkpoint-00000004"
		content := d.Bytes(newest)
		d.Lose(newest)
		d.Kill()
		if _, err := openedIsland(t, d.Restart(), o); err == nil ||
			!strings.Contains(err.Error(), newest+" is missing") ||
			!strings.Contains(err.Error(), "newest-00000004") {
			t.Errorf("Keep is %d: the error of Open is %v", keep, err)
		}
		d.Put(newest, content)
		d.Kill()
		if l = begin(); l.hash() != hash {
			t.Error("the island differs")
		}
		l.idle()
		d.Kill()
		// Open must also notice the loss of the first checkpoint that has a journal. After the loss of a
		// later one, Recover replays the ticks since an older checkpoint.
		l = recoveredIsland(t, d.Restart(), o)
		l.input(t, 1)
		d.Kill()
		d.Restart()
		journaled := "checkpoint-00000006"
		content = d.Bytes(journaled)
		d.Lose(journaled)
		d.Kill()
		if _, err := openedIsland(t, d.Restart(), o); err == nil ||
			!strings.Contains(err.Error(), "is missing") {
			t.Errorf("Keep is %d: the error of Open is %v", keep, err)
		}
		d.Put(journaled, content)
		d.Kill()
		l = recoveredIsland(t, d.Restart(), o)
		l.ticks(t, 2)
		if err := l.st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		d.Kill()
		d.Restart()
		if keep > 1 {
			d.Lose("checkpoint-00000008")
		}
		d.Kill()
		recoveredIsland(t, d.Restart(), o).sameAs(t, l)
		d.Kill()
	}
}

func TestPruneFails(t *testing.T) {
	for _, plain := range []bool{false, true} {
		d := sim.New(1)
		o := islandOptions()
		written := make(chan Checkpoint, 10)
		o.Notify = func(c Checkpoint) { written <- c }
		l, err := openedIsland(t, d.Folder(), o)
		if err != nil {
			t.Fatal(err)
		}
		l.fill()
		if plain {
			err = l.st.Recover(nil, nil)
		} else {
			err = l.st.Recover(l.apply, l.tick)
		}
		if err != nil {
			t.Fatal(err)
		}
		l.idle()
		l.ticks(t, 3)
		<-written
		d.Watch(func(c sim.Call) {
			if c.Op == sim.Remove && c.Name == "checkpoint-00000001" {
				d.FailAt(d.Calls() + 1)
			}
		})
		if err := l.st.Checkpoint(); err != nil {
			t.Errorf("the checkpoint is durable, but Checkpoint returns %v", err)
		}
		d.Watch(nil)
		if c := <-written; c.Err != nil || !errors.Is(c.PruneErr, syscall.EIO) || c.Tick != 3 {
			t.Errorf("%+v", c)
		}
		if l.st.DurableTick() != 3 {
			t.Errorf("tick %d is durable, want 3", l.st.DurableTick())
		}
		if err := l.st.Checkpoint(); err != nil {
			t.Error(err)
		}
		if c := <-written; c.Err != nil || c.PruneErr != nil {
			t.Errorf("%+v", c)
		}
		n := 0
		for _, name := range d.Names() {
			if strings.HasPrefix(name, checkpointPrefix) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d checkpoints, want 1", n)
		}
		d.Kill()
	}
}

func TestChangeBeforeRecover(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Keep = 2
	a := recoveredIsland(t, d.Folder(), o)
	a.ticks(t, 2)
	a.input(t, 1)
	d.Kill()
	for _, change := range []func(l *life){
		func(l *life) { l.outside(5) },
		func(l *life) { // the store does not detect changes of values
			for e := range l.w.Query(l.vigor).All() {
				l.vigor.Get(e).Points++
			}
			l.st.Changed()
		},
	} {
		l, err := openedIsland(t, d.Restart(), o)
		if err != nil {
			t.Fatal(err)
		}
		change(l)
		if err := l.st.Recover(l.apply, l.tick); err == nil ||
			!strings.Contains(err.Error(), "between Open and") {
			t.Errorf("the error is %v", err)
		}
		d.Kill()
	}
	b := recoveredIsland(t, d.Restart(), o)
	b.sameAs(t, a)
	if err := b.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	d.Kill()
	c, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	c.outside(5) // allowed, because there is nothing to replay
	if err := c.st.Recover(c.apply, c.tick); err != nil {
		t.Fatal(err)
	}
	c.input(t, 2)
	c.ticks(t, 1)
	c.input(t, 3)
	d.Kill()
	d.Restart()
	newest := ""
	for _, name := range d.Names() {
		if strings.HasPrefix(name, checkpointPrefix) {
			newest = name
		}
	}
	content := d.Bytes(newest)
	d.Lose(newest) // the checkpoint with the change
	d.Kill()
	e, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.st.Recover(e.apply, e.tick); err == nil ||
		!strings.Contains(err.Error(), newest+" is missing") {
		t.Errorf("the error is %v", err)
	}
	d.Kill()
	d.Restart()
	d.Put(newest, content)
	d.Kill()
	recoveredIsland(t, d.Restart(), o).sameAs(t, c)
}

func TestSubmit(t *testing.T) {
	d := sim.New(1)
	a := recoveredIsland(t, d.Folder(), islandOptions())
	plain, err := openedIsland(t, sim.New(2).Folder(), islandOptions())
	if err != nil {
		t.Fatal(err)
	}
	plain.fill()
	if err := plain.st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	submit := func(l *life, seed byte) error {
		done := make(chan error, 1)
		go func() { done <- l.st.Submit(t.Context(), []byte{seed, 0, 0, 0, 0, 0, 0, 0}) }()
		for {
			select {
			case err := <-done:
				return err
			default:
				time.Sleep(time.Microsecond) // lets Submit run, because WebAssembly has one thread
				l.w.Admit(time.Millisecond)
			}
		}
	}
	if err := submit(plain, 1); !errors.Is(err, errNoJournal) {
		t.Errorf("without a journal the error is %v", err)
	}
	a.ticks(t, 2)
	if _, err := a.st.Record([]byte{7, 0, 0, 0, 0, 0, 0, 0}); err != nil {
		t.Fatal(err)
	}
	for seed := range byte(3) {
		if err := submit(a, seed); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.got) != 4 || a.got[0][0] != 7 || a.st.LastTick() != 2 {
		t.Errorf("the inputs %v were applied, and the last tick is %d, want 2", a.got, a.st.LastTick())
	}
	d.PowerCut() // all inputs are durable, and the replay applies them
	b := recoveredIsland(t, d.Restart(), islandOptions())
	b.sameAs(t, a)
	b.ticks(t, 1)
	a.tick()
	b.input(t, 9)
	if b.hash() != a.hash() {
		t.Error("the next tick after recovery gives another island")
	}
	d.Kill()
	c := recoveredIsland(t, d.Restart(), islandOptions())
	c.sameAs(t, b)
	if err := c.st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := submit(c, 1); !errors.Is(err, errNoJournal) {
		t.Errorf("after Close the error is %v", err)
	}
}

// signalContext signals each call of Done. World.Visit calls Done when it begins to wait.
type signalContext struct {
	context.Context
	called chan struct{}
}

func (c *signalContext) Done() <-chan struct{} {
	select {
	case c.called <- struct{}{}:
	default:
	}
	return c.Context.Done()
}

// TestVisitorsWait: during a replay, a schedule must not admit visitors such as Submit.
func TestVisitorsWait(t *testing.T) {
	d := sim.New(1)
	start := func() (*life, *sched.Schedule) {
		l, err := openedIsland(t, d.Restart(), islandOptions())
		if err != nil {
			t.Fatal(err)
		}
		if l.st.New() {
			l.fill()
		}
		s := sched.New(l.w, sched.Options{Workers: 1})
		t.Cleanup(func() { s.Close() })
		s.Add(sched.System{Name: "live", Exclusive: true, Run: func(*sched.Context) { _ = l.tick() }})
		l.st.Attach(s)
		return l, s
	}
	d.Kill()
	a, s := start()
	if err := errors.Join(a.st.Recover(a.apply, s.Tick), s.Tick(), s.Tick(), s.Tick()); err != nil {
		t.Fatal(err)
	}
	a.input(t, 1)
	d.Kill()
	b, s := start()
	submitted := make(chan error, 1)
	waits := &signalContext{t.Context(), make(chan struct{}, 1)}
	go func() { submitted <- b.st.Submit(waits, make([]byte, 8)) }()
	<-waits.called
	if err := b.st.Recover(b.apply, s.Tick); err != nil {
		t.Fatal(err)
	}
	if b.st.LastTick() != 3 || b.hash() != a.hash() || len(submitted) > 0 {
		t.Errorf("the last tick is %d, want 3; or the island differs; or Submit has returned",
			b.st.LastTick())
	}
	if err := s.Tick(); err != nil {
		t.Fatal(err)
	}
	if err := <-submitted; err != nil || len(b.got) != 2 || b.st.LastTick() != 4 {
		t.Errorf("Submit returns %v; %d inputs were applied, want 2; the last tick is %d, want 4", err,
			len(b.got), b.st.LastTick())
	}
}

func TestRetry(t *testing.T) {
	d := sim.New(1)
	o := islandOptions()
	o.Every = 1
	l := chainedIsland(t, d.Folder(), o, 100)
	l.st.retry = time.Hour
	d.SetCapacity(1)
	l.ticks(t, 1)
	if err := l.st.finish(true); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the checkpoint ends with %v", err)
	}
	d.SetCapacity(0)
	if l.ticks(t, 3); l.st.writing != nil {
		t.Error("a tick begins a checkpoint before the delay has passed")
	}
	l.st.failed -= time.Hour
	if l.ticks(t, 1); l.st.writing == nil {
		t.Error("a tick after the delay begins no checkpoint")
	}
	if err := l.st.finish(true); err != nil {
		t.Error(err)
	}
}
