package store

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/store/internal/journal"
)

// submit applies an input between two ticks, as Submit does.
func (l *life) submit(t *testing.T, seed byte) {
	t.Helper()
	position, err := l.st.submit([]byte{seed, 0, 0, 0, 0, 0, 0, 0})
	if err == nil {
		err = l.st.Wait(t.Context(), position)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// rareOptions returns options for an island whose ticks take no checkpoints, even on a slow machine.
func rareOptions() Options {
	o := islandOptions()
	o.Every = time.Hour
	return o
}

// TestInputsOfAnotherBuild: input 1 was applied by another build, so Recover refuses it. Input 2 was only
// recorded.
func TestInputsOfAnotherBuild(t *testing.T) {
	d := sim.New(1)
	o := rareOptions()
	a := recoveredIsland(t, d.Folder(), o)
	a.idle()
	a.submit(t, 1)
	a.input(t, 2)
	d.PowerCut()
	o.Build = "b"
	b, err := openedIsland(t, d.Restart(), o)
	if err != nil {
		t.Fatal(err)
	}
	var other *BuildError
	if err := b.st.Recover(b.apply, b.tick); !errors.As(err, &other) || other.Recorded != "a" ||
		other.Tick != 0 || !strings.Contains(err.Error(), "applied inputs after the last tick") {
		t.Errorf("the error is %v", err)
	}
	d.Kill()
	c := recoveredIsland(t, d.Restart(), rareOptions())
	c.sameAs(t, a)
	if err := c.st.Close(); err != nil {
		t.Fatal(err)
	}
	d.Kill()
	e := recoveredIsland(t, d.Restart(), o)
	e.sameAs(t, c)
	e.ticks(t, 1)
	if len(e.got) != 1 || e.got[0][0] != 2 {
		t.Errorf("the first tick applies the inputs %v, want only input 2", e.got)
	}
}

// TestChangedCalledInTickOrInput: a call of Changed in a tick or in its input ends the replay before the
// tick. A call in an input of Submit ends the replay after the input.
func TestChangedCalledInTickOrInput(t *testing.T) {
	for _, where := range []string{"tick", "input", "submit"} {
		d := sim.New(1)
		f := &narrow{Folder: d.Folder()}
		a := recoveredIsland(t, f, rareOptions())
		a.idle()
		a.ticks(t, 2)
		if err := a.st.journal.Flush(); err != nil {
			t.Fatal(err)
		}
		f.full.Store(true) // later checkpoints fail
		hash, apply, inputs := a.hash(), a.st.apply, 0
		if where != "tick" {
			a.st.apply = func(input []byte) {
				apply(input)
				a.st.Changed()
			}
			inputs = 1
		}
		switch where {
		case "tick":
			if err := a.st.Tick(func() error { a.st.Changed(); return a.tick() }); err != nil {
				t.Fatal(err)
			}
		case "input":
			a.input(t, 1)
			a.ticks(t, 1)
		case "submit":
			a.submit(t, 1)
		}
		a.st.apply = apply
		a.ticks(t, 2)
		if err := a.st.journal.Flush(); err != nil {
			t.Fatal(err)
		}
		a.idle()
		if tick := a.st.DurableTick(); tick != 2 {
			t.Errorf("%s: tick %d is durable, want 2", where, tick)
		}
		d.Kill()
		c := d.Copy(2)
		b := recoveredIsland(t, d.Restart(), rareOptions())
		if where == "submit" {
			inputs, hash = 0, b.hash() // Recover applies the input again
			if len(b.got) != 1 {
				t.Errorf("Recover has applied %d inputs, want 1", len(b.got))
			}
		}
		if b.st.LastTick() != 2 || b.hash() != hash || len(b.st.waiting) != inputs {
			t.Errorf("%s: the last tick is %d and %d inputs wait, want tick 2 and %d inputs; or the island "+
				"differs", where, b.st.LastTick(), len(b.st.waiting), inputs)
		}
		if where == "submit" { // Recover refuses a repeated input that calls Changed
			l, err := openedIsland(t, c.Restart(), rareOptions())
			if err != nil {
				t.Fatal(err)
			}
			if err := l.st.Recover(func(input []byte) { l.st.Changed() }, l.tick); !errors.Is(err,
				errUnrepeatable) {
				t.Errorf("the error is %v, want errUnrepeatable", err)
			}
			c.Kill()
		}
		b.ticks(t, 1)
		b.st.Changed() // between ticks, so that a checkpoint follows
		b.ticks(t, 1)
		if err := b.st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		b.ticks(t, 1)
		b.input(t, 3)
		d.Kill()
		recoveredIsland(t, d.Restart(), rareOptions()).sameAs(t, b)
		d.Kill()
	}
}

// TestRepeatedTickFails: only in the replay, a tick calls Changed, or fails with an error that the program's
// function drops.
func TestRepeatedTickFails(t *testing.T) {
	for _, fails := range []func(l *life) error{
		func(l *life) error { l.st.Changed(); return nil },
		func(l *life) error { _ = l.st.endTick(true); return nil }, // as a schedule ends a tick
	} {
		d := sim.New(1)
		a := recoveredIsland(t, d.Folder(), rareOptions())
		a.idle()
		a.ticks(t, 2)
		a.input(t, 1)
		d.PowerCut()
		b, err := openedIsland(t, d.Restart(), rareOptions())
		if err != nil {
			t.Fatal(err)
		}
		err = b.st.Recover(b.apply, func() error { return errors.Join(b.tick(), fails(b)) })
		if !errors.Is(err, errUnrepeatable) {
			t.Errorf("the error is %v, want errUnrepeatable", err)
		}
		d.Kill()
		recoveredIsland(t, d.Restart(), rareOptions()).sameAs(t, a)
		d.Kill()
	}
}

// TestTicksContinueWhileCopyFails: the journal must not get a new segment for each tick.
func TestTicksContinueWhileCopyFails(t *testing.T) {
	d := sim.New(1)
	a := recoveredIsland(t, d.Folder(), islandOptions())
	a.idle()
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	commands := vast.NewCommands(a.w, vast.CommandsOptions{})
	commands.Delete(vast.Entity{})
	a.st.o.Every, a.st.last = time.Second, -time.Second
	before, failed := len(d.Names()), 0
	for range 200 {
		if err := a.st.Tick(a.tick); err != nil {
			failed++
		}
	}
	if err := a.st.journal.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Names()) - before; failed == 0 || n > 100 || a.st.LastTick() != 200 {
		t.Errorf("%d of 200 ticks returned an error, the last tick is %d, and the folder got %d new files",
			failed, a.st.LastTick(), n)
	}
	if _, err := a.w.Apply(commands); err != nil {
		t.Fatal(err)
	}
	a.ticks(t, 1)
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	d.Kill()
	recoveredIsland(t, d.Restart(), islandOptions()).sameAs(t, a)
	d.Kill()
}

func TestTicksAreForgotten(t *testing.T) {
	o := islandOptions()
	o.Every = time.Hour
	a := recoveredIsland(t, sim.New(1).Folder(), o)
	a.idle()
	if err := a.st.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		for range 100 {
			if err := a.st.Tick(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.st.journal.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.st.ticks); n > 500 {
		t.Errorf("the store remembers %d of 2000 ticks, want at most 500", n)
	}
	if tick := a.st.DurableTick(); tick != 2000 {
		t.Errorf("tick %d is durable, want 2000", tick)
	}
}

// TestCallsOfOtherGoroutines calls methods while the owner makes ticks and checkpoints and closes the store.
func TestCallsOfOtherGoroutines(t *testing.T) {
	for seed := range byte(3) {
		d := sim.New(uint64(seed))
		o := islandOptions()
		o.Every = time.Microsecond
		a := recoveredIsland(t, d.Folder(), o)
		var group sync.WaitGroup
		acknowledged := make([][]byte, 4) // the numbers of the inputs of each goroutine
		for g := range byte(4) {
			group.Go(func() {
				for n := byte(0); n < 100; n++ {
					input := []byte{n, g, 0, 0, 0, 0, 0, 0}
					a.st.DurableTick()
					a.st.Durable()
					var err error
					if g == 0 {
						err = a.st.Submit(t.Context(), input)
					} else {
						var position uint64
						if position, err = a.st.Record(input); err == nil {
							err = a.st.Wait(t.Context(), position)
						}
					}
					if err != nil {
						if !errors.Is(err, journal.ErrClosed) && !errors.Is(err, errNoJournal) {
							t.Error(err)
						}
						return
					}
					acknowledged[g] = append(acknowledged[g], n)
				}
			})
		}
		for range 30 {
			a.ticks(t, 1)
			a.w.Admit(100 * time.Microsecond)
			if a.st.LastTick()%10 == 0 {
				if err := a.st.Checkpoint(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := a.st.Close(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			group.Wait()
			close(ended)
		}()
		for open := true; open; {
			select {
			case <-ended:
				open = false
			default:
				time.Sleep(time.Microsecond) // lets goroutines run; WebAssembly has one thread
				a.w.Admit(100 * time.Microsecond)
			}
		}
		d.PowerCut()
		b := recoveredIsland(t, d.Restart(), islandOptions())
		b.ticks(t, 1)
		there := make(map[[2]byte]bool)
		for _, input := range append(a.got, b.got...) {
			there[[2]byte(input)] = true
		}
		for g, numbers := range acknowledged {
			for _, n := range numbers {
				if !there[[2]byte{n, byte(g)}] {
					t.Errorf("seed %d: input %d of goroutine %d was acknowledged, but is lost", seed, n, g)
				}
			}
		}
		d.Kill()
	}
}
